"""Rank correlations of many pairs of rankings at once."""

import numpy as np
import pandas as pd

from capmap.ranking.aggregation import FloatArray, IntArray


def compute_kendall_tau(ranks: IntArray, others: IntArray) -> FloatArray:
    """Kendall's tau-b of many pairs of rankings at once.

    Parameters
    ----------
    ranks, others : numpy.ndarray of int, shape (models, resamples)
        Competition ranks, or any numbers with their order.

    Returns
    -------
    numpy.ndarray, shape (resamples,)
        From -1 to 1; NaN where all models are equal in one of the rankings.

    Examples
    --------
    >>> compute_kendall_tau(np.array([[1], [2], [3]]), np.array([[1], [3], [2]])).round(3).tolist()
    [0.333]
    """
    agreed, apart, apart_other = np.zeros((3, ranks.shape[1]), dtype=np.int64)
    for place in range(len(ranks) - 1):
        order = _compare_signs(ranks, place)
        order_other = _compare_signs(others, place)
        agreed += (order * order_other).sum(axis=0, dtype=np.int64)
        apart += np.count_nonzero(order, axis=0)
        apart_other += np.count_nonzero(order_other, axis=0)
    return _divide(agreed, np.sqrt(apart * apart_other))


def compute_spearman_rho(ranks: IntArray, others: IntArray) -> FloatArray:
    """Spearman's rho of many pairs of rankings at once.

    Parameters
    ----------
    ranks, others : numpy.ndarray of int, shape (models, resamples)
        Competition ranks.

    Returns
    -------
    numpy.ndarray, shape (resamples,)
        From -1 to 1; NaN where all models are equal in one of the rankings.

    Examples
    --------
    >>> compute_spearman_rho(np.array([[1], [2], [3]]), np.array([[1], [3], [2]])).tolist()
    [0.5]
    """
    first, second = (_center_ranks(side) for side in (ranks, others))
    spread = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    return _divide((first * second).sum(axis=0), spread)


def _compare_signs(ranks: IntArray, place: int) -> IntArray:
    """Order of one model and each later one: -1, 0 or 1."""
    return np.asarray(np.sign(ranks[place] - ranks[place + 1 :]))


def _center_ranks(ranks: IntArray) -> FloatArray:
    return pd.DataFrame(ranks).rank(axis=0).to_numpy(np.float64) - (len(ranks) + 1) / 2


def _divide(numbers: FloatArray | IntArray, by: FloatArray) -> FloatArray:
    quotients = np.full(len(by), np.nan)
    np.divide(numbers, by, out=quotients, where=by > 0)
    return quotients
