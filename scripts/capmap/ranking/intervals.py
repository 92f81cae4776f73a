"""Confidence intervals from bootstrap replicates."""

import numpy as np
from scipy import special

from capmap.ranking.aggregation import FloatArray
from capmap.ranking.resampling import Resamples, Strata, iterate_blocks, repeat_datasets
from capmap.ranking.standard_errors import Interval
from capmap.ranking.statistics import evaluate_statistic
from capmap.settings.choices import Statistic

# Counts of a jackknife are fractions, where those of a resample mostly have one byte.
COUNT_BYTES = 8


def percentile_interval(replicates: FloatArray, *, confidence_level: float) -> Interval:
    """Percentile interval: the middle part of the replicates."""
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return float(low), float(high)


def basic_interval(replicates: FloatArray, *, estimate: float, confidence_level: float) -> Interval:
    """Basic interval: the percentile interval mirrored at the estimate."""
    low, high = percentile_interval(replicates, confidence_level=confidence_level)
    return 2 * estimate - high, 2 * estimate - low


def bca_interval(
    replicates: FloatArray, *, estimate: float, acceleration: float, confidence_level: float
) -> Interval:
    """Bias-corrected and accelerated percentile interval (BCa).

    Parameters
    ----------
    replicates : numpy.ndarray, shape (resamples,)
        Bootstrap replicates.
    estimate : float
        The statistic of the runs themselves.
    acceleration : float
        From `acceleration_over_runs` or `acceleration_over_datasets`.
    confidence_level : float
        Between 0 and 1.

    Returns
    -------
    tuple of float
        Lower and upper end.

    Notes
    -----
    Replicates that equal the estimate count as half below it. Where all lie on one side, half a
    replicate is assumed on the other, so the interval stays finite.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171–185.
    """
    n = len(replicates)
    below = (np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates <= estimate)) / 2
    bias = special.ndtri(np.clip(below, 0.5, n - 0.5) / n)
    normal = special.ndtri((1 - confidence_level) / 2)
    shifted = bias + np.array([normal, -normal])
    levels = special.ndtr(bias + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(replicates, levels)
    return float(low), float(high)


def acceleration_over_runs(statistic: Statistic, strata: Strata) -> float:
    """Acceleration from a jackknife that leaves out one run at a time, stratified by dataset.

    Notes
    -----
    This is the multi-sample acceleration of `scipy.stats.bootstrap`. Datasets with a single run
    contribute nothing. Under equal weights of datasets, the runs that are left on a dataset share
    its weight.
    """
    sizes = strata.draws[strata.datasets]
    deletable = np.flatnonzero(sizes > 1)
    values = np.empty(len(sizes))
    runs = float(len(sizes) - 1)
    for block in iterate_blocks(len(deletable), runs=COUNT_BYTES * len(sizes)):
        deleted = deletable[block]
        counts = np.ones((len(sizes), len(deleted)))
        total = np.full(len(deleted), runs)
        if strata.weights == "datasets":
            owner = strata.datasets[deleted]
            siblings = strata.datasets[:, None] == owner
            counts += siblings * (1 / (strata.draws[owner] - 1))
            total += 1
        counts[deleted, np.arange(len(deleted))] = 0
        resamples = Resamples(counts=counts, runs=runs, total=total)
        values[deleted] = evaluate_statistic(statistic, strata, resamples)
    owner, sizes = strata.datasets[deletable], sizes[deletable]
    values = values[deletable]
    means = np.bincount(owner, values) / strata.draws[: owner.max() + 1]
    return _skewness_of_influences((means[owner] - values) * (sizes - 1) / sizes)


def acceleration_over_datasets(statistic: Statistic, strata: Strata) -> float:
    """Acceleration from a jackknife that leaves out one dataset at a time."""
    n = len(strata.draws)
    values = np.empty(n)
    for block in iterate_blocks(n, runs=COUNT_BYTES * len(strata.scores)):
        deleted = np.arange(n)[block]
        times = (np.arange(n)[:, None] != deleted).astype(np.intp)
        values[block] = evaluate_statistic(statistic, strata, repeat_datasets(strata, times))
    return _skewness_of_influences(values.mean() - values)


def _skewness_of_influences(influences: FloatArray) -> float:
    squares = float((influences**2).sum())
    return float((influences**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
