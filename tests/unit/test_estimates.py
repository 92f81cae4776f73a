"""Means of values in clusters, with intervals."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.capabilities.intervals import estimate_mean


@given(seed=st.integers(0, 1000), count=st.integers(2, 20))
def test_intervals_of_a_mean_are_students(seed: int, count: int) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = estimate_mean([*values, np.nan], confidence_level=0.95)
    np.testing.assert_allclose(found, [values.mean(), expected.low, expected.high], rtol=1e-9)


def test_a_value_that_is_not_there_takes_its_cluster_with_it() -> None:
    found = estimate_mean([1.0, np.nan, 4.0], clusters=["a", "b", "c"], confidence_level=0.9)
    assert found == estimate_mean([1.0, 4.0], confidence_level=0.9)


def test_an_interval_of_clusters_of_equal_size_is_that_of_their_means() -> None:
    # With equal sizes the formula is the t interval of the mean of cluster means.
    values = np.random.default_rng(0).normal(size=(7, 4))
    found = estimate_mean(values.ravel(), clusters=np.repeat(np.arange(7), 4), confidence_level=0.9)
    expected = stats.ttest_1samp(values.mean(axis=1), 0).confidence_interval(0.9)
    np.testing.assert_allclose(found, (values.mean(), expected.low, expected.high))


def test_an_interval_of_unequal_clusters_is_derived_by_hand() -> None:
    # Values 0, 0, 3 in clusters of two and one: mean 1, sums of deviations −2 and 2, variance
    # 2 / 1 · (4 + 4) / 9 = 16 / 9; t with one degree of freedom at 75% is tan(π / 4) = 1.
    found = estimate_mean([0.0, 0, 3], clusters=[5, 5, 2], confidence_level=0.5)
    np.testing.assert_allclose(found, (1, 1 - 4 / 3, 1 + 4 / 3))


def test_intervals_over_models_cover_when_results_of_a_model_depend_on_each_other() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 9, size=20)
    clusters = np.repeat(np.arange(20), sizes)
    covered = 0
    for _ in range(1000):
        values = rng.normal(size=20)[clusters] + 0.3 * rng.normal(size=len(clusters))
        found = estimate_mean(values, clusters=clusters, confidence_level=0.9)
        covered += found.low <= 0 <= found.high
    # Nominal 90%; standard error 0.9 points, and unequal sizes cost a little.
    assert 860 <= covered <= 930


def test_an_interval_needs_two_clusters_and_a_mean_a_value() -> None:
    alone = estimate_mean([1.0, 2], clusters="aa", confidence_level=0.9)
    assert alone.mean == 1.5
    assert np.isnan([alone.low, alone.high]).all()
    assert np.isnan(estimate_mean([], clusters=[], confidence_level=0.9)).all()
