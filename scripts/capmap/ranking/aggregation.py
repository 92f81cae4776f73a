"""From runs to cells and matrices of them, and from numbers to ranks.

Everything here works on groups of unequal size, so ragged seeds and missing cells need no filler
values: a cell without runs simply does not exist.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import unpack_columns
from capmap.settings.choices import Direction

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

TRIMMED = 0.25
SIGNIFICANT_DIGITS = 12
LARGEST_EXPONENT = 290
ROUNDING = 1e-13


def require_finite(values: npt.ArrayLike) -> FloatArray:
    """Take numbers as an array of floats, or raise ValueError if one is NaN or infinite."""
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("Scores must be finite numbers; drop or replace NaN and infinity before.")
    return numbers


def summarize_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Summarize the runs of each model on each dataset, ordered by both.

    ``std`` and ``sem`` are NaN for a single run. A score that is NaN or infinite raises ValueError.

    Distances to a cell's lowest score are averaged, so equal scores have exactly their value as
    mean and a deviation of exactly zero.
    """
    cells = runs.groupby(["model", "dataset"], observed=True, sort=True)
    names = unpack_columns(cells.size().index.to_frame(index=False))
    numbers, codes = require_finite(runs["score"]), cells.ngroup().to_numpy(dtype=np.intp)
    ordered = numbers[np.lexsort((numbers, codes))]
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    lowest = ordered[starts]
    above = ordered - np.repeat(lowest, sizes)
    mean = lowest + np.add.reduceat(above, starts) / sizes
    squares = np.add.reduceat((ordered - np.repeat(mean, sizes)) ** 2, starts)
    std = np.sqrt(squares / np.where(sizes > 1, sizes - 1.0, np.nan))
    return names.assign(n=sizes, mean=mean, std=std, sem=std / np.sqrt(sizes))


def unstack_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Cell means as a matrix of models × datasets, both by name; NaN where a cell has no runs."""
    table = cells.pivot_table(index="model", columns="dataset", values="mean", observed=True)
    matrix = pd.DataFrame(table.to_numpy(), columns=table.columns.astype(object))
    matrix.insert(0, "model", table.index.astype(object), allow_duplicates=True)
    return matrix


def rank_competitors(values: npt.ArrayLike, *, best: Direction = "max") -> IntArray:
    """Competition ranks (1, 2, 2, 4) of finite numbers.

    Numbers are compared after rounding to 12 significant digits, so that floating-point noise makes
    no order.

    Examples
    --------
    >>> rank_competitors([0.3, 0.5, 0.1 + 0.2, 0.1]).tolist()
    [2, 1, 2, 4]
    """
    numbers = round_significant(require_finite(values))
    ranks = pd.Series(numbers).rank(method="min", ascending=best == "min")
    return np.asarray(ranks, dtype=np.intp)


def compute_kendall_tau(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Kendall's tau-b of two rankings; NaN where all models are equal in one of them.

    Examples
    --------
    >>> round(compute_kendall_tau([1, 2, 3], [1, 3, 2]), 3)
    0.333
    """
    first, second = (np.sign(np.subtract.outer(side, side)) for side in (one, other))
    spread = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / spread if spread else np.nan


def compute_spearman_rho(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Spearman's rho of two rankings; NaN where all models are equal in one of them.

    Examples
    --------
    >>> compute_spearman_rho([1, 2, 3], [1, 3, 2])
    0.5
    """
    ranks = (pd.Series(np.asarray(side)).rank() for side in (one, other))
    first, second = (own - own.mean() for own in ranks)
    spread = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / spread if spread else np.nan


def round_significant(values: npt.ArrayLike) -> FloatArray:
    """Round finite numbers to 12 significant digits.

    Examples
    --------
    >>> round_significant([0.1 + 0.2, 123456789012345.0]).tolist()
    [0.3, 123456789012000.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    sizes = np.abs(numbers)
    exponents = np.floor(np.log10(sizes, out=np.zeros_like(sizes), where=sizes > 0))
    shifts = np.clip(SIGNIFICANT_DIGITS - 1 - exponents, -LARGEST_EXPONENT, LARGEST_EXPONENT)
    scales = 10.0 ** np.abs(shifts)
    fine = np.round(numbers * np.where(shifts > 0, scales, 1.0))
    coarse = np.round(numbers / scales)
    return np.asarray(np.where(shifts > 0, fine / scales, coarse * scales))


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


def arrange_runs(runs: pd.DataFrame, *, by_seed: bool = False) -> ScoreMatrix:
    """Arrange normalized runs, one at least, as a matrix of cells.

    `by_seed` keeps what each seed adds to means.
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


def bound_variance(
    means: FloatArray, counts: npt.NDArray[np.integer[Any]], resolutions: FloatArray
) -> FloatArray:
    """The least variance of runs whose scores are rounded to a unit (0 where they are not).

    It is a twelfth of the squared unit, what runs that agree to the last digit may differ by
    (Sheppard 1898). Of outcomes that are 0 or 1, it is that of a share with a success and a failure
    more (Agresti and Coull 1998).

    Examples
    --------
    >>> bound_variance(np.array([0.85, 1.0]), np.array([2, 2]), np.array([0.12, 1.0])).tolist()
    [0.0012, 0.1875]
    """
    share = (means * counts + 1) / (counts + 2)
    is_outcome = (resolutions == 1) & (share > 0) & (share < 1)
    return np.asarray(resolutions**2 * np.where(is_outcome, share * (1 - share), 1 / 12))
