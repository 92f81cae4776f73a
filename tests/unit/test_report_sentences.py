"""The sentences of a page say what the tables say, in at most 60 words, and no more."""

import re
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup

from capmap.claims import find_candidates
from capmap.pages import accounts, methods, verdict
from capmap.settings.choices import IntervalMethod, Unit
from tests.prose_tables import NOT_A_NUMBER
from tests.report_tables import make_ranking
from tests.toy_settings import make_settings

EMPTY = {name: float("nan") for name in ("ci_low", "ci_high", "rank_low", "rank_high")}
BEST = " is best"


def describe(ranking: pd.DataFrame) -> str:
    """The headline, which is short and finished."""
    text = verdict.describe_ranking(ranking, confidence_level=0.95).striptags()
    assert len(text.split()) <= 60
    assert text.endswith(".")
    assert not NOT_A_NUMBER.search(text)
    assert "  " not in text
    return text


def make_single_run(models: list[str]) -> pd.DataFrame:
    empty: list[Any] = [None] * len(models)
    gaps = {name: [value] * len(models) for name, value in EMPTY.items()}
    return make_ranking(
        model=models, runs=[2] * len(models), tie_group=empty, may_be_best=empty, **gaps
    )


def test_a_clear_winner_is_called_best_with_both_intervals() -> None:
    text = describe(make_ranking(model=["A", "B", "C"]))
    assert text.startswith("On these 2 datasets A is best, with an IQM of 0.800 (95% interval")
    assert "0.790 to 0.810" in text
    assert "0.780 to 0.820 allowing for the choice among 3" in text


def test_the_scope_is_that_of_the_intervals() -> None:
    ranking = make_ranking(model=["A", "B"])
    wide = describe(ranking.assign(unit="runs_and_datasets"))
    assert wide.startswith("On datasets like these 2 A is best")
    assert describe(ranking.assign(datasets=1)).startswith("On this dataset A is best")
    assert describe(ranking.assign(unit="seeds")).startswith("On these 2 datasets A is best")


@pytest.mark.parametrize("statistic", ["mean", "optimality_gap"])
def test_what_ranks_the_models_is_named(statistic: str) -> None:
    ranking = make_ranking(model=["A", "B"]).assign(statistic=statistic)
    assert f" {statistic.replace('_', ' ')} of 0.800" in describe(ranking)
    first = {"mean": "the highest mean", "optimality_gap": "the lowest optimality gap"}[statistic]
    assert f"A and B share {first}, 0.800." in describe(ranking.assign(rank=1))
    assert "outcomes" in verdict.describe_statistic(ranking, rank_by="auto")
    assert not verdict.describe_statistic(ranking, rank_by=statistic)
    assert not verdict.describe_statistic(ranking.assign(statistic="iqm"), rank_by="auto")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"may_be_best": [True, False, False]}, "On other datasets like these A is best."),
        ({"may_be_best": [True] * 3}, "On other datasets like these, 3 of 3 models may be"),
        (
            {"may_be_best": [True, False, True]},
            "2 models may be the best (95% confidence): A and C",
        ),
        ({"may_be_best": [True, False, False], "rank_high_all": 2}, ""),
        ({"may_be_best": [None] * 3}, ""),
    ],
)
def test_both_scopes_are_told_where_both_are_known(columns: dict[str, Any], said: str) -> None:
    ranking = make_ranking(model=["A", "B", "C"])
    other = ranking.assign(unit="runs_and_datasets", **columns)
    text = describe(pd.concat([ranking, other]))
    assert said in text
    assert ("other datasets" in text) == bool(said)


@pytest.mark.parametrize(
    "columns",
    [
        {"may_be_best": [True, True]},
        {"rank_high_all": [2, 2]},
        {"datasets": [4, 5]},
        {"datasets": [3, 5], "filled": [2, 0]},
        {"rank": [1, 1], "may_be_best": [True, True]},
        {"ci_low": [0.79, np.nan]},
    ],
)
def test_nobody_is_called_best_who_may_not_be(columns: dict[str, Any]) -> None:
    assert BEST not in describe(make_ranking(model=["A", "B"], **columns))


def test_models_without_a_rank_are_counted_and_in_no_judgement() -> None:
    ranking = make_ranking(model=["A", "B", "C"], datasets=[5, 5, 1], missing=[0, 0, 4])
    ranking = ranking.assign(rank=pd.array([1, 2, pd.NA], dtype="Int64"))
    text = describe(ranking)
    assert "On these 5 datasets A is best" in text
    assert "the choice among 2" in text
    assert text.endswith("1 model has results on too few datasets and no rank.")
    assert describe(ranking.iloc[2:]).startswith("No model is ranked.")
    assert describe(ranking.iloc[:0]) == "No model has a score."


def test_expected_scores_of_the_first_are_told() -> None:
    ranking = make_ranking(model=["A", "B"], datasets=[3, 5], filled=[2, 0])
    assert "Runs are on 3 of 5 datasets" in describe(ranking)
    assert "Runs are on" not in describe(ranking.assign(datasets=[5, 3], filled=[0, 2]))


def test_many_rivals_are_counted() -> None:
    ranking = make_ranking(model=list("ABCDEFGH"), may_be_best=[True] * 8)
    assert "8 of 8 models may be the best (95% confidence)." in describe(ranking)
    ranking = make_ranking(model=list("ABCDEFGHI"), may_be_best=[True] * 8 + [False])
    assert "8 models may be the best (95% confidence): A, B, C, D and 4 more." in describe(ranking)


def test_candidates_are_found_in_what_is_read_back() -> None:
    for values in ([True, False], ["True", "False"], [True, None], pd.array([True, pd.NA])):
        ranking = make_ranking(model=["A", "B"], may_be_best=values)
        assert find_candidates(ranking) == ["A"]


def test_what_has_no_interval_is_told() -> None:
    single = make_single_run(["A", "B"])
    assert describe(single).endswith(
        "Repeated runs are too few for intervals, so differences may be chance."
    )
    few = describe(single.assign(datasets=3, unit="runs_and_datasets"))
    assert few.endswith("Datasets are too few for intervals, so differences may be chance.")
    assert "interval " not in few
    ranking = make_ranking(
        model=["A", "B", "C"], ci_low=[0.79, np.nan, 0.39], may_be_best=[True, None, False]
    )
    assert describe(ranking).endswith("1 model has no interval and cannot be compared: B.")
    assert "is the only model" in describe(make_ranking(model=["A"]))


def test_the_order_by_each_aggregation_is_told() -> None:
    aggregate = pd.DataFrame(
        {"model": ["A", "B", "C"], "rank_mean": [1, 2, 3], "rank_median": [2, 1, 3]}
    )
    ranking = make_ranking(model=["A", "B", "C"])
    text = verdict.describe_aggregations(aggregate, ranking).striptags()
    assert "A is first by mean and IQM; B is first by median." in text
    assert "2 models change their rank, most of all A (ranks 1 to 2)." in text
    same = verdict.describe_aggregations(aggregate[["model", "rank_mean"]], ranking)
    assert same.endswith("No model changes its rank.")


def test_models_that_came_went_and_moved_are_named() -> None:
    changes = pd.DataFrame(
        [
            ["model", "B", None, 1],
            ["dataset", "x", 1, None],
            ["run", "A / x / 1", 0.5, 0.6],
            ["setting", "rank_by", "iqm", "mean"],
            ["rank", "A", 2, 1],
            ["rank", "B", None, 2],
        ],
        columns=["kind", "name", "before", "after"],
    )
    assert accounts.describe_changes(changes).striptags() == (
        "Since the former run: 1 new model (B), 1 removed dataset (x), 1 changed run (A / x / 1) "
        "and 1 changed setting (rank_by). Largest move: A, from rank 2 to 1."
    )
    assert not accounts.describe_changes(changes[:0])


def describe_step(step: str, *, unit: Unit = "runs", **settings: Any) -> str:
    """The method of a step, of which each is short and finished."""
    told = dict(methods.describe_methods(make_settings(**settings), unit=unit))
    for text in told.values():
        assert len(text.striptags().split()) <= 60, text
        assert text.endswith("."), text
    return told[step].striptags()


@pytest.mark.parametrize("interval", get_args(IntervalMethod))
@pytest.mark.parametrize("unit", get_args(Unit))
def test_every_choice_of_interval_is_explained(interval: str, unit: Unit) -> None:
    if unit == "seeds" and interval != "calibrated":
        pytest.skip("refused by the configuration")
    text = describe_step("Intervals", unit=unit, bootstrap={"interval": interval})
    assert text.startswith("Intervals (95%)")
    assert f"A {interval} interval is" in text
    assert ("10,000 bootstrap replicates" in text) == (interval != "calibrated")


@pytest.mark.parametrize(
    ("failed", "counts"),
    [
        ("invalid", "Empty scores are left out"),
        ("drop", "is left out and counted."),
        ("worst", "counts with the worst score of its dataset."),
        (0.1, "counts with 0.1."),
        ({"model": "<b>"}, "counts with the mean score of <b> there."),
    ],
)
def test_what_failed_runs_count_with_is_explained(failed: object, counts: str) -> None:
    assert counts in describe_step("Reading", failed=failed)


@pytest.mark.parametrize("policy", ["error", "mean", "first", "last"])
def test_the_policies_on_rows_are_told(policy: str) -> None:
    assert methods.DUPLICATES[policy] in describe_step("Reading", duplicates=policy)


def test_warnings_of_a_rare_kind_come_before_repeats_of_a_frequent_one() -> None:
    blank = {"remedy": "", "source": "x.csv", "line": 0, "column": "", "value": ""}
    kinds = ["empty", "empty", "empty", "one_seed", "one_seed"]
    warnings = [{"code": kind, "reason": f"{kind} {n}", **blank} for n, kind in enumerate(kinds)]
    table = accounts.list_warnings({"warnings": warnings})
    assert list(table.columns) == ["reason", "source"]
    assert table["reason"].tolist() == ["empty 0", "one_seed 3", "empty 1", "one_seed 4", "empty 2"]
    assert accounts.list_warnings({"warnings": []}).empty


def test_filters_references_and_transforms_are_told_with_their_names_escaped() -> None:
    settings = make_settings(
        where={"<b>": ["tuned", 1]},
        datasets={"<i>": {"transform": {"scale_rmse": {"std": 0.25}}}},
        normalization={"references": "<u>.csv"},
    )
    text = Markup(" ").join(
        sentence for _, sentence in methods.describe_methods(settings, unit="runs")
    )
    assert not re.search("<[biu]>", text)
    assert "Only rows are read where <b> is one of tuned and 1." in text.striptags()
    assert "frozen, from <u>.csv." in text.striptags()
    assert "on <i> (s = 0.25)." in text.striptags()
