"""Placed models, their error curve, centrality, what is near and what to run next."""

import csv
import math
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from scipy.stats import spearmanr

from capmap.analyses import next_results
from capmap.capabilities.crossvalidation import COUNTS, draw_error_curve
from capmap.capabilities.embedding import embed_models, measure_l2
from capmap.capabilities.factors import SideInformation
from capmap.capabilities.gaps import Results, choose_results, tabulate_gaps
from capmap.capabilities.predictions import (
    choose_newcomers,
    correlate_centrality,
    find_points,
    list_nearest,
    place_models,
)
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
    positions = embed_models(gaps, dimension=2, projection="mds", **options)["positions"]
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
    options = {"study": "toy", "method": method, "dimension": 2, "projection": "mds", "seed": 0}
    positions = embed_models(gaps, **options)["positions"]
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
        results,
        SideInformation([], [], np.zeros((len(results.models), 0))),
        confidence_level=0.9,
        make_rng=make_rng,
    )
    assert curve["results"].tolist() == list(COUNTS)
    assert curve["coverage"].between(0.86, 0.95).all()
    assert curve["mse"].iloc[-1] < 0.7 * curve["mse"].iloc[0]
    assert (curve["mse"] < curve["mse_additive"])[curve["results"] >= 8].all()
    for row in curve.itertuples():
        own = hidden[row.results]
        assert len(own) == row.predictions
        assert ((own["prediction"] - own["truth"]) ** 2).mean() == pytest.approx(row.mse)


def correlate(centrality: list[float], gaps: list[float]) -> dict[str, float]:
    """Positions with a dataset that does not count, and models in another order."""
    names = [f"m{number}" for number in range(len(gaps))]
    positions = pd.DataFrame(
        {
            "kind": ["dataset", *["model"] * len(names)],
            "name": ["m0", *names],
            "centrality": [9, *centrality],
        }
    )
    models = pd.DataFrame({"model": names[::-1], "mean_gap": gaps[::-1]})
    return correlate_centrality(positions, models).iloc[0].to_dict()


def test_estimate_is_that_of_scipy_with_ties() -> None:
    rng = np.random.default_rng(3)
    centrality = rng.integers(8, size=30) / 8
    gaps = centrality + rng.integers(8, size=30) / 8
    row = correlate(centrality.tolist(), gaps.tolist())
    assert row["estimate"] == pytest.approx(spearmanr(centrality, gaps).statistic)
    assert row["models"] == 30
    # By hand: tanh(artanh ρ ± 1.64485 √((1 + ρ²/2) / 27)).
    half = 1.644854 * math.sqrt((1 + row["estimate"] ** 2 / 2) / 27)
    middle = math.atanh(row["estimate"])
    assert row["low"] == pytest.approx(math.tanh(middle - half), abs=1e-6)
    assert row["high"] == pytest.approx(math.tanh(middle + half), abs=1e-6)


def test_models_without_results_do_not_count_and_two_have_no_interval() -> None:
    row = correlate([1, 2, 3], [0.1, math.nan, 0.3])
    assert (row["models"], row["estimate"]) == (2, 1)
    assert math.isnan(row["low"])


@pytest.mark.parametrize("gaps", [[], [0.5], [0.5, 0.5]])
def test_without_variation_there_is_no_correlation(gaps: list[float]) -> None:
    row = correlate([float(number) for number in range(len(gaps))], gaps)
    assert math.isnan(row["estimate"])
    assert row["models"] == len(gaps)


def test_nearest_datasets_are_of_the_own_part_and_untried_ones_have_no_result() -> None:
    names, x1 = ["A", "B", "d", "e", "f", "g", "h"], [0.0, 9.0, 1.0, -2.0, 3.0, 4.0, 8.0]
    positions = pd.DataFrame({"kind": ["model"] * 2 + ["dataset"] * 5, "name": names, "x1": x1})
    positions["component"] = [1, 2, 1, 1, 1, 1, 2]
    rows = [
        ("A", "d", 0.1, 0.2),
        ("A", "f", None, 0.5),
        ("A", "e", None, 0.3),
        ("B", "h", 0.0, 0.0),
    ]
    predictions = pd.DataFrame(rows, columns=["model", "dataset", "observed", "predicted"])
    table = list_nearest(positions, predictions.assign(low=0.0, high=1.0))
    assert table["model"].tolist() == ["A", "A", "A", "B"]
    assert table["nearest"].tolist() == ["d", "e", "f", "h"]
    assert table["map_distance"].tolist() == [1, 2, 3, 1]
    assert table["untried"].fillna("").tolist() == ["e", "f", "", ""]


COLUMNS = ["model", "dataset", "observed", "predicted", "low", "high"]


def make(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_widest_interval_that_may_be_near_the_best_comes_first() -> None:
    predictions = make(
        ("A", "d", None, 0.3, 0.0, 0.5),
        ("A", "e", 0.2, 0.3, 0.0, 1.0),  # has a result
        ("B", "d", None, 0.6, 0.2, 1.0),  # is not near the best
        ("B", "e", None, 0.4, 0.1, 0.8),
    )
    placed = make(("C", "d", None, 0.5, 0.0, 0.9), ("C", "e", None, None, None, None))
    found = next_results.choose_next_results(predictions, placed)
    assert found[["rank", "model", "dataset"]].to_numpy().tolist() == [
        [1, "C", "d"],
        [2, "B", "e"],
        [3, "A", "d"],
    ]
    assert found["width"].round(9).tolist() == [0.9, 0.7, 0.5]


def test_each_model_has_ten_rows_at_most() -> None:
    many = make(*(("A", f"d{place:02d}", None, 0.1, 0.0, 0.4) for place in range(12)))
    found = next_results.choose_next_results(many, make())
    assert found["dataset"].tolist() == [f"d{place:02d}" for place in range(10)]
    assert next_results.choose_next_results(make(), make()).empty
