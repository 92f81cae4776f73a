"""The Pareto front of score against cost, against brute force."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.analyses import frontier
from tests.report_tables import make_ranking

FILE = {
    "file": "",
    "name": "model",
    "architecture": "",
    "parameters": "size",
    "cost": "price",
    "date": "date",
}
VALUES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12)


def find_by_force(costs, scores):
    def beats(one, other):
        at_least = costs[one] <= costs[other] and scores[one] >= scores[other]
        return at_least and (costs[one] < costs[other] or scores[one] > scores[other])

    every = range(len(costs))
    return [not any(beats(one, other) for one in every) for other in every]


@settings(deadline=None)
@given(VALUES, st.randoms())
def test_the_front_is_what_nobody_dominates(pairs, random):
    table = pd.DataFrame(pairs, columns=["cost", "score"]).astype(float).sort_values("cost")
    front = frontier.find_front(table)
    assert front.tolist() == find_by_force(table["cost"].tolist(), table["score"].tolist())
    moved = table.assign(cost=np.log(table["cost"]), score=3 * table["score"] - 7)
    again = moved.sample(frac=1, random_state=random.randrange(99)).sort_values("cost")
    assert frontier.find_front(again).loc[front.index].equals(front)


def trace(tmp_path, attributes, scores, *, against="parameters"):
    path = tmp_path / "models.csv"
    path.write_text(attributes)
    ranking = make_ranking(model=list(scores), score=list(scores.values()))
    return frontier.trace_frontier(
        ranking, [str(path)], renamed={}, model_attributes=FILE, against=against
    )


def test_scores_that_differ_by_rounding_noise_are_equal(tmp_path):
    table = trace(tmp_path, "model,size,price,date\na,1,1,\nb,2,2,\n", {"a": 0.3, "b": 0.1 + 0.2})
    assert table["on_front"].tolist() == [True, False]


def test_dates_are_years_and_models_without_a_cost_are_left_out(tmp_path):
    text = "model,size,price,date\na,1,1,2024-07-01\nb,,2,2020-01-01\n"
    scores = {"a": 0.6, "b": 0.5, "c": 0.4}
    dates = trace(tmp_path, text, scores, against="date")
    assert dates["model"].tolist() == ["b", "a", "c"]
    assert dates["cost"].tolist()[:2] == pytest.approx([2020, 2024 + 182 / 366])
    assert dates["on_front"].tolist() == [True, True, False]
    assert trace(tmp_path, text, scores)["on_front"].tolist() == [True, False, False]
    assert trace(tmp_path, text, scores, against="cost")["on_front"].tolist() == [
        True,
        False,
        False,
    ]
