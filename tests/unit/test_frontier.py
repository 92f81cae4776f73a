"""The Pareto front of score against cost: against brute force, and shares with known truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

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
    costs, scores = (np.array(values, float) for values in zip(*pairs, strict=True))
    front = frontier.find_front(costs, scores[:, None])[:, 0]
    assert front.tolist() == find_by_force(costs, scores)
    order = random.sample(range(len(pairs)), len(pairs))
    assert (
        frontier.find_front(costs[order], scores[order, None])[:, 0].tolist()
        == front[order].tolist()
    )
    assert (
        frontier.find_front(np.log(costs), 3 * scores[:, None] - 7)[:, 0].tolist() == front.tolist()
    )


def trace(tmp_path, attributes, runs, *, against="parameters", **ranking):
    path = tmp_path / "models.csv"
    path.write_text(attributes)
    ranking = make_ranking(**{"model": sorted(set(runs["model"])), **ranking})
    return frontier.trace_frontier(
        runs,
        ranking,
        [str(path)],
        renamed={},
        model_attributes=FILE,
        against=against,
        n_resamples=4000,
        seed=1,
        study="s",
    )


def make_runs(scores):
    rows = [
        (model, f"d{dataset}", str(seed), score)
        for model, cells in scores.items()
        for dataset, runs in enumerate(cells)
        for seed, score in enumerate(runs)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def test_there_is_no_share_where_seeds_are_shared(tmp_path):
    runs = make_runs({"a": [(0.5, 0.6)], "b": [(0.7, 0.8)]})
    table = trace(tmp_path, "model,size,price,date\na,1,1,\nb,2,2,\n", runs, unit="seeds")
    assert table["on_front"].tolist() == [True, False]
    assert table["p_front"].isna().all()


def test_the_share_of_resamples_is_that_of_two_means(tmp_path):
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.05, (2, 1, 400))
    scores = {"big": 0.503 + noise[0], "small": 0.5 + noise[1]}
    text = "model,size,price,date\nbig,100,1,2024-07-01\nsmall,10,2,2020-01-01\n"
    estimates = {name: float(np.mean(runs)) for name, runs in scores.items()}
    ranking = {"score": [estimates["big"], estimates["small"]]}
    # The mean of 400 runs, as the interquartile mean of one dataset varies about as much.
    table = trace(tmp_path, text, make_runs(scores), statistic="mean", **ranking)
    table = table.set_index("model")
    assert table.loc["small", "p_front"] == 1
    error = np.sqrt(sum(np.var(runs) / runs.size for runs in scores.values()))
    expected = stats.norm.sf(0, estimates["big"] - estimates["small"], error)
    assert table.loc["big", "p_front"] == pytest.approx(expected, abs=0.03)
    cheap = trace(tmp_path, text, make_runs(scores), against="cost", statistic="mean", **ranking)
    assert cheap["model"].tolist() == ["big", "small"]
    assert cheap["cost"].tolist() == [1, 2]


def test_dates_are_years_and_models_without_a_cost_are_left_out(tmp_path):
    scores = {name: [[0.5, 0.6], [0.4, 0.5]] for name in "abc"}
    text = "model,size,price,date\na,1,1,2024-07-01\nb,,2,2020-01-01\n"
    dates = trace(tmp_path, text, make_runs(scores), against="date")
    assert dates["model"].tolist() == ["b", "a", "c"]
    assert dates["cost"].tolist()[:2] == pytest.approx([2020, 2024 + 182 / 366])
    assert dates["on_front"].tolist() == [True, True, False]
    sizes = trace(tmp_path, text, make_runs(scores))
    assert sizes["p_front"].isna().tolist() == [False, True, True]


def test_single_runs_have_a_front_and_no_share(tmp_path):
    scores = {"a": [[0.5], [0.4]], "b": [[0.6], [0.5]]}
    text = "model,size,price,date\na,1,1,\nb,2,2,\n"
    table = trace(tmp_path, text, make_runs(scores), ci_low=[np.nan] * 2, score=[0.45, 0.55])
    assert table["on_front"].all()
    assert table["p_front"].isna().all()


def make_table(n, *, span=1000.0):
    rng = np.random.default_rng(n)
    score = np.sort(rng.uniform(0.3, 0.8, n))
    table = pd.DataFrame({"model": [f"Model-{i:02d}" for i in range(n)], "score": score})
    table = table.assign(cost=np.geomspace(1e6, span * 1e6, n) * rng.uniform(0.8, 1.2, n))
    front = frontier.find_front(table["cost"], score[:, None])[:, 0]
    table = table.assign(ci_low=score - 0.02, ci_high=score + 0.02, on_front=front)
    return table.assign(datasets=4, missing=0, p_front=np.nan)
