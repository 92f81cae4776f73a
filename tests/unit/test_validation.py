"""Everything that can be wrong with rows, names, metrics and scores, and what is said about it."""

import numpy as np
import pytest

from capmap.exports import read_exports
from capmap.validation.findings import list_rejected
from tests.toy_runs import make_runs
from tests.toy_studies import GOOD, codes, column, fault, find, find_one, validate


def test_good_runs_have_no_problem_but_one_seed():
    validation = validate(GOOD)
    assert [problem.code for problem in validation.problems] == ["one_seed"]
    assert validation.counts == {
        "runs": 4,
        "models": 2,
        "datasets": 2,
        "metrics": 1,
        "cells": 4,
        "cells_empty": 0,
        "duplicates_identical": 0,
        "duplicates_resolved": 0,
        "rows_rejected": 0,
    }


def test_runs_are_ordered_and_keep_extra_columns():
    runs = GOOD.assign(run=[4, 3, 2, 1]).iloc[::-1]
    kept = validate(runs).runs
    assert kept.columns.to_list() == [
        *("model", "dataset", "metric", "seed", "score", "source", "line", "run")
    ]
    assert kept["model"].to_list() == ["A", "A", "B", "B"]
    assert kept["run"].to_list() == [4, 3, 2, 1]


# Rows


def test_a_row_that_cannot_be_used_can_be_put_into_quarantine():
    runs = make_runs(("A", "D", 0.1), ("B", "D", np.nan), ("B", "D", np.inf))
    found = [fault("not_a_number"), fault("nan_score", line=4)]
    validation = validate(runs, found, invalid="quarantine")
    assert validation.errors == []
    assert {"not_a_number", "nan_score"} <= {item.code for item in validation.warnings}
    assert validation.counts["rows_rejected"] == 2
    assert list_rejected(validation)["line"].to_list() == [3, 4]


def test_no_usable_row_at_all_is_an_error():
    runs = make_runs(("A", "D", np.nan))
    validation = validate(runs, [fault("not_a_number")], invalid="quarantine")
    assert [problem.code for problem in validation.errors] == ["no_runs"]


# Duplicates


REPEATED = make_runs(("A", "D", 0.1), ("A", "D", 0.1), ("B", "D", 0.5))
CONFLICTING = make_runs(("A", "D", 0.9), ("B", "D", 0.5), ("A", "D", 0.0))


@pytest.mark.parametrize("policy", ["error", "mean", "first", "last"])
def test_identical_repeats_are_dropped_and_counted(policy):
    validation = validate(REPEATED, duplicates=policy)
    assert validation.counts["duplicates_identical"] == 1
    assert validation.counts["runs"] == 2
    assert validation.errors == []


@pytest.mark.parametrize(
    ("policy", "score", "rejected"), [("mean", 0.45, []), ("first", 0.9, [4]), ("last", 0.0, [2])]
)
def test_conflicting_duplicates_are_resolved_and_rows_that_are_not_used_are_listed(
    policy, score, rejected
):
    validation = validate(CONFLICTING, duplicates=policy)
    assert validation.errors == []
    assert validation.runs.set_index("model")["score"]["A"] == score
    assert validation.counts["duplicates_resolved"] == 1
    assert [problem.code for problem in validation.warnings].count("duplicate") == 1
    assert list_rejected(validation)["line"].to_list() == rejected


def test_the_same_score_twice_without_seeds_is_a_warning_once():
    rows = [("A", "D", 0.1, "")] * 2 + [("B", "D", 0.2, "")] * 3
    problem = find_one(make_runs(*rows), "seedless_repeat")
    assert (problem.severity, problem.line, problem.value) == ("warning", 3, "0.1")
    assert "no seed distinguishes the two" in problem.reason
    assert problem.reason.endswith("(3 repeats in all).")
    assert "columns: {seed: COLUMN}" in problem.remedy
    assert find(REPEATED, "seedless_repeat") == []


def spread_two(write, seeds, scores):
    """The runs of two summary rows of a cell, of 2 and 4 runs, and a run of another model."""
    rows = zip(seeds, scores, (2, 4), strict=True)
    lines = [f"A,D,accuracy,{seed},{score},0.1,{count}\n" for seed, score, count in rows]
    lines.append(f"B,D,accuracy,{seeds[0]},0.2,,\n")
    path = write("model,dataset,metric,seed,score,std,n\n" + "".join(lines))
    summary = {"runs": 1, "spread": "std"}
    found = read_exports([path], columns={"spread": "std", "count": "n"}, summary=summary)
    assert [problem for problem in found.problems if problem.severity == "error"] == []
    return found.runs


@pytest.mark.parametrize(("seed", "codes"), [("", ["seedless_repeat"]), ("7", [])])
def test_summary_rows_of_one_run_and_score_are_repeats(write, seed, codes):
    validation = validate(spread_two(write, [seed, seed], [0.5, 0.5]))
    found = [problem.code for problem in validation.problems]
    assert [code for code in found if code in ("seedless_repeat", "duplicate")] == codes
    assert validation.counts["duplicates_identical"] == 1


@pytest.mark.parametrize(("policy", "count"), [("first", 2), ("last", 4)])
def test_of_summary_rows_one_is_kept_with_all_its_runs(write, policy, count):
    runs = validate(spread_two(write, ["", ""], [0.5, 0.6]), duplicates=policy).runs
    assert (runs["model"] == "A").sum() == count


# Names


@pytest.mark.parametrize(
    ("rules", "option"),
    [
        ({"datasets": {"d": {"low": 0}}}, "datasets names the dataset 'd'"),
        ({"select": {"models": ["a"]}}, "select.models names the model 'a'"),
        ({"select": {"models": {"exclude": ["a"]}}}, "select.models names the model 'a'"),
        ({"select": {"datasets": ["d"]}}, "select.datasets names the dataset 'd'"),
    ],
)
def test_every_configured_name_must_be_in_the_data(rules, option):
    problem = find_one(GOOD, "unknown_name", **rules)
    assert problem.reason.startswith(option)
    assert problem.remedy in ("Did you mean 'A'?", "Did you mean 'D'?")


def test_a_wrong_member_of_a_group_of_the_map_is_told_by_name():
    option = "capabilities.groups.G"
    named = [{"option": option, "kind": "mapped", "names": ["A*", "D", "Zeta"]}]
    problem = find_one(GOOD, "unknown_name", named=named)
    assert (problem.severity, problem.value) == ("warning", "Zeta")
    assert problem.reason.startswith(f"{option} names the model or dataset 'Zeta', which")


def test_a_reference_model_that_is_not_selected_is_fine():
    bounds = {"low": {"model": "A"}, "high": 1}
    assert codes(GOOD, normalization=bounds, select={"models": ["B"]}) == []


# Metrics, directions and bounds


BOUNDED = {"normalization": {"low": 0, "high": 1}}


def test_an_explicit_direction_against_the_name_is_a_warning():
    runs = column(0.948, 0.957, 0.951, metric="RMSE")
    found = codes(runs, datasets={"D": {"direction": "max"}}, **BOUNDED)
    assert found == ["overruled_direction"]
    problem = find_one(runs, "overruled_direction", datasets={"D": {"direction": "max"}}, **BOUNDED)
    assert problem.severity == "warning"
    assert "says max for the metric 'RMSE', of which lower is better" in problem.reason


@pytest.mark.parametrize(
    "scores", [(0.02, 0.4), (0.6, 0.9, 1.3), (0.1, 0.55, 0.6), (12.0, 45.0), (0.0, 0.0)]
)
def test_ordinary_errors_are_not_suspected(scores):
    runs = column(*scores, metric="RMSE")
    assert find(runs, "suspicious_direction", normalization={"high": 100}) == []


# Percent and bounds


def test_percentages_are_known_by_their_median_beside_scores_that_cannot_be():
    assert codes(column(95.5, 90.1, 100.000001, 0.0, metric="accuracy")) == ["percent"]
    problem = find_one(column(955.0, 901.0, 0.0, metric="accuracy"), "all_out_of_bounds")
    assert problem.severity == "error"
    assert problem.reason.startswith("The dataset 'D' has 2 scores outside")
    rule = {"human normalized": {"direction": "max"}}
    runs = column(3.0, 300.0, 0.5, metric="human normalized")
    assert codes(runs, metrics=rule, **BOUNDED) == ["out_of_bounds"]


PERCENT = {"metrics": {"accuracy": {"low": 0, "high": 100}}}


def test_fractions_among_percentages_are_a_warning_for_the_dataset():
    rows = [*(("m", name, score) for name, score in (("P", 90), ("Q", 0.9), ("R", 0)))]
    runs = make_runs(*rows, ("n", "P", 80), ("n", "Q", 0.7), ("n", "R", 2), metric="accuracy")
    problem = find_one(runs, "fractions", **PERCENT)
    assert (problem.severity, problem.value) == ("warning", "0.9")
    assert "Scores of the dataset 'Q' are at most 1" in problem.reason
    assert "datasets: {Q: {low: 0, high: 1}}" in problem.remedy
    find_one(column(0.91, 0.88, metric="accuracy"), "fractions", **PERCENT)
    find_one(column(90, 0.8, 70, metric="accuracy"), "fractions", **PERCENT)
    assert codes(column(3, 0.8, 0.0, 12, metric="accuracy"), **PERCENT) == []


def test_an_unbounded_metric_with_bounds_of_its_own_may_leave_them_far_behind():
    runs = column(0.4, 3.0, 30.0, metric="human normalized")
    rule = {"human normalized": {"direction": "max", "low": 0, "high": 1}}
    assert codes(runs, metrics=rule) == ["out_of_bounds"]
    find_one(runs, "percent", metrics={"human normalized": {"direction": "max"}}, **BOUNDED)


def test_a_score_outside_its_bounds_is_a_warning_at_the_farthest_one():
    problem = find_one(column(0.5, 1.1, 1.2, -0.1, metric="accuracy"), "out_of_bounds")
    assert (problem.severity, problem.line, problem.value) == ("warning", 4, "1.2")
    assert "3 scores outside its bounds [0, 1]" in problem.reason


RAGGED = make_runs(("A", "D", 0.1), ("A", "E", 0.2), ("B", "D", 0.3))


@pytest.mark.parametrize(
    ("policy", "severity", "reason"),
    [
        ("error", "error", "The model 'B' has no run for 1 dataset: 'E'."),
        (
            "adjust",
            "warning",
            "1 of 2 models have no run on some dataset; 'B' lacks most, 1 dataset: 'E'.",
        ),
        ("drop_models", "warning", "The model 'B' has no run for 1 dataset: 'E'."),
        ("drop_datasets", "warning", "The dataset 'E' has no run for 1 model: 'B'."),
    ],
)
def test_incomplete_cells_are_told_by_model_or_dataset(policy, severity, reason):
    problem = find_one(RAGGED, "incomplete", incomplete=policy)
    assert (problem.severity, problem.reason) == (severity, reason)
    assert validate(RAGGED).counts["cells_empty"] == 1


def test_one_seed_is_a_warning_once():
    assert find_one(GOOD, "one_seed").reason.startswith("Every model has one run per dataset")
    runs = make_runs(("A", "D", 0.1, "1"), ("A", "D", 0.2, "2"), ("B", "D", 0.3))
    assert find_one(runs, "one_seed").reason.startswith("Some models ('B') have one run")


def test_scores_that_no_seed_changes_are_a_warning_once():
    def repeat(*cells):
        return make_runs(*((*cell, seed) for cell in cells for seed in "123"))

    cells = [("A", "D", 0.9), ("A", "E", 0.8), ("B", "D", 0.7), ("B", "E", 0.6)]
    assert find_one(repeat(*cells), "identical_seeds").severity == "warning"
    outcomes = [(f"M{n}", "D", n % 2) for n in range(8)]
    for runs in (GOOD, repeat(cells[0]), repeat(*outcomes)):
        assert find(runs, "identical_seeds", incomplete="adjust") == []


# Summary


@pytest.mark.parametrize("score", [1e101, -1e300])
def test_a_score_too_large_to_compute_with_is_an_error_or_left_out(score):
    runs = column(0.5, score, 0.7, metric="reward")
    rule = {"reward": {"low": 0, "high": 1}}
    assert codes(runs, metrics=rule) == ["huge_score"]
    left = validate(runs, metrics=rule, invalid="quarantine")
    assert left.errors == []
    assert np.array_equal(left.runs["score"], [0.5, 0.7])
    assert left.counts["rows_rejected"] == 1
