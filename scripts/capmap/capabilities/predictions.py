"""Predictions of every model on every dataset, with intervals, also of models with few results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.conformal import Hidden, find_intervals
from capmap.capabilities.crossvalidation import bound_split
from capmap.capabilities.embedding import (
    METHODS,
    Embedding,
    draw_starts,
    name_coordinates,
    restore_fits,
)
from capmap.capabilities.factors import Pairs, SideInformation, gather_attributes
from capmap.capabilities.gaps import (
    Results,
    are_connected,
    bound_scores,
    choose_results,
    list_components,
    measure_gaps,
    order_by_names,
    scale_scores,
)
from capmap.capabilities.geometry import settle_points
from capmap.capabilities.halves import Fitting, MakeRng
from capmap.capabilities.intervals import LEAST_VARIANCE, list_features
from capmap.capabilities.metric_units import open_ends
from capmap.capabilities.placement import (
    LIMITS,
    Masking,
    average_fits,
    calibrate_gaps,
    calibrate_means,
    list_mean_features,
    measure_noise,
    measure_radii,
    place_maskings,
    place_models,
    rehearse_placements,
    show_points,
)
from capmap.capabilities.stacking import (
    CHAINS,
    Members,
    choose_members,
    choose_weights,
    count_chains,
    predict_members,
)
from capmap.ranking.aggregation import FloatArray, IntArray, round_significant
from capmap.rng import make_stream

# Folds of the results, and hidden results that are enough to calibrate by.
FOLDS, ENOUGH = 10, 5000
MOST_PAIRS = 300_000
COLUMNS = {
    **dict.fromkeys(("model", "dataset"), "str"),
    **dict.fromkeys(("observed", "predicted", "low", "high"), "float64"),
    **dict.fromkeys(("predicted_score", "score_low", "score_high"), "float64"),
}

PLACEMENTS = {
    "model": "str",
    "results": "int64",
    **dict.fromkeys(("mean_gap", "mean_gap_low", "mean_gap_high", "radius"), "float64"),
}


class Cells(NamedTuple):
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
    attributes: SideInformation,
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
    results are fewer), and each fold is predicted
    by fits to the others; where no others connect its model and dataset, by the mean gap on the
    dataset. The members of the method are weighted (`choose_weights`) and the intervals calibrated
    (`find_intervals`) by the errors of the other folds, with gaps by the bounds of all results.

    Pairs without a result are predicted by the fits of all results. Such a result may be better
    than the best one or worse than the worst: of n results in random order, the next one is with
    probability 2 / (n + 1). Its gap is 0 or 1 then, as it sets the bound itself. So weights and
    intervals are calibrated by folds whose gaps are by the bounds of the other folds, cut to 0…1;
    by so many of them that they have 5000 results.

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
    options: Any = {"fitting": fitting, "attributes": attributes, "rng": rng}
    hidden = _hide_folds(results, folds, strict=False, **options)
    found[:, held_out] = _predict_hidden(hidden, folds, confidence_level)
    if not held_out.all():
        asked = Pairs(pairs.rows[~held_out], pairs.columns[~held_out])
        chosen = choose_members(fitting.methods)
        (members,) = predict_members(
            [results],
            [asked],
            fitting,
            attributes,
            chains=count_chains(count, most=CHAINS),
            rng=rng,
            distances=[[fit for fit in fits if fit.method in chosen]],
        )
        new = _Found(asked.rows, members, np.zeros(0))
        strict = _hide_folds(results, folds, strict=True, **options)
        found[:, ~held_out] = _find_intervals(strict, new, confidence_level)
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


class _Found(NamedTuple):
    """Predictions by each member, the places of their models, and the truth, if it is known."""

    rows: IntArray
    members: Members
    truth: FloatArray

    def choose(self, chosen: IntArray) -> "_Found":
        members = Members(*(own[chosen] for own in self.members))
        return _Found(self.rows[chosen], members, self.truth[chosen])

    def weigh(self, weights: FloatArray) -> Hidden:
        gaps, variance = self.members.weigh(weights)
        variance = np.maximum(variance + self.members.variance, LEAST_VARIANCE)
        return Hidden(self.rows, gaps, variance)


def _hide_folds(
    results: Results,
    folds: IntArray,
    *,
    strict: bool,
    fitting: Fitting,
    attributes: SideInformation,
    rng: np.random.Generator,
) -> _Found:
    """Predictions of all results, each fold hidden in turn, by fold.

    If strict, by the bounds of the other results, which count as those of a further result do, and
    no more folds than have enough results.
    """
    count = int(folds.max()) + 1
    if strict:
        sizes = np.cumsum(np.bincount(folds))
        count = min(count, 1 + int(np.searchsorted(sizes, ENOUGH)))
    tests = [results.choose(folds == fold) for fold in range(count)]
    parts = [results.choose(folds != fold) for fold in range(count)]
    truths = [test.gaps for test in tests]
    if strict:
        splits = [bound_split(results, *own) for own in zip(parts, tests, strict=True)]
        parts = [split.train for split in splits]
        varies = [np.flatnonzero(split.scale > 0) for split in splits]
        tests = [split.test.choose(own) for split, own in zip(splits, varies, strict=True)]
        truths = [
            ((split.test.gaps - split.shift)[own] / split.scale[own]).clip(0, 1)
            for split, own in zip(splits, varies, strict=True)
        ]
    pairs = [Pairs(test.rows, test.columns) for test in tests]
    chains = count_chains(len(results.gaps), most=CHAINS)
    fitted = predict_members(parts, pairs, fitting, attributes, chains=chains, rng=rng)
    members = Members(*map(np.concatenate, zip(*fitted, strict=True)))
    return _Found(np.concatenate([own.rows for own in pairs]), members, np.concatenate(truths))


def _find_intervals(
    known: _Found, predicted: _Found, confidence_level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Predictions and the ends of their intervals, by errors of others."""
    weights = choose_weights(known.members.gaps, known.truth)
    hidden, new = known.weigh(weights), predicted.weigh(weights)
    ends = find_intervals(hidden, known.truth, new, confidence_level=confidence_level)
    return new.gaps, *ends


def _predict_hidden(found: _Found, folds: IntArray, confidence_level: float) -> FloatArray:
    """Predictions and intervals of all results in order, each by the errors of other folds."""
    order = np.argsort(folds, kind="stable")
    ends = np.empty((3, len(folds)))
    for fold in range(folds.max() + 1):
        is_own = folds[order] == fold
        own, others = (found.choose(np.flatnonzero(chosen)) for chosen in (is_own, ~is_own))
        ends[:, order[is_own]] = _find_intervals(others, own, confidence_level)
    return ends


@dataclass(frozen=True)
class Newcomers:
    """What `place_newcomers` finds.

    Parameters
    ----------
    placements, predictions : pandas.DataFrame
        The tables that it describes.
    """

    placements: pd.DataFrame
    predictions: pd.DataFrame


def choose_newcomers(gaps: pd.DataFrame, results: Results) -> Results:
    """Choose the models that were dropped but have results on datasets that are kept.

    Parameters
    ----------
    gaps : pandas.DataFrame
        Of `tabulate_gaps`.
    results : Results
        What is kept, of `choose_results`.

    Returns
    -------
    Results
        Of the newcomers by name, on the same datasets. Their gaps are by the bounds of what is
        kept: below 0 for a score above the best one, above 1 for one below the worst.
    """
    is_new = ~gaps["model"].isin(results.models) & gaps["dataset"].isin(results.datasets)
    found = gaps[is_new].sort_values(["model", "dataset"], kind="stable")
    models, rows = np.unique(found["model"].astype(object), return_inverse=True)
    places = {dataset: place for place, dataset in enumerate(results.datasets)}
    columns = np.array([places[dataset] for dataset in found["dataset"]], dtype=np.intp)
    scores = round_significant(found["normalized"].to_numpy(dtype=float))
    bounds = bound_scores(results.scores, results.columns, len(results.datasets))
    return Results(
        models=models.tolist(),
        datasets=results.datasets,
        rows=rows,
        columns=columns,
        scores=scores,
        gaps=measure_gaps(scores, columns, *bounds),
    )


def place_newcomers(
    newcomers: Results,
    results: Results,
    fits: Sequence[Embedding],
    *,
    scale: pd.DataFrame,
    fitting: Fitting,
    confidence_level: float,
    make_rng: MakeRng,
) -> Newcomers:
    """Place models by their few results, and predict the others.

    Parameters
    ----------
    newcomers : Results
        Of `choose_newcomers`; may be empty.
    results : Results
        What was fitted.
    fits : sequence of Embedding
        Of the results; the first gives positions, all of them predictions.
    scale : pandas.DataFrame
        Raw scores of the gaps 0 and 1 of each dataset, of `scale_scores`.
    fitting : Fitting
        How the fits were made.
    confidence_level : float
        Of the intervals and of the radius, between 0 and 1.
    make_rng : callable
        Makes random generators for `rehearse_placements`.

    Returns
    -------
    Newcomers
        ``placements``: ``model``; ``results``, by which it was placed; ``mean_gap``,
        ``mean_gap_low`` and ``mean_gap_high``, of its results and of the predictions for all other
        datasets; ``radius``, which holds its true position with probability ``confidence_level``
        (`measure_radii`, with the noise of `measure_noise`); and the position ``x1`` … in the
        coordinates of the table of positions. By model.

        ``predictions``: the columns of `tabulate_predictions`, by model and dataset; a result was
        hidden when it was predicted, by the model's other results.

    Notes
    -----
    Nothing else moves (`place_models`). A gap beyond −1…2 counts as −1 or 2 in placing. Predictions
    are limited to 0…1, intervals are not, as a newcomer may be beyond both bounds.

    Intervals are calibrated by `rehearse_placements`: models of the study are placed as newcomers,
    with gaps by the bounds of the others. They hold for newcomers like the models of the study, and
    are a little too wide where models are few, as a fifth of them is left out at a time. They are
    NaN where too few models have two results, and for the only result of a newcomer. Where no
    result connects the newcomer with the dataset, nothing is predicted: prediction and interval are
    NaN, and the mean gap is that over the other datasets.
    """
    if not newcomers.models:
        return _make_empty(dimension=fits[0].datasets.shape[1])
    fits = [_settle(fits[0]), *fits[1:]]
    limited = replace(newcomers, gaps=newcomers.gaps.clip(*LIMITS))
    placed = [place_models(fit, limited) for fit in fits]
    rehearsed = rehearse_placements(results, fitting=fitting, make_rng=make_rng, strict=True)
    known = _count_connected(newcomers, list_components(results)[1])
    values, variance = _predict_all([placement.fit for placement in placed])
    values[known == 0] = np.nan
    means = _estimate_means(newcomers, values, rehearsed, confidence_level)
    hidden = place_maskings(fits, limited, _hide_each(newcomers))
    places = newcomers.rows, newcomers.columns
    values[places], variance[places] = hidden.gaps, hidden.variance
    known[places] -= 1
    pairs = list_pairs(newcomers)
    chosen = pairs.rows, pairs.columns
    features = list_features(known[chosen], results.per_dataset[pairs.columns], variance[chosen])
    reach = calibrate_gaps(rehearsed).measure_reach(features, confidence_level=confidence_level)
    reach = np.where((known[chosen] > 0) & np.isfinite(reach), reach, np.nan)
    intervals = values[chosen], values[chosen] - reach, values[chosen] + reach
    noise = measure_noise(rehearsed)
    radii = measure_radii(placed[0], noise=noise, confidence_level=confidence_level)
    return Newcomers(
        _tabulate_placements(newcomers, means, radii, placed[0].fit),
        tabulate_predictions(newcomers, pairs, intervals, scale=scale),
    )


def _make_empty(*, dimension: int) -> Newcomers:
    coordinates = dict.fromkeys(name_coordinates(dimension, letter="x"), "float64")
    kinds = PLACEMENTS | coordinates, COLUMNS
    return Newcomers(*(pd.DataFrame(columns=list(own)).astype(own) for own in kinds))


def _settle(fit: Embedding) -> Embedding:
    """The fit in the frame of the table of positions."""
    points = np.concatenate([fit.models, fit.datasets])
    settled = settle_points(points, distance=fit.distance)
    count = len(fit.models)
    return replace(fit, models=settled[:count], datasets=settled[count:])


def _predict_all(fits: Sequence[Embedding]) -> tuple[FloatArray, FloatArray]:
    """Predictions and their variance between the fits, shape (models, datasets)."""
    shape = len(fits[0].models), len(fits[0].datasets)
    values, variance = np.empty(shape), np.empty(shape)
    columns = np.arange(shape[1])
    for model in range(shape[0]):
        rows = np.full(shape[1], model)
        values[model], variance[model] = average_fits(fits, rows, columns)
    return values, variance


def _count_connected(newcomers: Results, components: IntArray) -> IntArray:
    """Results of each newcomer that are connected with each dataset."""
    counts = np.zeros((len(newcomers.models), components.max() + 1), dtype=np.intp)
    np.add.at(counts, (newcomers.rows, components[newcomers.columns]), 1)
    return counts[:, components]


def _hide_each(newcomers: Results) -> list[Masking]:
    """Maskings that hide one result each."""
    ends = np.cumsum(newcomers.per_model)
    return [
        Masking(known=np.delete(np.arange(start, end), place - start), hidden=np.array([place]))
        for start, end in zip(ends - newcomers.per_model, ends, strict=True)
        for place in range(start, end)
    ]


def _estimate_means(
    newcomers: Results,
    predicted: FloatArray,
    rehearsed: pd.DataFrame,
    confidence_level: float,
) -> FloatArray:
    """Mean gaps over predicted datasets and the ends of their intervals, shape (3, models)."""
    gaps = predicted.copy()
    gaps[newcomers.rows, newcomers.columns] = newcomers.gaps
    count = (~np.isnan(gaps)).sum(axis=1)
    missing = count - newcomers.per_model
    features = list_mean_features(newcomers.per_model, np.maximum(missing, 1))
    calibration = calibrate_means(rehearsed)
    reach = calibration.measure_reach(features, confidence_level=confidence_level)
    reach = np.where(np.isfinite(reach), reach, np.nan) * missing / count
    mean = np.nansum(gaps, axis=1) / count
    return np.stack([mean, mean - reach, mean + reach])


def _tabulate_placements(
    newcomers: Results, means: FloatArray, radii: FloatArray, placed: Embedding
) -> pd.DataFrame:
    columns = [newcomers.models, newcomers.per_model, *means, radii]
    table = pd.DataFrame(dict(zip(PLACEMENTS, columns, strict=True))).astype(PLACEMENTS)
    shown = show_points(placed.models, distance=placed.distance)
    names = name_coordinates(shown.shape[1], letter="x")
    return pd.concat([table, pd.DataFrame(shown, columns=names)], axis=1)


def predict_cells(
    gaps: pd.DataFrame,
    fits: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    seed: int,
    confidence_level: float,
) -> dict[str, pd.DataFrame]:
    """Predict every model on every dataset, with an interval.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    fits : pandas.DataFrame
        From `capmap.capabilities.embedding.tabulate_fits`.
    models, datasets : pandas.DataFrame
        From `capmap.capabilities.quality.describe_results`, for their attributes.
    bounds : pandas.DataFrame
        Bounds of the datasets.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts, confidence_level
        As in the setting `capabilities`.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The table ``predictions``, whose ends of scores are those of `open_ends`.
    """
    results = choose_results(gaps)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    predictions = predict_scores(
        results,
        restore_fits(fits),
        scale=scale_scores(gaps),
        fitting=Fitting(METHODS[method], starts),
        attributes=gather_attributes(results, models, datasets),
        confidence_level=confidence_level,
        rng=make_stream(seed, study, "capabilities", "predictions"),
    )
    return {"predictions": open_ends(predictions, bounds)}


def place_few_results(
    gaps: pd.DataFrame,
    fits: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    seed: int,
    confidence_level: float,
) -> dict[str, pd.DataFrame]:
    """Place the models with few results, without moving the others.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    fits : pandas.DataFrame
        From `capmap.capabilities.embedding.tabulate_fits`.
    bounds : pandas.DataFrame
        Bounds of the datasets.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts, confidence_level
        As in the setting `capabilities`.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``placements`` and ``placement_predictions``.
    """
    results = choose_results(gaps)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    found = place_newcomers(
        choose_newcomers(gaps, results),
        results,
        restore_fits(fits),
        scale=scale_scores(gaps),
        fitting=Fitting(METHODS[method], starts),
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "placements"),
    )
    predictions = open_ends(found.predictions, bounds)
    return {"placements": found.placements, "placement_predictions": predictions}
