"""Rankings under other aggregations, bounds and datasets."""

import itertools
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.analyses import robustness
from capmap.ranking.resampling import stratify_runs
from capmap.ranking.statistics import evaluate_runs

KEYS = ["aggregation", "bounds", "left_out"]
METHODS = ["mean", "trimmed_mean", "median", "iqm"]


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


def report(runs: pd.DataFrame) -> dict[str, int]:
    """Ranks by interquartile mean, as the study reports them."""
    return rank(score_iqm(runs))


def rank(scores: dict[str, float]) -> dict[str, int]:
    values = {name: round(score, 10) for name, score in scores.items()}
    return {name: 1 + sum(x > y for x in values.values()) for name, y in values.items()}


def score_iqm(runs: pd.DataFrame) -> dict[str, float]:
    return {
        str(model): evaluate_runs("iqm", stratify_runs(own["score"], own["dataset"].tolist()))
        for model, own in runs.groupby("model")
    }


def compare(runs: pd.DataFrame, *, reported: dict[str, int] | None = None) -> robustness.Agreement:
    variations = robustness.iterate_variations(runs)
    names = sorted(runs["dataset"].unique())
    return robustness.compare_variations(
        variations, reported=reported or report(runs), datasets=names
    )


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


@pytest.mark.parametrize("hidden", [0.0, 0.6])
def test_scores_of_all_variations_are_those_computed_by_hand(hidden: float) -> None:
    runs = draw_runs(1, hidden=hidden)
    constant = [(model, "constant", 0.3) for model in ("m0", "m1", "m1")]
    runs = pd.concat([runs, make_runs(*constant, ("m1", "alone", 0.9), ("m1", "alone", 0.8))])
    models, datasets = sorted(runs["model"].unique()), sorted(runs["dataset"].unique())
    found = list(robustness.iterate_variations(runs))
    assert len(found) == 12
    for variation in found:
        for left_out, line in zip(["", *datasets], variation.scores, strict=True):
            rest = runs[runs["dataset"] != left_out]
            expected = score_by_hand(rest, variation.aggregation, variation.bounds)
            np.testing.assert_allclose(
                line, [expected.get(model, np.nan) for model in models], rtol=0, atol=1e-10
            )


def correlate(ranks: dict[str, int], others: dict[str, int]) -> float:
    """Kendall's tau-b by SciPy, NaN where it is not defined."""
    if min(len(set(ranks.values())), len(set(others.values()))) < 2:
        return np.nan
    return float(stats.kendalltau([ranks[name] for name in others], list(others.values()))[0])


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.floats(0, 0.8))
def test_agreement_is_that_of_rankings_by_hand(
    seed: int, models: int, datasets: int, hidden: float
) -> None:
    runs = draw_runs(seed, models=models, datasets=datasets, seeds=2, hidden=hidden)
    agreement, reported = compare(runs), report(runs)
    names, left_out = list(reported), ["", *sorted(runs["dataset"].unique())]
    flipped: Counter[tuple[str, str]] = Counter()
    rows = agreement.robustness.itertuples()
    for variation in robustness.iterate_variations(runs):
        for dataset, line, row in zip(left_out, variation.scores, rows, strict=False):
            scores = dict(zip(names, line, strict=True))
            ranks = rank({name: score for name, score in scores.items() if not np.isnan(score)})
            key = (variation.aggregation, variation.bounds, dataset)
            assert (row.aggregation, row.bounds, row.left_out, row.models) == (*key, len(ranks))
            pairs = [
                (a, b)
                for a, b in itertools.permutations(ranks, 2)
                if reported[a] < reported[b] and ranks[a] > ranks[b]
            ]
            assert row.flips == len(pairs)
            flipped.update(pairs)
            leaders = [name for name, place in ranks.items() if place == 1]
            assert row.best == min(leaders, key=lambda name: (reported[name], name), default="")
            expected = correlate({name: reported[name] for name in ranks}, ranks)
            assert row.kendall_tau == pytest.approx(expected, abs=1e-12, nan_ok=True)
    table = agreement.flips.set_index(["model_a", "model_b"])["flips"]
    assert table.to_dict() == flipped


def test_a_pair_that_flips_is_found_with_its_share() -> None:
    # a wins by far on x, b by little on y and z: a leads by mean, b by median and by ranks.
    rows = [("a", "x", 1.0), ("a", "y", 0.4), ("a", "z", 0.4)]
    rows += [("b", "x", 0.0), ("b", "y", 0.5), ("b", "z", 0.5)]
    agreement = compare(make_runs(*rows), reported={"a": 1, "b": 2})
    table = agreement.robustness.set_index(KEYS)
    assert table.loc[("mean", "configured", ""), ["kendall_tau", "best"]].tolist() == [1.0, "a"]
    for variation in (
        ("median", "configured", ""),
        ("mean", "ranks", ""),
        # Without x, b is better everywhere.
        ("mean", "configured", "x"),
    ):
        assert table.loc[variation, ["kendall_tau", "flips", "best"]].tolist() == [-1.0, 1, "b"]
    # Without y and under observed bounds, each is best once.
    assert np.isnan(table.loc[("mean", "observed", "y"), "kendall_tau"])
    [flip] = agreement.flips.to_dict("records")
    assert (flip["model_a"], flip["model_b"], flip["rank_a"], flip["rank_b"]) == ("a", "b", 1, 2)
    assert flip["flips"] == table["flips"].sum()
    assert flip["variations"] == 48
    ranks = agreement.spans.set_index(["model", "aggregation", "bounds"])
    assert ranks.loc[("a", "median", "configured")].tolist() == [2, 1, 2, 1]
    assert ranks.loc[("b", "mean", "configured")].tolist() == [2, 1, 2, 0]


def test_model_without_a_dataset_that_is_left_has_no_rank() -> None:
    # Under ranks, nobody else has y.
    runs = make_runs(("a", "x", 0.9), ("b", "x", 0.5), ("c", "y", 0.1), ("c", "y", 0.2))
    agreement = compare(runs)
    ranks = agreement.spans.set_index(["model", "aggregation", "bounds"])
    assert ranks.loc[("c", "mean", "ranks")].isna().all()
    assert ranks["rank"].dtype == ranks["shift"].dtype == "Int64"
    robust = agreement.robustness.set_index(KEYS)
    assert robust.loc[("mean", "ranks", ""), "models"] == 2
    assert robust.loc[("mean", "ranks", "x"), ["models", "best"]].tolist() == [0, ""]
    # c is last with all datasets under configured bounds, and the only one left without x.
    assert ranks.loc[("c", "mean", "configured")].tolist() == [3, 1, 3, 0]


def test_tied_ranks_neither_agree_nor_flip() -> None:
    # The ranks are 1, 2, 2, 4 with all datasets, and all equal without x.
    scores, reported = np.array([[0.9, 0.5, 0.5, 0.1], [0.5] * 4]), {"a": 1, "b": 1, "c": 3, "d": 4}
    variations = [
        robustness.Variation(aggregation, bounds, scores)
        for aggregation, bounds in itertools.product(METHODS, robustness.ALL_BOUNDS)
    ]
    agreement = robustness.compare_variations(variations, reported=reported, datasets=["x"])
    expected = stats.kendalltau([1, 1, 3, 4], [1, 2, 2, 4]).statistic
    found = agreement.robustness
    np.testing.assert_allclose(found["kendall_tau"], [expected, np.nan] * 12, rtol=0, atol=1e-15)
    assert (found["flips"] == 0).all()
    assert agreement.flips.empty


SMALL = [[], [("b", "x", 0.5)], [("b", "y", 0.7)], [("a", "x", 0.6), ("b\n", "x\n", -3.0)]]


@pytest.mark.parametrize("further", SMALL)
def test_small_studies_work(further: list[tuple[Any, ...]]) -> None:
    runs = make_runs(("a", "x", 0.5), *further)
    agreement = compare(runs)
    n = runs["model"].nunique()
    assert len(agreement.robustness) == 12 * (1 + runs["dataset"].nunique())
    assert len(agreement.spans) == 12 * n
    assert agreement.flips.columns[[0, -1]].tolist() == ["model_a", "share"]
