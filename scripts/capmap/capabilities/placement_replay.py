"""What predictions are worth for models with few results: of some, most results are hidden."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.baselines import fit_additive
from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts
from capmap.capabilities.gaps import Results, choose_results
from capmap.capabilities.halves import Fitting, MakeRng
from capmap.capabilities.intervals import estimate_mean, list_features
from capmap.capabilities.placement import (
    Masking,
    Predicted,
    average_fits,
    calibrate_gaps,
    draw_masking,
    place_maskings,
    rehearse_placements,
)
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream, order_names

COUNTS = (1, 2, 3, 4, 6, 9)
POOLED = (1, 4)
# Maskings to each count and most repetitions; share of models masked at once, and most
# of them, unless a tenth is more.
MASKINGS = 60
REPETITIONS = 40
SHARE = 0.2
MOST = 24
# Starts of the many fits that intervals are calibrated by.
REHEARSED = 1
PLAIN = "l2"
PLACED = "placed"
ADDITIVE = "additive"
COLUMNS = {
    "method": "str",
    **dict.fromkeys(("results", "results_to", "models", "predictions"), "int64"),
    **dict.fromkeys(("mse", "mse_low", "mse_high"), "float64"),
    **dict.fromkeys(("change", "change_low", "change_high"), "float64"),
    **dict.fromkeys(("coverage", "width"), "float64"),
}


class _Options(NamedTuple):
    method: str
    starts: Sequence[FloatArray]
    confidence_level: float


def replay_placements(
    results: Results,
    *,
    method: str,
    starts: Sequence[FloatArray],
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Hide all but few results of some models, and predict them.

    Parameters
    ----------
    results : Results
        Of all models.
    method : str
        One of `METHODS`: the study's.
    starts : sequence of ndarray, shape (models + datasets, dimension)
        Where points start, as from `draw_starts`.
    confidence_level : float
        Of all intervals, between 0 and 1.
    make_rng : callable
        Makes a random generator from names.

    Returns
    -------
    pandas.DataFrame
        A row per method and number of results that a model was left with: ``method``, "l2" (plain,
        as in Adorni et al. 2025), the study's own, "placed" (the study's, fitted to the other
        models, on whose map a model is placed by `place_models`) and "additive"; ``results`` to
        ``results_to``; ``models`` that were masked; ``predictions``; ``mse``, ``mse_low``,
        ``mse_high``; ``change``, ``change_low``, ``change_high``, of the mean squared error
        relative to that of "l2" (NaN for "l2" itself); ``coverage``, the share of truths within
        their prediction intervals, and ``width``, the mean width of these (both NaN for methods
        that have none). The last row of a method takes 1 to 4 results together. Empty if no model
        has two results on datasets that others have too.

    Notes
    -----
    A fifth of the models, at most 24 or a tenth, are masked at once, each to 1, 2, 3, 4, 6 or 9
    random results (always fewer than it has). This is repeated until each number has had 60 turns,
    at most 40 times. All methods see the same results, and predictions are limited to 0…1. Gaps are
    by the bounds of all results. Results of masked models on datasets that no other model has are
    left out.

    Errors are means over predictions; models are the clusters of their intervals
    (`estimate_mean`). A change is the ratio of two mean errors, minus 1, with the
    interval of the linearized ratio. Prediction intervals are calibrated in each repetition by
    `rehearse_placements` of the models that are not masked, so no hidden result has a part in them.
    """
    options = _Options(method, starts, confidence_level)
    found = []
    for number in range(_count_repetitions(results)):
        make_own = partial(make_rng, str(number))
        maskings = _draw_maskings(results, number=number, make_rng=make_own)
        if maskings:
            found.append(_predict_all(results, maskings, options=options, make_rng=make_own))
    rows = []
    if found:
        rows = _summarize(pd.concat(found, ignore_index=True), confidence_level)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _count_masked(results: Results) -> int:
    """How many models are masked at once."""
    models = int(np.count_nonzero(results.per_model))
    return min(max(MOST, models // 10), max(1, int(SHARE * models)))


def _count_repetitions(results: Results) -> int:
    return min(REPETITIONS, -(-len(COUNTS) * MASKINGS // _count_masked(results)))


def _draw_maskings(results: Results, *, number: int, make_rng: MakeRng) -> list[Masking]:
    """Choose models, and which of their results stay known."""
    rng, masked = make_rng("models"), _count_masked(results)
    candidates = np.flatnonzero(results.per_model)
    names = [results.models[model] for model in candidates]
    models = candidates[order_names(names, rng)[:masked]]
    is_masked = np.isin(results.rows, models)
    usable = is_masked & (results.choose(~is_masked).per_dataset > 0)[results.columns]
    found = []
    for place, model in enumerate(models):
        own = np.flatnonzero(usable & (results.rows == model))
        wanted = COUNTS[(number * masked + place) % len(COUNTS)]
        known = max((count for count in COUNTS if count <= min(wanted, len(own) - 1)), default=0)
        if known:
            own_rng = make_rng("results", results.models[model])
            found.append(draw_masking(own, known=known, rng=own_rng))
    return found


def _predict_all(
    results: Results, maskings: Sequence[Masking], *, options: _Options, make_rng: MakeRng
) -> pd.DataFrame:
    """Predict hidden results by all methods: a row per method and hidden result."""
    known = np.concatenate([masking.known for masking in maskings])
    test = results.choose(np.concatenate([masking.hidden for masking in maskings]))
    is_other = ~np.isin(results.rows, test.rows)
    others = results.choose(is_other)
    train = results.choose(np.sort(np.concatenate([np.flatnonzero(is_other), known])))
    own = Fitting(METHODS[options.method], options.starts)
    predicted = {
        name: _refit(train, test, Fitting(METHODS[name], options.starts))
        for name in dict.fromkeys([PLAIN, options.method])
    }
    placed_in = fit_starts(others, own.methods, starts=own.starts)
    predicted[PLACED] = place_maskings(placed_in, results, maskings)
    effects = fit_additive(train).predict(test.rows, test.columns)
    predicted[ADDITIVE] = Predicted(effects.clip(0, 1), np.zeros(len(effects)))
    brief = own._replace(starts=own.starts[:REHEARSED])
    rehearsed = rehearse_placements(others, fitting=brief, make_rng=make_rng, strict=False)
    calibration = calibrate_gaps(rehearsed)
    fitted = {options.method: train, PLACED: others}
    counts = np.repeat(
        [len(masking.known) for masking in maskings], [len(masking.hidden) for masking in maskings]
    )
    tables = []
    for name, found in predicted.items():
        reach = np.full(len(counts), np.nan)
        if name in fitted:
            per_dataset = fitted[name].per_dataset[test.columns]
            features = list_features(counts, per_dataset, found.variance)
            reach = calibration.measure_reach(features, confidence_level=options.confidence_level)
        tables.append(_tabulate(test, found.gaps, reach).assign(method=name, results=counts))
    return pd.concat(tables, ignore_index=True)


def _refit(train: Results, test: Results, fitting: Fitting) -> Predicted:
    fits = fit_starts(train, fitting.methods, starts=fitting.starts)
    return average_fits(fits, test.rows, test.columns)


def _tabulate(test: Results, predicted: FloatArray, reach: FloatArray) -> pd.DataFrame:
    low, high = (predicted - reach).clip(0, 1), (predicted + reach).clip(0, 1)
    covered = (low <= test.gaps) & (test.gaps <= high)
    return pd.DataFrame(
        {
            "model": test.rows,
            "square": (predicted - test.gaps) ** 2,
            "covered": np.where(np.isnan(reach), np.nan, covered),
            "width": high - low,
        }
    )


def _summarize(found: pd.DataFrame, confidence_level: float) -> list[dict[str, object]]:
    counts = [(count, count) for count in sorted(set(found["results"]))]
    rows = []
    for method in dict.fromkeys(found["method"]):
        for first, last in [*counts, POOLED]:
            within = found[found["results"].between(first, last)]
            own, plain = (within[within["method"] == name] for name in (method, PLAIN))
            rows.append(
                {
                    "method": method,
                    "results": first,
                    "results_to": last,
                    "models": own["model"].nunique(),
                    "predictions": len(own),
                    **_estimate_errors(own, plain, confidence_level),
                    "coverage": own["covered"].mean(),
                    "width": own["width"].mean(),
                }
            )
    return [row for row in rows if row["predictions"]]


def _estimate_errors(
    own: pd.DataFrame, plain: pd.DataFrame, confidence_level: float
) -> dict[str, float]:
    """Errors and their change, of rows about the same results in the same order."""
    squares, before = own["square"].to_numpy(), plain["square"].to_numpy()
    estimate = partial(estimate_mean, clusters=own["model"], confidence_level=confidence_level)
    mse, low, high = estimate(squares)
    change = np.full(3, np.nan)
    if own["method"].iloc[0] != PLAIN and before.any():
        ratio = mse / before.mean()
        residuals = (squares - ratio * before) / before.mean()
        change = ratio - 1 + np.array(estimate(residuals))
    return {
        "mse": mse,
        "mse_low": np.maximum(low, 0),
        "mse_high": high,
        "change": change[0],
        "change_low": np.maximum(change[1], -1),
        "change_high": change[2],
    }


def replay_few_results(
    gaps: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    seed: int,
    confidence_level: float,
) -> pd.DataFrame:
    """Replay placements of models whose results are hidden but for a few.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts, confidence_level
        As in the setting `capabilities`.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        The table ``placement_replay``.
    """
    results = choose_results(gaps)
    return replay_placements(
        results,
        method=method,
        starts=draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study),
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "placement_replay"),
    )
