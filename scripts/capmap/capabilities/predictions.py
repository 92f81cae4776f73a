"""Predictions of every model on every dataset, and of models with few results, with intervals."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy.optimize import least_squares
from scipy.spatial.distance import cdist
from scipy.stats import norm

from capmap.capabilities.crossvalidation import (
    cover_groups,
    crossvalidate,
    draw_error_curve,
    find_intervals,
    hide_results,
    hide_unseen,
)
from capmap.capabilities.embedding import RIDGES, measure_l2
from capmap.capabilities.factors import Pairs, SideInformation, gather_attributes, predict_gaps
from capmap.capabilities.gaps import (
    Results,
    are_connected,
    bound_scores,
    choose_results,
    measure_gaps,
    open_ends,
    order_by_names,
    scale_scores,
)
from capmap.ranking.aggregation import FloatArray, compute_spearman_rho, round_significant
from capmap.rng import make_stream
from capmap.settings.choices import PREDICTION_LEVEL

NEAREST = "model place nearest map_distance untried predicted low high"
# Fewer models have no interval of their correlation.
FEWEST_MODELS = 4
# Folds of the results, and hidden results that are enough to calibrate by.
FOLDS, ENOUGH = 10, 5000
MOST_PAIRS = 300_000
GAPS = ["observed", "predicted", "low", "high"]
COLUMNS = ["model", "dataset", *GAPS, "predicted_score", "score_low", "score_high"]
# Of a map without a ridge, models are drawn to the mean of all with this one.
RIDGE = 0.5
# Gaps of newcomers beyond these count as these.
LIMITS = (-1.0, 2.0)


def predict_cells(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    bounds: pd.DataFrame,
    positions: pd.DataFrame,
    *,
    study: str,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Predict every model on every dataset by the Bayesian factors, and say what it is near.

    All pairs, or only those with a result if all are more than 300 000. Results are split into ten
    folds by random numbers of the names of model and dataset (fewer if results are fewer), and each
    fold is predicted by fits to the others (`crossvalidate`). Its intervals are calibrated
    (`find_intervals`) by the errors of the other folds, with gaps by the bounds of all results.

    Pairs without a result are predicted by the fit of all results. Such a result may be better
    than the best one or worse than the worst: of n results in random order, the next one is with
    probability 2 / (n + 1). Its gap is 0 or 1 then, as it sets the bound itself. So intervals are
    calibrated by folds whose gaps are by the bounds of the other folds, cut to 0…1; by so many of
    them that they have 5000 results.

    Intervals hold on average over results like those that are there, most of which are of models
    that have many, and also over those whose predictions are alike. Where no results connect the
    model with the dataset (`are_connected`), prediction and interval are NaN.
    """
    results = choose_results(gaps)
    attributes = gather_attributes(results, models, datasets)
    rng = make_stream(seed, study, "capabilities", "predictions")
    count = len(results.gaps)
    folds = np.empty(count, dtype=np.intp)
    folds[order_by_names(results, rng)] = np.arange(count) * min(FOLDS, count) // count
    masks = [folds == fold for fold in range(int(folds.max()) + 1)]
    held_out = crossvalidate([hide_results(results, own) for own in masks], attributes, rng=rng)
    groups = held_out["split"].to_numpy()
    low, high = cover_groups(held_out, groups)
    table = held_out.assign(observed=held_out["truth"], low=low, high=high)
    asked = find_empty(results)
    if len(asked.rows) and count + len(asked.rows) <= MOST_PAIRS:
        (moments,) = predict_gaps([results], attributes, [asked], rng=rng)
        names = ("row", "column", "prediction", "variance")
        empty = pd.DataFrame(dict(zip(names, (*asked, *moments), strict=True)))
        used = 1 + int(np.searchsorted(np.cumsum(np.bincount(folds)), ENOUGH))
        splits = [hide_unseen(results, own) for own in masks[:used]]
        known = crossvalidate(splits, attributes, rng=rng)
        low, high = find_intervals(known, empty)
        empty = empty.assign(observed=np.nan, low=low, high=high)
        table = pd.concat([table, empty], ignore_index=True)
    table = table.rename(columns={"prediction": "predicted"})
    table = table[["row", "column", *GAPS]].sort_values(["row", "column"], ignore_index=True)
    is_near = are_connected(results, table["row"].to_numpy(), table["column"].to_numpy())
    table.loc[~is_near, ["predicted", "low", "high"]] = np.nan
    found = tabulate_predictions(results, table, gaps, bounds)
    return {
        "predictions": found,
        "nearest": list_nearest(positions, found),
        "centrality": correlate_centrality(positions, models),
    }


def find_empty(results: Results) -> Pairs:
    """The pairs of model and dataset without a result, by model and dataset."""
    is_empty = np.ones((len(results.models), len(results.datasets)), dtype=bool)
    is_empty[results.rows, results.columns] = False
    return Pairs(*np.nonzero(is_empty))


def tabulate_predictions(
    results: Results, found: pd.DataFrame, gaps: pd.DataFrame, bounds: pd.DataFrame
) -> pd.DataFrame:
    """Write predicted gaps as a table with raw scores.

    ``score_low`` is the lower number, also where lower is better.
    """
    models, datasets = (np.array(own, dtype=object) for own in (results.models, results.datasets))
    names = {"model": models[found["row"]], "dataset": datasets[found["column"]]}
    ends = scale_scores(gaps).set_index("dataset").loc[results.datasets]
    best, worst = (ends[name].to_numpy(float)[found["column"]] for name in ("best", "worst"))
    score, *others = (best + found[name] * (worst - best) for name in GAPS[1:])
    table = found.assign(
        **names,
        predicted_score=score,
        score_low=np.minimum(*others),
        score_high=np.maximum(*others),
    )
    return open_ends(table[COLUMNS].astype({"model": "str", "dataset": "str"}), bounds)


def correlate_centrality(positions: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Correlate the distance to the center with the mean gap, over models.

    The interval is Fisher's with the variance (1 + ρ² / 2) / (n − 3) of Bonett and Wright (2000),
    doi:10.1007/BF02294183. It takes positions for known.

    Examples
    --------
    >>> positions = pd.DataFrame({"kind": "model", "name": ["A", "B"], "centrality": [1.0, 2.0]})
    >>> models = pd.DataFrame({"model": ["B", "A"], "mean_gap": [0.9, 0.1]})
    >>> correlate_centrality(positions, models)["estimate"].tolist()
    [1.0]
    """
    places = positions[positions["kind"] == "model"].set_index("name")["centrality"]
    gaps = models.set_index("model")["mean_gap"].dropna()
    estimate = compute_spearman_rho(places.loc[gaps.index], gaps)
    low = high = nan
    if len(gaps) >= FEWEST_MODELS and abs(estimate) < 1:
        half = norm.ppf((1 + PREDICTION_LEVEL) / 2)
        half *= sqrt((1 + estimate**2 / 2) / (len(gaps) - 3))
        low, high = np.tanh(np.arctanh(estimate) + np.array([-half, half])).tolist()
    row = {"estimate": estimate, "low": low, "high": high, "confidence": PREDICTION_LEVEL}
    return pd.DataFrame([{"statistic": "spearman_rho", **row, "models": len(gaps)}])


def list_nearest(positions: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """List three datasets that each model is near, and three where it is predicted best untried."""
    models, datasets = (
        positions[positions["kind"] == kind].set_index("name") for kind in ("model", "dataset")
    )
    points, others = (own.loc[:, "x1":].to_numpy(dtype=float) for own in (models, datasets))
    apart = pd.DataFrame(cdist(points, others), models.index, datasets.index)
    is_near = models["component"].to_numpy()[:, None] == datasets["component"].to_numpy()
    near = apart.where(is_near).rename_axis("model").reset_index()
    near = near.melt("model", var_name="nearest", value_name="map_distance").dropna()
    near = near.sort_values(["model", "map_distance", "nearest"])
    untried = predictions[predictions["observed"].isna() & predictions["predicted"].notna()]
    untried = untried.rename(columns={"dataset": "untried"})
    untried = untried.sort_values(["model", "predicted", "untried"])
    near, untried = (
        own.assign(place=own.groupby("model").cumcount() + 1).query("place <= 3")
        for own in (near, untried)
    )
    return near.merge(untried, on=["model", "place"], how="outer")[NEAREST.split()]


def choose_newcomers(gaps: pd.DataFrame, results: Results) -> Results:
    """Choose the models that were dropped but have results on datasets that are kept.

    Their gaps are by the bounds of what is kept: below 0 for a score above the best one, above 1
    for one below the worst.
    """
    is_new = ~gaps["model"].isin(results.models) & gaps["dataset"].isin(results.datasets)
    found = gaps[is_new].sort_values(["model", "dataset"], kind="stable")
    models, rows = np.unique(found["model"].astype(object), return_inverse=True)
    columns = pd.Index(results.datasets).get_indexer(pd.Index(found["dataset"]))
    scores = round_significant(found["normalized"].to_numpy(dtype=float))
    bounds = bound_scores(results.scores, results.columns, len(results.datasets))
    gaps_of_all = measure_gaps(scores, columns, *bounds)
    return Results(models.tolist(), results.datasets, rows, columns, scores, gaps_of_all)


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


def find_points(positions: pd.DataFrame, newcomers: Results, *, ridge: float) -> FloatArray:
    """Find where models stand by their results, everything else fixed.

    The minimum of Σ (distance − gap)² + ridge · |x − c|², with c the origin; for a fit without a
    ridge it is 0.5 with c the mean of the models. Gaps beyond −1…2 count as these.
    """
    models, datasets = (
        positions[positions["kind"] == kind].loc[:, "x1":].to_numpy(dtype=float)
        for kind in ("model", "dataset")
    )
    center = np.zeros(models.shape[1]) if ridge else models.mean(axis=0)
    weight = np.sqrt(ridge or RIDGE)

    def miss(point: FloatArray, places: FloatArray, gaps: FloatArray) -> FloatArray:
        distances, *_ = measure_l2(np.broadcast_to(point, places.shape), places)
        return np.concatenate([distances - gaps, weight * (point - center)])

    points = np.tile(center, (len(newcomers.models), 1))
    for row in range(len(points)):
        own = newcomers.choose(newcomers.rows == row)
        known = datasets[own.columns], own.gaps.clip(*LIMITS)
        points[row] = least_squares(miss, center, args=known).x
    return points


def predict_newcomers(
    newcomers: Results,
    results: Results,
    attributes: SideInformation,
    few_results: Mapping[int, pd.DataFrame],
    *,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, FloatArray]:
    """Predict what newcomers would have on datasets on which they have no result.

    Predictions are those of the factors, fitted to all results and those of the newcomers.
    Intervals are calibrated by models of the study that were left with as many results, or the next
    smaller number that was tried, so they hold for newcomers like these. They are NaN where no
    model has more results than that. Where no result connects the newcomer with the dataset,
    nothing is predicted. The second value is how far the mean of a model's predictions may be off.
    """
    joined, asked = join_results(results, newcomers), find_empty(newcomers)
    pairs = asked._replace(rows=asked.rows + len(results.models))
    table = pd.DataFrame({"row": asked.rows, "column": asked.columns, "observed": np.nan})
    found = np.empty((2, len(table)))
    if len(table):
        found[:] = predict_gaps([joined], attributes, [pairs], rng=rng)[0]
    is_near = are_connected(joined, *pairs)
    table = table.assign(prediction=found[0], variance=found[1], low=np.nan, high=np.nan)
    table.loc[~is_near, "prediction"] = np.nan
    reach = np.full(len(newcomers.models), np.nan)
    tried = np.array([0, *few_results])
    chosen = tried[np.searchsorted(tried, newcomers.per_model, side="right") - 1]
    for count, known in few_results.items():
        is_asked = (chosen == count)[asked.rows] & is_near
        # Of a new model no errors are known, so those of one model must not tell of each other.
        own = table[is_asked].assign(row=len(known) + np.arange(is_asked.sum()))
        ends = find_intervals(known, own)
        table.loc[is_asked, "low"], table.loc[is_asked, "high"] = ends
        errors = (known["truth"] - known["prediction"]).groupby(known["model"]).mean().abs()
        rank = int(np.ceil((len(errors) + 1) * PREDICTION_LEVEL - 1e-9))
        if rank <= len(errors):
            reach[chosen == count] = errors.sort_values().iloc[rank - 1]
    return table.rename(columns={"prediction": "predicted"}), reach


def place_models(
    gaps: pd.DataFrame,
    positions: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    method: str,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Place models with few results, and say how well such models are predicted.

    Their mean gap is that of their results and of the predictions for all other datasets.
    """
    results = choose_results(gaps)
    make_rng = partial(make_stream, seed, study, "capabilities")
    curve, few_results = draw_error_curve(
        results,
        gather_attributes(results, models, datasets),
        make_rng=partial(make_rng, "error_curve"),
    )
    newcomers = choose_newcomers(gaps, results)
    found, reach = predict_newcomers(
        newcomers,
        results,
        gather_attributes(join_results(results, newcomers), models, datasets),
        few_results,
        rng=make_rng("placements"),
    )
    counts = found.groupby("row")["predicted"].agg(["count", "sum"])
    predicted, sums = counts.reindex(range(len(newcomers.models)), fill_value=0).to_numpy().T
    sums = sums + np.bincount(newcomers.rows, newcomers.gaps, minlength=len(newcomers.models))
    total = predicted + newcomers.per_model
    mean, apart = sums / total, reach * predicted / total
    points = find_points(positions, newcomers, ridge=RIDGES[method])
    placements = {
        "model": newcomers.models,
        "results": newcomers.per_model,
        "mean_gap": mean,
        "mean_gap_low": mean - apart,
        "mean_gap_high": mean + apart,
        **{f"x{axis}": column for axis, column in enumerate(points.T, 1)},
    }
    predictions = tabulate_predictions(newcomers, found, gaps, bounds)
    return {
        "error_curve": curve,
        "placements": pd.DataFrame(placements).astype({"model": "str"}),
        "placement_predictions": predictions.drop(columns="observed"),
    }
