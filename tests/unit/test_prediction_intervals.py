"""Prediction intervals: their coverage of simulated results, order and few results."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from capmap.capabilities import predictions
from capmap.capabilities.embedding import embed_models
from capmap.capabilities.gaps import tabulate_gaps


def draw_gaps(
    seed: int = 0, *, models: int = 16, datasets: int = 18, share: float = 0.7, noise: float = 0.08
) -> pd.DataFrame:
    """A table of gaps of models and datasets at distances of known positions, with noise.

    Scores of the second dataset are errors: lower is better.
    """
    rng = np.random.default_rng(seed)
    x, y = 0.5 * rng.normal(size=(models, 2)), 0.5 * rng.normal(size=(datasets, 2))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2) + noise * rng.normal(
        size=(models, datasets)
    )
    rows, columns = np.nonzero(rng.uniform(size=apart.shape) < share)
    runs = pd.DataFrame(
        {
            "model": [f"m{row:02d}" for row in rows],
            "dataset": [f"d{column:02d}" for column in columns],
            "score": 1 - apart[rows, columns] / 4,
        }
    )
    return tabulate_gaps(runs, make_bounds(runs), min_results=3)


def make_bounds(table: pd.DataFrame) -> pd.DataFrame:
    """Bounds of a metric that allows any score."""
    bounds = pd.DataFrame({"dataset": sorted(set(table["dataset"])), "metric": "quality"})
    is_min = bounds["dataset"] == "d01"
    return bounds.assign(direction=np.where(is_min, "min", "max"), low=0.0, high=100.0)


def predict(gaps: pd.DataFrame) -> pd.DataFrame:
    options = {"study": "toy", "seed": 0}
    positions = embed_models(gaps, method="l2", dimension=2, projection="mds", **options)
    models = gaps.groupby("model")["gap"].mean().rename("mean_gap").reset_index()
    datasets, bounds = gaps[["dataset"]].drop_duplicates(), make_bounds(gaps)
    found = predictions.predict_cells(
        gaps, models, datasets, bounds, positions["positions"], **options
    )
    return found["predictions"]


@cache
def predict_toy() -> pd.DataFrame:
    return predict(draw_gaps())


@pytest.mark.slow
def test_intervals_hold_scores_that_were_never_there() -> None:
    # A third of the cells of a matrix is left out, and compared with what is predicted for them.
    # With about 10 results per dataset, 2 / 11 of them are beyond the best or the worst one, which
    # is where an interval that reaches the bound is open.
    held, beyond = [], []
    for seed in range(3):
        truth = draw_gaps(seed, share=1.0).set_index(["model", "dataset"])["score"]
        gaps = draw_gaps(seed, share=0.65)
        table = predict(gaps)
        empty = table[~table["held_out"]].set_index(["model", "dataset"])
        scores = truth.loc[empty.index]
        known = gaps[gaps["dropped"] == ""].groupby("dataset")["score"].agg(["min", "max"])
        ends = known.loc[empty.index.get_level_values("dataset")].to_numpy().T
        beyond += (~scores.between(*ends)).tolist()
        held += scores.between(empty["score_low"], empty["score_high"]).tolist()
    assert len(held) > 260
    assert np.mean(beyond) > 0.1
    assert np.mean(held) == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
def test_every_pair_has_a_row_and_ends_in_order() -> None:
    gaps, table = draw_gaps(), predict_toy()
    kept = gaps[gaps["dropped"] == ""]
    assert len(table) == kept["model"].nunique() * kept["dataset"].nunique()
    assert table["held_out"].sum() == len(kept)
    assert table[["model", "dataset"]].equals(
        table[["model", "dataset"]].sort_values(["model", "dataset"])
    )
    hidden = table[table["held_out"]].reset_index(drop=True)
    np.testing.assert_allclose(hidden["observed"], kept["gap"])
    for low, middle, high in (
        ("low", "predicted", "high"),
        ("score_low", "predicted_score", "score_high"),
    ):
        assert (table[low] <= table[middle] + 1e-9).all()
        assert (table[middle] <= table[high] + 1e-9).all()
    assert hidden["low"].between(0, 1).all()
    assert hidden["high"].between(0, 1).all()
    assert table["predicted"].between(0, 1).all()


def test_scores_follow_from_gaps_by_the_best_and_worst_of_each_dataset() -> None:
    gaps, table = draw_gaps(), predict_toy()
    kept = gaps[gaps["dropped"] == ""].groupby("dataset")["score"]
    low, high = (table["dataset"].map(bound) for bound in (kept.min(), kept.max()))
    is_min = table["dataset"] == "d01"
    best, worst = np.where(is_min, low, high), np.where(is_min, high, low)
    expected = best + table["predicted"] * (worst - best)
    np.testing.assert_allclose(table["predicted_score"], expected)
    assert is_min.any()


def tabulate(cells: list[tuple[str, str, float]]) -> pd.DataFrame:
    runs = pd.DataFrame(cells, columns=["model", "dataset", "score"])
    return tabulate_gaps(runs, make_bounds(runs), min_results=1)


def test_few_results_have_intervals_from_0_to_1() -> None:
    cells = [("a", "x", 0.1), ("a", "y", 0.9), ("b", "x", 0.5), ("b", "y", 0.3)]
    table = predict(tabulate(cells))
    assert len(table) == 4
    assert (table["low"] == 0).all()
    assert (table["high"] == 1).all()
    assert table["predicted"].between(0, 1).all()


def test_pairs_that_no_result_connects_have_no_prediction() -> None:
    rng = np.random.default_rng(0)
    cells = [
        (f"{part}{model}", f"{part}{dataset}", float(rng.uniform()))
        for part in "AB"
        for model in range(5)
        for dataset in range(5)
    ]
    table = predict(tabulate(cells))
    is_apart = table["model"].str[0] != table["dataset"].str[0]
    assert is_apart.sum() == 50
    assert table.loc[is_apart, ["low", "high", "score_low", "score_high"]].isna().all(axis=None)
    assert table.loc[is_apart, ["predicted", "predicted_score"]].isna().all(axis=None)
    assert ((table["high"] - table["low"])[~is_apart] < 1).any()
