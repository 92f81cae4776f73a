"""The sentences of a report say what the tables say, and no more."""

import re
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup

from capmap.claims import find_candidates
from capmap.pages import accounts, methods, verdict
from capmap.settings.choices import IntervalMethod, Unit
from tests.report_tables import make_ranking
from tests.toy_settings import make_settings


def make_single_run(models: list[str]) -> pd.DataFrame:
    empty = [None] * len(models)
    ends = ("ci_low", "ci_high", "rank_low", "rank_high")
    gaps = {name: [float("nan")] * len(models) for name in ends}
    return make_ranking(
        model=models, runs=[2] * len(models), tie_group=empty, may_be_best=empty, **gaps
    )


def describe(ranking: pd.DataFrame, level: float = 0.95) -> str:
    return verdict.describe_ranking(ranking, confidence_level=level).striptags()


def test_a_clear_winner_is_called_best() -> None:
    assert describe(make_ranking(model=["A", "B", "C"])) == (
        "On these 2 datasets A is best, with an IQM of 0.800 (95% interval 0.790 to 0.810, or "
        "0.780 to 0.820 as the highest of 3). Every "
        "other model can be separated from it (95% confidence)."
    )


def test_the_scope_is_that_of_the_intervals() -> None:
    ranking = make_ranking(model=["A", "B"])
    wide = describe(ranking.assign(unit="runs_and_datasets"))
    assert wide.startswith("On datasets like these 2 A is best")
    assert describe(ranking.assign(datasets=1)).startswith("On this dataset A is best")
    assert describe(ranking.assign(unit="seeds")).startswith("On these 2 datasets A is best")


@pytest.mark.parametrize(
    ("statistic", "said"),
    [
        (
            "mean",
            "is best, with a mean of 0.800 (95% interval 0.790 to 0.810, or 0.780 to 0.820 as",
        ),
        ("optimality_gap", "is best, with an optimality gap of 0.800"),
    ],
)
def test_what_ranks_the_models_is_named(statistic: str, said: str) -> None:
    ranking = make_ranking(model=["A", "B"]).assign(statistic=statistic)
    assert said in describe(ranking)
    tied = ranking.assign(rank=1)
    first = {"mean": "the highest mean", "optimality_gap": "the lowest optimality gap"}[statistic]
    assert f"A and B share {first}, 0.800." in describe(tied)
    assert "outcomes" in verdict.describe_statistic(ranking, rank_by="auto")
    assert not verdict.describe_statistic(ranking, rank_by=statistic)
    assert not verdict.describe_statistic(ranking.assign(statistic="iqm"), rank_by="auto")


def test_both_scopes_are_told_where_both_are_known() -> None:
    ranking = make_ranking(model=["A", "B", "C"])

    def tell(may_be_best: list[bool | None], **columns: Any) -> str:
        beside = ranking.assign(unit="runs_and_datasets", may_be_best=may_be_best, **columns)
        return describe(pd.concat([ranking, beside])).rpartition("(95% confidence).")[2]

    assert tell([True, False, False]) == " On other datasets like these A is best too."
    assert tell([True, True, True]) == (
        " On other datasets like these any of the 3 models may be the best."
    )
    assert tell([True, False, True]) == (
        " On other datasets like these 2 models may be the best: A and C."
    )
    assert tell([True, False, False], rank_high_all=2) == ""
    assert tell([None] * 3) == ""


def test_the_headline_says_what_changes_between_metrics() -> None:
    shift = pd.DataFrame({"model": ["A", "B", "C"], "rank_a": [1, 2, 3], "rank_b": [1, 3, 2]})
    shift = shift.assign(metric_a="top1", metric_b="asma", dataset_a="V1", dataset_b="V1")
    other = shift.assign(dataset_b="V2", rank_b=[3, 2, 1])
    told = verdict.describe_metrics(pd.concat([other, shift]), rank_by="asma").striptags()
    assert told == ("On V1, A is first by top-1 accuracy and by ASMA; 2 of 3 models change rank.")
    alike = shift.assign(rank_b=shift["rank_a"])
    told = verdict.describe_metrics(alike, rank_by="asma").striptags()
    assert told == "On V1, A is first by top-1 accuracy and by ASMA; no model changes its rank."
    told = verdict.describe_metrics(other.assign(dataset_a="V2"), rank_by="asma").striptags()
    assert "A is first by top-1 accuracy and C by ASMA" in told
    assert not verdict.describe_metrics(shift, rank_by="real")


def test_rivals_are_named_and_nobody_is_called_best() -> None:
    ranking = make_ranking(model=["A", "B", "C"], may_be_best=[True, True, False])
    assert describe(ranking) == (
        "On these 2 datasets A has the highest IQM, 0.800 (95% interval 0.790 to 0.810, or "
        "0.780 to 0.820 as the highest of 3). 2 models "
        "may be the best (95% confidence): A and B."
    )


def test_a_lone_candidate_is_not_best_while_a_pair_is_not_separated() -> None:
    text = describe(make_ranking(model=["A", "B"], rank_high_all=[2, 2]))
    assert text.endswith(
        "A has the highest IQM, 0.800 (95% interval 0.790 to 0.810, or "
        "0.780 to 0.820 as the highest of 2)."
    )


def test_a_model_on_a_part_of_the_datasets_is_not_called_best() -> None:
    text = describe(make_ranking(model=["A", "B"], datasets=[4, 5]))
    assert "On these 5 datasets A has the highest IQM" in text
    assert "is best" not in text


def test_models_without_a_rank_are_counted_and_in_no_judgement() -> None:
    ranking = make_ranking(model=["A", "B", "C"], datasets=[5, 5, 1], missing=[0, 0, 4])
    ranking = ranking.assign(rank=pd.array([1, 2, pd.NA], dtype="Int64"))
    text = describe(ranking)
    assert text.startswith("On these 5 datasets A is best, with an IQM of 0.800")
    assert "as the highest of 2" in text
    assert " 1 model has results on too few datasets and no rank." in text
    assert describe(ranking.iloc[2:]) == (
        "No model is ranked. 1 model has results on too few datasets and no rank."
    )


def test_expected_scores_and_empty_tables_are_told() -> None:
    ranking = make_ranking(model=["A", "B"], datasets=[3, 5], filled=[2, 0])
    text = describe(ranking)
    assert " It has runs on 3 of 5 datasets; on the others the score is expected from" in text
    assert "is best" not in describe(ranking)
    assert "expected" not in describe(ranking.assign(datasets=[5, 3], filled=[0, 2]))


def test_many_rivals_are_counted() -> None:
    ranking = make_ranking(model=list("ABCDEFGH"), may_be_best=[True] * 8)
    assert "Any of the 8 models may be the best (95% confidence)." in describe(ranking)
    ranking = make_ranking(model=list("ABCDEFGHI"), may_be_best=[True] * 8 + [False])
    assert "8 models may be the best (95% confidence): A, B, C, D and 4 more." in describe(ranking)


def test_candidates_are_found_in_what_is_read_back() -> None:
    for values in ([True, False], ["True", "False"], [True, None], pd.array([True, pd.NA])):
        ranking = make_ranking(model=["A", "B"], may_be_best=values)
        assert find_candidates(ranking) == ["A"]


def test_models_that_all_share_one_score_have_no_others_to_be_separated_from() -> None:
    ranking = make_ranking(model=["A", "B"], rank=[1, 1], may_be_best=[True, True])
    assert describe(ranking) == (
        "On these 2 datasets A and B share the highest IQM, 0.800. Any of the 2 models may be "
        "the best (95% confidence)."
    )


def test_single_runs_have_no_measure_of_uncertainty() -> None:
    assert describe(make_single_run(["A", "B"])) == (
        "On these 2 datasets A has the highest IQM, 0.800. This ranking has no measure of "
        "uncertainty: on each dataset there is one run only, so nothing separates a real "
        "difference from chance."
    )


def test_a_model_without_interval_is_not_compared() -> None:
    ranking = make_ranking(
        model=["A", "B", "C"],
        ci_low=[0.79, np.nan, 0.39],
        may_be_best=[True, None, False],
        runs=[6, 2, 6],
    )
    assert describe(ranking) == (
        "On these 2 datasets A has the highest IQM, 0.800 (95% interval 0.790 to 0.810, or "
        "0.780 to 0.820 as the highest of 3). 1 model "
        "has no interval (on each dataset there is one run only) and cannot be compared: B."
    )


def test_few_datasets_have_no_interval_where_datasets_are_resampled() -> None:
    ranking = make_single_run(["A", "B"]).assign(datasets=3, unit="runs_and_datasets")
    assert (
        "no measure of uncertainty: there are scores on fewer than four datasets only, so"
        in describe(ranking)
    )


def test_a_single_model_is_compared_with_nobody() -> None:
    assert describe(make_ranking(model=["A"])) == (
        "On these 2 datasets A is the only model, with an IQM of 0.800 (95% interval 0.790 "
        "to 0.810)."
    )


def test_an_empty_ranking_has_no_winner() -> None:
    assert describe(make_ranking(model=["A"]).iloc[:0]) == "No model has a score."


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
        "New: B. Gone: C. At another rank by IQM: A (2 to 1)."
    )


def test_no_change_is_said_so() -> None:
    changes = pd.DataFrame(columns=["table", "model", "quantity", "before", "after"])
    assert accounts.describe_changes(changes).startswith("This is the first run")


MINUS = "\N{MINUS SIGN}"


def describe_step(step: str, *, unit: Unit = "runs", **settings: Any) -> str:
    return dict(methods.describe_methods(make_settings(**settings), unit=unit))[step].striptags()


@pytest.mark.parametrize("interval", get_args(IntervalMethod))
@pytest.mark.parametrize("unit", get_args(Unit))
def test_every_choice_of_interval_is_explained(interval: str, unit: Unit) -> None:
    if unit == "seeds" and interval != "calibrated":
        pytest.skip("refused by the configuration")
    text = describe_step("Intervals", unit=unit, bootstrap={"interval": interval})
    words = {"runs": "other runs on these", "seeds": "other seeds on these"}
    assert words.get(unit, "other runs on other such datasets") in text
    assert "at a nominal level of 95%" in text
    assert re.search(f"A {interval} interval (is|runs|takes)", text)
    assert ("In each of 10,000 bootstrap replicates" in text) == (interval != "calibrated")
    enough = "it has four or more datasets" if unit == "runs_and_datasets" else "two or more runs"
    assert f"{enough}: fewer do not show how much they vary." in text


@pytest.mark.parametrize(
    ("level", "ends"),
    [(0.9, "5th to the 95th"), (0.95, "2.5th to the 97.5th"), (0.96, "2nd to the 98th")],
)
def test_percentiles_are_written_as_one_says_them(level: float, ends: str) -> None:
    text = describe_step("Intervals", bootstrap={"confidence": level, "interval": "percentile"})
    assert f"runs from the {ends} percentile" in text


def test_the_policies_on_rows_are_told() -> None:
    assert describe_step("Reading", duplicates="last") == (
        "A row that cannot be used stops the study. Empty scores are left out and counted, and "
        "never stop the study. Of differing scores of the same model, dataset, metric and seed "
        "the last counts; repeats with the same score count once. A model without runs on some "
        "dataset stops the study."
    )


@pytest.mark.parametrize(
    ("failed", "counts"),
    [
        ("drop", "is left out and counted."),
        ("worst", "counts with the worst score of its dataset."),
        (0.1, "counts with 0.1."),
        ({"model": "<b>"}, "counts with the mean score of the model <b> on its dataset."),
    ],
)
def test_what_failed_runs_count_with_is_explained(failed: object, counts: str) -> None:
    text = describe_step("Reading", failed=failed)
    assert f"A run whose score is empty, NaN or infinite {counts}" in text
    assert "never stop" not in text


def test_warnings_of_a_rare_kind_come_before_repeats_of_a_frequent_one() -> None:
    blank = {"remedy": "", "source": "x.csv", "line": 0, "column": "", "value": ""}
    kinds = ["empty", "empty", "empty", "one_seed", "one_seed"]
    warnings = [{"code": kind, "reason": f"{kind} {n}", **blank} for n, kind in enumerate(kinds)]
    table = accounts.list_warnings({"warnings": warnings})
    assert list(table.columns) == ["reason", "source"]
    assert table["reason"].tolist() == ["empty 0", "one_seed 3", "empty 1", "one_seed 4", "empty 2"]


def test_a_study_without_warnings_has_an_empty_table() -> None:
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
    assert (
        "Frozen bounds were read from <u>.csv: new models move no old score of the datasets whose "
        "two origins below are references."
    ) in text.striptags()
    assert "on <i> (s = 0.25)." in text.striptags()
