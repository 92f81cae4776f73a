"""How well each method predicts hidden results, and for which models."""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from capmap.capabilities.baselines import BASELINES
from capmap.capabilities.crossvalidation import PROTOCOLS, measure_errors
from capmap.capabilities.embedding import METHODS
from capmap.capabilities.estimates import estimate_mean

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


def summarize_folds(
    folds: pd.DataFrame, *, dimension: int, confidence_level: float
) -> pd.DataFrame:
    """Summarize the errors of each method, dimension and protocol over folds.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.
    dimension : int
        Dimension of the plain distance "l2" that others are compared with.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        In the order of `join_folds`: ``distance``, ``dimension``, ``protocol``, ``folds``,
        ``predictions`` (hidden results in all folds); ``mse``, ``mae`` and ``pearson`` of hidden
        results, and with ``train_`` of those that were not (NaN but for ``random``), each the mean
        over folds, with an interval ``…_low`` to ``…_high``; ``difference``, the mean over folds of
        the error mse minus that of "l2" on the same results, also with its interval (NaN where "l2"
        was not fitted in that dimension); and ``confidence``, the level of the intervals.

    Notes
    -----
    Intervals are Student's t intervals over folds, cut to where the value makes sense, and NaN
    with one fold. Folds share most of what they are fitted to, so intervals say how much the
    choice of hidden results matters. A fold in which Pearson's r is not defined (one result, or
    all alike) does not count for it.
    """
    measured = _measure_folds(folds)
    estimate = partial(estimate_mean, confidence_level=confidence_level)
    is_plain = (measured["distance"] == PLAIN) & measured["dimension"].eq(dimension)
    plain = measured[is_plain].set_index(["protocol", "fold"])["mse"]
    rows = []
    for key, own in measured.groupby(GROUP, sort=False, dropna=False):
        row: dict[str, object] = dict(zip(GROUP, key, strict=True))
        row |= {"folds": len(own), "predictions": own["predictions"].sum()}
        for name in MEASURES:
            found = estimate(own[name].to_numpy())
            row |= _name_ends(name, np.clip(found, *LIMITS[name.removeprefix("train_")]))
        reference = plain.reindex(pd.MultiIndex.from_frame(own[["protocol", "fold"]]))
        row |= _name_ends("difference", estimate(own["mse"].to_numpy() - reference.to_numpy()))
        rows.append(row)
    table = pd.DataFrame(rows, columns=list(SUMMARY)).astype({"dimension": "Int64"})
    return table.assign(confidence=confidence_level)


def group_by_results(
    folds: pd.DataFrame, *, dimension: int, confidence_level: float
) -> pd.DataFrame:
    """Group the errors of random splits by how many known results the model has.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.
    dimension : int
        Dimension of the embeddings.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        In the order of `join_folds`, then of classes (0, 1–4, 5–9, 10–19, 20–39 and from 40 on,
        those with predictions): ``source`` ("cross-validation"), ``distance``, ``results_from``,
        ``results_to`` (missing where open), ``models``, ``predictions``, ``mse``, ``mse_low``,
        ``mse_high`` and ``mae``, over all predictions of the class in all folds.

    Notes
    -----
    Intervals are Student's t intervals that take a model's predictions as one draw
    (`estimate_mean`), cut at 0.
    """
    is_shown = folds["dimension"].isna() | folds["dimension"].eq(dimension).fillna(False)
    is_hidden = (folds["set"] == "validation") & (folds["protocol"] == "random")
    hidden = folds[is_hidden & is_shown]
    classes = np.searchsorted(CLASSES, hidden["results"], side="right") - 1
    least = np.array(CLASSES)[classes]
    rows = []
    for (distance, start), own in hidden.groupby(["distance", least], sort=False):
        squares = (own["prediction"] - own["truth"]).to_numpy() ** 2
        found = estimate_mean(squares, clusters=own["model"], confidence_level=confidence_level)
        row = {
            "source": "cross-validation",
            "distance": distance,
            "results_from": start,
            "results_to": LARGEST.get(start, pd.NA),
            "models": own["model"].nunique(),
            "predictions": len(own),
            "mae": np.sqrt(squares).mean(),
        }
        rows.append(row | _name_ends("mse", np.clip(found, *LIMITS["mse"])))
    table = pd.DataFrame(rows, columns=list(BY_RESULTS)).astype({"results_to": "Int64"})
    return table.sort_values(
        ["distance", "results_from"],
        key=lambda column: column.map(ORDER) if column.name == "distance" else column,
        ignore_index=True,
    )


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


def _name_ends(name: str, interval: Iterable[float]) -> dict[str, object]:
    return {f"{name}{end}": float(value) for end, value in zip(ENDS, interval, strict=True)}
