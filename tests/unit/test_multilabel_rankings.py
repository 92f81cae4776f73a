"""Summaries per model and dataset, dense ranks, and shifts of ranks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.multilabel import rankings
from tests.multilabel_tables import make_metrics

STEPS = st.lists(st.integers(0, 6), max_size=20)


def make_table(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "metric", "value"])


def shift(top1: list[float], asma: list[float], **images: int) -> pd.DataFrame:
    """Shifts from top-1 accuracy on D to ASMA on P."""
    rows = [(f"m{place:03d}", "D", "", "top1", value) for place, value in enumerate(top1)]
    rows += [(f"m{place:03d}", "P", "", "asma", value) for place, value in enumerate(asma)]
    values = rankings.average_metrics(make_table(*rows), ["top1", "asma"])
    return rankings.shift_ranks(values, ("top1", "D"), ("asma", "P"), images=images)


@given(STEPS)
def test_exact_values_have_the_dense_ranks_of_scipy(steps):
    values = np.array(steps) / 10
    assert (
        rankings.rank_densely(values).tolist() == stats.rankdata(-values, method="dense").tolist()
    )


@given(STEPS)
def test_ties_without_end_have_the_competition_ranks_of_scipy(steps):
    values = np.array(steps) / 10
    expected = stats.rankdata(-values, method="min").tolist()
    assert rankings.rank_densely(values, hidden=np.inf).tolist() == expected


@given(STEPS, st.floats(1, 50))
def test_hidden_values_put_ranks_between_dense_and_competition_ranks(steps, hidden):
    values = np.array(steps) / 10
    ranks = rankings.rank_densely(values, hidden=hidden)
    assert (rankings.rank_densely(values) <= ranks).all()
    assert (ranks <= rankings.rank_densely(values, hidden=np.inf)).all()


def test_rounding_noise_makes_no_ranks():
    assert rankings.rank_densely([0.3, 0.1 + 0.2, 0.2]).tolist() == [1, 1, 2]


def test_a_tie_counts_the_values_that_it_is_expected_to_hide():
    # Two of 5 values are different with chance 4/5, so 10 pairs hide 18 ranks: 10 more than shown
    # less 2. The 11th level has rank 1 + 18 = 19 instead of 11.
    values = np.repeat(np.arange(11, 0, -1), [2] * 10 + [1]) / 100
    assert rankings.rank_densely(values, hidden=5).max() == 19


def test_hidden_ranks_are_right_on_average_when_values_are_rounded():
    # 400 models stand at random on 2000 steps, of which 5 are rounded to one.
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(40):
        exact = rng.integers(2000, size=400)
        rounded = exact // 5
        ranks = rankings.rank_densely(rounded / 400, hidden=5)
        errors.append(int(ranks.max() - rankings.rank_densely(exact / 2000).max()))
    assert abs(np.mean(errors)) < 3
    assert np.mean([rankings.rank_densely(rounded / 400).max() - len(np.unique(exact))]) < -80


def test_a_summary_has_means_over_seeds_and_ranks_within_a_dataset():
    summary = rankings.summarize_models(
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


def test_shifts_are_positive_for_models_that_rise():
    # By top-1: m0, m1, m2. By ASMA: m2, m0 and m1 together.
    shifts = shift([0.9, 0.8, 0.7], [0.4, 0.4, 0.6])
    assert shifts["model"].to_list() == ["m002", "m000", "m001"]
    assert shifts["shift"].to_list() == [2, -1, 0]


def test_only_models_with_both_values_are_ranked():
    shifts = shift([0.9, 0.8, 0.7], [0.4])
    assert shifts[["model", "rank_a", "rank_b"]].to_numpy().tolist() == [["m000", 1, 1]]


@settings(max_examples=4)
@given(st.integers(0, 99), st.sampled_from(["asma", "real", "labelwise"]))
def test_all_pairs_of_columns_have_the_ranks_of_pandas(seed, rank_by):
    metrics = make_metrics([f"m{place}" for place in range(9)], seed=seed)
    metrics["value"] = metrics["value"].round(1)
    whole = metrics[metrics["subgroup"].isna()]
    wide = whole.pivot_table("value", ["metric", "dataset"], "model", aggfunc="mean").round(9)
    shifts = rankings.shift_all_ranks(metrics, rank_by=rank_by)
    pairs = ["metric_a", "dataset_a", "metric_b", "dataset_b"]
    # Seven columns: top-1, ReaL and ASMA of V1 and V2, and ASMA of PatchML.
    assert len(shifts[pairs].drop_duplicates()) == 7 * 6 / 2
    for (*first, metric, dataset), own in shifts.groupby(pairs):
        rows = own.set_index("model")
        for side, column in (("a", tuple(first)), ("b", (metric, dataset))):
            for name, method in (("rank", "dense"), ("competition", "min")):
                expected = wide.loc[column].rank(ascending=False, method=method)
                assert rows[f"{name}_{side}"].to_dict() == expected.to_dict()
        assert (rows["shift"] == rows["rank_a"] - rows["rank_b"]).all()
        drop = rows["competition_a"] - rows["competition_b"]
        assert (rows["competition_shift"] == drop).all()


@pytest.mark.parametrize("images", [None, {"V1": 1000}])
def test_a_model_has_one_rank_in_the_summary_and_in_the_shifts(images):
    metrics = make_metrics([f"m{place:02d}" for place in range(40)])
    metrics["value"] = metrics["value"].round(2)
    summary = rankings.summarize_models(metrics, images=images).set_index(["dataset", "model"])
    shifts = rankings.shift_all_ranks(metrics, images=images)
    for side in ("a", "b"):
        for row in shifts.itertuples():
            metric, dataset = (getattr(row, f"{name}_{side}") for name in ("metric", "dataset"))
            known = summary.loc[(dataset, row.model), f"{metric}_rank"]
            assert known == getattr(row, f"rank_{side}")


def test_coarse_rounding_moves_no_model_once_hidden_ranks_are_counted():
    # The same order twice: 200 models, by top-1 in pairs of equal values (rounded to 0.01 of 1000
    # images: 10 values each), by ASMA without a tie. A pair hides 2 - 1/10 ranks, so that the last
    # pair begins at 1 + 99 * 1.9 = 189.1 instead of 100 (dense) and 199 (true).
    exact = np.arange(200)[::-1] / 1000
    rounded = (np.floor(exact * 500) / 100).tolist()
    assert shift(rounded, exact.tolist())["shift"].min() == -100
    fair = shift(rounded, exact.tolist(), D=1000)
    assert fair["rank_a"].max() == 189
    assert fair["shift"].min() == -11
    assert fair["competition_a"].max() == 199


def test_values_with_every_decimal_are_exact_whatever_the_number_of_images():
    fair = shift([0.123456, 0.123456, 0.1], [0.1, 0.2, 0.3], D=1000)
    assert sorted(fair["rank_a"]) == [1, 1, 2]


@pytest.mark.parametrize("images", [{}, {"D": 100}])
def test_nothing_to_rank_gives_empty_tables_with_their_columns(images):
    summary = rankings.summarize_models(make_table(), images=images)
    assert {
        name: str(kind) for name, kind in summary.dtypes.items()
    }.keys() == rankings.SUMMARY.keys()
    for shifts in (shift([], [], **images), rankings.shift_all_ranks(make_table())):
        assert shifts.empty
        assert list(shifts) == list(rankings.SHIFTS)


def test_equal_values_shift_no_model_where_the_images_are_not_known():
    rows = [
        (f"m{place}", "d2", "", metric, value)
        for place, value in enumerate([0.9, 0.8, 0.8, 0.8, 0.7])
        for metric in ("top1", "asma")
    ]
    rows += [(f"m{place}", "d1", "", "top1", 0.5) for place in range(5)]
    shifts = rankings.shift_all_ranks(make_table(*rows), images={"d1": 50_000})
    own = shifts[(shifts["dataset_a"] == "d2") & (shifts["dataset_b"] == "d2")]
    assert len(own) == 5
    assert own["shift"].eq(0).all()
