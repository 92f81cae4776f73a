"""Confidence sets of ranks, against brute force and studies with a known order."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.ranking import rank_sets
from capmap.ranking.rank_sets import RankSets, SamplingErrors, find_rank_sets
from tests.toy_scores import rank_estimates

LEVEL = 0.95


def find(scores: np.ndarray, errors: SamplingErrors, level: float = LEVEL) -> RankSets:
    return find_rank_sets(scores, errors, confidence_level=level)


def draw(seed: int) -> tuple[np.ndarray, SamplingErrors]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    scores = np.round(rng.normal(0, rng.choice([0.1, 1, 3]), n), 1)
    parts = rng.normal(0, 0.3, (n, 6)) if rng.random() < 0.5 else None
    variances = rng.uniform(0.01, 1, n) if parts is None else (parts**2).sum(axis=1)
    return scores, SamplingErrors(variances, rng.uniform(2, 30, n), parts)


def test_two_models_are_compared_by_welch() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 6), rng.normal(1.5, 3, 9)
    p = stats.ttest_ind(a, b, equal_var=False).pvalue
    errors = SamplingErrors(np.array([stats.sem(a) ** 2, stats.sem(b) ** 2]), np.array([5.0, 8.0]))
    scores = np.array([a.mean(), b.mean()])
    for level, differs in ((1 - p * 1.001, False), (1 - p * 0.999, False), (1 - p / 0.999, True)):
        assert find(scores, errors, level).separated[0, 1] == (differs or level < 1 - p)


def test_a_variance_of_few_degrees_of_freedom_lends_none() -> None:
    variances = np.array([1.0, 1.0, 1.0])
    errors = SamplingErrors(variances, np.array([2.0, 40.0, 6.0]))
    assert errors.compare(0)[1].tolist() == [2, 2, 2]
    assert errors.compare(2)[1].tolist() == [2, pytest.approx(4 / (1 / 6 + 1 / 40)), 12]


@given(st.integers(0, 10**6))
def test_sets_follow_from_all_tests_one_by_one(seed: int) -> None:
    scores, errors = draw(seed)
    n, sets = len(scores), find(scores, errors)
    p = np.ones((n, n))
    for one in range(n):
        spread, freedom = errors.compare(one)
        for other in range(n):
            if scores[one] != scores[other]:
                ratio = abs(scores[one] - scores[other]) / spread[other]
                p[one, other] = 2 * stats.t.sf(ratio, freedom[other])

    def holm(values: list[float]) -> float:
        """The largest p-value that is rejected."""
        level = -1.0
        for step, value in enumerate(sorted(values)):
            if value > (1 - LEVEL) / (len(values) - step):
                break
            level = value
        return level

    everything = holm([p[one, other] for one in range(n) for other in range(one)])
    for one in range(n):
        own = holm([p[one, other] for other in range(n) if other != one])
        for level, low, high in (
            (own, sets.low[one], sets.high[one]),
            (everything, sets.low_all[one], sets.high_all[one]),
        ):
            differs = p[one] <= level
            assert low == 1 + np.count_nonzero(differs & (scores > scores[one]))
            assert high == n - np.count_nonzero(differs & (scores < scores[one]))


@given(st.integers(0, 10**6))
def test_order_of_models_shift_and_scale_change_nothing(seed: int) -> None:
    scores, errors = draw(seed)
    order = np.random.default_rng(seed).permutation(len(scores))
    sets = find(scores, errors)
    own, parts = (None, None) if errors.parts is None else (errors.parts[order], 4 * errors.parts)
    moved = SamplingErrors(errors.variances[order], errors.freedom[order], own)
    turned = find(scores[order], moved)
    scaled = find(4 * scores + 8, SamplingErrors(16 * errors.variances, errors.freedom, parts))
    for name in ("low", "high", "low_all", "high_all"):
        assert (getattr(turned, name) == getattr(sets, name)[order]).all()
        assert (getattr(scaled, name) == getattr(sets, name)).all()


def test_models_without_error_are_separated_by_any_difference() -> None:
    errors = SamplingErrors(np.zeros(3), np.full(3, 2.0))
    sets = find(np.array([0.3, 0.1 + 0.2, 0.1]), errors)
    assert sets.separated.tolist() == [
        [False, False, True],
        [False, False, True],
        [True, True, False],
    ]
    assert sets.low.tolist() == [1, 1, 3]


def test_shared_errors_cancel() -> None:
    # The same three datasets move both models alike; alone, neither would be told from the other.
    parts = np.array([[1.0, -2.0, 1.0], [1.0, -2.0, 1.1]])
    variances = (parts**2).sum(axis=1)
    scores, freedom = np.array([1.0, 0.0]), np.full(2, 2.0)
    assert find(scores, SamplingErrors(variances, freedom, parts)).separated[0, 1]
    assert not find(scores, SamplingErrors(variances, freedom)).separated[0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("models", "freedom"), [(2, 8), (5, 8), (20, 20)])
def test_equal_models_are_seldom_separated(models: int, freedom: int) -> None:
    # benchmarks/claims.py counts false claims in whole studies. Four errors of 400: 0.044.
    rng, false = np.random.default_rng(models), np.zeros(2)
    for _ in range(400):
        variances = rng.chisquare(freedom, models) / freedom
        errors = SamplingErrors(variances, np.full(models, float(freedom)))
        sets = find(rng.standard_normal(models), errors)
        false += [
            sets.separated.any(),
            sets.low[0] > 1 or sets.high[0] < models,
        ]
    assert (false / 400 <= 0.05 + 0.044).all()


def rank(rows: dict[str, tuple[float, np.ndarray]]) -> pd.DataFrame:
    errors = [own.std(ddof=1) if len(own) else np.nan for _, own in rows.values()]
    return rank_estimates([*rows], [row[0] for row in rows.values()], errors)


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
    rows = {"a": spread(0.9, 0.1, seed=0), "b": (0.85, np.empty(0)), "c": spread(0.1, 0.1, seed=1)}
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
    groups = [set(group) for group in rank_sets.list_groups(tied)]
    for one, other in itertools.combinations(range(n), 2):
        assert any({one, other} <= group for group in groups) == tied[one, other]
    assert set().union(*groups) == set(range(n))
    assert not any(group < other for group in groups for other in groups)


def test_group_names_run_on_after_z() -> None:
    places = np.arange(29)
    names = rank_sets.display_letters(np.abs(places - places[:, None]) <= 1)
    assert names[0] == "a"
    assert names[26] == "za2"
    assert names[28] == "b2"


@pytest.mark.slow
def test_a_thousand_models_fit() -> None:
    rng = np.random.default_rng(0)
    estimates = np.sort(rng.random(1000))[::-1]
    table = rank_estimates([f"m{i:04d}" for i in range(1000)], estimates, [0.01] * 1000)
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
    kept = rank_sets.keep_within(table, limits, statistic=statistic)
    assert kept.loc[0, list(ends)].tolist() == expected
    assert kept.loc[1, list(ends)].isna().all()
    # Expected scores may be beyond what scores can be, and so are their intervals.
    filled = rank_sets.keep_within(table.assign(filled=[1, 0]), limits, statistic=statistic)
    pd.testing.assert_frame_equal(filled[list(ends)], table)
