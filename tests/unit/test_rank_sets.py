"""Confidence sets of ranks, against brute force and studies with a known order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.ranking.ranks import RankSets, SamplingErrors, find_rank_sets

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
    turned = find(scores[order], errors.take(order))
    parts = None if errors.parts is None else 4 * errors.parts
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
