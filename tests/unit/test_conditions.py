"""How alike two conditions rank the models that both have."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.analyses.conditions import AGREEMENT, compare_condition
from capmap.ranking.aggregation import compute_kendall_tau, compute_spearman_rho

COUNTS = AGREEMENT[2:]


def make_runs(scores: np.ndarray, *, models: str = "abcdefghijklmnop") -> pd.DataFrame:
    """Make runs from scores by model, dataset and seed; NaN where there is none."""
    rows = [
        (models[place[0]], f"d{place[1]}", str(place[2]), score)
        for place, score in np.ndenumerate(scores)
        if not math.isnan(score)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def draw(seed: int, *, models: int = 6, datasets: int = 5, seeds: int = 3) -> np.ndarray:
    """Draw scores of models whose abilities are the same for all seeds of the draw."""
    abilities = np.random.default_rng(7).normal(size=(models, 1, 1))
    return abilities + np.random.default_rng(seed).normal(size=(models, datasets, seeds))


def compare(runs: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.Series, pd.DataFrame]:
    row, ranks = compare_condition(runs, other)
    return pd.Series(row, index=AGREEMENT[1:]), ranks.set_index("model")


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_coefficients_are_those_of_scipy(models: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(levels + 1, size=(2, models))
    tau, rho = compute_kendall_tau(one, other), compute_spearman_rho(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert math.isnan(tau)
        assert math.isnan(rho)
        return
    assert tau == pytest.approx(stats.kendalltau(one, other).statistic, abs=1e-12)
    assert rho == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)


def test_one_exchange_of_three_costs_a_third() -> None:
    # Means 3, 2, 1 against 3, 1, 2: one of three pairs is turned, so tau = (2 - 1) / 3.
    scores = np.array([[3.0, 3], [2, 2], [1, 1]])[:, :, None]
    row, ranks = compare(make_runs(scores), make_runs(scores[[0, 2, 1]]))
    assert row.tolist() == pytest.approx([1 / 3, 3, 2])
    assert ranks["rank"].tolist() == [1, 2, 3]
    assert ranks["rank_other"].tolist() == [1, 3, 2]
    assert ranks["change"].tolist() == [0, 1, -1]
    assert ranks["score_other"].tolist() == [3, 1, 2]


def test_scores_are_those_of_scipy() -> None:
    # 4 datasets x 3 runs, of which scipy cuts 3 from each end.
    scores = [draw(seed, models=4, datasets=4) for seed in (1, 2)]
    _, ranks = compare(*map(make_runs, scores))
    for column, side in zip(("score", "score_other"), scores, strict=True):
        expected = stats.trim_mean(side.reshape(len(side), -1), 0.25, axis=1)
        np.testing.assert_allclose(ranks.sort_index()[column], expected, rtol=1e-12)


def test_each_model_is_compared_on_the_datasets_that_it_has_in_both() -> None:
    first, second = draw(0), draw(1)
    first[0, 1] = np.nan
    second[2, 3:] = np.nan
    second[3, 1:] = np.nan
    row, ranks = compare(make_runs(first), make_runs(second))
    assert row[COUNTS].tolist() == [6, 5]
    for place, kept in ((0, [0, 2, 3, 4]), (2, [0, 1, 2]), (3, [0]), (5, range(5))):
        own = [make_runs(side[place : place + 1, kept]) for side in (first, second)]
        _, alone = compare(own[0], own[1])
        name = "abcdef"[place]
        for column in ("score", "score_other"):
            assert ranks.loc[name, column] == pytest.approx(alone.loc["a", column], rel=1e-12)


def test_too_little_in_common_leaves_no_coefficient() -> None:
    runs = make_runs(draw(0))
    one_dataset = runs[runs["dataset"] == "d0"]
    one_model = runs[runs["model"] == "a"]
    elsewhere = runs.assign(dataset="d9")
    for other, counts in (
        (one_dataset, [6, 1]),
        (one_model, [1, 5]),
        (elsewhere, [0, 0]),
        (runs.assign(model="z"), [0, 0]),
    ):
        row, ranks = compare(runs, other)
        assert math.isnan(row["kendall_tau"])
        assert row[COUNTS].tolist() == counts
        assert len(ranks) == counts[0]
