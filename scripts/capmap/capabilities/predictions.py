"""Predictions of every model on every dataset, with intervals, as gaps and as scores."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.capabilities.baselines import fit_dataset_mean
from capmap.capabilities.crossvalidation import bound_split
from capmap.capabilities.embedding import Embedding, fit_starts
from capmap.capabilities.halves import Fitting
from capmap.capabilities.intervals import Calibration, calibrate, list_features
from capmap.capabilities.rehearsals import LIMITS, average_fits
from capmap.capabilities.results import Results, are_connected

FOLDS = 10
FEATURES = 4
MOST_PAIRS = 300_000
COLUMNS = {
    **dict.fromkeys(("model", "dataset"), "str"),
    **dict.fromkeys(("observed", "predicted", "low", "high"), "float64"),
    **dict.fromkeys(("predicted_score", "score_low", "score_high"), "float64"),
}


class Pairs(NamedTuple):
    """Pairs of model and dataset by their places, and their gaps, NaN where there is none."""

    rows: IntArray
    columns: IntArray
    observed: FloatArray


def predict_scores(
    results: Results,
    fits: Sequence[Embedding],
    *,
    scale: pd.DataFrame,
    fitting: Fitting,
    confidence_level: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Predict every model on every dataset.

    Parameters
    ----------
    results : Results
        At least two.
    fits : sequence of Embedding
        Of all results.
    scale : pandas.DataFrame
        Raw scores of the gaps 0 and 1 of each dataset, of `scale_scores`.
    fitting : Fitting
        How the fits were made.
    confidence_level : float
        Of the prediction intervals, between 0 and 1.
    rng : numpy.random.Generator
        Splits the results into folds.

    Returns
    -------
    pandas.DataFrame
        The columns of `tabulate_predictions`, and ``held_out``: whether there is a result, which
        was hidden when it was predicted. By model and dataset, see `list_pairs`.

    Notes
    -----
    Results are split into ten random folds (fewer if results are fewer), and each fold is predicted
    by maps of the others; where no others connect its model and dataset, by the mean gap on the
    dataset. Their gaps are by the bounds of all results, so their intervals are limited to 0…1, as
    are all predictions. They are calibrated (`calibrate`, by `list_features`) by the errors of the
    other folds.

    Pairs without a result are predicted by the fits of all results. Such a result may be better
    than the best one or worse than the worst: of n results in random order, the next one is with
    probability 2 / (n + 1). So their intervals are not limited to 0…1, and are calibrated by folds
    whose gaps are by the bounds of the other folds; gaps beyond −1…2 count as −1 or 2.

    Intervals hold on average over results like those that are there, most of which are of models
    that have many. Where results are too few to tell, an interval goes from 0 to 1 for a result
    that is there and is NaN for others. Where no results connect the model with the dataset
    (`are_connected`), nothing is predicted: prediction and interval are NaN.
    """
    folds = _split_evenly(len(results.gaps), rng)
    pairs = list_pairs(results)
    held_out = ~np.isnan(pairs.observed)
    predicted, reach = np.empty((2, len(held_out)))
    predicted[held_out], reach[held_out] = _predict_hidden(
        results, folds, fitting, confidence_level
    )
    rows, columns = pairs.rows[~held_out], pairs.columns[~held_out]
    if len(rows):
        new = average_fits(fits, rows, columns)
        counts = results.per_model[rows], results.per_dataset[columns]
        predicted[~held_out] = new.gaps
        reach[~held_out] = _calibrate_new(results, folds, fitting).measure_reach(
            list_features(*counts, new.variance), confidence_level=confidence_level
        )
    reach[~held_out & np.isinf(reach)] = np.nan
    predicted[~are_connected(results, pairs.rows, pairs.columns)] = np.nan
    low, high = predicted - reach, predicted + reach
    low[held_out], high[held_out] = low[held_out].clip(0, 1), high[held_out].clip(0, 1)
    table = tabulate_predictions(results, pairs, (predicted, low, high), scale=scale)
    return table.assign(held_out=held_out)


def list_pairs(results: Results) -> Pairs:
    """List the pairs of model and dataset to predict.

    Parameters
    ----------
    results : Results
        In order of rows, then columns.

    Returns
    -------
    Pairs
        By model, then dataset: all pairs, or only those with a result if all are more than 300 000.
    """
    shape = len(results.models), len(results.datasets)
    if shape[0] * shape[1] > MOST_PAIRS:
        return Pairs(results.rows, results.columns, results.gaps)
    observed = np.full(shape, np.nan)
    observed[results.rows, results.columns] = results.gaps
    rows, columns = np.indices(shape)
    return Pairs(rows.ravel(), columns.ravel(), observed.ravel())


def tabulate_predictions(
    results: Results,
    pairs: Pairs,
    predicted: tuple[FloatArray, FloatArray, FloatArray],
    *,
    scale: pd.DataFrame,
) -> pd.DataFrame:
    """Write predictions as a table.

    Parameters
    ----------
    results : Results
        For its names.
    pairs : Pairs
        What was predicted.
    predicted : tuple of three ndarray, shape (pairs,)
        Predicted gaps, and both ends of their intervals.
    scale : pandas.DataFrame
        Raw scores of the gaps 0 and 1 of each dataset, of `scale_scores`.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``dataset``, ``observed`` (gap, NaN without a result), ``predicted``, ``low``,
        ``high`` (gaps), ``predicted_score``, ``score_low``, ``score_high`` (raw scores; the low
        end is the lower number, also where lower is better). Rows as the pairs.
    """
    ends = scale.set_index("dataset").loc[results.datasets]
    best, worst = (ends[name].to_numpy(float)[pairs.columns] for name in ("best", "worst"))
    scores = [best + gaps * (worst - best) for gaps in predicted]
    table = {
        "model": np.array(results.models, dtype=object)[pairs.rows],
        "dataset": np.array(results.datasets, dtype=object)[pairs.columns],
        "observed": pairs.observed,
        **dict(zip(("predicted", "low", "high"), predicted, strict=True)),
        "predicted_score": scores[0],
        "score_low": np.minimum(*scores[1:]),
        "score_high": np.maximum(*scores[1:]),
    }
    return pd.DataFrame(table).astype(COLUMNS)


def _split_evenly(count: int, rng: np.random.Generator) -> IntArray:
    """The fold of each result."""
    return np.asarray(rng.permutation(count) % min(FOLDS, count))


def _predict_hidden(
    results: Results, folds: IntArray, fitting: Fitting, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Predictions of all results, each hidden in turn, and how far the truths may be."""
    values, reach = np.empty((2, len(folds)))
    features = np.empty((len(folds), FEATURES))
    for fold in range(folds.max() + 1):
        hidden = folds == fold
        train, test = results.choose(~hidden), results.choose(hidden)
        values[hidden], features[hidden] = _predict_fold(train, test, fitting)
    for fold in range(folds.max() + 1):
        hidden = folds == fold
        errors = (values - results.gaps)[~hidden]
        calibration = calibrate(errors, features[~hidden])
        reach[hidden] = calibration.measure_reach(
            features[hidden], confidence_level=confidence_level
        )
    return values, reach


def _calibrate_new(results: Results, folds: IntArray, fitting: Fitting) -> Calibration:
    """Learn how large errors are where bounds are those of the other results."""
    errors, features = [], []
    for fold in range(folds.max() + 1):
        hidden = folds == fold
        split = bound_split(results, results.choose(~hidden), results.choose(hidden))
        values, found = _predict_fold(split.train, split.test, fitting)
        varies = split.scale > 0
        truth = (split.test.gaps - split.shift)[varies] / split.scale[varies]
        errors.append(values[varies] - truth.clip(*LIMITS))
        features.append(found[varies])
    return calibrate(np.concatenate(errors), np.concatenate(features))


def _predict_fold(train: Results, test: Results, fitting: Fitting) -> tuple[FloatArray, FloatArray]:
    """Predict hidden results; also the features of the predictions."""
    fits = fit_starts(train, fitting.methods, starts=fitting.starts)
    found = average_fits(fits, test.rows, test.columns)
    counts = train.per_model[test.rows], train.per_dataset[test.columns]
    mean = fit_dataset_mean(train).predict(test.rows, test.columns)
    is_near = are_connected(train, test.rows, test.columns)
    values = np.where(is_near, found.gaps, mean)
    return values, list_features(*counts, found.variance)
