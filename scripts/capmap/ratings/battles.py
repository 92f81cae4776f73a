"""Battles of models on one dataset: what each model gains against all its rivals together.

A strength is fitted from two things only: who meets whom, and each model's wins minus its losses.
The latter needs no table of pairs where a sort can tell it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from capmap.aggregation import FloatArray, IntArray
from capmap.cells import BoolArray

CHUNK_CELLS = 1 << 20


def raise_bars(
    scores: npt.NDArray[np.floating[Any]], *, tie_threshold: float, noise: float
) -> FloatArray:
    """What a rival's score must exceed to beat each score.

    Parameters
    ----------
    scores : numpy.ndarray of float32 or float64
        Scores; NaN where there are none.
    tie_threshold : float
        Differences up to this one are ties, at least 0.
    noise : float
        Differences up to this one beyond the threshold are rounding noise.

    Returns
    -------
    numpy.ndarray
        Never below the scores and ascending with them; NaN where the scores are. Scores that lost
        digits as float32 have their bar higher by these.
    """
    sizes = np.abs(scores.astype(np.float64)) + tie_threshold
    return np.asarray(scores + (tie_threshold + noise) + 2 * np.finfo(scores.dtype).eps * sizes)


def compare_means(means: FloatArray, bars: FloatArray) -> FloatArray:
    """Wins minus losses of models that all meet by their means.

    Parameters
    ----------
    means, bars : numpy.ndarray, shape (models, resamples)
        Finite means, and their bars from `raise_bars`.

    Returns
    -------
    numpy.ndarray, shape (models, resamples)
        Rivals beaten less rivals lost to.

    Examples
    --------
    >>> means = np.array([[0.9], [0.5], [0.5], [0.1]])
    >>> compare_means(means, raise_bars(means, tie_threshold=0.0, noise=1e-12)).ravel().tolist()
    [3.0, 0.0, 0.0, -3.0]
    """
    n = len(means)
    keys = np.concatenate([means, bars]).T
    order = np.argsort(keys, axis=1, kind="stable")
    is_bar = order >= n
    bars_passed = np.cumsum(is_bar, axis=1)
    means_passed = np.arange(1, 2 * n + 1) - bars_passed
    gains = np.empty(keys.shape)
    np.put_along_axis(gains, order, np.where(is_bar, means_passed - n, bars_passed), axis=1)
    return np.asarray((gains[:, :n] + gains[:, n:]).T)


def compare_runs(
    scores: FloatArray, bars: FloatArray, *, sizes: IntArray, counts: npt.NDArray[Any]
) -> FloatArray:
    """Wins minus losses of models of which every run meets every run of the rivals.

    Parameters
    ----------
    scores, bars : numpy.ndarray, shape (runs,)
        Runs on the dataset, model after model, and their bars from `raise_bars`.
    sizes : numpy.ndarray of int, shape (models,)
        Number of runs of each model, at least one.
    counts : numpy.ndarray, shape (runs, resamples)
        How often each run was drawn; those of a model sum to its size.

    Returns
    -------
    numpy.ndarray, shape (models, resamples)
        Sum over rivals of the share of battles won less the share lost.

    Examples
    --------
    >>> scores = np.array([0.9, 0.3, 0.5])
    >>> bars = raise_bars(scores, tie_threshold=0.0, noise=1e-12)
    >>> compare_runs(scores, bars, sizes=np.array([1, 2]), counts=np.ones((3, 1))).ravel().tolist()
    [1.0, -1.0]
    """
    order = np.argsort(scores, kind="stable")
    ascending, lifted = scores[order], bars[order]
    shares = counts / np.repeat(sizes, sizes)[:, None]
    reached = np.zeros((len(scores) + 1, counts.shape[1]))
    np.cumsum(shares[order], axis=0, out=reached[1:])
    beaten = reached[np.searchsorted(lifted, ascending, side="left")]
    lost = reached[-1] - reached[np.searchsorted(ascending, lifted, side="right")]
    gains = np.empty_like(shares)
    gains[order] = shares[order] * (beaten - lost)
    return np.add.reduceat(gains, np.cumsum(sizes) - sizes, axis=0)


def compare_seeds(
    scores: FloatArray, bars: FloatArray, *, counts: npt.NDArray[Any]
) -> tuple[FloatArray, BoolArray]:
    """Wins minus losses of models of which runs of the same seed meet.

    Parameters
    ----------
    scores, bars : numpy.ndarray, shape (models, seeds)
        Runs on the dataset, NaN where a model lacks a seed, and their bars from `raise_bars`.
    counts : numpy.ndarray, shape (seeds, resamples)
        How often each seed was drawn.

    Returns
    -------
    gains : numpy.ndarray, shape (models, resamples)
        Sum over rivals of the share of battles won less the share lost.
    met : numpy.ndarray of bool, shape (models, models)
        Which pairs have a seed in common.

    Notes
    -----
    A pair's shares are of the drawn seeds that it has in common. Where none of them was drawn, each
    counts once.
    """
    n, seeds = scores.shape
    beats = (scores[:, None] > bars[None]).astype(np.float64)
    won = (beats - beats.transpose(1, 0, 2)).reshape(n * n, seeds)
    is_filled = ~np.isnan(scores)
    shared = (is_filled[:, None] & is_filled[None]).reshape(n * n, seeds).astype(np.float64)
    usual = won.sum(axis=1) / np.maximum(shared.sum(axis=1), 1)
    gains = np.empty((n, counts.shape[1]))
    step = max(CHUNK_CELLS // (n * n), 1)
    for first in range(0, counts.shape[1], step):
        drawn = counts[:, first : first + step].astype(np.float64)
        battles = shared @ drawn
        shares = (won @ drawn) / np.maximum(battles, 1)
        shares = np.where(battles > 0, shares, usual[:, None])
        gains[:, first : first + step] = shares.reshape(n, n, -1).sum(axis=1)
    met = shared.any(axis=1).reshape(n, n)
    np.fill_diagonal(met, False)
    return gains, met
