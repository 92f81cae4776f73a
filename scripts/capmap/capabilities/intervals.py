"""Intervals of means over clusters, such as those of the errors of several models."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from capmap.ranking.aggregation import FloatArray, IntArray


class Estimate(NamedTuple):
    """A mean and its interval."""

    mean: float
    low: float
    high: float


def estimate_mean(
    values: npt.ArrayLike,
    *,
    clusters: Iterable[object] | None = None,
    confidence_level: float,
) -> Estimate:
    """Estimate the mean of values that may come in clusters.

    Parameters
    ----------
    values : array_like, shape (values,)
        Such as squared errors; NaN do not count.
    clusters : iterable, shape (values,), optional
        The cluster of each value, such as its model. Without, each is one of its own.
    confidence_level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    Estimate
        The mean of all values. The interval is NaN with fewer than two clusters, and so is the
        mean without values.

    Notes
    -----
    Values of one cluster may depend on each other in any way, those of different clusters are
    taken as independent. With r the sums over clusters of deviations from the mean of n values,
    the variance is G / (G − 1) · Σ r² / n², and the quantile Student's t with G − 1 degrees of
    freedom, for G clusters. With clusters of one value that is the usual interval of a mean.

    References
    ----------
    Cameron, A. C. and Miller, D. L. (2015). A practitioner's guide to cluster-robust inference.
    Journal of Human Resources 50, 317–372.

    Examples
    --------
    >>> found = estimate_mean([1.0, 2.0, 3.0], confidence_level=0.95)
    >>> [round(value, 3) for value in found]
    [2.0, -0.484, 4.484]
    """
    numbers = np.asarray(values, dtype=float)
    is_known = ~np.isnan(numbers)
    owners = np.arange(len(numbers)) if clusters is None else _number(clusters)
    known, owners = numbers[is_known], owners[is_known]
    if not len(known):
        return Estimate(np.nan, np.nan, np.nan)
    mean = float(known.mean())
    found, places = np.unique(owners, return_inverse=True)
    freedom = len(found) - 1
    if not freedom:
        return Estimate(mean, np.nan, np.nan)
    sums = np.bincount(places, known - mean)
    error = np.sqrt(len(found) / freedom * (sums @ sums)) / len(known)
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2) * error)
    return Estimate(mean, mean - reach, mean + reach)


def _number(names: Iterable[object]) -> npt.NDArray[np.intp]:
    return np.asarray(pd.factorize(pd.Series(list(names), dtype=object))[0])


def summarize_errors(
    models: IntArray,
    squares: Mapping[str, FloatArray],
    *,
    reference: str,
    confidence_level: float,
) -> dict[str, float]:
    """Summarize squared errors of hidden results, and their difference from those of another way.

    Parameters
    ----------
    models : ndarray of int, shape (results,)
        The model of each result; models are the clusters of the intervals (`estimate_mean`).
    squares : mapping of str to ndarray, shape (results,)
        Squared errors by name of the column: ``mse``, and those to compare it with.
    reference : str
        The column that is subtracted.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    dict
        ``models`` and ``predictions``, their numbers; the mean of each column; ``mse_low``, at
        least 0, and ``mse_high``; and ``difference`` with ``difference_low`` and
        ``difference_high``, below 0 where errors are smaller than those of the reference.
    """
    level = confidence_level
    own = estimate_mean(squares["mse"], clusters=models, confidence_level=level)
    apart = squares["mse"] - squares[reference]
    change = estimate_mean(apart, clusters=models, confidence_level=level)
    return {
        "models": len(np.unique(models)),
        "predictions": len(models),
        **{name: float(np.mean(own)) if len(own) else np.nan for name, own in squares.items()},
        "mse_low": float(np.maximum(own.low, 0)),
        "mse_high": own.high,
        "difference": change.mean,
        "difference_low": change.low,
        "difference_high": change.high,
    }
