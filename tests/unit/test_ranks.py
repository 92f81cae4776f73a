"""Ranks with intervals, and groups of models that cannot be separated."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.ranking import ranks

EMPTY = np.empty(0)


def rank(rows: dict[str, tuple[float, np.ndarray]], **options: str) -> pd.DataFrame:
    models = pd.DataFrame({"model": list(rows), "estimate": [row[0] for row in rows.values()]})
    variances = [row[1].var(ddof=1) if len(row[1]) else np.nan for row in rows.values()]
    errors = ranks.SamplingErrors(np.array(variances), np.full(len(models), 1000.0))
    return ranks.rank_estimates(models, errors, confidence_level=0.95, **options)  # type: ignore[arg-type]


def spread(center: float, width: float, *, seed: int) -> tuple[float, np.ndarray]:
    return center, center + width * np.random.default_rng(seed).standard_normal(2000)


def test_clear_winner_stands_alone() -> None:
    table = rank({"b": spread(0.5, 0.01, seed=0), "a": spread(0.9, 0.01, seed=1)})
    assert table["model"].tolist() == ["a", "b"]
    assert table[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 1], [2, 2, 2]]
    assert table["tie_group"].tolist() == ["a", "b"]


def test_chain_of_neighbors_overlaps() -> None:
    # Neighbors differ by 2, with a standard error of 1.41: not separated; the ends differ by 4.
    rows = {name: spread(-2.0 * i, 1.0, seed=i) for i, name in enumerate("xyz")}
    assert rank(rows)["tie_group"].tolist() == ["a", "ab", "b"]


def test_two_equal_models_share_a_rank() -> None:
    rows = {
        "b": (0.5, np.full(100, 0.5)),
        "a": (0.1 + 0.4, np.full(100, 0.5)),
        "c": (0.1, np.full(100, 0.1)),
    }
    table = rank(rows)
    assert table["model"].tolist() == ["a", "b", "c"]
    assert table["rank"].tolist() == [1, 1, 3]
    assert table["tie_group"].tolist() == ["a", "a", "b"]
    assert table["rank_high"].tolist() == [2, 2, 3]
    assert table["rank_low"].tolist() == [1, 1, 3]


def test_model_without_interval_has_a_rank_and_nothing_else() -> None:
    rows = {"a": spread(0.9, 0.1, seed=0), "b": (0.85, EMPTY), "c": spread(0.1, 0.1, seed=1)}
    table = rank(rows)
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["rank_low"].isna().tolist() == [False, True, False]
    assert table["tie_group"].tolist() == ["a", "", "b"]
    # What is not known may be better.
    assert table["rank_high"].tolist()[0] == 2


@settings(max_examples=60)
@given(st.integers(1, 8), st.integers(0, 10**6))
def test_models_share_a_group_exactly_if_they_cannot_be_separated(n: int, seed: int) -> None:
    separated = np.triu(np.random.default_rng(seed).random((n, n)) < 0.5, 1)
    tied = ~(separated | separated.T)
    groups = [set(group) for group in ranks.list_groups(tied)]
    for one, other in itertools.combinations(range(n), 2):
        assert any({one, other} <= group for group in groups) == tied[one, other]
    assert set().union(*groups) == set(range(n))
    assert not any(group < other for group in groups for other in groups)


def test_group_names_run_on_after_z() -> None:
    names = ranks.compact_letter_display([range(i, i + 2) for i in range(28)], n=29)
    assert names[0] == "a"
    assert names[26] == "za2"
    assert names[28] == "b2"


@pytest.mark.slow
def test_a_thousand_models_fit() -> None:
    rng = np.random.default_rng(0)
    estimates = np.sort(rng.random(1000))[::-1]
    models = pd.DataFrame({"model": [f"m{i:04d}" for i in range(1000)], "estimate": estimates})
    errors = ranks.SamplingErrors(np.full(1000, 1e-4), np.full(1000, 40.0))
    table = ranks.rank_estimates(models, errors, confidence_level=0.95)
    assert table["rank"].tolist() == list(range(1, 1001))
    assert set(table["tie_group"]) == {""}
    assert table["rank_high"].lt(1000).any()


def test_estimates_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        rank({"a": (np.nan, np.array([0.1, 0.2]))})


@pytest.mark.parametrize(
    ("limits", "statistic", "expected"),
    [
        ((0, 1), "iqm", [0.0, 1.0, 0.0, 1.0]),
        ((-np.inf, 1), "mean", [-0.2, 1.0, -0.5, 1.0]),
        ((0, np.inf), "median", [0.0, 1.1, 0.0, 1.4]),
        ((0, 1), "optimality_gap", [0.0, 1.0, 0.0, 1.0]),
        ((-np.inf, 1), "optimality_gap", [0.0, 1.1, 0.0, 1.4]),
        ((0, np.inf), "optimality_gap", [0.0, 1.0, 0.0, 1.0]),
    ],
)
def test_intervals_end_where_scores_do(limits, statistic, expected) -> None:
    ends = {"ci_low": -0.2, "ci_high": 1.1, "boot_low": -0.5, "boot_high": 1.4}
    table = pd.DataFrame({name: [end, np.nan] for name, end in ends.items()})
    kept = ranks.keep_within(table, limits, statistic=statistic)
    assert kept.loc[0, list(ends)].tolist() == expected
    assert kept.loc[1, list(ends)].isna().all()
    # Expected scores may be beyond what scores can be, and so are their intervals.
    filled = ranks.keep_within(table.assign(filled=[1, 0]), limits, statistic=statistic)
    pd.testing.assert_frame_equal(filled[list(ends)], table)
