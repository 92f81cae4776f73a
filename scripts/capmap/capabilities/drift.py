"""Whether the map stays put as models are published, and how well it places the newcomers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.embedding import METHODS, Embedding, draw_starts, fit_starts
from capmap.capabilities.gaps import BoolArray, Results, are_connected, choose_results
from capmap.capabilities.geometry import enter_ball, find_motion, settle_points
from capmap.capabilities.halves import (
    HALVINGS,
    Fitting,
    MakeRng,
    list_halves,
    predict_additive,
    predict_hidden,
    summarize_errors,
    tabulate_predictions,
)
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream

STEPS = 10
SMALLEST = 1e-6
DRIFT = [
    *("date", "models", "results", "newcomers", "shift", "shift_to_final", "shift_noise"),
    *("predictions", "mse", "mse_low", "mse_high", "mse_additive"),
]
NEWCOMERS = [
    *("models", "predictions", "mse", "mse_low", "mse_high", "mse_additive"),
    *("difference", "difference_low", "difference_high"),
]


class Map(NamedTuple):
    """A fit, and which models, then datasets, have results in it."""

    fit: Embedding
    has_results: BoolArray


@dataclass(frozen=True)
class Drift:
    """How the map changes with time.

    Parameters
    ----------
    steps : pandas.DataFrame
        A row per step, by date.
    newcomers : pandas.DataFrame
        One row about the predictions of all steps; none where nothing was predicted.
    """

    steps: pd.DataFrame
    newcomers: pd.DataFrame


def group_dates(dates: Sequence[str]) -> list[str]:
    """Cut dates into at most 10 groups of about as many models.

    Parameters
    ----------
    dates : sequence of str
        Of each model, as 2024-02-13; "" where it is not known.

    Returns
    -------
    list of str
        The last date of each group, ascending. Models of one date stay together, so groups may be
        fewer and uneven.

    Examples
    --------
    >>> group_dates(["2021-01-01", "2020-01-01", "", "2021-01-01"])
    ['2020-01-01', '2021-01-01']
    """
    known = sorted(date for date in dates if date)
    ends = [-(-len(known) * (step + 1) // STEPS) - 1 for step in range(STEPS)]
    return sorted({known[end] for end in ends}) if known else []


def track_drift(
    results: Results,
    *,
    dates: Sequence[str],
    families: Sequence[str],
    fitting: Fitting,
    other_starts: Sequence[FloatArray],
    confidence_level: float,
    make_rng: MakeRng,
) -> Drift:
    """Add models to the map in the order of their dates.

    Parameters
    ----------
    results : Results
        Of all models.
    dates : sequence of str
        Of each model, as 2024-02-13. Models without a date, "", are there from the start.
    families : sequence of str
        Of each dataset.
    fitting : Fitting
        How maps are fitted.
    other_starts : sequence of ndarray, shape (models + datasets, dimension)
        As many other starts, which show how far positions depend on the starts.
    confidence_level : float
        Of the intervals, between 0 and 1.
    make_rng : callable
        Makes the random generator of the number of a draw and the name of a model.

    Returns
    -------
    Drift
        Steps are at most 10. They have the columns ``date`` (the last one), ``models`` and
        ``results`` (so far), ``newcomers`` (models since the step before; 0 at the first, with
        which the map starts), ``shift`` (how far the earlier models moved since the step before),
        ``shift_to_final`` (how far the models so far are from where they end), ``shift_noise`` (how
        far they are from where other starts put them), ``predictions`` (results of newcomers),
        their mean squared error ``mse`` with the interval ``mse_low`` to ``mse_high``, and
        ``mse_additive``, that of the additive baseline. Newcomers have the columns ``models``,
        ``predictions``, the same errors, and ``difference``, the map's minus the baseline's, with
        its interval. Both are empty without dates. What cannot be measured is NaN.

    Notes
    -----
    At a step, the results of each newcomer are split at random into two halves, a family of
    datasets always in one of them. A map of all earlier results and of one half of each
    newcomer's predicts the other half, and then the other way round; all that three times. Results
    that no known ones connect with their model are not predicted, such as those of a newcomer of
    one family only.

    Gaps are measured by the best and worst model of all times, as published ones are; so newcomers
    that set a record do not stretch the scale at their step, and the error is as if the bounds of
    datasets were known.

    A shift is the root mean square distance of models between two maps, each the best fit of all
    starts, after the models and datasets that have results in both are centered and the second map
    is rotated or reflected onto the first (orthogonal Procrustes; cosine maps are compared on the
    unit sphere and not centered, and Poincaré maps in the ball). It is relative to the radius of
    the final map, the root mean square distance of its models and datasets from their center: 0 is
    still, and about 1.4 unrelated for two large maps of that radius. Starts are the same at every
    step. A shift that is not above ``shift_noise`` is one of the fit, not of the models.

    Intervals are over models (`estimate_mean`), and those of squared errors end at 0. They do not
    have the chance in which halves are drawn.
    """
    ends = group_dates(dates)
    if not ends:
        return Drift(pd.DataFrame(columns=DRIFT), pd.DataFrame(columns=NEWCOMERS))
    steps = [np.array([date <= end for date in dates])[results.rows] for end in ends]
    maps, others = (
        [_fit_map(results, known, fitting._replace(starts=starts)) for known in steps]
        for starts in (fitting.starts, other_starts)
    )
    halves = list_halves(
        [results.models[row] for row in results.rows],
        [families[column] for column in results.columns],
        n_draws=HALVINGS,
        make_rng=make_rng,
    )
    rows, found = [], []
    for place, (end, known) in enumerate(zip(ends, steps, strict=True)):
        earlier = steps[place - 1] if place else known
        found.append(_predict_newcomers(results, earlier, known & ~earlier, halves, fitting))
        counts = {
            "date": end,
            "models": _count_models(results, known),
            "results": int(known.sum()),
            "newcomers": _count_models(results, known & ~earlier),
        }
        shifts = {
            "shift": measure_shift(maps[place - 1], maps[place], maps[-1]) if place else np.nan,
            "shift_to_final": measure_shift(maps[place], maps[-1], maps[-1]),
            "shift_noise": measure_shift(maps[place], others[place], maps[-1]),
        }
        rows.append({**_summarize(found[-1], confidence_level), **counts, **shifts})
    total = _summarize(pd.concat(found, ignore_index=True), confidence_level)
    return Drift(
        pd.DataFrame(rows, columns=DRIFT),
        pd.DataFrame([total] if total["predictions"] else [], columns=NEWCOMERS),
    )


def measure_shift(first: Map, second: Map, final: Map) -> float:
    """Measure how far models are apart on two maps, relative to the radius of a third.

    Parameters
    ----------
    first, second : Map
        The maps, of the same models and datasets.
    final : Map
        The map whose radius is 1.

    Returns
    -------
    float
        Root mean square over the models that have results on both maps, see `track_drift`. NaN
        where the final map is a single point.
    """
    shared = first.has_results & second.has_results
    radius = float(np.sqrt((_settle(final, final.has_results) ** 2).sum(axis=1).mean()))
    if radius < SMALLEST:
        return float("nan")
    reference, points = _settle(first, shared), _settle(second, shared)
    moved = find_motion(points, reference, centered=False).move(points)
    models = int(shared[: len(first.fit.models)].sum())
    squares = ((moved - reference)[:models] ** 2).sum(axis=1)
    return float(np.sqrt(squares.mean())) / radius


def _fit_map(results: Results, known: BoolArray, fitting: Fitting) -> Map:
    train = results.choose(known)
    fit = fit_starts(train, fitting.methods[:1], starts=fitting.starts)[0]
    return Map(fit, np.concatenate([train.per_model, train.per_dataset]) > 0)


def _settle(drawn: Map, chosen: BoolArray) -> FloatArray:
    """Some points in a frame of their own, in Euclidean coordinates."""
    points = np.concatenate([drawn.fit.models, drawn.fit.datasets])[chosen]
    distance = drawn.fit.method.distance
    settled = settle_points(points, distance=distance)
    return enter_ball(settled) if distance == "poincare" else settled


def _predict_newcomers(
    results: Results,
    earlier: BoolArray,
    new: BoolArray,
    halves: Sequence[BoolArray],
    fitting: Fitting,
) -> pd.DataFrame:
    """Predict each half of the newcomers' results from the other one."""
    parts = []
    for half in halves:
        known = earlier | (new & half)
        is_near = are_connected(results.choose(known), results.rows, results.columns)
        hidden = new & ~half & is_near
        predictions = {
            "prediction": predict_hidden(results, known, hidden, fitting=fitting),
            "additive": predict_additive(results, known, hidden),
        }
        parts.append(tabulate_predictions(results, hidden, predictions))
    return pd.concat(parts, ignore_index=True)


def _count_models(results: Results, chosen: BoolArray) -> int:
    return int((results.choose(chosen).per_model > 0).sum())


def _summarize(found: pd.DataFrame, confidence_level: float) -> dict[str, float]:
    return summarize_errors(
        found,
        others={"additive": "mse_additive"},
        reference="additive",
        confidence_level=confidence_level,
    )


def measure_drift(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    confidence_level: float,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Measure how far positions move as models are published, and errors on newcomers.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models : pandas.DataFrame
        Columns ``model`` and ``date``.
    datasets : pandas.DataFrame
        Columns ``dataset`` and ``family``.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts
        As in the setting `capabilities`.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``drift`` and ``newcomers``.
    """
    results = choose_results(gaps)
    dates = models.set_index("model")["date"].fillna("")
    families = datasets.set_index("dataset")["family"]
    starts = draw_starts(results, dimension=dimension, starts=2 * n_starts, seed=seed, study=study)
    found = track_drift(
        results,
        dates=dates.loc[results.models].tolist(),
        families=families.loc[results.datasets].tolist(),
        fitting=Fitting(METHODS[method], starts[:n_starts]),
        other_starts=starts[n_starts:],
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "drift"),
    )
    return {"drift": found.steps, "newcomers": found.newcomers}
