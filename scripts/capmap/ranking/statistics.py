"""The statistics of a model, computed for many resamples at once from counts.

All sums are taken of distances to a run in the middle, so equal runs give exactly their value, and
an outlier that is trimmed away leaves no trace of rounding.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from capmap.ranking.aggregation import TRIMMED, FloatArray, IntArray
from capmap.ranking.resampling import Resamples, Strata
from capmap.settings.choices import Direction, Statistic

OPTIMUM = 1.0


def evaluate_statistic(statistic: Statistic, strata: Strata, resamples: Resamples) -> FloatArray:
    """Compute a statistic of each resample.

    Parameters
    ----------
    statistic : {"iqm", "mean", "trimmed_mean", "median", "optimality_gap"}
        ``iqm``: 25% trimmed mean of the weighted runs of all datasets. ``mean``: their weighted
        mean, under equal weights of datasets the mean of dataset means. ``trimmed_mean``: 25%
        trimmed mean of dataset means, and ``median``: their median. ``optimality_gap``: weighted
        mean of ``max(1 − score, 0)``; lower is better.
    strata : Strata
        A model's runs.
    resamples : Resamples
        How often each run was drawn.

    Returns
    -------
    numpy.ndarray, shape (resamples,)
        The statistic of each resample.

    Notes
    -----
    The interquartile mean cuts `Strata.trimmed` of the total weight from each tail and splits the
    run at the cut. Where whole runs of equal weights are cut, this is `scipy.stats.trim_mean` of
    the flat array.

    References
    ----------
    Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical
    precipice. NeurIPS 34.
    """
    return STATISTICS[statistic].evaluate(strata, resamples)


def evaluate_runs(statistic: Statistic, strata: Strata) -> float:
    """Compute a statistic of the runs themselves."""
    return float(evaluate_statistic(statistic, strata, original_sample(strata))[0])


def original_sample(strata: Strata) -> Resamples:
    """The sample as it is: the resample that holds every run once."""
    n = len(strata.scores)
    return Resamples(counts=np.ones((n, 1)), total=float(n))


def average_datasets(strata: Strata, resamples: Resamples) -> FloatArray:
    """Mean of each dataset's drawn runs.

    Parameters
    ----------
    strata : Strata
        A model's runs.
    resamples : Resamples
        How often each run was drawn.

    Returns
    -------
    numpy.ndarray, shape (datasets, resamples)
        Datasets by name; the lowest run of a dataset where none was drawn.
    """
    means = np.empty((len(strata.draws), resamples.counts.shape[1]))
    first = 0
    for part in strata.parts:
        last = first + part.scores.size
        counts = resamples.counts[first:last].reshape(*part.scores.shape, -1)
        drawn = np.maximum(counts.sum(axis=0, dtype=np.float64), 1)
        above = np.zeros(counts.shape[1:])
        for count, distance in zip(counts[1:], part.scores[1:] - part.scores[0], strict=True):
            above += count * distance[:, None]
        means[part.datasets] = part.scores[0][:, None] + above / drawn
        first = last
    return means


def trim_means(
    values: FloatArray,
    counts: npt.NDArray[Any],
    *,
    order: IntArray,
    weights: FloatArray,
    cut: float | FloatArray,
    kept: float | FloatArray,
) -> FloatArray:
    """Trimmed means of resamples of sorted runs.

    Parameters
    ----------
    values : numpy.ndarray, shape (runs,) or (runs, samples)
        Scores, ascending down each column.
    counts : numpy.ndarray, shape (runs, resamples) or (runs, samples, resamples)
        How often each run was drawn.
    order : numpy.ndarray of int, shape (runs,)
        The row of counts of each sorted run.
    weights : numpy.ndarray, shape (runs,)
        Weight of each sorted run, the same for all samples.
    cut : float or numpy.ndarray, shape (resamples,)
        Weight that is cut from each tail.
    kept : float or numpy.ndarray, shape (resamples,)
        Weight that is left.

    Returns
    -------
    numpy.ndarray, shape (resamples,) or (samples, resamples)
        The trimmed means.

    Notes
    -----
    With the kept weight at or below the k-th run, ``K_k = clip(C_k − cut, 0, kept)`` where ``C_k``
    is the cumulated weight, summation by parts turns the mean into the middle run's value, minus
    the sum of ``K_k`` times the gap above run k over the runs below it, plus its mirror image over
    the runs above. Each run then costs a few operations on contiguous rows.
    """
    middle = len(values) // 2
    moved = [
        _sum_moves(values[side], counts, order[side], weights=weights[side], cut=cut, kept=kept)
        for side in (np.arange(middle + 1), np.arange(len(values) - 1, middle - 1, -1))
    ]
    return np.asarray(values[middle])[..., None] - sum(moved) / kept


def _sum_moves(
    values: FloatArray,
    counts: npt.NDArray[Any],
    order: IntArray,
    *,
    weights: FloatArray,
    cut: float | FloatArray,
    kept: float | FloatArray,
) -> FloatArray:
    """Move the kept weight run by run from a tail to the middle: sum of weight times distance."""
    shape, steps = counts.shape[1:], np.diff(values, axis=0)[..., None]
    # Full arrays, because NumPy compares an array with an array far faster than with a number.
    nothing, everything = np.zeros(shape), np.zeros(shape) + kept
    beyond, moved = nothing - cut, np.zeros(shape)
    drawn, moving = np.empty(shape), np.empty(shape)
    most = float(counts.max() * weights.max())
    # So many rows cannot take any resample past its cut; then it is looked at again.
    idle, is_past_cut = 0, False
    for row, step, weight in zip(order.tolist(), steps, weights.tolist(), strict=False):
        beyond += counts[row] if weight == 1 else np.multiply(counts[row], weight, out=drawn)
        if idle > 0:
            idle -= 1
            continue
        if not is_past_cut:
            idle = int(-beyond.max() // most)
            is_past_cut = idle < 0
            if not is_past_cut:
                continue
        np.maximum(beyond, nothing, out=moving)
        np.minimum(moving, everything, out=moving)
        np.multiply(moving, step, out=moving)
        moved += moving
    return moved


def _trim_means(strata: Strata, resamples: Resamples) -> FloatArray:
    order = np.argsort(strata.scores, kind="stable")
    cut = np.asarray(strata.trimmed * resamples.total)
    return trim_means(
        strata.scores[order],
        resamples.counts,
        order=order,
        weights=strata.run_weights[order],
        cut=cut,
        kept=resamples.total - 2 * cut,
    )


def _average(strata: Strata, resamples: Resamples) -> FloatArray:
    return _average_values(strata.scores, strata, resamples)


def _average_gaps(strata: Strata, resamples: Resamples) -> FloatArray:
    return _average_values(np.maximum(OPTIMUM - strata.scores, 0), strata, resamples)


def _average_values(values: FloatArray, strata: Strata, resamples: Resamples) -> FloatArray:
    middle = float(np.sort(values)[len(values) // 2])
    scales = (values - middle) * strata.run_weights
    total, product = np.zeros(resamples.counts.shape[1]), np.empty(resamples.counts.shape[1])
    for count, scale in zip(resamples.counts, scales, strict=True):
        total += np.multiply(count, scale, out=product)
    return middle + total / resamples.total


def _median_over_datasets(strata: Strata, resamples: Resamples) -> FloatArray:
    means = average_datasets(strata, resamples)
    if resamples.times is None:
        return np.asarray(np.median(means, axis=0))
    return _weighted_median(means, resamples.times)


def _weighted_median(values: FloatArray, times: IntArray) -> FloatArray:
    """Weighted median of each column, by how many equal values each stands for."""
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, axis=0)
    reached = np.cumsum(np.take_along_axis(times, order, axis=0), axis=0)
    number = reached[-1]
    low = np.argmax(reached > (number - 1) // 2, axis=0)
    high = np.argmax(reached > number // 2, axis=0)
    columns = np.arange(values.shape[1])
    lower, upper = ascending[low, columns], ascending[high, columns]
    return np.asarray(lower + (upper - lower) / 2)


def _trim_over_datasets(strata: Strata, resamples: Resamples) -> FloatArray:
    """As `scipy.stats.trim_mean` of the means of datasets."""
    means = np.sort(average_datasets(strata, resamples), axis=0)
    cut = int(TRIMMED * len(means))
    return np.asarray(means[cut : len(means) - cut].mean(axis=0))


class Measure(NamedTuple):
    """A statistic of a model: how it is computed, and which end is better."""

    evaluate: Callable[[Strata, Resamples], FloatArray]
    best: Direction = "max"


STATISTICS: Mapping[Statistic, Measure] = {
    "iqm": Measure(_trim_means),
    "mean": Measure(_average),
    "trimmed_mean": Measure(_trim_over_datasets),
    "median": Measure(_median_over_datasets),
    "optimality_gap": Measure(_average_gaps, best="min"),
}
