"""Wilcoxon's signed-rank test for many pairs of models at once, and Holm's correction.

Differences are rounded to their decade, so that floating-point noise makes no order.
"""

from functools import cache

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from capmap.ranking.aggregation import FloatArray, IntArray

SMALLEST_DECADE, LARGEST_DECADE = -280, 300
POWERS = np.array([float(f"1e{power}") for power in range(309)])

LARGEST_TABLE = 50
LARGEST_ENUMERATION = 13


def find_decades(sizes: FloatArray) -> IntArray:
    """Smallest power of ten that each size does not exceed.

    Parameters
    ----------
    sizes : numpy.ndarray
        0 or more.

    Returns
    -------
    numpy.ndarray of int
        From -280, which is also that of 0, to 300.

    Examples
    --------
    >>> find_decades(np.array([0.1, 0.5, 1.0, 20.0])).tolist()
    [-1, 0, 0, 2]
    """
    powers = np.full(sizes.shape, float(SMALLEST_DECADE))
    np.log10(sizes, out=powers, where=sizes > 0)
    clipped = np.clip(np.ceil(powers), SMALLEST_DECADE, LARGEST_DECADE)
    return np.asarray(clipped, dtype=np.intp)


def round_decimals(values: FloatArray, decimals: IntArray) -> FloatArray:
    """Round each value to its own number of decimals, from -288 to 292.

    Examples
    --------
    >>> round_decimals(np.array([0.126, 126.0]), np.array([2, -1])).tolist()
    [0.13, 130.0]
    """
    up, down = (POWERS[np.maximum(side, 0)] for side in (decimals, -decimals))
    return np.asarray(np.round(values / down * up) / up * down)


def compute_wilcoxon(differences: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two-sided signed-rank test of each row of differences.

    Parameters
    ----------
    differences : array_like, shape (pairs, datasets)
        Score of the first model less that of the second; NaN where one of them has no runs.
        Differences that differ by floating-point noise only must have been rounded.

    Returns
    -------
    p : numpy.ndarray, shape (pairs,)
        Two-sided p-values; 1 where all differences are zero, NaN where there is none.
    effect_size : numpy.ndarray, shape (pairs,)
        Matched-pairs rank-biserial correlation, from −1 to 1 and positive where the first model is
        better: the share of the rank sum in favor less the share against. 0 where all differences
        are zero, NaN where there is none.

    Notes
    -----
    Zero differences are dropped (Wilcoxon's rule), and equal sizes share their average rank. Of
    those that are left, p is exact for up to 50 without ties, and exact over all signs for up to 13
    with them; otherwise it is the normal approximation, corrected for ties and not for continuity.
    `scipy.stats.wilcoxon` counts zeros too before it chooses, so that five wins among fifteen ties
    have p = 0.043 there, below the least possible one, 0.0625.

    References
    ----------
    Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1, 80–83.
    Kerby, D. S. (2014). The simple difference formula. Comprehensive Psychology 3, 11.IT.3.1.

    Examples
    --------
    >>> p, effect_size = compute_wilcoxon([[0.1, 0.2, 0.3, -0.05]])
    >>> p.tolist(), effect_size.tolist()
    ([0.25], [0.8])
    """
    apart = np.asarray(differences, dtype=np.float64)
    if apart.size == 0:
        return np.full(len(apart), np.nan), np.full(len(apart), np.nan)
    is_shared = ~np.isnan(apart)
    is_used = is_shared & (apart != 0)
    sizes = np.where(is_used, np.abs(apart), np.inf)
    table = pd.DataFrame(sizes)
    first, last = table.rank(axis=1, method="min"), table.rank(axis=1, method="max")
    doubled = np.where(is_used, first + last, 0).astype(np.intp)
    ties = np.where(is_used, (last - first + 1.0) ** 2 - 1, 0).sum(axis=-1)
    n, used = is_shared.sum(axis=-1), is_used.sum(axis=-1)
    favor, total = np.where(apart > 0, doubled, 0).sum(axis=-1), doubled.sum(axis=-1)
    lower = np.minimum(favor, total - favor)

    p = np.where(n > 0, 1.0, np.nan)
    in_table = (ties == 0) & (used > 0) & (used <= LARGEST_TABLE)
    is_listed = (ties > 0) & (used <= LARGEST_ENUMERATION)
    is_rest = (used > 0) & ~in_table & ~is_listed
    for size in np.unique(used[in_table]).tolist():
        rows = in_table & (used == size)
        p[rows] = 2 * _tabulate_sums(size)[lower[rows]]
    p[is_listed] = 2 * _enumerate_signs(doubled[is_listed], lower[is_listed])
    p[is_rest] = _approximate(lower[is_rest] / 2, used[is_rest], ties[is_rest])
    effects = np.divide(2 * favor - total, total, out=np.zeros(len(n)), where=total > 0)
    return np.minimum(p, 1), np.where(n > 0, effects, np.nan)


def correct_holm(p: npt.ArrayLike) -> FloatArray:
    """Correct p-values for their number by Holm's step-down method.

    Parameters
    ----------
    p : array_like, shape (tests,)
        Uncorrected p-values; NaN is no test and stays.

    Returns
    -------
    numpy.ndarray, shape (tests,)
        Corrected p-values, at most 1 and in the order of the uncorrected ones.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal
    of Statistics 6, 65–70.

    Examples
    --------
    >>> correct_holm([0.04, 0.01, np.nan, 0.03]).tolist()
    [0.06, 0.03, nan, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(len(values), np.nan)
    tests = np.flatnonzero(~np.isnan(values))
    order = tests[np.argsort(values[tests], kind="stable")]
    scaled = values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected


@cache
def _tabulate_sums(n: int) -> FloatArray:
    """Null distribution function of the sum of the positive ranks of 1 to n, by doubled sums."""
    return np.cumsum(_null_distribution(2 * np.arange(1, n + 1)[None, :])[0])


def _enumerate_signs(doubled: IntArray, lower: IntArray) -> FloatArray:
    chances = _null_distribution(doubled)
    reached = np.arange(chances.shape[1]) <= lower[:, None]
    return np.asarray(np.where(reached, chances, 0).sum(axis=-1))


def _null_distribution(doubled: IntArray) -> FloatArray:
    """Null distribution of the sums of doubled ranks (rows: tests), all signs equally likely."""
    sums = np.arange(int(doubled.sum(axis=-1).max(initial=0)) + 1)
    chances = np.zeros((len(doubled), len(sums)))
    chances[:, 0] = 1
    for ranks in doubled.T:
        without = sums - ranks[:, None]
        moved = np.take_along_axis(chances, np.maximum(without, 0), axis=1)
        chances = (chances + np.where(without >= 0, moved, 0)) / 2
    return chances


def _approximate(rank_sum: FloatArray, used: IntArray, ties: FloatArray) -> FloatArray:
    mean = used * (used + 1) / 4
    spread = np.sqrt((used * (used + 1.0) * (2 * used + 1) - ties / 2) / 24)
    return np.asarray(2 * scipy.special.ndtr(-np.abs(rank_sum - mean) / spread))
