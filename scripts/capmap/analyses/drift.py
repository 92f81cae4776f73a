"""Whether the map stays put as models are published, and how well newcomers are predicted."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import orthogonal_procrustes

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.capabilities.embedding import METHODS, Embedding, Method, draw_start, fit_embedding
from capmap.capabilities.factors import (
    Pairs,
    SideInformation,
    fit_additive,
    gather_attributes,
    predict_gaps,
)
from capmap.capabilities.gaps import (
    BoolArray,
    Results,
    are_connected,
    choose_results,
    split_halves,
)
from capmap.capabilities.intervals import summarize_errors
from capmap.capabilities.maps import enter_ball, settle_points
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream

STEPS = 10
SMALLEST = 1e-6


class Map(NamedTuple):
    """A fit, and which models, then datasets, have results in it."""

    fit: Embedding
    has_results: BoolArray


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


def track_shifts(
    results: Results, steps: Sequence[BoolArray], method: Method, starts: Sequence[FloatArray]
) -> pd.DataFrame:
    """Measure how far models move as others are added.

    Parameters
    ----------
    results : Results
        Of all models.
    steps : sequence of ndarray of bool, shape (results,)
        What is known at each step; the later ones include the earlier ones.
    method : Method
        How maps are fitted.
    starts : sequence of two ndarray, shape (models + datasets, dimension)
        Where points start, and where they might start as well.

    Returns
    -------
    pandas.DataFrame
        By step: ``shift`` (how far the earlier models moved since the step before),
        ``shift_to_final`` (how far the models so far are from where they end) and ``shift_noise``
        (how far they are from where the other start puts them).

    Notes
    -----
    A shift is the root mean square distance of models between two maps after the models and
    datasets that have results in both are centered and the second map is rotated or reflected onto
    the first (orthogonal Procrustes; cosine maps are compared on the unit sphere and not centered,
    and Poincaré maps in the ball). It is relative to the radius of the final map, the root mean
    square distance of its models and datasets from their center: 0 is still, and about 1.4
    unrelated for two large maps of that radius. A shift that is not above ``shift_noise`` is one of
    the fit, not of the models.
    """
    maps, others = (
        [_fit_map(results.choose(known), method, start) for known in steps] for start in starts
    )
    final = maps[-1]
    rows = [
        {
            "shift": measure_shift(maps[place - 1], own, final) if place else np.nan,
            "shift_to_final": measure_shift(own, final, final),
            "shift_noise": measure_shift(own, others[place], final),
        }
        for place, own in enumerate(maps)
    ]
    return pd.DataFrame(rows)


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
        Root mean square over the models that have results on both maps, see `track_shifts`. NaN
        where the final map is a single point.
    """
    shared = first.has_results & second.has_results
    radius = float(np.sqrt((_settle(final, final.has_results) ** 2).sum(axis=1).mean()))
    if radius < SMALLEST:
        return float("nan")
    reference, points = _settle(first, shared), _settle(second, shared)
    moved = points @ orthogonal_procrustes(points, reference)[0]
    models = int(shared[: len(first.fit.models)].sum())
    squares = ((moved - reference)[:models] ** 2).sum(axis=1)
    return float(np.sqrt(squares.mean())) / radius


def _fit_map(train: Results, method: Method, start: FloatArray) -> Map:
    fit = fit_embedding(train, method, start=start)
    return Map(fit, np.concatenate([train.per_model, train.per_dataset]) > 0)


def _settle(drawn: Map, chosen: BoolArray) -> FloatArray:
    """Some points in a frame of their own, in Euclidean coordinates."""
    points = np.concatenate([drawn.fit.models, drawn.fit.datasets])[chosen]
    distance = drawn.fit.method.distance
    settled = settle_points(points, distance=distance)
    return enter_ball(settled) if distance == "poincare" else settled


def predict_newcomers(
    results: Results,
    earlier: BoolArray,
    new: BoolArray,
    half: BoolArray,
    attributes: SideInformation,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Predict each half of the newcomers' results from the other one and all earlier results.

    Parameters
    ----------
    results : Results
        Of all models.
    earlier, new, half : ndarray of bool, shape (results,)
        What was known before, what is of newcomers, and what is in the first half.
    attributes : SideInformation
        Of models and datasets, may be empty.
    rng : numpy.random.Generator
        Draws factors.

    Returns
    -------
    pandas.DataFrame
        Place of the ``model``, and squared errors ``mse`` and ``mse_additive`` (of the additive
        baseline), a row per result that known ones connect with its model.
    """
    parts, tests = [], []
    for side in (half, ~half):
        train = results.choose(earlier | (new & side))
        is_near = are_connected(train, results.rows, results.columns)
        test = results.choose(new & ~side & is_near)
        if len(test.gaps):
            parts.append(train)
            tests.append(test)
    if not parts:
        return pd.DataFrame(columns=["model", "mse", "mse_additive"], dtype=float)
    pairs = [Pairs(test.rows, test.columns) for test in tests]
    predicted = predict_gaps(parts, attributes, pairs, rng=rng)
    tables = [
        pd.DataFrame(
            {
                "model": test.rows,
                "mse": (moments.mean - test.gaps) ** 2,
                "mse_additive": (fit_additive(train).predict(*pair) - test.gaps) ** 2,
            }
        )
        for train, test, pair, moments in zip(parts, tests, pairs, predicted, strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


def _count_models(results: Results, chosen: BoolArray) -> int:
    return int((results.choose(chosen).per_model > 0).sum())


def measure_drift(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Measure how far positions move as models are published, and errors on newcomers.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models, datasets : pandas.DataFrame
        From `capmap.capabilities.quality.describe_results`, for their attributes.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension
        As in the setting `capabilities`.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        A row per step; none without dates.

    Notes
    -----
    Models are added in at most 10 steps by date; those without a date are there from the start. At
    a step, the results of each newcomer are split at random into two halves, a family of datasets
    always in one of them, and each half is predicted from the other one and all earlier results.
    Gaps are measured by the best and worst model of all times, as published ones are; so newcomers
    that set a record do not stretch the scale at their step. Intervals are over models.
    """
    results = choose_results(gaps)
    dates = models.set_index("model")["date"].fillna("").loc[results.models].tolist()
    ends = group_dates(dates)
    if not ends:
        return pd.DataFrame(columns=ANALYSIS.tables["drift"].columns.split())
    steps = [np.array([date <= end for date in dates])[results.rows] for end in ends]
    starts = [
        draw_start(results, dimension=dimension, seed=seed, study=study, number=number)
        for number in range(2)
    ]
    families = datasets.set_index("dataset")["family"].loc[results.datasets].tolist()
    half = split_halves(
        results, families, make_stream(seed, study, "capabilities", "drift", "halves")
    )
    attributes = gather_attributes(results, models, datasets)
    rows = []
    for place, (end, known) in enumerate(zip(ends, steps, strict=True)):
        earlier = steps[max(place - 1, 0)]
        new = known & ~earlier
        rng = make_stream(seed, study, "capabilities", "drift", "factors")
        found = predict_newcomers(results, earlier, new, half, attributes, rng)
        counts = {
            "date": end,
            "models": _count_models(results, known),
            "results": int(known.sum()),
            "newcomers": _count_models(results, new),
        }
        errors = summarize_errors(
            found["model"].to_numpy(dtype=np.intp),
            {name: found[name].to_numpy() for name in ("mse", "mse_additive")},
            reference="mse_additive",
            confidence_level=confidence_level,
        )
        rows.append(errors | counts)
    shifts = track_shifts(results, steps, METHODS[method], starts)
    return pd.concat([pd.DataFrame(rows), shifts], axis=1)


def find_facts(drift: pd.DataFrame) -> dict[str, Any]:
    """The largest shift of the map, and the error on the last newcomers."""
    shifts = drift.dropna(subset=["shift", "shift_noise"]).sort_values("shift", kind="stable")
    errors = drift.dropna(subset="mse")
    return {
        "dates": drift["date"].tolist(),
        "steps": len(shifts),
        "moved": int((shifts["shift"] > shifts["shift_noise"]).sum()),
        "shift": shifts.iloc[-1].to_dict() if len(shifts) else None,
        "newcomers": errors.iloc[-1].to_dict() if len(errors) else None,
    }


ANALYSIS = Analysis(
    question="Does the map stay put over time?",
    position=160,
    needs="attributes/models/date",
    tables={
        "drift": Table(
            "Shifts of the map as models are added by date, and errors on the newcomers.",
            "date models results newcomers shift shift_to_final shift_noise predictions mse "
            "mse_low mse_high mse_additive",
        ),
    },
    figures={
        "drift": Figure(
            "Shifts of the map as models are added by date, and errors on the newcomers.",
            draw="capmap.figures.drift:draw_drift",
            reads=["drift"],
        ),
    },
    steps={
        "track_drift": Step(
            measure_drift,
            tables=["drift"],
            reads=["gaps", "models", "datasets"],
            options={
                "method": "capabilities/method",
                "dimension": "capabilities/dimension",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
        ),
    },
    find_facts=find_facts,
    meanings={
        "newcomers": "Models that were added.",
        "shift_noise": "How far positions move for no reason but the fit.",
        "shift_to_final": "Distance of positions to those with all models.",
    },
)
