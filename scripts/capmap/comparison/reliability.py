"""How reliable a ranking by mean scores is: variance components, and what more datasets bring."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from capmap.comparison.dataset_clusters import cluster_datasets
from capmap.comparison.score_matrix import ScoreMatrix, arrange_runs, count_unused
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream

COMPONENTS = ["component", "variance", "share", "df"]
COEFFICIENTS = ["datasets", "seeds", "relative", "ci_low", "ci_high", "absolute"]
EFFECTIVE = ["datasets", "models", "effective", "effective_independent", "cells_unused"]
DATASETS = (5, 10, 20, 30, 50, 100)
SEEDS = (1.0, 3.0, 5.0, 10.0)
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Components:
    """Variance components of normalized scores: models × datasets, with runs within cells.

    Parameters
    ----------
    models, datasets : int
        How many there are, two or more.
    seeds : float
        Harmonic mean of the numbers of runs per cell.
    model, dataset, interaction, run : float
        Variances between models, datasets, cells beyond both, and runs within cells; 0 or more. NaN
        for runs where no cell has two: the interaction then has both.
    ratio : float
        Mean square of models over that of the interaction; infinite where only the latter is 0.
    freedom : dict of str to float
        Degrees of freedom of each mean square, by component.
    """

    models: int
    datasets: int
    seeds: float
    model: float
    dataset: float
    interaction: float
    run: float
    ratio: float
    freedom: dict[str, float]

    def generalize(self, datasets: float, seeds: float) -> tuple[float, float]:
        """Coefficients of relative and absolute decisions by means over datasets and runs.

        References
        ----------
        Brennan, R. L. (2001). Generalizability Theory. Springer. Equations 1.13 and 1.14.
        """
        within = 0.0 if np.isnan(self.run) else self.run / seeds
        relative = (self.interaction + within) / datasets
        absolute = relative + self.dataset / datasets
        if self.model == 0:
            return 0.0, 0.0
        noises = (relative, absolute)
        order, score = (float(self.model / (self.model + noise)) for noise in noises)
        return order, score

    def bound(self, datasets: float, *, confidence_level: float) -> tuple[float, float]:
        """Interval of the relative coefficient for other numbers of datasets, with these seeds.

        It is stretched to the coefficient, which may lie beyond it where a component became 0.

        References
        ----------
        McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation
        coefficients. Psychological Methods 1, 30–46. ICC(C,1) and ICC(C,k).
        """
        tail = (1 - confidence_level) / 2
        df = self.freedom["model"], self.freedom["model x dataset"]
        quantiles = special.fdtri(*df, 1 - tail), special.fdtri(*df, tail)
        gains = [
            max(self.ratio / quantile - 1, 0.0) / self.datasets * datasets for quantile in quantiles
        ]
        low, high = (1.0 if np.isinf(gain) else float(gain / (1 + gain)) for gain in gains)
        estimate, _ = self.generalize(datasets, self.seeds)
        return min(low, estimate), max(high, estimate)


def measure_components(matrix: ScoreMatrix) -> Components | None:
    """Variance components by the analysis of variance of the cells' means.

    Parameters
    ----------
    matrix : ScoreMatrix
        Without empty cells.

    Returns
    -------
    Components or None
        None with fewer than two models or datasets.

    Notes
    -----
    Expected mean squares of the random two-way layout; negative components become 0. With unequal
    numbers of runs the harmonic mean stands for them.

    References
    ----------
    Searle, S. R., Casella, G. and McCulloch, C. E. (1992). Variance Components. Wiley. Chapter 4.
    """
    n_models, n_datasets = matrix.means.shape
    if min(n_models, n_datasets) < 2:
        return None
    means, counts = matrix.means, matrix.counts
    rows, columns = (means.mean(axis=axis, keepdims=True) - means.mean() for axis in (1, 0))
    rest = means - means.mean() - rows - columns
    freedom = {
        "model": n_models - 1.0,
        "dataset": n_datasets - 1.0,
        "model x dataset": (n_models - 1.0) * (n_datasets - 1.0),
        "run": float((counts - 1).sum()),
    }
    size = NEGLIGIBLE * float((means**2).max())
    square = {
        "model": n_datasets * float((rows**2).sum()) / freedom["model"],
        "dataset": n_models * float((columns**2).sum()) / freedom["dataset"],
        "model x dataset": float((rest**2).sum()) / freedom["model x dataset"],
    }
    square = {name: 0.0 if value <= size else value for name, value in square.items()}
    run = np.nan
    if freedom["run"] > 0:
        run = float(np.nansum(matrix.variances * (counts - 1))) / freedom["run"]
    seeds = round(1 / float((1 / counts).mean()), 9)
    between = square["model x dataset"]
    return Components(
        models=n_models,
        datasets=n_datasets,
        seeds=seeds,
        model=max(square["model"] - between, 0) / n_datasets,
        dataset=max(square["dataset"] - between, 0) / n_models,
        interaction=max(between - (0 if np.isnan(run) else run / seeds), 0),
        run=run,
        ratio=_divide(square["model"], between),
        freedom=freedom,
    )


def count_effective(means: FloatArray) -> tuple[float, float]:
    """How many independent datasets would separate models in as many ways.

    Parameters
    ----------
    means : numpy.ndarray, shape (models, datasets)
        Mean scores.

    Returns
    -------
    effective, independent : float
        The participation ratio of the eigenvalues of the datasets' correlation matrix, from 1 to
        the number of datasets, and about what it would be for independent datasets and as many
        models. NaN for fewer than two models or datasets, or where scores are additive.

    Notes
    -----
    The means of models and datasets are taken off, so the correlations are of what a dataset adds
    to the order, and not of how good models are everywhere. For n models and D independent datasets
    squared correlations average about 1 / (n − 1) + 1 / (D − 1)².

    References
    ----------
    Bretherton, C. S. et al. (1999). The effective number of spatial degrees of freedom of a
    time-varying field. Journal of Climate 12, 1990–2009.
    """
    if min(means.shape) < 2:
        return np.nan, np.nan
    apart = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
    lengths = np.sqrt((apart**2).sum(axis=0))
    differs = lengths > NEGLIGIBLE * np.abs(means).max(initial=1)
    n = int(differs.sum())
    if n < 2:
        return np.nan, np.nan
    directions = apart[:, differs] / lengths[differs]
    small = directions.T @ directions if n <= len(means) else directions @ directions.T
    independent = n / (1 + (n - 1) / (len(means) - 1) + 1 / (n - 1))
    return n**2 / float((small**2).sum()), independent


def _divide(one: float, other: float) -> float:
    if other > 0:
        return one / other
    return np.inf if one > 0 else 0.0


def assess_reliability(runs: pd.DataFrame, *, confidence_level: float) -> dict[str, pd.DataFrame]:
    """Say how reliable the order of the models is, and how many datasets it needs.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    confidence_level : float
        Of intervals, between 0 and 1.

    Returns
    -------
    dict
        The tables ``variance_components``, ``generalizability`` and ``effective_datasets``. The
        first two are empty with fewer than two models, or datasets that all models have. The first
        row of the second is the study as it is.
    """
    every = arrange_runs(runs)
    matrix = every.choose_datasets(every.is_filled.all(axis=0))
    effective = (len(matrix.datasets), len(matrix.models), *count_effective(matrix.means))
    tables = {
        "variance_components": pd.DataFrame(columns=COMPONENTS),
        "generalizability": pd.DataFrame(columns=COEFFICIENTS),
        "effective_datasets": pd.DataFrame(
            [(*effective, count_unused(every, matrix))], columns=EFFECTIVE
        ),
    }
    found = measure_components(matrix)
    if found is None:
        return tables
    variances = [found.model, found.dataset, found.interaction, found.run]
    total = float(np.nansum(variances))
    tables["variance_components"] = pd.DataFrame(
        {
            "component": list(found.freedom),
            "variance": variances,
            "share": np.array(variances) / total if total > 0 else np.nan,
            "df": list(found.freedom.values()),
        }
    )
    own = found.datasets, found.seeds
    # Single runs do not show what more of them would bring.
    numbers = {own[1]} if np.isnan(found.run) else {own[1], *SEEDS}
    grid = [(datasets, seeds) for seeds in sorted(numbers) for datasets in DATASETS]
    rows = []
    for datasets, seeds in [own, *(pair for pair in grid if pair != own)]:
        relative, absolute = found.generalize(datasets, seeds)
        ends = (np.nan, np.nan)
        if seeds == found.seeds:
            ends = found.bound(datasets, confidence_level=confidence_level)
        rows.append((datasets, seeds, relative, *ends, absolute))
    tables["generalizability"] = pd.DataFrame(rows, columns=COEFFICIENTS)
    return tables


def assess_benchmark(
    runs: pd.DataFrame, *, confidence_level: float, seed: int, study: str
) -> dict[str, pd.DataFrame]:
    """Say how reliable the order is, and which datasets order models alike.

    Parameters
    ----------
    runs, confidence_level
        As in `assess_reliability`.
    seed : int
        As in the setting `bootstrap`.
    study : str
        Name of the study, part of the names of its random streams.

    Returns
    -------
    dict
        The tables of `assess_reliability`, and ``dataset_clusters``.
    """
    return {
        **assess_reliability(runs, confidence_level=confidence_level),
        "dataset_clusters": cluster_datasets(
            arrange_runs(runs),
            confidence_level=confidence_level,
            rng=make_stream(seed, study, "reliability", "clusters"),
        ),
    }
