"""Models × datasets with all their runs, and resamples of them, for whatever compares models."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.ranking.aggregation import FloatArray, IntArray, summarize_cells
from capmap.ranking.resampling import (
    average_datasets,
    draw_resamples,
    iterate_blocks,
    stratify_runs,
)
from capmap.ranking.standard_errors import bound_variance

BoolArray = npt.NDArray[np.bool_]
ROUNDING = 1e-13


class Pairs(NamedTuple):
    """Unordered pairs of models, by the places of the two in the list of models."""

    first: IntArray
    second: IntArray


@dataclass(frozen=True)
class ScoreMatrix:
    """What is known of each model on each dataset.

    Parameters
    ----------
    models, datasets : list of str
        By name.
    means : numpy.ndarray, shape (models, datasets)
        Mean normalized score of each cell's runs; NaN where there are none.
    counts : numpy.ndarray of int, shape (models, datasets)
        Number of runs.
    variances : numpy.ndarray, shape (models, datasets)
        Sample variance over runs (n − 1 in the denominator), no less than `bound_variance`; NaN
        with fewer than two.
    seed_parts : numpy.ndarray, shape (models, datasets, seeds), optional
        What the run of each seed adds to its cell's mean, less the average of that; 0 where there
        is none. The root of S / (S − 1) for a cell's S runs is in it, so that the squared sums
        over datasets add up to the variance of the sum of means.
    """

    models: list[str]
    datasets: list[str]
    means: FloatArray
    counts: IntArray
    variances: FloatArray
    seed_parts: FloatArray | None = None

    @property
    def is_filled(self) -> BoolArray:
        """Which cells have runs."""
        return np.asarray(self.counts > 0)

    def choose_datasets(self, chosen: npt.ArrayLike) -> "ScoreMatrix":
        """The matrix with some of its datasets, by a mask or by places in order."""
        columns = np.arange(len(self.datasets))[np.asarray(chosen)]
        return ScoreMatrix(
            models=self.models,
            datasets=[self.datasets[column] for column in columns],
            means=self.means[:, columns],
            counts=self.counts[:, columns],
            variances=self.variances[:, columns],
            seed_parts=None if self.seed_parts is None else self.seed_parts[:, columns],
        )


def arrange_runs(runs: pd.DataFrame, *, by_seed: bool = False) -> ScoreMatrix:
    """Arrange normalized runs as a matrix of cells.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per run, at least one, ``seed`` if
        `by_seed`, and ``resolution`` where it is known.
    by_seed : bool, optional
        Whether to keep what each seed adds to means.

    Returns
    -------
    ScoreMatrix
        The order of the rows has no influence.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.
    """
    cells = summarize_cells(runs)
    models, rows = np.unique(cells["model"].astype(object), return_inverse=True)
    datasets, columns = np.unique(cells["dataset"].astype(object), return_inverse=True)
    shape = (len(models), len(datasets))
    means, variances = np.full(shape, np.nan), np.full(shape, np.nan)
    counts = np.zeros(shape, dtype=np.intp)
    # What is left where runs cancel is no score: two models with a mean of 0 are equal.
    is_zero = cells["mean"].abs() <= ROUNDING * cells["std"].fillna(0)
    means[rows, columns] = cells["mean"].mask(is_zero, 0.0)
    variances[rows, columns] = cells["std"] ** 2
    counts[rows, columns] = cells["n"]
    if "resolution" in runs:
        units = runs.groupby("dataset", observed=True)["resolution"].first()[datasets].to_numpy()
        variances = np.maximum(variances, bound_variance(means, counts, units))
    matrix = ScoreMatrix(models.tolist(), datasets.tolist(), means, counts, variances)
    return replace(matrix, seed_parts=_split_seeds(runs, matrix)) if by_seed else matrix


def order_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with raw scores, where they are known, for whatever compares within datasets."""
    return runs.assign(score=runs["raw"]) if "raw" in runs else runs


def _split_seeds(runs: pd.DataFrame, matrix: ScoreMatrix) -> FloatArray:
    rows, columns = (
        np.searchsorted(np.array(known, dtype=object), runs[kind].to_numpy(dtype=object))
        for kind, known in (("model", matrix.models), ("dataset", matrix.datasets))
    )
    names, seeds = np.unique(runs["seed"].to_numpy(dtype=object), return_inverse=True)
    parts = np.zeros((*matrix.means.shape, len(names)))
    apart = runs["score"].to_numpy(dtype=np.float64) - matrix.means[rows, columns]
    n = matrix.counts[rows, columns]
    parts[rows, columns, seeds] = apart / np.sqrt(n * np.maximum(n - 1, 1))
    return parts


def list_pairs(models: int) -> Pairs:
    """List all pairs of models: those of the first one, those of the second one, and so on."""
    return Pairs(*np.triu_indices(models, k=1))


def resample_means(
    runs: pd.DataFrame,
    *,
    n_resamples: int,
    make_rng: Callable[[str], np.random.Generator],
) -> FloatArray:
    """Draw runs with replacement within each cell and average them.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``.
    n_resamples : int
        Number of resamples.
    make_rng : callable
        The random generator of a model, by its name.

    Returns
    -------
    numpy.ndarray, shape (models, datasets, n_resamples)
        Means by the names of models and datasets, as in `arrange_runs`; NaN where there are no
        runs. A cell with one run has the same mean in every resample.
    """
    datasets = sorted(runs["dataset"].unique())
    places = {dataset: place for place, dataset in enumerate(datasets)}
    models = list(runs.groupby("model", sort=True, observed=True))
    means = np.full((len(models), len(datasets), n_resamples), np.nan)
    for row, (model, own) in zip(means, models, strict=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist())
        columns = [places[dataset] for dataset in sorted(own["dataset"].unique())]
        rng = make_rng(str(model))
        for block in iterate_blocks(n_resamples, runs=len(own)):
            resamples = draw_resamples(strata, n_resamples=block.stop - block.start, rng=rng)
            row[columns, block] = average_datasets(strata, resamples)
    return means
