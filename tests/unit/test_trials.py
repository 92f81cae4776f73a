"""The best of n trials by validation: all subsets, a sweep with known truth, and invariances."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.checkpoints.selection import choose_checkpoints
from capmap.checkpoints.trials import BEST_OF, expect_best, expect_best_trials, measure_trials
from tests.checkpoint_tables import make_values, plan

GRID = st.integers(0, 6).map(lambda step: step / 4)
QUIET = settings(max_examples=30)
SWEEPS = st.lists(st.tuples(GRID, GRID), min_size=2, max_size=7)


def make_trials(pairs):
    table = pd.DataFrame(list(pairs), columns=["selection", "test"])
    return table.assign(validation=table["selection"])


def expect(pairs, *, is_max=True):
    return expect_best(make_trials(pairs), is_max=is_max, confidence_level=0.95)


def try_all_subsets(pairs, n, *, is_max):
    """Mean validation and test value of the winners of all subsets; of equal ones their mean."""
    found = []
    for subset in combinations(pairs, n):
        best = (max if is_max else min)(score for score, _ in subset)
        tests = [test for score, test in subset if score == best]
        found.append((best, np.mean(tests)))
    return np.mean(found, axis=0)


@QUIET
@given(SWEEPS, st.booleans())
def test_expectations_are_means_over_all_subsets(pairs, is_max):
    # A subset may hold some of several equal trials; on average over subsets each counts alike.
    table = expect(pairs, is_max=is_max)
    assert table["trials"].tolist() == list(range(1, len(pairs) + 1))
    for row in table.itertuples():
        best, test = try_all_subsets(pairs, row.trials, is_max=is_max)
        assert (row.validation, row.test) == pytest.approx((best, test), abs=1e-12)
        gap = best - test if is_max else test - best
        assert row.optimism == pytest.approx(gap, abs=1e-12)


@QUIET
@given(SWEEPS.filter(lambda pairs: len(pairs) > 2))
def test_intervals_are_those_of_the_jackknife_by_hand(pairs):
    table = expect(pairs).set_index("trials")
    size = len(pairs)
    for n in range(1, size // 2 + 1):
        without = [
            try_all_subsets(pairs[:place] + pairs[place + 1 :], n, is_max=True)[1]
            for place in range(size)
        ]
        error = np.sqrt((size - 1) / size * np.sum((without - np.mean(without)) ** 2))
        half = stats.t.ppf(0.975, size - 1) * error
        assert table.loc[n, "ci_high"] - table.loc[n, "test"] == pytest.approx(half, abs=1e-9)
    assert table.loc[size // 2 + 1 :, "ci_low"].isna().all()


def test_with_one_of_each_the_mean_of_trials_is_expected_and_with_all_the_winner():
    pairs = [(0.9, 0.5), (0.8, 0.7), (0.1, 0.6)]
    table = expect(pairs)
    assert table["test"].tolist() == pytest.approx([0.6, (0.5 + 0.5 + 0.7) / 3, 0.5])
    assert table["of"].tolist() == [3, 3, 3]


@QUIET
@given(SWEEPS, st.randoms(use_true_random=False))
def test_neither_the_order_nor_units_of_trials_matter(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    pd.testing.assert_frame_equal(expect(shuffled), expect(pairs))
    turned = expect([(-score, -test) for score, test in pairs], is_max=False)
    pd.testing.assert_series_equal(turned["optimism"], expect(pairs)["optimism"])


def test_many_trials_have_five_hundred_rows_at_most():
    table = expect([(float(place), 0.0) for place in range(1, 3001)])
    n = table["trials"].to_numpy()
    assert len(n) <= 500
    assert (n[0], n[-1]) == (1, 3000)
    # The largest of n numbers drawn from 1 to N is n (N + 1) / (n + 1) on average.
    assert table["validation"].to_numpy() == pytest.approx(n * 3001 / (n + 1), rel=1e-9)


def test_intervals_hold_the_truth_of_simulated_sweeps():
    # Scores of trials are normal, and tests have correlation 0.9 with them; of n = 4 trials the
    # best is expected at 1.0294 standard deviations (the mean of the largest of 4 normals), of 8
    # at 1.4236.
    rng = np.random.default_rng(2)
    hits = {1: 0, 4: 0, 8: 0}
    for _ in range(200):
        scores = rng.normal(size=16)
        tests = 0.9 * scores + np.sqrt(1 - 0.81) * rng.normal(size=16)
        table = expect(zip(scores, tests, strict=True)).set_index("trials")
        for n, truth in ((1, 0.0), (4, 0.9 * 1.02938), (8, 0.9 * 1.4236)):
            hits[n] += table.loc[n, "ci_low"] <= truth <= table.loc[n, "ci_high"]
    assert hits[1] / 200 == pytest.approx(0.95, abs=0.04)
    assert hits[4] / 200 == pytest.approx(0.92, abs=0.05)
    assert hits[8] / 200 == pytest.approx(0.86, abs=0.06)


def make_sweep(*, factor=1.0, metric="accuracy"):
    """Three trainings of two models on two datasets; tests are worse by 0.1."""
    rows = []
    for model, scores in {"A": (0.5, 0.9, 0.7), "B": (0.6, 0.8, 0.4)}.items():
        for place, score in enumerate(scores):
            for dataset, ease in (("D", 0.0), ("E", 0.05)):
                for split, loss in (("validation", 0.0), ("test", 0.1)):
                    value = factor * (score + ease - loss)
                    rows.append((model, f"{model}{place}", 1, dataset, metric, split, value))
    return make_values(rows)


def expect_study(values, **settings):
    found = plan(values, **settings)
    return expect_best_trials(
        values, choose_checkpoints(values, found), found, confidence_level=0.95
    )


def test_both_splits_are_on_one_scale():
    table = expect_study(make_sweep()).set_index(["model", "trials"])
    assert list(table.index.unique("model")) == ["", "A", "B"]
    assert table.loc[""].index.tolist() == [1, 2, 3, 4, 5, 6]
    # The range on each dataset is 0.5, so a loss of 0.1 is 0.2, whoever is chosen.
    assert table["optimism"].tolist() == pytest.approx([0.2] * 12)
    assert table.loc[("A", 3), ["validation", "test"]].tolist() == pytest.approx([1.0, 0.8])
    one = expect_study(make_sweep(), select={"datasets": ["D"]}).set_index(["model", "trials"])
    assert one.loc[("A", 3), ["validation", "test"]].tolist() == pytest.approx([0.9, 0.8])


@settings(max_examples=5)
@given(st.floats(0.1, 50))
def test_units_of_a_metric_change_no_share(factor):
    pd.testing.assert_frame_equal(
        expect_study(make_sweep(factor=factor)), expect_study(make_sweep())
    )


def test_without_a_report_split_or_with_one_trial_nothing_is_expected():
    values = make_sweep()
    alone = values[values["split"] == "validation"]
    assert expect_study(alone).empty
    assert list(expect_study(alone)) == list(BEST_OF)
    single = values[values["training"].isin(["A1", "B2"])]
    assert set(expect_study(single)["model"]) == {""}


def test_trials_without_all_values_are_left_out():
    values = make_sweep()
    is_lost = (
        (values["training"] == "A0") & (values["split"] == "test") & (values["dataset"] == "E")
    )
    values = values[~is_lost]
    found = plan(values)
    trials = measure_trials(values, choose_checkpoints(values, found), found)
    assert trials["training"].tolist() == ["A1", "A2", "B0", "B1", "B2"]
