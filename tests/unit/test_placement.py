"""Placed models and their error curve: by hand, connected or not, and on a real database."""

import csv
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from capmap.capabilities.crossvalidation import COUNTS, draw_error_curve, leave_few
from capmap.capabilities.embedding import embed_models, measure_l2
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import Results, choose_results, tabulate_gaps
from capmap.capabilities.predictions import choose_newcomers, find_points, place_models
from capmap.rng import make_stream

DATABASE = Path(__file__).parents[3] / "shared" / "data" / "capabilities" / "data.csv"


def draw_runs(*, models: int = 14, datasets: int = 12, new: int = 3, seed: int = 0) -> pd.DataFrame:
    """Runs of models on all datasets, and of newcomers on the first one, two and so on."""
    rng = np.random.default_rng(seed)
    names = [f"m{place:02d}" for place in range(models)] + [f"new {place}" for place in range(new)]
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


def make_bounds(runs: pd.DataFrame) -> pd.DataFrame:
    bounds = pd.DataFrame({"dataset": sorted(set(runs["dataset"])), "metric": "quality"})
    is_min = bounds["dataset"] == "d01"
    return bounds.assign(direction=np.where(is_min, "min", "max"), low=0.0, high=100.0)


def tabulate(runs: pd.DataFrame, *, min_results: int = 5) -> pd.DataFrame:
    return tabulate_gaps(runs, make_bounds(runs), min_results=min_results)


def place(runs: pd.DataFrame, *, min_results: int = 5) -> dict[str, pd.DataFrame]:
    gaps = tabulate(runs, min_results=min_results)
    options = {"study": "toy", "method": "l2_ridge", "seed": 0}
    positions = embed_models(gaps, dimension=2, **options)
    models, datasets = (gaps[[name]].drop_duplicates() for name in ("model", "dataset"))
    return place_models(gaps, positions, models, datasets, make_bounds(runs), **options)


@cache
def place_toy() -> dict[str, pd.DataFrame]:
    return place(draw_runs())


def test_newcomers_are_the_dropped_models_with_results_on_kept_datasets() -> None:
    alone = pd.DataFrame({"model": ["new 0", "z"], "dataset": ["alone", "alone"], "score": 0.5})
    runs = draw_runs()
    # Normalized scores of the others on d00 go from low to high; one above is half a range better.
    low, high = runs[runs["dataset"] == "d00"].iloc[:14]["score"].agg(["min", "max"])
    runs.loc[runs["model"] == "new 0", "score"] = high + (high - low) / 2
    gaps = tabulate(pd.concat([runs, alone], ignore_index=True))
    results = choose_results(gaps)
    newcomers = choose_newcomers(gaps.sample(frac=1, random_state=1), results)
    assert newcomers.models == ["new 0", "new 1", "new 2"]
    assert newcomers.datasets == results.datasets
    assert newcomers.per_model.tolist() == [1, 2, 3]
    assert newcomers.gaps[0] == pytest.approx(-0.5)


def test_each_newcomer_has_a_place_and_predictions() -> None:
    placements, predictions = place_toy()["placements"], place_toy()["placement_predictions"]
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
    # The mean gap is of results and of predictions for the rest.
    gaps = tabulate(draw_runs())
    newcomers = choose_newcomers(gaps, choose_results(gaps))
    known = np.bincount(newcomers.rows, newcomers.gaps)
    means = (known + predictions.groupby("model")["predicted"].sum().to_numpy()) / 12
    np.testing.assert_allclose(placements["mean_gap"], means)


@pytest.mark.parametrize("ridge", [0.5, 0.0])
def test_models_stand_where_their_distances_come_nearest_the_gaps(ridge: float) -> None:
    gaps = tabulate(draw_runs())
    method = "l2_ridge" if ridge else "l2"
    positions = embed_models(gaps, study="toy", method=method, dimension=2, seed=0)
    newcomers = choose_newcomers(gaps, choose_results(gaps))
    models, datasets = np.split(positions[["x1", "x2"]].to_numpy(), [14])
    middle = np.zeros(2) if ridge else models.mean(axis=0)
    for row, point in enumerate(find_points(positions, newcomers, ridge=ridge)):
        part = newcomers.choose(newcomers.rows == row)
        known = datasets[part.columns]

        def measure(at: np.ndarray, known: np.ndarray = known, part: Results = part) -> float:
            distances, *_ = measure_l2(np.broadcast_to(at, known.shape), known)
            return float(((distances - part.gaps) ** 2).sum() + 0.5 * ((at - middle) ** 2).sum())

        assert measure(point) <= optimize.minimize(measure, middle).fun + 1e-6


def test_without_newcomers_tables_are_empty_but_have_their_columns() -> None:
    found = place(draw_runs(new=0, models=6, datasets=5))
    for name in ("placements", "placement_predictions"):
        assert found[name].empty
        assert list(found[name].columns) == list(place_toy()[name].columns)


def test_a_newcomer_of_two_models_has_no_interval() -> None:
    cells = [(model, dataset) for model in "ab" for dataset in "xy"] + [("c", "x")]
    runs = pd.DataFrame(cells, columns=["model", "dataset"]).assign(score=[0.1, 0.9, 0.5, 0.3, 0.2])
    found = place(runs, min_results=2)["placements"]
    assert found["results"].tolist() == [1]
    assert found["mean_gap"].notna().all()
    assert found[["mean_gap_low", "mean_gap_high"]].isna().all(axis=None)


def test_newcomers_are_predicted_only_where_results_connect_them() -> None:
    rng = np.random.default_rng(0)
    cells = [
        (f"{part}{model}", f"{part}{dataset}", float(rng.uniform()))
        for part in "AB"
        for model in range(5)
        for dataset in range(5)
    ]
    runs = pd.DataFrame([*cells, ("new", "A1", 0.3)], columns=["model", "dataset", "score"])
    own = place(runs, min_results=3)["placement_predictions"].set_index("dataset")
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


@pytest.mark.slow
@pytest.mark.skipif(not DATABASE.exists(), reason="the literature database is not there")
def test_intervals_hold_nine_of_ten_results_of_the_literature() -> None:
    with DATABASE.open(encoding="utf-8-sig", newline="") as stream:
        families, variants, *rows = csv.reader(stream)
    filled = pd.Series(families).replace("", None).ffill()
    cells = [
        (row[0].strip(), f"{filled[column]} / {variants[column]}", float(value.replace(",", ".")))
        for row in rows
        for column, value in enumerate(row)
        if row[0].strip() and column and value.strip()
    ]
    runs = pd.DataFrame(cells, columns=["model", "dataset", "score"])
    raw = runs.groupby("dataset")["score"]
    low, width = raw.transform("min"), raw.transform("max") - raw.transform("min")
    gaps = tabulate(runs.assign(score=(runs["score"] - low) / width.where(width > 0, 1)))
    results = choose_results(gaps)
    assert (len(results.models), len(results.datasets), len(results.gaps)) == (45, 92, 820)
    make_rng = partial(make_stream, 0, "toy", "capabilities", "error_curve")
    curve, hidden = draw_error_curve(
        results, gather_attributes(results), confidence_level=0.9, make_rng=make_rng
    )
    assert curve["results"].tolist() == list(COUNTS)
    assert curve["coverage"].between(0.86, 0.95).all()
    assert curve["mse"].iloc[-1] < 0.7 * curve["mse"].iloc[0]
    assert (curve["mse"] < curve["mse_additive"])[curve["results"] >= 8].all()
    for row in curve.itertuples():
        own = hidden[row.results]
        assert len(own) == row.predictions
        assert ((own["prediction"] - own["truth"]) ** 2).mean() == pytest.approx(row.mse)
