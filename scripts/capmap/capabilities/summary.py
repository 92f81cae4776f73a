"""How well each method predicts hidden results, and for which models."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from capmap.aggregation import FloatArray
from capmap.capabilities.baselines import BASELINES
from capmap.capabilities.crossvalidation import PROTOCOLS, measure_errors
from capmap.capabilities.embedding import METHODS

CONFIDENCE_LEVEL = 0.95
PLAIN = "l2"
# Least results of a model in each class, which ends where the next one begins.
CLASSES = (0, 1, 5, 10, 20, 40)
LARGEST: dict[object, int] = {start: end - 1 for start, end in pairwise(CLASSES)}
ORDER = {name: place for place, name in enumerate((*METHODS, *BASELINES, *PROTOCOLS))}
ORDER |= {"train": 0, "validation": 1}
LIMITS = {"mse": (0.0, np.inf), "mae": (0.0, np.inf), "pearson": (-1.0, 1.0)}
MEASURES = tuple(f"{part}{name}" for part in ("train_", "") for name in LIMITS)
GROUP = ["distance", "dimension", "protocol"]
ENDS = ("", "_low", "_high")
SUMMARY = (
    *(*GROUP, "folds", "predictions"),
    *(f"{name}{end}" for name in (*MEASURES, "difference") for end in ENDS),
)
BY_RESULTS = (
    *("source", "distance", "results_from", "results_to", "models", "predictions"),
    *("mse", "mse_low", "mse_high", "mae"),
)
TRAINING = ("distance", "dimension", "model", "dataset", "truth", "prediction")
VALIDATION = (*GROUP, "fold", "model", "dataset", "truth", "prediction")


def join_folds(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join predictions of hidden results.

    Parameters
    ----------
    tables : iterable of pandas.DataFrame
        Columns ``distance``, ``dimension`` (missing for baselines) and those of `crossvalidate`.

    Returns
    -------
    pandas.DataFrame
        All rows, ``dimension`` as Int64: embeddings before baselines, then by dimension, protocol,
        fold, set, model and dataset. The order of tables and of rows has no influence.
    """
    typed = [table.astype({"dimension": "Int64"}) for table in tables]
    return pd.concat(typed, ignore_index=True).sort_values(
        [*GROUP, "fold", "set", "model", "dataset"],
        key=lambda column: (
            column.map(ORDER) if column.name in ("distance", "protocol", "set") else column
        ),
        ignore_index=True,
    )


def list_training(folds: pd.DataFrame) -> pd.DataFrame:
    """List predictions of results that were not hidden, in the first fold of random splits.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.

    Returns
    -------
    pandas.DataFrame
        Columns ``distance``, ``dimension``, ``model``, ``dataset``, ``truth`` and ``prediction``.
    """
    return folds.loc[folds["set"] == "train", list(TRAINING)].reset_index(drop=True)


def list_validation(folds: pd.DataFrame) -> pd.DataFrame:
    """List predictions of hidden results.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.

    Returns
    -------
    pandas.DataFrame
        Columns ``distance``, ``dimension``, ``protocol``, ``fold``, ``model``, ``dataset``,
        ``truth`` and ``prediction``.
    """
    return folds.loc[folds["set"] == "validation", list(VALIDATION)].reset_index(drop=True)


def summarize_folds(folds: pd.DataFrame, *, dimension: int) -> pd.DataFrame:
    """Summarize the errors of each method, dimension and protocol over folds.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.
    dimension : int
        Dimension of the plain distance "l2" that others are compared with.

    Returns
    -------
    pandas.DataFrame
        In the order of `join_folds`: ``distance``, ``dimension``, ``protocol``, ``folds``,
        ``predictions`` (hidden results in all folds); ``mse``, ``mae`` and ``pearson`` of hidden
        results, and with ``train_`` of those that were not (NaN but for ``random``), each the mean
        over folds, with an interval ``…_low`` to ``…_high``; and ``difference``, the mean over
        folds of the error mse minus that of "l2" on the same results, also with its interval (NaN
        where "l2" was not fitted in that dimension).

    Notes
    -----
    Intervals are Student's t intervals of 95% over folds, cut to where the value makes sense, and
    NaN with one fold. Folds share most of what they are fitted to, so intervals say how much the
    choice of hidden results matters. A fold in which Pearson's r is not defined (one result, or
    all alike) does not count for it.
    """
    measured = _measure_folds(folds)
    is_plain = (measured["distance"] == PLAIN) & measured["dimension"].eq(dimension)
    plain = measured[is_plain].set_index(["protocol", "fold"])["mse"]
    rows = []
    for key, own in measured.groupby(GROUP, sort=False, dropna=False):
        row: dict[str, object] = dict(zip(GROUP, key, strict=True))
        row |= {"folds": len(own), "predictions": own["predictions"].sum()}
        for name in MEASURES:
            found = estimate_mean(own[name].to_numpy())
            ends = np.clip(found, *LIMITS[name.removeprefix("train_")])
            row |= _name_ends(name, ends)
        reference = plain.reindex(pd.MultiIndex.from_frame(own[["protocol", "fold"]]))
        row |= _name_ends("difference", estimate_mean(own["mse"].to_numpy() - reference.to_numpy()))
        rows.append(row)
    return pd.DataFrame(rows, columns=list(SUMMARY)).astype({"dimension": "Int64"})


def group_by_results(folds: pd.DataFrame, *, dimension: int) -> pd.DataFrame:
    """Group the errors of random splits by how many known results the model has.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.
    dimension : int
        Dimension of the embeddings.

    Returns
    -------
    pandas.DataFrame
        In the order of `join_folds`, then of classes (0, 1–4, 5–9, 10–19, 20–39 and from 40 on,
        those with predictions): ``source`` ("cross-validation"), ``distance``, ``results_from``,
        ``results_to`` (missing where open), ``models``, ``predictions``, ``mse``, ``mse_low``,
        ``mse_high`` and ``mae``, over all predictions of the class in all folds.

    Notes
    -----
    Intervals are Student's t intervals of 95% that take a model's predictions as one draw
    (`estimate_clustered_mean`), cut at 0.
    """
    is_shown = folds["dimension"].isna() | folds["dimension"].eq(dimension).fillna(False)
    is_hidden = (folds["set"] == "validation") & (folds["protocol"] == "random")
    hidden = folds[is_hidden & is_shown]
    classes = np.searchsorted(CLASSES, hidden["results"], side="right") - 1
    least = np.array(CLASSES)[classes]
    rows = []
    for (distance, start), own in hidden.groupby(["distance", least], sort=False):
        squares = (own["prediction"] - own["truth"]).to_numpy() ** 2
        interval = np.clip(estimate_clustered_mean(squares, own["model"]), 0, None)
        row = {
            "source": "cross-validation",
            "distance": distance,
            "results_from": start,
            "results_to": LARGEST.get(start, pd.NA),
            "models": own["model"].nunique(),
            "predictions": len(own),
            "mae": np.sqrt(squares).mean(),
        }
        rows.append(row | _name_ends("mse", interval))
    table = pd.DataFrame(rows, columns=list(BY_RESULTS)).astype({"results_to": "Int64"})
    return table.sort_values(
        ["distance", "results_from"],
        key=lambda column: column.map(ORDER) if column.name == "distance" else column,
        ignore_index=True,
    )


def estimate_mean(
    values: npt.ArrayLike, *, confidence_level: float = CONFIDENCE_LEVEL
) -> FloatArray:
    """Estimate a mean with Student's t interval; NaN do not count.

    Parameters
    ----------
    values : array_like, shape (values,)
        Independent draws.
    confidence_level : float
        Of the interval.

    Returns
    -------
    ndarray, shape (3,)
        The mean and both ends; NaN without values, and the ends also with one.

    Examples
    --------
    >>> estimate_mean([1.0, 2.0, 3.0]).round(3).tolist()
    [2.0, -0.484, 4.484]
    """
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return estimate_clustered_mean(known, range(len(known)), confidence_level=confidence_level)


def estimate_clustered_mean(
    values: npt.ArrayLike, clusters: Iterable[object], *, confidence_level: float = CONFIDENCE_LEVEL
) -> FloatArray:
    """Estimate a mean of values that hang together within clusters.

    Parameters
    ----------
    values : array_like, shape (values,)
        Finite numbers.
    clusters : iterable, shape (values,)
        The cluster of each, such as its model.
    confidence_level : float
        Of the interval.

    Returns
    -------
    ndarray, shape (3,)
        The mean of all values and both ends; NaN without values, and the ends also with one
        cluster.

    Notes
    -----
    With G clusters of n values in all, the variance of the mean is G / (G − 1) Σ r² / n², where r
    is the sum of the deviations of a cluster from the mean; the interval is Student's with G − 1
    degrees of freedom. With clusters of one value it is the usual one of the mean.

    References
    ----------
    Cochran (1977), Sampling Techniques, chapter 9A.
    """
    numbers = np.asarray(values, dtype=float)
    if not len(numbers):
        return np.full(3, np.nan)
    mean = numbers.mean()
    codes, names = pd.factorize(pd.Series(list(clusters)))
    count = len(names)
    if count < 2:
        return np.array([mean, np.nan, np.nan])
    sums = np.bincount(codes, numbers - mean)
    error = np.sqrt(count / (count - 1) * (sums @ sums)) / len(numbers)
    reach = error * stdtrit(count - 1, (1 + confidence_level) / 2)
    return np.array([mean, mean - reach, mean + reach])


def _measure_folds(folds: pd.DataFrame) -> pd.DataFrame:
    """Errors of each fold, in order."""
    rows = []
    keys = [*GROUP, "fold"]
    hidden = folds[folds["set"] == "validation"]
    for key, own in hidden.groupby(keys, sort=False, dropna=False):
        errors = measure_errors(own["truth"].to_numpy(), own["prediction"].to_numpy())
        trained = own[[name for name in MEASURES if name.startswith("train_")]].iloc[0].to_dict()
        row = dict(zip(keys, key, strict=True)) | {"predictions": len(own)}
        rows.append(row | errors | trained)
    return pd.DataFrame(rows).astype({"dimension": "Int64"})


def _name_ends(name: str, interval: FloatArray) -> dict[str, object]:
    return {f"{name}{end}": value for end, value in zip(ENDS, interval.tolist(), strict=True)}
