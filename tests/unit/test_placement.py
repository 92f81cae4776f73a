"""Placed models and their error curve: by hand, from files to files, and on a real database."""

import csv
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from capmap.capabilities.embedding import (
    METHODS,
    Embedding,
    draw_start,
    fit_embedding,
)
from capmap.capabilities.error_curve import COUNTS, CURVE, leave_few, measure_curve
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import Results, choose_results, scale_scores, tabulate_gaps
from capmap.capabilities.maps import DISTANCES, settle_points
from capmap.capabilities.placement import (
    Newcomers,
    choose_newcomers,
    join_results,
    place_models,
    place_newcomers,
)
from capmap.rng import make_stream

DATABASE = Path(__file__).parents[3] / "shared" / "data" / "capabilities" / "data.csv"
STRANGE = ["=SUM(A1)", "a|b", "007", " <b>$x_1$", "ä" * 80]


def draw_runs(*, models: int = 14, datasets: int = 12, new: int = 3, seed: int = 0) -> pd.DataFrame:
    """Runs of models on all datasets, and of newcomers on the first one, two and so on."""
    rng = np.random.default_rng(seed)
    names = [*STRANGE, *(f"m{place:02d}" for place in range(models - len(STRANGE)))]
    names += [f"new {place}" for place in range(new)]
    x = 0.5 * rng.normal(size=(len(names), 2))
    y = 0.5 * rng.normal(size=(datasets, 2))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2) / 4
    apart += 0.01 * rng.normal(size=apart.shape)
    known = [datasets] * models + list(range(1, new + 1))
    cells = [
        (name, f"d{column:02d}", 0.9 - apart[row, column])
        for row, name in enumerate(names)
        for column in range(known[row])
    ]
    return pd.DataFrame(cells, columns=["model", "dataset", "score"])


def tabulate(runs: pd.DataFrame, *, min_results: int = 5, lower: str = "d01") -> pd.DataFrame:
    bounds = pd.DataFrame({"dataset": sorted(set(runs["dataset"]))})
    bounds = bounds.assign(direction="max", low=0.0, high=100.0)
    bounds.loc[bounds["dataset"] == lower, "direction"] = "min"
    return tabulate_gaps(runs, bounds, min_results=min_results)


def fit(results: Results, method: str = "l2_ridge") -> Embedding:
    start = draw_start(results, dimension=2, seed=0, study="toy")
    return fit_embedding(results, METHODS[method], start=start)


def draw_curve(results: Results) -> dict[str, pd.DataFrame]:
    make_rng = partial(make_stream, 0, "toy", "capabilities", "error_curve")
    return measure_curve(
        results, gather_attributes(results), confidence_level=0.9, make_rng=make_rng
    )


def place(
    gaps: pd.DataFrame, *, method: str = "l2_ridge", few: pd.DataFrame | None = None
) -> Newcomers:
    """Place newcomers; `few` is what the error curve hid, where it is known."""
    results = choose_results(gaps)
    newcomers = choose_newcomers(gaps, results)
    return place_newcomers(
        newcomers,
        results,
        fit(results, method),
        draw_curve(results)["few_results"] if few is None else few,
        scale=scale_scores(gaps),
        attributes=gather_attributes(join_results(results, newcomers)),
        confidence_level=0.9,
        rng=make_stream(0, "toy", "capabilities", "placements"),
    )


def test_newcomers_are_the_dropped_models_with_results_on_kept_datasets() -> None:
    runs = draw_runs()
    alone = pd.DataFrame({"model": ["new 0", "z"], "dataset": ["alone", "alone"], "score": 0.5})
    gaps = tabulate(pd.concat([runs, alone], ignore_index=True))
    results = choose_results(gaps)
    newcomers = choose_newcomers(gaps.sample(frac=1, random_state=1), results)
    assert newcomers.models == ["new 0", "new 1", "new 2"]
    assert newcomers.datasets == results.datasets
    assert newcomers.per_model.tolist() == [1, 2, 3]


def test_gaps_of_newcomers_are_by_the_bounds_of_the_others() -> None:
    # Normalized scores of the others on d00 go from low to high; one above is half a range better.
    runs = draw_runs(new=1)
    others = runs[(runs["dataset"] == "d00") & (runs["model"] != "new 0")]["score"]
    low, high = others.min(), others.max()
    runs.loc[runs["model"] == "new 0", "score"] = high + (high - low) / 2
    gaps = tabulate(runs)
    newcomers = choose_newcomers(gaps, choose_results(gaps))
    np.testing.assert_allclose(newcomers.gaps, [-0.5])


@cache
def hide_toy() -> pd.DataFrame:
    return draw_curve(choose_results(tabulate(draw_runs())))["few_results"]


@cache
def place_toy(method: str = "l2_ridge") -> Newcomers:
    return place(tabulate(draw_runs()), method=method, few=hide_toy())


@pytest.mark.parametrize("method", METHODS)
def test_each_newcomer_has_a_place_and_predictions(method: str) -> None:
    found = place_toy(method)
    placements, predictions = found.placements, found.predictions
    assert placements["model"].tolist() == ["new 0", "new 1", "new 2"]
    assert placements["results"].tolist() == [1, 2, 3]
    assert (placements["mean_gap_low"] < placements["mean_gap"]).all()
    assert (placements["mean_gap"] < placements["mean_gap_high"]).all()
    assert placements[["x1", "x2"]].notna().all(axis=None)
    # Those of the twelve datasets that a model has no result on.
    assert predictions["model"].value_counts().to_dict() == {"new 0": 11, "new 1": 10, "new 2": 9}
    assert (predictions["low"] <= predictions["predicted"]).all()
    assert (predictions["predicted"] <= predictions["high"]).all()
    assert (predictions["score_low"] <= predictions["predicted_score"]).all()
    assert (predictions["predicted_score"] <= predictions["score_high"]).all()


@pytest.mark.parametrize("method", METHODS)
def test_models_stand_where_their_distances_come_nearest_the_gaps(method: str) -> None:
    gaps = tabulate(draw_runs())
    results = choose_results(gaps)
    newcomers, own = choose_newcomers(gaps, results), fit(results, method)
    settled = settle_points(np.concatenate([own.models, own.datasets]), distance=own.distance)
    middle, datasets = settled[:14].mean(axis=0), settled[14:]
    middle = 0 * middle if own.method.ridge else middle
    found = place_models(own, newcomers)
    if method == "poincare":
        found = 2 * found / (1 - (found**2).sum(axis=1, keepdims=True))
    for row, point in enumerate(found):
        part = newcomers.choose(newcomers.rows == row)
        known = datasets[part.columns]

        def measure(at: np.ndarray, known: np.ndarray = known, part: Results = part) -> float:
            distances, *_ = DISTANCES[own.distance](np.broadcast_to(at, known.shape), known)
            return float(((distances - part.gaps) ** 2).sum() + 0.5 * ((at - middle) ** 2).sum())

        if method != "cosine":  # of which only the direction is told
            assert measure(point) <= optimize.minimize(measure, middle).fun + 1e-6


def test_the_mean_gap_is_of_results_and_of_predictions_for_the_rest() -> None:
    gaps, found = tabulate(draw_runs()), place_toy()
    newcomers = choose_newcomers(gaps, choose_results(gaps))
    known = np.bincount(newcomers.rows, newcomers.gaps)
    means = (known + found.predictions.groupby("model")["predicted"].sum().to_numpy()) / 12
    np.testing.assert_allclose(found.placements["mean_gap"], means)


def test_without_newcomers_tables_are_empty_but_have_their_columns() -> None:
    found, full = place(tabulate(draw_runs(new=0))), place_toy()
    for empty, table in (
        (found.placements, full.placements),
        (found.predictions, full.predictions),
    ):
        assert empty.empty
        assert list(empty.columns) == list(table.columns)
        assert empty.dtypes.tolist() == table.dtypes.tolist()


def test_a_newcomer_of_two_models_has_no_interval() -> None:
    cells = [(model, dataset) for model in "ab" for dataset in "xy"] + [("c", "x")]
    runs = pd.DataFrame(cells, columns=["model", "dataset"]).assign(score=[0.1, 0.9, 0.5, 0.3, 0.2])
    found = place(tabulate(runs, min_results=2))
    assert found.placements["results"].tolist() == [1]
    assert found.placements["mean_gap"].notna().all()
    assert found.placements[["mean_gap_low", "mean_gap_high"]].isna().all(axis=None)


def test_newcomers_are_predicted_only_where_results_connect_them() -> None:
    rng = np.random.default_rng(0)
    cells = [
        (f"{part}{model}", f"{part}{dataset}", float(rng.uniform()))
        for part in "AB"
        for model in range(5)
        for dataset in range(5)
    ]
    runs = pd.DataFrame([*cells, ("new", "A1", 0.3)], columns=["model", "dataset", "score"])
    found = place(tabulate(runs, min_results=3))
    own = found.predictions.set_index("dataset")
    is_apart = own.index.str[0] == "B"
    assert own.loc[is_apart, ["predicted", "low", "predicted_score"]].isna().all(axis=None)
    assert own.loc[~is_apart, ["predicted", "low", "high"]].notna().all(axis=None)
    assert len(own) == 9


def test_models_are_left_with_as_many_results_as_is_said() -> None:
    results = choose_results(tabulate(draw_runs(new=0)))
    for count in (1, 4, 11):
        hidden = leave_few(results, count, make_stream(0, "toy"))
        assert len(hidden) == 5
        assert np.sum(hidden, axis=0).max() == 1  # each result in one group at most
        for own in hidden:
            left = results.choose(~own).per_model
            models = np.unique(results.rows[own])
            assert set(left[models]) == {count}
            assert (np.delete(left, models) == 12).all()
    assert leave_few(results, 12, make_stream(0, "toy")) == []


def test_errors_fall_with_known_results_and_intervals_hold_theirs() -> None:
    results = choose_results(tabulate(draw_runs(models=30, datasets=24, new=0)))
    curve, hidden = draw_curve(results).values()
    assert curve.columns.tolist() == CURVE
    assert curve["results"].tolist() == list(COUNTS)
    assert curve["predictions"].tolist() == hidden.groupby("results").size().tolist()
    assert (curve["predictions"] <= 30 * (24 - curve["results"])).all()
    assert curve["mse"].iloc[-1] < 0.5 * curve["mse"].iloc[0]
    errors = (hidden["prediction"] - hidden["truth"]) ** 2
    np.testing.assert_allclose(curve["mse"], errors.groupby(hidden["results"]).mean())
    assert (curve["mse"] < curve["mse_additive"]).all()
    assert curve["coverage"].between(0.86, 0.95).all()


def read_database() -> pd.DataFrame:
    """Scores of the literature database; higher is better throughout."""
    with DATABASE.open(encoding="utf-8-sig", newline="") as stream:
        families, variants, *rows = csv.reader(stream)
    filled = pd.Series(families).replace("", None).ffill()
    cells = [
        (row[0].strip(), f"{filled[column]} / {variants[column]}", float(value.replace(",", ".")))
        for row in rows
        for column, value in enumerate(row)
        if row[0].strip() and column and value.strip()
    ]
    return pd.DataFrame(cells, columns=["model", "dataset", "score"])


@pytest.mark.slow
@pytest.mark.skipif(not DATABASE.exists(), reason="the literature database is not there")
def test_intervals_hold_nine_of_ten_results_of_the_literature() -> None:
    runs = read_database()
    raw = runs.groupby("dataset")["score"]
    low, width = raw.transform("min"), raw.transform("max") - raw.transform("min")
    gaps = tabulate(runs.assign(score=(runs["score"] - low) / width.where(width > 0, 1)))
    results = choose_results(gaps)
    assert (len(results.models), len(results.datasets), len(results.gaps)) == (45, 92, 820)
    curve, few = draw_curve(results).values()
    assert curve["coverage"].between(0.86, 0.95).all()
    assert curve["mse"].iloc[-1] < 0.7 * curve["mse"].iloc[0]
    assert (curve["mse"] < curve["mse_additive"])[curve["results"] >= 8].all()
    # 29 models with less than five results were not fitted.
    assert len(place(gaps, few=few).placements) == 29
