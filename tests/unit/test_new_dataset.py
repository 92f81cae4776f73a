"""Prediction sets of ranks on a new dataset, against brute force and their level."""

from dataclasses import asdict
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.analyses.new_dataset import bound_ranks, find_facts, predict_rank, predict_ranks
from capmap.analyses.rendering import describe_analysis
from capmap.ranking.aggregation import arrange_runs
from capmap.ranking.dependence import INDEPENDENT, Dependence, measure_dependence


def predict(means: np.ndarray, known: Dependence | None = None) -> pd.DataFrame:
    """The table of a study with a run per cell."""
    models, datasets = np.indices(means.shape).reshape(2, -1)
    names = {"model": np.char.mod("m%02d", models), "dataset": np.char.mod("d%02d", datasets)}
    runs = pd.DataFrame({**names, "score": means.ravel()})
    known = known or measure_dependence(arrange_runs(runs))
    return predict_ranks(runs, pd.DataFrame([asdict(known)]))


def predict_by_force(low: np.ndarray, high: np.ndarray, models: int, level: float) -> set[int]:
    """Every rank in a tie of ranks that is not among the most unusual datasets."""
    found: set[int] = set()
    for first, last in product(range(1, models + 1), repeat=2):
        if first <= last:
            lows, highs = np.append(low, first), np.append(high, last)
            center = (lows + highs).mean() / 2
            unusual = np.maximum(np.abs(lows - center), np.abs(highs - center))
            if (unusual >= unusual[-1] - 1e-9).mean() > 1 - level + 1e-9:
                found |= {*range(first, last + 1)}
    return found


@given(st.integers(0, 10**6), st.integers(9, 24), st.integers(1, 7))
def test_sets_are_those_of_brute_force(number: int, datasets: int, models: int) -> None:
    rng = np.random.default_rng(number)
    low, high = np.sort(rng.integers(1, models + 1, (2, datasets)), axis=0)
    low = np.where(rng.random(datasets) < 0.7, high, low)
    best, worst = predict_rank(low, high, models=models, confidence_level=0.9)
    found = predict_by_force(low, high, models, 0.9)
    assert (best, worst) == (min(found), max(found))


def test_ties_and_missing_scores_may_have_any_of_their_ranks() -> None:
    means = np.array([[0.1 + 0.2, 0.3, np.nan], [0.3, np.nan, np.nan], [0.1, 0.1, 0.5]])
    low, high = bound_ranks(means)
    assert low.tolist() == [[1, 1, 1], [1, 1, 1], [3, 2, 1]]
    assert high.tolist() == [[2, 2, 3], [2, 3, 3], [3, 3, 3]]


@pytest.mark.parametrize("datasets", [9, 12, 19])
def test_sets_hold_their_level(datasets: int) -> None:
    rng, held, levels = np.random.default_rng(0), [], set()
    for _ in range(60):
        means = np.arange(10)[:, None] / 3 + rng.exponential(size=(10, datasets + 1))
        table = predict(means[:, :-1], INDEPENDENT).sort_values("model")
        ranks = bound_ranks(means)[0][:, -1]
        held.append(np.mean((table["low"] <= ranks) & (ranks <= table["high"])))
        levels |= {*table["level"]}
    assert levels == {1 - (datasets + 1) // 10 / (datasets + 1)}
    assert np.mean(held) >= 0.9 - 3 * np.std(held) / np.sqrt(60)


def test_few_datasets_and_copies_are_refused() -> None:
    means = np.random.default_rng(0).standard_normal((6, 12))
    kept = {
        "few": means[:, :8],
        "alike": np.hstack([means[:, :2]] * 6),
        "single": means[:1],
        "enough": means[:, :9],
    }
    known, told = {}, {}
    for name, scores in kept.items():
        table = predict(scores)
        known[name] = table["low"].notna().any()
        told[name] = describe_analysis("new_dataset", {"comparisons/new_dataset": table}, {})
        assert len(table) == len(scores)
    assert known == dict.fromkeys(kept, False) | {"enough": True}
    assert len({words["answer"] for words in told.values()}) == len(kept)
    assert [name for name, words in told.items() if words["methods"]] == ["enough"]


def test_the_first_and_the_most_certain_model_are_named() -> None:
    table = pd.DataFrame({"model": ["a", "b", "c"], "low": [1, 1, 3], "high": [2, 3, 3]})
    facts = find_facts(table)
    assert facts["first"][0]["model"] == "a"
    assert facts["narrowest"][0]["model"] == "c"
    assert facts["anywhere"] == 1
