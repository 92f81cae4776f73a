"""The sentences of a report say what the tables say, and no more."""

import copy
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup

from capmap.report import accounts, methods, verdict

SETTINGS: dict[str, Any] = {
    "exports": ["data/seeded.csv"],
    "where": {},
    "datasets": {},
    "normalization": {"low": "natural", "high": "natural", "references": ""},
    "incomplete": "error",
    "duplicates": "error",
    "invalid": "error",
    "aggregate": ["mean", "trimmed_mean", "median"],
    "bootstrap": {
        "replicates": 10000,
        "confidence": 0.95,
        "interval": "percentile",
        "unit": "runs",
        "weights": "datasets",
        "statistics": ["iqm", "mean"],
        "seed": 0,
        "shards": 4,
    },
}
COVERAGE = pd.DataFrame(
    {
        "interval": ["percentile", "calibrated"],
        "datasets": 2,
        "seeds": 3,
        "nominal": 0.95,
        "expected": [0.871, 0.947],
        "simulations": 2000,
    }
)


def make_ranking(**columns: list[Any]) -> pd.DataFrame:
    n = len(columns["model"])
    table = pd.DataFrame(
        {
            "iqm": np.linspace(0.8, 0.4, n),
            "ci_low": np.linspace(0.79, 0.39, n),
            "ci_high": np.linspace(0.81, 0.41, n),
            "rank": range(1, n + 1),
            "rank_low": range(1, n + 1),
            "rank_high": range(1, n + 1),
            "runs": [6] * n,
            "datasets": [2] * n,
            "ties": [chr(97 + i % 26) for i in range(n)],
            **columns,
        }
    )
    return table[["model", *table.columns.drop("model")]]


def make_single_run(models: list[str]) -> pd.DataFrame:
    empty = [None] * len(models)
    ends = ("ci_low", "ci_high", "rank_low", "rank_high")
    gaps = {name: [float("nan")] * len(models) for name in ends}
    return make_ranking(model=models, runs=[2] * len(models), ties=empty, **gaps)


def describe(ranking: pd.DataFrame, level: float | None = 0.95) -> str:
    return verdict.describe_ranking(ranking, confidence_level=level).striptags()


def test_a_clear_winner_is_called_best() -> None:
    assert describe(make_ranking(model=["A", "B", "C"])) == (
        "A is best, with an IQM of 0.800 (95% interval 0.790 to 0.810). Every other model can be "
        "separated from it at 95%."
    )


def test_rivals_are_named_and_nobody_is_called_best() -> None:
    ranking = make_ranking(model=["A", "B", "C"], ties=["a", "ab", "b"], rank_high=[2, 3, 3])
    assert describe(ranking) == (
        "A has the highest IQM, 0.800 (95% interval 0.790 to 0.810). B cannot be separated from "
        "it at 95%. Its rank may be anything from 1 to 2."
    )


def test_many_rivals_are_counted() -> None:
    ranking = make_ranking(model=list("ABCDEFGH"), ties=["a"] * 8, rank_high=[8] * 8)
    assert "B, C, D, E and 3 more cannot be separated from it at 95%." in describe(ranking)


def test_letters_of_later_groups_are_not_taken_for_the_first() -> None:
    # With more than 26 groups the 27th is called aa, the 28th ab.
    ranking = make_ranking(
        model=[f"M{i}" for i in range(28)],
        ties=[*"abcdefghijklmnopqrstuvwxyz", "aa", "ab"],
    )
    assert verdict.find_best_group(ranking) == ["M0"]


def test_models_that_share_the_first_rank_are_both_named() -> None:
    ranking = make_ranking(model=["A", "B", "C"], rank=[1, 1, 3], ties=["a", "a", "a"])
    assert describe(ranking) == (
        "A and B share the highest IQM, 0.800. C cannot be separated from them at 95%."
    )


def test_single_runs_have_no_measure_of_uncertainty() -> None:
    assert describe(make_single_run(["A", "B"])) == (
        "A has the highest IQM, 0.800. This ranking has no measure of uncertainty: on each dataset "
        "there is one run only, so nothing tells a real difference from chance."
    )


def test_a_model_without_interval_is_not_compared() -> None:
    ranking = make_ranking(
        model=["A", "B", "C"],
        ci_low=[0.79, np.nan, 0.39],
        ties=["a", None, "b"],
        rank_high=[1, np.nan, 3],
        runs=[6, 2, 6],
    )
    assert describe(ranking) == (
        "A has the highest IQM, 0.800 (95% interval 0.790 to 0.810). 1 model has no interval (on "
        "each dataset there is one run only) and cannot be compared: B."
    )


def test_a_single_model_is_compared_with_nobody() -> None:
    assert describe(make_ranking(model=["A"])) == (
        "A is the only model, with an IQM of 0.800 (95% interval 0.790 to 0.810)."
    )


def test_an_empty_ranking_has_no_winner() -> None:
    assert describe(make_ranking(model=["A"]).iloc[:0]) == "No model has a score."


def test_the_level_is_left_out_where_it_is_unknown() -> None:
    text = describe(make_ranking(model=["A", "B"]), None)
    assert "(interval 0.790 to 0.810)" in text
    assert "%" not in text


def test_narrow_intervals_are_said_to_be_narrow() -> None:
    text = verdict.describe_coverage(COVERAGE, interval="percentile", unit="runs")
    assert text == (
        "In 2,000 simulated studies of 2 datasets with 3 runs per cell, intervals of nominal 95% "
        "held the true IQM this often: percentile 87.1% and calibrated 94.7%. So the intervals "
        "here are too narrow: read them as 87% intervals."
    )


def test_calibrated_intervals_get_no_warning() -> None:
    text = verdict.describe_coverage(COVERAGE, interval="calibrated", unit="runs")
    assert text.endswith("this often: calibrated 94.7% and percentile 87.1%.")


@pytest.mark.parametrize(
    ("interval", "unit"), [("bca", "runs"), ("percentile", "runs_and_datasets")]
)
def test_intervals_that_were_not_simulated_are_said_so(interval: str, unit: str) -> None:
    text = verdict.describe_coverage(COVERAGE, interval=interval, unit=unit)
    assert text.endswith("The intervals here are of another kind, which was not simulated.")


def test_nothing_is_said_of_coverage_that_could_not_be_simulated() -> None:
    coverage = COVERAGE.assign(expected=np.nan)
    assert verdict.describe_coverage(coverage, interval="percentile", unit="runs") == ""


def test_the_order_by_each_aggregation_is_told() -> None:
    aggregate = pd.DataFrame(
        {"model": ["A", "B", "C"], "rank_mean": [1, 2, 3], "rank_median": [2, 1, 3]}
    )
    ranking = make_ranking(model=["A", "B", "C"])
    assert verdict.describe_aggregations(aggregate, ranking).striptags() == (
        "A comes first by the mean and the IQM; B comes first by the median. 2 models change rank "
        "with the aggregation: A (1st by the mean, 2nd by the median) and B (1st by the median, "
        "2nd by the mean)."
    )


def test_an_order_that_never_changes_is_told() -> None:
    aggregate = pd.DataFrame({"model": ["A", "B"], "rank_mean": [1, 2]})
    text = verdict.describe_aggregations(aggregate, make_ranking(model=["A", "B"]))
    assert text.endswith("No model changes its rank from one aggregation to another.")


def test_models_that_came_went_and_moved_are_named() -> None:
    changes = pd.DataFrame(
        [["iqm", "A", "rank", 2, 1], ["iqm", "B", "rank", None, 2], ["iqm", "C", "rank", 1, None]],
        columns=["table", "model", "quantity", "before", "after"],
    )
    assert accounts.describe_changes(changes).striptags() == (
        "New: B. Gone: C. At another rank: A (2 to 1)."
    )


def test_no_change_is_said_so() -> None:
    changes = pd.DataFrame(columns=["table", "model", "quantity", "before", "after"])
    assert accounts.describe_changes(changes).startswith("Nothing: this is the first run")


@pytest.mark.parametrize("interval", list(methods.INTERVALS))
@pytest.mark.parametrize("unit", list(methods.UNITS))
def test_every_choice_of_bootstrap_is_explained(interval: str, unit: str) -> None:
    settings = copy.deepcopy(SETTINGS)
    settings["bootstrap"] |= {"interval": interval, "unit": unit, "confidence": 0.9}
    text = " ".join(sentence for _, sentence in methods.describe_methods(settings))
    assert "Their nominal level is 90%." in text
    assert "10,000 bootstrap replicates" in text
    assert ("5th to the 95th percentile" in text) == (interval == "percentile")


def test_filters_references_and_transforms_are_told_with_their_names_escaped() -> None:
    settings = copy.deepcopy(SETTINGS) | {
        "where": {"<b>": ["tuned", 1]},
        "datasets": {"<i>": {"transform": {"scale_rmse": {"std": 0.25}}}},
    }
    settings["normalization"]["references"] = "<u>.csv"
    text = Markup(" ").join(sentence for _, sentence in methods.describe_methods(settings))
    assert not re.search("<[biu]>", text)
    assert "Only rows are read where <b> is one of tuned and 1." in text.striptags()
    assert "Frozen bounds were read from <u>.csv" in text.striptags()
    assert "on <i> (s = 0.25)." in text.striptags()
