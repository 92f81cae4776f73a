"""Predictions of every model on every dataset, with intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.crossvalidation import bound_split
from capmap.capabilities.factors import (
    Pairs,
    SideInformation,
    gather_attributes,
    predict_gaps,
)
from capmap.capabilities.gaps import (
    BoolArray,
    Results,
    are_connected,
    choose_results,
    open_ends,
    order_by_names,
    scale_scores,
)
from capmap.capabilities.intervals import LEAST_VARIANCE, Hidden, find_intervals
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream
from capmap.settings.choices import PREDICTION_LEVEL

# Folds of the results, and hidden results that are enough to calibrate by.
FOLDS, ENOUGH = 10, 5000
MOST_PAIRS = 300_000
COLUMNS = {
    **dict.fromkeys(("model", "dataset"), "str"),
    **dict.fromkeys(("observed", "predicted", "low", "high"), "float64"),
    **dict.fromkeys(("predicted_score", "score_low", "score_high"), "float64"),
}


class Cells(NamedTuple):
    """Pairs of model and dataset by their places, and their gaps, NaN where there is none."""

    rows: IntArray
    columns: IntArray
    observed: FloatArray


class Part(NamedTuple):
    """Results that are known, pairs that are hidden, and the gaps of these."""

    train: Results
    pairs: Pairs
    truth: FloatArray


class Known(NamedTuple):
    """Predictions of results that were hidden, and what these were."""

    hidden: Hidden
    truth: FloatArray

    def choose(self, chosen: IntArray | BoolArray) -> "Known":
        """Some of them, by a mask or by places."""
        rows, gaps, variance = self.hidden
        hidden = Hidden(rows[chosen], gaps[chosen], variance[chosen])
        return Known(hidden, self.truth[chosen])


def predict_scores(
    results: Results,
    *,
    scale: pd.DataFrame,
    attributes: SideInformation,
    confidence_level: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Predict every model on every dataset by the Bayesian factors.

    Parameters
    ----------
    results : Results
        At least two.
    scale : pandas.DataFrame
        Raw scores of the gaps 0 and 1 of each dataset, of `scale_scores`.
    attributes : SideInformation
        Of models and datasets, may be empty.
    confidence_level : float
        Of the prediction intervals, between 0 and 1.
    rng : numpy.random.Generator
        Splits the results into folds, and draws factors.

    Returns
    -------
    pandas.DataFrame
        The columns of `tabulate_predictions`, and ``held_out``: whether there is a result, which
        was hidden when it was predicted. By model and dataset, see `list_pairs`.

    Notes
    -----
    Results are split into ten folds by random numbers of the names of model and dataset (fewer if
    results are fewer), and each fold is predicted by fits to the others (`predict_gaps`). Its
    intervals are calibrated (`find_intervals`) by the errors of the other folds, with gaps by the
    bounds of all results.

    Pairs without a result are predicted by the fit of all results. Such a result may be better
    than the best one or worse than the worst: of n results in random order, the next one is with
    probability 2 / (n + 1). Its gap is 0 or 1 then, as it sets the bound itself. So intervals are
    calibrated by folds whose gaps are by the bounds of the other folds, cut to 0…1; by so many of
    them that they have 5000 results.

    Intervals hold on average over results like those that are there, most of which are of models
    that have many, and also over those whose predictions are alike. Where results are too few
    for that, an interval goes from 0 to 1. Where no results connect the model with the dataset
    (`are_connected`), nothing is predicted: prediction and interval are NaN.
    """
    count = len(results.gaps)
    folds = np.empty(count, dtype=np.intp)
    folds[order_by_names(results, rng)] = np.arange(count) * min(FOLDS, count) // count
    pairs = list_pairs(results)
    held_out = ~np.isnan(pairs.observed)
    found = np.empty((3, len(held_out)))
    found[:, held_out] = _predict_hidden(results, folds, attributes, confidence_level, rng)
    if not held_out.all():
        asked = Pairs(pairs.rows[~held_out], pairs.columns[~held_out])
        (moments,) = predict_gaps([results], attributes, [asked], rng=rng)
        new = Hidden(asked.rows, moments.mean, moments.variance.clip(LEAST_VARIANCE))
        sizes = np.cumsum(np.bincount(folds))
        count = min(len(sizes), 1 + int(np.searchsorted(sizes, ENOUGH)))
        parts = hide_results(results, [folds == fold for fold in range(count)])
        known = predict_parts(parts, attributes, rng=rng)
        ends = find_intervals(known.hidden, known.truth, new, confidence_level=confidence_level)
        found[:, ~held_out] = new.gaps, *ends
    found[:, ~are_connected(results, pairs.rows, pairs.columns)] = np.nan
    table = tabulate_predictions(results, pairs, tuple(found), scale=scale)  # type: ignore[arg-type]
    return table.assign(held_out=held_out)


def list_pairs(results: Results) -> Cells:
    """List the pairs of model and dataset to predict.

    Parameters
    ----------
    results : Results
        In order of rows, then columns.

    Returns
    -------
    Cells
        By model, then dataset: all pairs, or only those with a result if all are more than 300 000.
    """
    shape = len(results.models), len(results.datasets)
    if shape[0] * shape[1] > MOST_PAIRS:
        return Cells(results.rows, results.columns, results.gaps)
    observed = np.full(shape, np.nan)
    observed[results.rows, results.columns] = results.gaps
    rows, columns = np.indices(shape)
    return Cells(rows.ravel(), columns.ravel(), observed.ravel())


def tabulate_predictions(
    results: Results,
    pairs: Cells,
    predicted: tuple[FloatArray, FloatArray, FloatArray],
    *,
    scale: pd.DataFrame,
) -> pd.DataFrame:
    """Write predictions as a table.

    Parameters
    ----------
    results : Results
        For its names.
    pairs : Cells
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


def hide_results(results: Results, hidden: Sequence[BoolArray]) -> list[Part]:
    """Hide results as if nobody had run them: gaps are by the bounds of the others.

    Parameters
    ----------
    results : Results
        All of them.
    hidden : sequence of ndarray of bool, shape (results,)
        What is hidden in each part.

    Returns
    -------
    list of Part
        A truth beyond the bounds of the others is 0 or 1. Results of datasets on which the others
        tie, or that have no others, are neither known nor hidden.
    """
    parts = []
    for own in hidden:
        split = bound_split(results, results.choose(~own), results.choose(own))
        varies = np.flatnonzero(split.scale > 0)
        test = split.test.choose(varies)
        truth = ((test.gaps - split.shift[varies]) / split.scale[varies]).clip(0, 1)
        parts.append(Part(split.train, Pairs(test.rows, test.columns), truth))
    return parts


def predict_parts(
    parts: Sequence[Part], attributes: SideInformation, *, rng: np.random.Generator
) -> Known:
    """Predict what is hidden in each part by what is known there, one part after the other."""
    trains, pairs, truths = ([*own] for own in zip(*parts, strict=True))
    moments = predict_gaps(trains, attributes, pairs, rng=rng)
    variances = np.concatenate([own.variance for own in moments])
    hidden = Hidden(
        rows=np.concatenate([own.rows for own in pairs]),
        gaps=np.concatenate([own.mean for own in moments]),
        variance=variances.clip(LEAST_VARIANCE),
    )
    return Known(hidden, np.concatenate(truths))


def cover_groups(known: Known, groups: IntArray, *, confidence_level: float) -> FloatArray:
    """The ends of intervals, shape (2, predictions), each by the errors of the other groups."""
    ends = np.empty((2, len(groups)))
    for group in np.unique(groups):
        own, others = known.choose(groups == group), known.choose(groups != group)
        ends[:, groups == group] = find_intervals(
            others.hidden, others.truth, own.hidden, confidence_level=confidence_level
        )
    return ends


def _predict_hidden(
    results: Results,
    folds: IntArray,
    attributes: SideInformation,
    confidence_level: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Predictions and intervals of all results in order, each by the errors of other folds."""
    parts = []
    for fold in range(int(folds.max()) + 1):
        test = results.choose(folds == fold)
        parts.append(Part(results.choose(folds != fold), Pairs(test.rows, test.columns), test.gaps))
    known = predict_parts(parts, attributes, rng=rng)
    order = np.argsort(folds, kind="stable")
    found = np.empty((3, len(folds)))
    found[0, order] = known.hidden.gaps
    found[1:, order] = cover_groups(known, folds[order], confidence_level=confidence_level)
    return found


def predict_cells(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    seed: int,
    confidence_level: float = PREDICTION_LEVEL,
) -> pd.DataFrame:
    """Make the table ``predictions`` of a study, with ends of scores as in `open_ends`."""
    results = choose_results(gaps)
    predictions = predict_scores(
        results,
        scale=scale_scores(gaps),
        attributes=gather_attributes(results, models, datasets),
        confidence_level=confidence_level,
        rng=make_stream(seed, study, "capabilities", "predictions"),
    )
    return open_ends(predictions, bounds)
