"""Placing models with few results on the map of the others, and predicting their other results."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from capmap.capabilities.embedding import Embedding, name_coordinates, restore_fit
from capmap.capabilities.factors import Pairs, SideInformation, gather_attributes, predict_gaps
from capmap.capabilities.gaps import (
    Results,
    are_connected,
    bound_scores,
    choose_results,
    measure_gaps,
    open_ends,
    scale_scores,
)
from capmap.capabilities.intervals import LEAST_VARIANCE, Hidden, find_intervals
from capmap.capabilities.maps import DISTANCES, enter_ball, normalize_lengths, settle_points
from capmap.capabilities.predictions import Cells, tabulate_predictions
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.rng import make_stream
from capmap.settings.choices import PREDICTION_LEVEL

RIDGE = 0.5
# Gaps of newcomers beyond these count as these.
LIMITS = (-1.0, 2.0)
PLACEMENTS = {
    "model": "str",
    "results": "int64",
    **dict.fromkeys(("mean_gap", "mean_gap_low", "mean_gap_high"), "float64"),
}


class Newcomers(NamedTuple):
    """The tables that `place_newcomers` describes."""

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
    fit: Embedding,
    few_results: pd.DataFrame,
    *,
    scale: pd.DataFrame,
    attributes: SideInformation,
    confidence_level: float,
    rng: np.random.Generator,
) -> Newcomers:
    """Place models by their few results, and predict the others.

    Parameters
    ----------
    newcomers : Results
        Of `choose_newcomers`; may be empty.
    results : Results
        What was fitted.
    fit : Embedding
        Of the results.
    few_results : pandas.DataFrame
        Of `capmap.capabilities.error_curve.measure_curve`.
    scale : pandas.DataFrame
        Raw scores of the gaps 0 and 1 of each dataset, of `scale_scores`.
    attributes : SideInformation
        Of the models of the results, then the newcomers, and of the datasets.
    confidence_level : float
        Of the intervals, between 0 and 1.
    rng : numpy.random.Generator
        Draws factors.

    Returns
    -------
    Newcomers
        ``placements``: ``model``; ``results``, by which it was placed; ``mean_gap``,
        ``mean_gap_low`` and ``mean_gap_high``, of its results and of the predictions for all other
        datasets; and the position ``x1`` … in the coordinates of the table of positions. By model.

        ``predictions``: the columns of `tabulate_predictions`, of datasets without a result of the
        model.

    Notes
    -----
    Predictions are those of the factors, fitted to all results and those of the newcomers; the
    positions of the others do not move. Intervals are calibrated by models of the study that were
    left with as many results, or the next smaller number that was tried, so they hold for newcomers
    like these. They are NaN where no model has more results than that. Where no result connects the
    newcomer with the dataset, nothing is predicted, and the mean gap is that over the others.
    """
    cells = _list_empty(newcomers)
    joined = join_results(results, newcomers)
    asked = Pairs(cells.rows + len(results.models), cells.columns)
    predicted, variance = np.full((2, len(cells.rows)), np.nan)
    if len(cells.rows):
        (moments,) = predict_gaps([joined], attributes, [asked], rng=rng)
        predicted = np.where(are_connected(joined, *asked), moments.mean, np.nan)
        variance = moments.variance.clip(LEAST_VARIANCE)
    new = Hidden(cells.rows, predicted, variance)
    low, high, reach = _calibrate(newcomers, new, few_results, confidence_level)
    return Newcomers(
        _tabulate_placements(newcomers, new, reach, place_models(fit, newcomers)),
        tabulate_predictions(newcomers, cells, (predicted, low, high), scale=scale),
    )


def place_models(fit: Embedding, newcomers: Results) -> FloatArray:
    """Find where models stand by their results, everything else fixed.

    Parameters
    ----------
    fit : Embedding
        Of other models on the same datasets.
    newcomers : Results
        Of the models; gaps beyond −1…2 count as these.

    Returns
    -------
    ndarray, shape (models, dimension)
        The minimum of Σ (distance − gap)² + ridge · |x − c|², in the coordinates of the table of
        positions. The ridge is that of the fit with c the origin; of a fit without one it is 0.5
        with c the mean of the models.
    """
    settled = settle_points(np.concatenate([fit.models, fit.datasets]), distance=fit.distance)
    models, datasets = np.split(settled, [len(fit.models)])
    measure, ridge = DISTANCES[fit.distance], fit.method.ridge or RIDGE
    center = np.zeros(models.shape[1]) if fit.method.ridge else models.mean(axis=0)
    points = np.tile(center, (len(newcomers.models), 1))
    for row in range(len(points)):
        own = newcomers.choose(newcomers.rows == row)
        places, gaps = datasets[own.columns], own.gaps.clip(*LIMITS)

        def miss(
            point: FloatArray, places: FloatArray = places, gaps: FloatArray = gaps
        ) -> FloatArray:
            distances, *_ = measure(np.broadcast_to(point, places.shape), places)
            return np.concatenate([distances - gaps, np.sqrt(ridge) * (point - center)])

        points[row] = least_squares(miss, center).x
    if fit.distance == "poincare":
        return enter_ball(points)
    return normalize_lengths(points) if fit.distance == "cosine" else points


def _list_empty(newcomers: Results) -> Cells:
    """The pairs of newcomers and datasets without a result."""
    empty = np.ones((len(newcomers.models), len(newcomers.datasets)), dtype=bool)
    empty[newcomers.rows, newcomers.columns] = False
    rows, columns = np.nonzero(empty)
    return Cells(rows, columns, np.full(len(rows), np.nan))


def join_results(results: Results, newcomers: Results) -> Results:
    """Join results and those of newcomers, which stand behind the others."""
    return replace(
        results,
        models=[*results.models, *newcomers.models],
        rows=np.concatenate([results.rows, newcomers.rows + len(results.models)]),
        columns=np.concatenate([results.columns, newcomers.columns]),
        scores=np.concatenate([results.scores, newcomers.scores]),
        gaps=np.concatenate([results.gaps, newcomers.gaps.clip(*LIMITS)]),
    )


def _calibrate(
    newcomers: Results, new: Hidden, few_results: pd.DataFrame, confidence_level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ends of the intervals of predictions, and how far means over them may be off by model."""
    low, high = np.full((2, len(new.rows)), np.nan)
    reach = np.full(len(newcomers.models), np.nan)
    tried = np.unique(few_results["results"].to_numpy(dtype=np.intp))
    chosen = np.append(0, tried)[np.searchsorted(tried, newcomers.per_model, side="right")]
    for count, own in few_results.groupby("results"):
        places = own["row"].to_numpy(dtype=np.intp)
        truth, gaps = own["truth"].to_numpy(), own["prediction"].to_numpy()
        # Of a new model no errors are known, so those of one model must not tell of each other.
        known = Hidden(np.arange(len(truth)), gaps, own["variance"].to_numpy())
        is_asked = (chosen == count)[new.rows] & ~np.isnan(new.gaps)
        others = np.arange(int(is_asked.sum())) + len(truth)
        asked = Hidden(others, new.gaps[is_asked], new.variance[is_asked])
        ends = find_intervals(known, truth, asked, confidence_level=confidence_level)
        low[is_asked], high[is_asked] = ends
        errors = (own["truth"] - own["prediction"]).groupby(places).mean().abs().sort_values()
        rank = int(np.ceil((len(errors) + 1) * confidence_level - 1e-9))
        if rank <= len(errors):
            reach[chosen == count] = errors.iloc[rank - 1]
    return low, high, reach


def _tabulate_placements(
    newcomers: Results, new: Hidden, reach: FloatArray, points: FloatArray
) -> pd.DataFrame:
    """Mean gaps over results and predictions, with intervals, and positions."""
    count = len(newcomers.models)
    is_known = ~np.isnan(new.gaps)
    predictions = np.bincount(new.rows[is_known], minlength=count)
    sums = np.bincount(new.rows[is_known], new.gaps[is_known], minlength=count)
    sums += np.bincount(newcomers.rows, newcomers.gaps, minlength=count)
    total = predictions + newcomers.per_model
    mean, reach = sums / total, reach * predictions / total
    columns = [newcomers.models, newcomers.per_model, mean, mean - reach, mean + reach]
    table = pd.DataFrame(dict(zip(PLACEMENTS, columns, strict=True))).astype(PLACEMENTS)
    names = name_coordinates(points.shape[1], letter="x")
    return pd.concat([table, pd.DataFrame(points, columns=names)], axis=1)


def place_few_results(
    gaps: pd.DataFrame,
    fits: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    bounds: pd.DataFrame,
    few_results: pd.DataFrame,
    *,
    study: str,
    seed: int,
    confidence_level: float = PREDICTION_LEVEL,
) -> dict[str, pd.DataFrame]:
    """Make the tables ``placements`` and ``placement_predictions`` of a study."""
    results = choose_results(gaps)
    newcomers = choose_newcomers(gaps, results)
    found = place_newcomers(
        newcomers,
        results,
        restore_fit(fits),
        few_results,
        scale=scale_scores(gaps),
        attributes=gather_attributes(join_results(results, newcomers), models, datasets),
        confidence_level=confidence_level,
        rng=make_stream(seed, study, "capabilities", "placements"),
    )
    predictions = open_ends(found.predictions, bounds).drop(columns="observed")
    return {"placements": found.placements, "placement_predictions": predictions}
