"""Intervals of means over models, and of predictions: simulation, few errors, invariances."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.capabilities.intervals import estimate_mean, find_intervals

MODELS = 30


@given(seed=st.integers(0, 1000), count=st.integers(2, 20))
def test_intervals_of_a_mean_are_students(seed: int, count: int) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = estimate_mean([*values, np.nan], confidence_level=0.95)
    np.testing.assert_allclose(found, [values.mean(), expected.low, expected.high], rtol=1e-9)


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
    clusters = np.repeat(np.arange(20), rng.integers(2, 9, size=20))
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
    found = estimate_mean([1.0, np.nan, 4.0], clusters=["a", "b", "c"], confidence_level=0.9)
    assert found == estimate_mean([1.0, 4.0], confidence_level=0.9)


def tabulate(row: object, prediction: object, truth: object) -> pd.DataFrame:
    table = pd.DataFrame({"row": row, "prediction": prediction, "truth": truth})
    return table.assign(variance=1.0)


def draw(count: int, seed: int) -> pd.DataFrame:
    """Predictions and truths: errors are large in the middle, skewed at the ends, and by model."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, MODELS, count)
    gaps = rng.beta(0.7, 0.9, count)
    spread = np.sqrt(gaps * (1 - gaps) + 0.01) * np.where(rows < 5, 0.6, 0.25)
    errors = spread * (rng.exponential(size=count) - 1) * np.where(gaps > 0.7, -1.0, 1.0)
    return tabulate(rows, gaps, (gaps + errors).clip(0, 1))


def test_intervals_hold_for_small_and_large_gaps_and_for_each_model() -> None:
    found = []
    for seed in range(8):
        new = draw(1500, seed + 100)
        low, high = find_intervals(draw(1500, seed), new, confidence_level=0.9)
        found.append(new.assign(held=(low <= new["truth"]) & (new["truth"] <= high)))
    table = pd.concat(found)
    deciles = table.groupby(pd.qcut(table["prediction"], 10), observed=True)["held"].mean()
    assert deciles.between(0.87, 0.93).all()
    # Errors of five models are 2.4 times as large, of which 50 each are known: most is learnt.
    assert table.groupby(table["row"] < 5)["held"].mean().between(0.82, 0.93).all()


def test_equal_predictions_have_intervals_that_hold() -> None:
    rng = np.random.default_rng(0)
    count = 2000
    rows = rng.integers(0, MODELS, count)
    for share in (1.0, 0.3):
        gaps = np.where(rng.random(count) < share, 0.4, rng.random(count))
        known, later = (gaps + rng.normal(0, 0.1, count) for _ in range(2))
        table = tabulate(rows, gaps, known)
        low, high = find_intervals(table, table, confidence_level=0.9)
        held = ((low <= later) & (later <= high))[gaps == 0.4]
        assert 0.86 < held.mean() < 0.94


def test_few_errors_have_intervals_from_0_to_1() -> None:
    table = draw(8, 0)
    for count in (0, 1, 8):
        low, high = find_intervals(table[:count], table, confidence_level=0.9)
        assert (low == 0).all()
        assert (high == 1).all()


def test_nine_errors_are_enough_for_one_side() -> None:
    # All misses above, as predictions are 0: rank ⌈(9 + 1) · 0.9⌉ = 9, the largest ratio.
    table = tabulate(0, 0.0, np.linspace(0.1, 0.5, 9))
    low, high = find_intervals(table, table, confidence_level=0.9)
    assert (low == 0).all()
    assert ((high >= 0.5 * 0.9) & (high < 1)).all()


def test_exact_predictions_have_narrow_intervals() -> None:
    table = draw(60, 0)
    exact = table.assign(truth=table["prediction"])
    for ends in find_intervals(exact, exact, confidence_level=0.9):
        np.testing.assert_allclose(ends, table["prediction"])


@given(st.integers(0, 1000))
def test_the_order_has_no_influence(seed: int) -> None:
    table, new = draw(60, seed), draw(40, seed + 1)
    shuffled = table.sample(frac=1, random_state=seed)
    ends = [find_intervals(own, new, confidence_level=0.8) for own in (table, shuffled)]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    assert (ends[0][0] <= ends[0][1]).all()
