"""Intervals of predictions from errors whose truth is known, and of means over clusters."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import nnls
from scipy.special import stdtrit

from capmap.ranking.aggregation import FloatArray

LEAST_VARIANCE = 1e-4
PARTS = 10


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


@dataclass(frozen=True)
class Calibration:
    """How large errors are.

    Parameters
    ----------
    weights : ndarray, shape (features,)
        What each feature adds to the variance of an error.
    ratios : ndarray, shape (errors,)
        Absolute errors divided by the standard deviations by the others, ascending.
    """

    weights: FloatArray
    ratios: FloatArray

    def measure_reach(self, features: FloatArray, *, confidence_level: float) -> FloatArray:
        """Measure how far from their predictions the truths may be.

        Parameters
        ----------
        features : ndarray, shape (predictions, features)
            As those that errors were calibrated with.
        confidence_level : float
            Share of truths that are to be that near, between 0 and 1.

        Returns
        -------
        ndarray, shape (predictions,)
            Infinite where the errors are too few (less than 9 for 90%).

        Notes
        -----
        The standard deviation times the conformal quantile of the ratios, the ⌈(n + 1) level⌉-th
        of n: if the error of a new prediction is as likely to have any rank among the others, its
        truth is within reach with at least that probability (Papadopoulos et al. 2002).
        """
        rank = int(np.ceil((len(self.ratios) + 1) * confidence_level - 1e-9))
        if rank > len(self.ratios):
            return np.full(len(features), np.inf)
        return np.asarray(self.ratios[rank - 1] * _measure_scale(features, self.weights))


def calibrate(errors: npt.ArrayLike, features: FloatArray) -> Calibration:
    """Learn from errors how their size depends on features.

    Parameters
    ----------
    errors : array_like, shape (errors,)
        Prediction minus truth, of results that had no part in the prediction. May be empty.
    features : ndarray, shape (errors, features)
        Not negative, such as those of `list_features`.

    Returns
    -------
    Calibration
        The variance of an error is the sum of the features with weights that are not negative,
        those of least squares to the squared errors; at least 0.0001.

    Notes
    -----
    The ratio of an error is by weights that it had no part in, or few errors would look smaller
    than new ones: errors are dealt to ten parts in order of size, and the weights of each part are
    those of the other nine.

    References
    ----------
    Papadopoulos et al. (2002), Inductive confidence machines for regression, ECML.
    Lei et al. (2018), Journal of the American Statistical Association 113:1094-1111, section 5.

    Examples
    --------
    Nine errors of the same size:

    >>> found = calibrate([1, -1, 1, -1, 1, -1, 1, -1, 1], np.ones((9, 1)))
    >>> found.measure_reach(np.ones((1, 1)), confidence_level=0.5).round(6).tolist()
    [1.0]
    """
    sizes = np.abs(np.asarray(errors, dtype=float))
    ratios = np.empty(len(sizes))
    order = np.lexsort((*features.T, sizes))
    for first in range(min(PARTS, len(sizes))):
        own = order[first::PARTS]
        others = np.delete(order, np.s_[first::PARTS])
        weights = _fit_weights(sizes[others], features[others])
        ratios[own] = sizes[own] / _measure_scale(features[own], weights)
    weights = _fit_weights(sizes[order], features[order])
    return Calibration(weights, np.sort(ratios))


def list_features(
    per_model: npt.ArrayLike, per_dataset: npt.ArrayLike, variance: npt.ArrayLike
) -> FloatArray:
    """List what the error of a prediction depends on.

    Parameters
    ----------
    per_model, per_dataset : array_like of int, shape (predictions,)
        Known results of the model and of the dataset of each prediction.
    variance : array_like, shape (predictions,)
        Of the predictions of the averaged fits.

    Returns
    -------
    ndarray, shape (predictions, 4)
        1, 1 / (results of the model + 1), 1 / (results of the dataset + 1), and the variance.
    """
    counts = [np.asarray(per_model), np.asarray(per_dataset)]
    shares = [1 / (count + 1.0) for count in counts]
    return np.stack([np.ones_like(shares[0]), *shares, np.asarray(variance)], axis=1)


def _fit_weights(sizes: FloatArray, features: FloatArray) -> FloatArray:
    if not len(sizes):
        return np.zeros(features.shape[1])
    return np.asarray(nnls(features, sizes**2)[0])


def _measure_scale(features: FloatArray, weights: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(features @ weights, LEAST_VARIANCE))
