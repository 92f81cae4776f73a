"""Rankings under other aggregations, bounds and datasets, against rankings made by hand."""

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.analyses import robustness
from capmap.ranking.resampling import evaluate_runs, stratify_runs

KEYS = ["aggregation", "bounds", "left_out"]
VARIATIONS = ["model", "aggregation", "bounds"]


def make_runs(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Runs from (model, dataset, score)."""
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def draw_runs(
    seed: int, *, models: int = 4, datasets: int = 5, seeds: int = 3, hidden: float = 0.0
) -> pd.DataFrame:
    """A benchmark of scores with one decimal, so that there are ties; some runs may be missing."""
    rng = np.random.default_rng(seed)
    cells = [
        (f"m{model}", f"d{dataset}", round(float(rng.normal(0.5 + 0.03 * model, 0.2)), 1))
        for model in range(models)
        for dataset in range(datasets)
        for _ in range(seeds)
    ]
    kept = rng.random(len(cells)) >= hidden
    kept[::7] = True
    return make_runs(*itertools.compress(cells, kept))


def rank(scores: dict[str, float]) -> dict[str, int]:
    values = {name: round(score, 10) for name, score in scores.items()}
    return {name: 1 + sum(x > y for x in values.values()) for name, y in values.items()}


def score_iqm(runs: pd.DataFrame) -> dict[str, float]:
    return {
        str(model): evaluate_runs("iqm", stratify_runs(own["score"], own["dataset"].tolist()))
        for model, own in runs.groupby("model")
    }


def check(runs: pd.DataFrame, reported: dict[str, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables, of a study that reports these ranks."""
    ranking = pd.DataFrame({"model": list(reported), "rank": list(reported.values())})
    ranking = ranking.assign(group="", unit="runs", statistic="iqm")
    tables = robustness.check_robustness(runs, ranking)
    return tables["robustness"].set_index(KEYS), tables["robustness_ranks"].set_index(VARIATIONS)


def score_by_hand(runs: pd.DataFrame, aggregation: str, bounds: str) -> Any:
    """Scores of a variation, dataset by dataset and model by model."""
    parts = []
    for _, own in runs.groupby("dataset"):
        part = own.copy()
        if bounds == "observed":
            low, high = part["score"].min(), part["score"].max()
            if low == high:
                continue
            part["score"] = (part["score"] - low) / (high - low)
        if bounds == "ranks":
            if len(set(part["model"])) == 1:
                continue
            if aggregation != "iqm":
                part = part.groupby("model", as_index=False)["score"].mean()
                part["dataset"] = own["dataset"].iloc[0]
            ranks = stats.rankdata(-part["score"].round(12))
            part["score"] = (len(part) - ranks) / (len(part) - 1)
        parts.append(part)
    if not parts:
        return {}
    bounded = pd.concat(parts)
    if aggregation == "iqm":
        return score_iqm(bounded)
    trim = partial(stats.trim_mean, proportiontocut=0.25)
    summarize = {"mean": np.mean, "median": np.median, "trimmed_mean": trim}[aggregation]
    cells = bounded.groupby(["model", "dataset"])["score"].mean()
    return {str(name): float(summarize(own)) for name, own in cells.groupby("model")}


def correlate(ranks: dict[str, int], others: dict[str, int]) -> float:
    """Kendall's tau-b by SciPy, NaN where it is not defined."""
    if min(len(set(ranks.values())), len(set(others.values()))) < 2:
        return np.nan
    return float(stats.kendalltau([ranks[name] for name in others], list(others.values()))[0])


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.floats(0, 0.8))
def test_rankings_are_those_made_by_hand(
    seed: int, models: int, datasets: int, hidden: float
) -> None:
    runs = draw_runs(seed, models=models, datasets=datasets, seeds=2, hidden=hidden)
    extra = [("m0", "constant", 0.3), ("m0", "alone", 0.8), ("m0", "alone", 0.9)]
    runs = pd.concat([runs, make_runs(*extra, ("m1", "constant", 0.3))])
    reported = rank(score_iqm(runs))
    table, spans = check(runs, reported)
    assert len(table) == 12 * (1 + runs["dataset"].nunique())
    seen: dict[tuple[str, str], list[dict[str, int]]] = {}
    for (aggregation, bounds, left_out), row in table.iterrows():
        rest = runs[runs["dataset"] != left_out]
        ranks = rank(score_by_hand(rest, aggregation, bounds))
        seen.setdefault((aggregation, bounds), []).append(ranks)
        assert row["models"] == len(ranks)
        leaders = [name for name, place in ranks.items() if place == 1]
        assert row["best"] == min(leaders, key=lambda name: (reported[name], name), default="")
        expected = correlate({name: reported[name] for name in ranks}, ranks)
        assert row["kendall_tau"] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for (model, *kind), row in spans.iterrows():
        whole, *_ = lines = seen[tuple(kind)]
        if model not in whole:
            assert row.isna().all()
            continue
        places = [line[model] for line in lines if model in line]
        expected = [whole[model], min(places), max(places), whole[model] - reported[model]]
        assert row.tolist() == expected


def test_a_pair_that_changes_places_is_found() -> None:
    # a wins by far on x, b by little on y and z: a leads by mean, b by median and by ranks.
    rows = [("a", "x", 1.0), ("a", "y", 0.4), ("a", "z", 0.4)]
    rows += [("b", "x", 0.0), ("b", "y", 0.5), ("b", "z", 0.5)]
    table, spans = check(make_runs(*rows), {"a": 1, "b": 2})
    assert table.loc[("mean", "configured", ""), ["kendall_tau", "best"]].tolist() == [1.0, "a"]
    for variation in (
        ("median", "configured", ""),
        ("mean", "ranks", ""),
        # Without x, b is better everywhere.
        ("mean", "configured", "x"),
    ):
        assert table.loc[variation, ["kendall_tau", "best"]].tolist() == [-1.0, "b"]
    # Without y and under observed bounds, each is best once.
    assert np.isnan(table.loc[("mean", "observed", "y"), "kendall_tau"])
    assert spans.loc[("a", "median", "configured")].tolist() == [2, 1, 2, 1]
    assert spans.loc[("b", "mean", "configured")].tolist() == [2, 1, 2, 0]


SMALL = [[], [("b", "x", 0.5)], [("b", "y", 0.7)], [("a", "x", 0.6), ("b\n", "x\n", -3.0)]]


@pytest.mark.parametrize("further", SMALL)
def test_small_studies_work(further: list[tuple[Any, ...]]) -> None:
    runs = make_runs(("a", "x", 0.5), *further)
    table, spans = check(runs, rank(score_iqm(runs)))
    assert len(table) == 12 * (1 + runs["dataset"].nunique())
    assert len(spans) == 12 * runs["model"].nunique()
    assert spans["rank"].dtype == spans["shift"].dtype == "Int64"
