"""How reliable a ranking by mean scores is: variance components, and what datasets add to it."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from capmap.analyses.declarations import Analysis, Step, Table
from capmap.comparison.score_matrix import ScoreMatrix, arrange_runs, count_unused
from capmap.ranking.aggregation import FloatArray

COMPONENTS = ["component", "variance", "share"]
COEFFICIENTS = ["datasets", "seeds", "relative", "ci_low", "ci_high"]
EFFECTIVE = ["datasets", "models", "effective", "effective_independent", "cells_unused"]
NEGLIGIBLE = 1e-12
RELIABLE = 0.9


def measure_components(matrix: ScoreMatrix) -> tuple[pd.DataFrame, float, float]:
    """Variance components by the analysis of variance of the cells' means.

    Parameters
    ----------
    matrix : ScoreMatrix
        Without empty cells, of two models and datasets or more.

    Returns
    -------
    components : pandas.DataFrame
        The columns of `COMPONENTS`: variances between models, between datasets, of cells beyond
        both, and between runs within cells. The last is NaN where no cell has two runs; that of
        cells then has both.
    seeds : float
        Harmonic mean of the numbers of runs per cell.
    ratio : float
        Mean square of models over that of cells; infinite where only the latter is 0.

    Notes
    -----
    Expected mean squares of the random two-way layout; negative components become 0. With unequal
    numbers of runs the harmonic mean stands for them.

    References
    ----------
    Searle, S. R., Casella, G. and McCulloch, C. E. (1992). Variance Components. Wiley. Chapter 4.
    """
    n_models, n_datasets = matrix.means.shape
    means, counts = matrix.means, matrix.counts
    rows, columns = (means.mean(axis=axis, keepdims=True) - means.mean() for axis in (1, 0))
    rest = means - means.mean() - rows - columns
    squares = [
        n_datasets * float((rows**2).sum()) / (n_models - 1),
        n_models * float((columns**2).sum()) / (n_datasets - 1),
        float((rest**2).sum()) / ((n_models - 1) * (n_datasets - 1)),
    ]
    size = NEGLIGIBLE * float((means**2).max())
    model, dataset, cell = (0.0 if value <= size else value for value in squares)
    freedom, run = int((counts - 1).sum()), np.nan
    if freedom > 0:
        run = float(np.nansum(matrix.variances * (counts - 1))) / freedom
    seeds = round(1 / float((1 / counts).mean()), 9)
    variances = {
        "model": max(model - cell, 0) / n_datasets,
        "dataset": max(dataset - cell, 0) / n_models,
        "model x dataset": max(cell - (0 if np.isnan(run) else run / seeds), 0),
        "run": run,
    }
    table = pd.DataFrame({"component": list(variances), "variance": list(variances.values())})
    total = float(table["variance"].sum())
    table["share"] = table["variance"] / total if total > 0 else np.nan
    return table, seeds, _divide(model, cell)


def bound_coefficient(
    ratio: float, shape: tuple[int, int], *, confidence_level: float
) -> tuple[float, float]:
    """Interval of the coefficient of means over datasets, from the ratio of mean squares.

    References
    ----------
    McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation
    coefficients. Psychological Methods 1, 30–46. ICC(C,k).
    """
    n_models, n_datasets = shape
    tail = (1 - confidence_level) / 2
    df = n_models - 1, (n_models - 1) * (n_datasets - 1)
    quantiles = special.fdtri(*df, 1 - tail), special.fdtri(*df, tail)
    gains = [max(ratio / quantile - 1, 0.0) for quantile in quantiles]
    low, high = (1.0 if np.isinf(gain) else float(gain / (1 + gain)) for gain in gains)
    return low, high


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
    """Say how reliable the order of the models is.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    confidence_level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    dict
        The tables ``variance_components``, ``generalizability`` and ``effective_datasets``. The
        first two are empty with fewer than two models, or datasets that all models have. The second
        has the study as it is, and the fewest datasets with which 0.9 is expected.

    Notes
    -----
    The coefficient is that of relative decisions (Brennan 2001, equation 1.13). Its interval is
    stretched to it where a component became 0.
    """
    every = arrange_runs(runs)
    matrix = every.choose_datasets(every.is_filled.all(axis=0))
    shape = len(matrix.models), len(matrix.datasets)
    effective = (*shape[::-1], *count_effective(matrix.means), count_unused(every, matrix))
    tables = {
        "variance_components": pd.DataFrame(columns=COMPONENTS),
        "generalizability": pd.DataFrame(columns=COEFFICIENTS),
        "effective_datasets": pd.DataFrame([effective], columns=EFFECTIVE),
    }
    if min(shape) < 2:
        return tables
    tables["variance_components"], seeds, ratio = measure_components(matrix)
    model, _, cell, run = tables["variance_components"]["variance"]
    noise = (cell + (0.0 if np.isnan(run) else run / seeds)) / shape[1]
    relative = float(model / (model + noise)) if model else 0.0
    low, high = bound_coefficient(ratio, shape, confidence_level=confidence_level)
    rows = [(shape[1], seeds, relative, min(low, relative), max(high, relative))]
    if 0 < relative < RELIABLE and low > 0:
        # The formula of Spearman and Brown.
        needed = math.ceil(round(RELIABLE / (1 - RELIABLE) * noise / model * shape[1], 6))
        expected = float(model / (model + noise * shape[1] / needed))
        rows.append((needed, seeds, expected, np.nan, np.nan))
    tables["generalizability"] = pd.DataFrame(rows, columns=COEFFICIENTS)
    return tables


def find_facts(generalizability: pd.DataFrame, effective_datasets: pd.DataFrame) -> dict[str, Any]:
    """The coefficient with its interval, the number of datasets needed, and the effective one."""
    columns = ["relative", "ci_low", "ci_high", "datasets"]
    return {
        "coefficients": generalizability[columns].to_numpy().tolist(),
        "effective": next(iter(effective_datasets["effective"]), math.nan),
    }


ANALYSIS = Analysis(
    question="How reliable is the order, and how many datasets does it need?",
    position=90,
    tables={
        "variance_components": Table(
            "Variance of normalized scores between models, datasets, cells and runs within cells; "
            "without repeated runs, that of cells includes that of runs.",
            "component variance share",
            text="component",
        ),
        "generalizability": Table(
            "Generalizability coefficient of means over datasets, and the datasets needed for 0.9.",
            "datasets seeds relative ci_low ci_high",
        ),
        "effective_datasets": Table(
            "Effective number of datasets beyond models' levels, and that of independent ones.",
            "datasets models effective effective_independent cells_unused",
        ),
    },
    steps={
        "assess_reliability": Step(
            assess_reliability,
            tables=["variance_components", "generalizability", "effective_datasets"],
            reads=["runs"],
            options={"confidence_level": "bootstrap/confidence"},
        )
    },
    find_facts=find_facts,
    meanings={
        "effective": "Effective number of datasets, by what they say beyond overall levels.",
        "effective_independent": "What that number would be if datasets were independent.",
        "relative": "Generalizability of the order of the models, 0 to 1.",
        "variance": "Variance of normalized scores.",
        "effective_datasets.models": "Number of models that have all of them.",
        "variance_components.component": "Where the variance comes from.",
        "variance_components.share": "Share of the whole variance, 0 to 1.",
    },
)
