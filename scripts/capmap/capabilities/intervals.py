"""Intervals of mean errors over models, and of single predictions."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri, stdtrit

from capmap.ranking.aggregation import FloatArray, IntArray

LEAST_VARIANCE = 1e-4
# Standard deviation of the weights of nearby predictions: a share of all, or so many if more.
SHARE, LEAST = 0.05, 50
CENTERS = 50
# Weight of the mean squared error of all in that of a model, in results.
SHRINKAGE = 10.0
# Misses of the normal distribution that gives intervals their shape, and least share of a side.
MISS, LEAST_SIDE = 0.1, 1e-3
# Reaches further than any bound.
FAR = 1e6


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
    owners = pd.factorize(pd.Series(range(len(numbers)) if clusters is None else [*clusters]))[0]
    known = numbers[is_known]
    if not len(known):
        return Estimate(np.nan, np.nan, np.nan)
    mean = float(known.mean())
    found, places = np.unique(owners[is_known], return_inverse=True)
    freedom = len(found) - 1
    if not freedom:
        return Estimate(mean, np.nan, np.nan)
    sums = np.bincount(places, known - mean)
    error = np.sqrt(len(found) / freedom * (sums @ sums)) / len(known)
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2) * error)
    return Estimate(mean, mean - reach, mean + reach)


def summarize_errors(
    found: pd.DataFrame,
    columns: Mapping[str, str],
    *,
    reference: str,
    confidence_level: float,
) -> dict[str, float]:
    """Summarize squared errors of hidden results, and their difference from those of another way.

    Parameters
    ----------
    found : pandas.DataFrame
        A row per hidden result: ``row``, the place of its model, ``truth``, and predictions. Models
        are the clusters of the intervals (`estimate_mean`).
    columns : mapping of str to str
        Columns of predictions by the name of their error: ``mse``, and those to compare it with.
    reference : str
        The error that is subtracted.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    dict
        ``models`` and ``predictions``, their numbers; the mean of each squared error; ``mse_low``,
        at least 0, and ``mse_high``; and ``difference`` with ``difference_low`` and
        ``difference_high``, below 0 where errors are smaller than those of the reference.
    """
    squares = {
        name: (found[column] - found["truth"]).to_numpy() ** 2 for name, column in columns.items()
    }
    own, change = (
        estimate_mean(errors, clusters=found["row"], confidence_level=confidence_level)
        for errors in (squares["mse"], squares["mse"] - squares[reference])
    )
    return {
        "models": found["row"].nunique(),
        "predictions": len(found),
        **{name: float(np.mean(own)) if len(own) else np.nan for name, own in squares.items()},
        "mse_low": float(np.maximum(own.low, 0)),
        "mse_high": own.high,
        "difference": change.mean,
        "difference_low": change.low,
        "difference_high": change.high,
    }


def find_intervals(
    known: pd.DataFrame, new: pd.DataFrame, *, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Find prediction intervals of gaps by the errors of other predictions.

    Parameters
    ----------
    known : pandas.DataFrame
        Predictions of results that had no part in them: ``row``, the place of the model;
        ``prediction``, from 0 to 1; ``variance`` of a result around it, of which only ratios have
        an influence; and the result, ``truth``. May be empty.
    new : pandas.DataFrame
        Other predictions: ``row``, ``prediction`` and ``variance``.
    confidence_level : float
        Share of truths that are to be within, between 0 and 1.

    Returns
    -------
    low, high : ndarray, shape (new predictions,)
        From 0 to 1; 0 and 1 where the errors are too few (less than 9 for 90%).

    Notes
    -----
    The believed variance is multiplied with the mean of squared error / variance of the other
    results of the model, as if 10 further results had that of all. An interval is that of a normal
    distribution with this variance of which the share p of misses is below, for the prediction p,
    so that next to 0 or 1 nearly all of them are on the other side; stretched by the conformal
    quantile of the errors in units of it. Errors count by how near their predictions are: with
    normal weights of the difference in rank, whose standard deviation is 5% of all results (50 at
    least). Equal predictions have the same errors nearby.

    References
    ----------
    Papadopoulos et al. (2002), ECML, for conformal intervals by normalized errors; Guan (2023),
    Localized conformal prediction, Biometrika 110:33-50.
    """
    if known.empty:
        return np.zeros(len(new)), np.ones(len(new))
    gaps, wanted = (own["prediction"].to_numpy() for own in (known, new))
    errors = known["truth"].to_numpy() - gaps
    own, others = _measure_deviations(known, errors, new)
    reach = np.abs(errors) / (own * np.where(errors < 0, *_shape_reach(gaps)))
    width = others * _find_quantiles(gaps, reach, wanted, confidence_level)
    down, up = _shape_reach(wanted)
    return (wanted - width * down).clip(0, 1), (wanted + width * up).clip(0, 1)


def cover_groups(
    known: pd.DataFrame, groups: IntArray, *, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Find the intervals of predictions, each by the errors of the other groups."""
    low, high = np.empty((2, len(known)))
    for group in np.unique(groups):
        is_own = groups == group
        low[is_own], high[is_own] = find_intervals(
            known[~is_own], known[is_own], confidence_level=confidence_level
        )
    return low, high


def _measure_deviations(
    known: pd.DataFrame, errors: FloatArray, new: pd.DataFrame
) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of errors: of known ones by the others of the model, and of new ones."""
    rows, asked = known["row"].to_numpy(), new["row"].to_numpy()
    variance, wanted = (own["variance"].to_numpy().clip(LEAST_VARIANCE) for own in (known, new))
    ratios = errors**2 / variance
    size = int(max(rows.max(), asked.max(initial=0))) + 1
    sums = np.bincount(rows, ratios, minlength=size) + SHRINKAGE * ratios.mean()
    counts = np.bincount(rows, minlength=size) + SHRINKAGE
    own = variance * (sums[rows] - ratios) / (counts[rows] - 1)
    others = wanted * sums[asked] / counts[asked]
    return np.sqrt(own.clip(LEAST_VARIANCE)), np.sqrt(others.clip(LEAST_VARIANCE))


def _shape_reach(gaps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many standard deviations an interval goes down and up."""
    below = gaps.clip(LEAST_SIDE, 1 - LEAST_SIDE)
    return -ndtri(MISS * below), -ndtri(MISS * (1 - below))


def _find_quantiles(
    gaps: FloatArray, reach: FloatArray, new: FloatArray, level: float
) -> FloatArray:
    """What the reach of a further error exceeds with a probability of at most 1 − level, nearby."""
    count, ordered = len(gaps), np.sort(gaps)
    ranks, wanted = (
        (np.searchsorted(ordered, own) + np.searchsorted(ordered, own, side="right")) / (2 * count)
        for own in (gaps, new)
    )
    order = np.lexsort((gaps, reach))
    centers = np.linspace(0, 1, CENTERS)
    apart = (ranks[order] - centers[:, None]) / max(SHARE, LEAST / count)
    sums = np.cumsum(np.exp(-(apart**2) / 2), axis=1)
    places = (sums / sums[:, -1:] < level * (1 + 1 / count) - 1e-9).sum(axis=1)
    return np.asarray(np.interp(wanted, centers, np.append(reach[order], FAR)[places]))
