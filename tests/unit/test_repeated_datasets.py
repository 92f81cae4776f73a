"""Interquartile means of repeated datasets, tabulated, against those of the runs one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.ranking.repeated_datasets import FEWEST_RUNS, RepeatedDatasets
from capmap.ranking.resampling import repeat_datasets, stratify_runs
from capmap.ranking.statistics import evaluate_statistic


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["datasets", "runs"]), st.booleans())
def test_bisection_finds_what_the_runs_give(seed: int, weights, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4 * FEWEST_RUNS, rng.integers(1, 5))
    sizes[0] += FEWEST_RUNS * len(sizes)
    scores = 1e3 + rng.random(sizes.sum())
    scores = np.round(scores, 1) if ties else scores
    names = np.repeat([f"d{place}" for place in range(len(sizes))], sizes)
    strata = stratify_runs(scores, names.tolist(), weights=weights)
    times = rng.integers(0, 4, (len(sizes), 50))
    times[0] += times.sum(axis=0) == 0
    expected = evaluate_statistic("iqm", strata, repeat_datasets(strata, times))
    repeated = RepeatedDatasets(strata)
    assert repeated._is_tabulated
    np.testing.assert_allclose(repeated.trim(times), expected, rtol=1e-13)


@pytest.mark.parametrize("value", [0.1, 1e6])
def test_equal_scores_are_exactly_their_value(value: float) -> None:
    strata = stratify_runs([value] * 200, ["a", "b"] * 100)
    assert set(RepeatedDatasets(strata).trim(np.array([[1, 2, 0], [1, 0, 2]]))) == {value}
