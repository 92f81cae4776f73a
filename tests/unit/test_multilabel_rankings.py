"""Summaries per model and dataset, dense ranks, and shifts of ranks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.multilabel.rankings import (
    SHIFTS,
    SUMMARY,
    rank_densely,
    shift_ranks,
    summarize_models,
)
from tests.multilabel_tables import make_metrics

STEPS = st.lists(st.integers(0, 6), max_size=20)


def make_table(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "metric", "value"])


def make_summary(top1: list[float], asma: list[float]) -> pd.DataFrame:
    rows = [(f"m{place:03d}", "D", "", "top1", value) for place, value in enumerate(top1)]
    rows += [(f"m{place:03d}", "P", "", "asma", value) for place, value in enumerate(asma)]
    return summarize_models(make_table(*rows))


@given(STEPS)
def test_exact_values_have_the_dense_ranks_of_scipy(steps):
    values = np.array(steps) / 10
    assert rank_densely(values).tolist() == stats.rankdata(-values, method="dense").tolist()


@given(STEPS)
def test_ties_without_end_have_the_competition_ranks_of_scipy(steps):
    values = np.array(steps) / 10
    expected = stats.rankdata(-values, method="min").tolist()
    assert rank_densely(values, hidden=np.inf).tolist() == expected


@given(STEPS, st.floats(1, 50))
def test_hidden_values_put_ranks_between_dense_and_competition_ranks(steps, hidden):
    values = np.array(steps) / 10
    ranks = rank_densely(values, hidden=hidden)
    assert (rank_densely(values) <= ranks).all()
    assert (ranks <= rank_densely(values, hidden=np.inf)).all()


def test_rounding_noise_makes_no_ranks():
    assert rank_densely([0.3, 0.1 + 0.2, 0.2]).tolist() == [1, 1, 2]


def test_a_tie_counts_the_values_that_it_is_expected_to_hide():
    # Two of 5 values are different with chance 4/5, so 10 pairs hide 18 ranks: 10 more than shown
    # less 2. The 11th level has rank 1 + 18 = 19 instead of 11.
    values = np.repeat(np.arange(11, 0, -1), [2] * 10 + [1]) / 100
    assert rank_densely(values, hidden=5).max() == 19


def test_hidden_ranks_are_right_on_average_when_values_are_rounded():
    # 400 models stand at random on 2000 steps, of which 5 are rounded to one.
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(40):
        exact = rng.integers(2000, size=400)
        rounded = exact // 5
        ranks = rank_densely(rounded / 400, hidden=5)
        errors.append(int(ranks.max() - rank_densely(exact / 2000).max()))
    assert abs(np.mean(errors)) < 3
    assert np.mean([rank_densely(rounded / 400).max() - len(np.unique(exact))]) < -80


def test_a_summary_has_means_over_seeds_and_ranks_within_a_dataset():
    summary = summarize_models(
        make_table(
            ("a", "P", "0", "asma", 0.2),
            ("a", "P", "1", "asma", 0.4),
            ("b", "P", "0", "asma", 0.3),
            ("c", "P", "0", "asma", 0.1),
            ("a", "V", "", "top1", 0.9),
            ("c", "V", "", "top1", 0.95),
            ("c", "V", "", "f1", 0.5),
        )
    )
    assert summary[["model", "dataset", "seeds"]].to_numpy().tolist() == [
        ["a", "P", 2],
        ["b", "P", 1],
        ["c", "P", 1],
        ["a", "V", 1],
        ["c", "V", 1],
    ]
    # a and b are both 0.3.
    assert summary["asma_rank"].to_list()[:3] == [1, 1, 2]
    assert summary["top1_rank"].to_list()[3:] == [2, 1]
    assert summary[["real", "real_rank"]].isna().all(axis=None)


def test_an_empty_seed_that_was_read_from_a_file_is_a_seed():
    summary = summarize_models(make_table(("a", "V", None, "asma", 0.2)))
    assert summary["seeds"].to_list() == [1]


def test_shifts_are_positive_for_models_that_rise():
    # By top-1: m0, m1, m2. By ASMA: m2, m0 and m1 together.
    shifts = shift_ranks(
        make_summary([0.9, 0.8, 0.7], [0.4, 0.4, 0.6]), dataset_top1="D", dataset_asma="P"
    )
    assert shifts["model"].to_list() == ["m002", "m000", "m001"]
    assert shifts["shift"].to_list() == [2, -1, 0]
    assert (shifts["shift"] == shifts["top1_rank"] - shifts["asma_rank"]).all()


def test_only_models_with_both_values_are_ranked():
    summary = make_summary([0.9, 0.8, 0.7], [0.4])
    shifts = shift_ranks(summary, dataset_top1="D", dataset_asma="P")
    assert shifts[["model", "top1_rank", "asma_rank"]].to_numpy().tolist() == [["m000", 1, 1]]


def test_both_ranks_may_be_of_one_dataset():
    metrics = make_metrics(["a", "b", "c"])
    shifts = shift_ranks(summarize_models(metrics), dataset_top1="V1", dataset_asma="V1")
    assert sorted(shifts["top1_rank"]) == sorted(shifts["asma_rank"]) == [1, 2, 3]


def test_coarse_rounding_moves_no_model_once_hidden_ranks_are_counted():
    # The same order twice: 200 models, by top-1 in pairs of equal values (rounded to 0.01 of 1000
    # images: 10 values each), by ASMA without a tie. A pair hides 2 - 1/10 ranks, so that the last
    # pair begins at 1 + 99 * 1.9 = 189.1 instead of 100 (dense) and 199 (true).
    exact = np.arange(200)[::-1] / 1000
    summary = make_summary((np.floor(exact * 500) / 100).tolist(), exact.tolist())
    plain = shift_ranks(summary, dataset_top1="D", dataset_asma="P")
    fair = shift_ranks(summary, dataset_top1="D", dataset_asma="P", images=1000)
    assert plain["shift"].min() == -100
    assert fair["top1_rank"].max() == 189
    assert fair["shift"].min() == -11


def test_values_with_every_decimal_are_exact_whatever_the_number_of_images():
    top1 = [0.123456, 0.123456, 0.1]
    summary = make_summary(top1, [0.1, 0.2, 0.3])
    fair = shift_ranks(summary, dataset_top1="D", dataset_asma="P", images=1000)
    assert sorted(fair["top1_rank"]) == [1, 1, 2]


@pytest.mark.parametrize("images", [None, 100])
def test_nothing_to_rank_gives_empty_tables_with_their_columns(images):
    summary = summarize_models(make_table())
    assert {name: str(kind) for name, kind in summary.dtypes.items()}.keys() == SUMMARY.keys()
    shifts = shift_ranks(summary, dataset_top1="D", dataset_asma="P", images=images)
    assert shifts.empty
    assert list(shifts) == list(SHIFTS)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6, unique=True), st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(models, seed):
    metrics = make_metrics(models, seeds=3, seed=seed)
    summary = summarize_models(metrics)
    shuffled = summarize_models(metrics.sample(frac=1, random_state=seed))
    pd.testing.assert_frame_equal(shuffled, summary, check_exact=True)
    shifts = shift_ranks(summary, dataset_top1="V1", dataset_asma="PatchML")
    again = shift_ranks(
        summary.sample(frac=1, random_state=seed), dataset_top1="V1", dataset_asma="PatchML"
    )
    pd.testing.assert_frame_equal(again, shifts, check_exact=True)
