"""Rankings of the same checkpoints compared: scipy's tau-b, ties, and who moves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.checkpoints.rankings import add_metric_rankings, compare_rankings

SCORES = st.lists(st.integers(0, 5), min_size=2, max_size=12)


def make_rankings(**scores):
    """Rankings by scores, higher first; what has none has no rank."""
    tables = []
    for name, own in scores.items():
        table = pd.DataFrame({"score": own, "training": [f"t{i:02d}" for i in range(len(own))]})
        rank = table["score"].rank(ascending=False, method="min").astype("Int64")
        tables.append(table.assign(ranking=name, model="M", checkpoint="1", rank=rank, stamp=""))
    return pd.concat(tables, ignore_index=True)


@settings(max_examples=25)
@given(st.data())
def test_tau_is_that_of_scipy_and_ties_are_counted(data):
    first = data.draw(SCORES)
    second = data.draw(st.lists(st.integers(0, 5), min_size=len(first), max_size=len(first)))
    tables = compare_rankings(make_rankings(one=first, other=second))
    [row] = tables["ranking_agreement"].to_dict("records")
    expected = stats.kendalltau(first, second).statistic
    assert row["kendall_tau"] == pytest.approx(expected, nan_ok=True)
    assert row["checkpoints"] == len(first)
    assert row["tied_a"] == sum(first.count(score) > 1 for score in first)
    assert row["tied_b"] == sum(second.count(score) > 1 for score in second)
    moves = tables["ranking_moves"].set_index("training")
    places = [1 + sum(other > score for other in first) for score in first]
    assert moves["rank_a"].sort_index().tolist() == places
    assert (moves["change"] == moves["rank_a"] - moves["rank_b"]).all()
    assert moves["change"].abs().is_monotonic_decreasing
    assert row["moved"] == (moves["change"] != 0).sum()


def test_only_what_both_rank_is_compared_and_ranked_anew():
    rankings = make_rankings(one=[4.0, 3.0, 2.0, np.nan], other=[np.nan, 1.0, 2.0, 9.0])
    tables = compare_rankings(rankings)
    assert tables["ranking_agreement"][["kendall_tau", "checkpoints"]].to_numpy().tolist() == [
        [-1.0, 2.0]
    ]
    moves = tables["ranking_moves"][["training", "rank_a", "rank_b", "change"]]
    assert moves.to_numpy().tolist() == [["t01", 1, 2, -1], ["t02", 2, 1, 1]]


def test_moves_are_from_the_first_ranking_and_agreement_is_of_all_pairs():
    tables = compare_rankings(make_rankings(a=[1, 2], b=[2, 1], c=[1, 2]))
    pairs = tables["ranking_agreement"][["ranking_a", "ranking_b"]].to_numpy().tolist()
    assert pairs == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert set(tables["ranking_moves"]["ranking_a"]) == {"a"}
    assert compare_rankings(make_rankings(a=[1, 2]))["ranking_moves"].empty
    assert compare_rankings(make_rankings(a=[1, 2]).iloc[:0])["ranking_agreement"].empty


def test_each_metric_has_a_ranking_that_is_not_there_yet():
    asked = [
        {"name": "best", "metric": ""},
        {"name": "calibration", "metric": "ece"},
        {"name": "f1", "metric": "", "expression": "f1"},
    ]
    added = add_metric_rankings(asked, ["accuracy", "ece", "f1"])[3:]
    assert added == [{"name": "accuracy", "metric": "accuracy"}]
