"""From runs to cells, from cells to one number per model, and from numbers to ranks.

Everything here works on groups of unequal size, so ragged seeds and missing cells need no filler
values: a cell without runs simply does not exist.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import unpack_columns
from capmap.settings.choices import Direction

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

TRIMMED = 0.25
SIGNIFICANT_DIGITS = 12
LARGEST_EXPONENT = 290


@dataclass(frozen=True)
class Groups:
    """Numbers in consecutive groups, ascending within each.

    Parameters
    ----------
    numbers : numpy.ndarray, shape (numbers,)
        The numbers, group after group.
    starts : numpy.ndarray of int, shape (groups,)
        Where each group begins.
    sizes : numpy.ndarray of int, shape (groups,)
        How many numbers each group has, at least one.
    """

    numbers: FloatArray
    starts: IntArray
    sizes: IntArray


def group_values(values: npt.ArrayLike, codes: npt.ArrayLike) -> Groups:
    """Gather numbers into groups.

    Parameters
    ----------
    values : array_like, shape (numbers,)
        Finite numbers.
    codes : array_like of int, shape (numbers,)
        The group of each number: 0, 1, … without a gap.

    Returns
    -------
    Groups
        The groups by code; the order of the numbers given has no influence.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.

    Examples
    --------
    >>> group_values([3.0, 1.0, 2.0], [1, 0, 1]).numbers.tolist()
    [1.0, 2.0, 3.0]
    """
    numbers, groups = require_finite(values), np.asarray(codes, dtype=np.intp)
    sizes = np.bincount(groups)
    ascending = numbers[np.lexsort((numbers, groups))]
    return Groups(numbers=ascending, starts=np.cumsum(sizes) - sizes, sizes=sizes)


def require_finite(values: npt.ArrayLike) -> FloatArray:
    """Take numbers as an array of floats, or raise ValueError if one is NaN or infinite."""
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("Scores must be finite numbers; drop or replace NaN and infinity before.")
    return numbers


def group_means(groups: Groups) -> FloatArray:
    """Mean of each group.

    Notes
    -----
    Distances to the group's lowest value are averaged, so equal numbers have exactly their value as
    mean and a deviation of exactly zero.
    """
    lowest = groups.numbers[groups.starts]
    above = groups.numbers - np.repeat(lowest, groups.sizes)
    return lowest + np.add.reduceat(above, groups.starts) / groups.sizes


def group_standard_deviations(groups: Groups) -> FloatArray:
    """Sample standard deviation of each group (n − 1 in the denominator); NaN where n is 1."""
    apart = groups.numbers - np.repeat(group_means(groups), groups.sizes)
    squares = np.add.reduceat(apart**2, groups.starts)
    is_single = groups.sizes == 1
    return np.where(is_single, np.nan, np.sqrt(squares / np.where(is_single, 1, groups.sizes - 1)))


def summarize_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Summarize the runs of each model on each dataset.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per run.

    Returns
    -------
    pandas.DataFrame
        A row per cell that has runs, ordered by model and dataset: ``model``, ``dataset``, ``n``,
        ``mean``, ``std`` and ``sem``, which are NaN for a single run but for the mean.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.
    """
    cells = runs.groupby(["model", "dataset"], observed=True, sort=True)
    names = unpack_columns(cells.size().index.to_frame(index=False))
    groups = group_values(runs["score"], cells.ngroup())
    std = group_standard_deviations(groups)
    return names.assign(
        n=groups.sizes,
        mean=group_means(groups),
        std=std,
        sem=std / np.sqrt(groups.sizes),
    )


def unstack_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Cell means as a matrix of models × datasets.

    Parameters
    ----------
    cells : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``mean``, as `summarize_cells` returns them.

    Returns
    -------
    pandas.DataFrame
        ``model``, then a column per dataset, both by name; NaN where a cell has no runs.
    """
    table = cells.pivot_table(index="model", columns="dataset", values="mean", observed=True)
    matrix = pd.DataFrame(table.to_numpy(), columns=table.columns.astype(object))
    matrix.insert(0, "model", table.index.astype(object), allow_duplicates=True)
    return matrix


def rank_competitors(values: npt.ArrayLike, *, best: Direction = "max") -> IntArray:
    """Competition ranks (1, 2, 2, 4) along the last axis.

    Parameters
    ----------
    values : array_like, shape (..., competitors)
        Finite numbers.
    best : {"max", "min"}, optional
        Which end has rank 1.

    Returns
    -------
    numpy.ndarray of int, shape (..., competitors)
        One more than the number of competitors that are better.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.

    Notes
    -----
    Numbers are compared after rounding to 12 significant digits, so that floating-point noise makes
    no order.

    Examples
    --------
    >>> rank_competitors([0.3, 0.5, 0.1 + 0.2, 0.1]).tolist()
    [2, 1, 2, 4]
    """
    numbers = round_significant(require_finite(values))
    keys = -numbers if best == "max" else numbers
    order = np.argsort(keys, axis=-1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=-1)
    is_first = np.ones(ordered.shape, dtype=bool)
    is_first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    places = np.where(is_first, np.arange(1, ordered.shape[-1] + 1), 1)
    ranks = np.empty(ordered.shape, dtype=np.intp)
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=-1), axis=-1)
    return ranks


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
