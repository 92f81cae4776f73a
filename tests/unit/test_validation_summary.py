"""Gaps between models and datasets, and how everything found is summed up."""

import pandas as pd
import pytest

from capmap.validation import choose_examples, list_rejected, summarize, write_message
from tests.toy_runs import make_runs
from tests.toy_studies import GOOD, codes, column, fault, find, find_one, validate

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


def test_cells_of_models_that_are_not_selected_may_be_empty():
    assert codes(RAGGED, select={"models": ["A"]}) == []


def test_a_long_list_of_empty_cells_is_shortened():
    rows = [("A", f"D{n}", n / 99) for n in range(30)]
    problem = find_one(make_runs(*rows, ("B", "D0", 0.1)), "incomplete")
    assert problem.reason.startswith("The model 'B' has no run for 29 datasets: 'D1', 'D10', ")
    assert problem.reason.endswith("and 19 more.")


def test_dropping_everything_is_an_error():
    runs = make_runs(("A", "D", 0.1), ("B", "E", 0.2))
    assert "nothing_left" in codes(runs, incomplete="drop_models")
    assert "nothing_left" in codes(runs, incomplete="drop_datasets")


def test_selecting_nothing_is_an_error():
    select = {"models": {"include": ["A"], "exclude": ["A"]}}
    assert "nothing_selected" in codes(GOOD, select=select)


def test_cells_with_fewer_seeds_than_wanted_are_a_warning_per_model():
    runs = make_runs(("A", "D", 0.1, "1"), ("A", "D", 0.2, "2"), ("A", "E", 0.3), ("B", "D", 0.3))
    problems = find(runs, "few_seeds", min_seeds=2, incomplete="adjust")
    assert [problem.reason for problem in problems] == [
        "The model 'A' has fewer than 2 runs on 1 dataset: 'E'.",
        "The model 'B' has fewer than 2 runs on 1 dataset: 'D'.",
    ]
    assert {problem.severity for problem in problems} == {"warning"}


def test_one_seed_is_a_warning_once():
    assert find_one(GOOD, "one_seed").reason.startswith("Every model has one run per dataset")
    runs = make_runs(("A", "D", 0.1, "1"), ("A", "D", 0.2, "2"), ("B", "D", 0.3))
    assert find_one(runs, "one_seed").reason.startswith("Some models ('B') have one run")


def test_scores_that_no_seed_changes_are_a_warning_once():
    def repeat(*cells):
        return make_runs(*((*cell, seed) for cell in cells for seed in "123"))

    cells = [("A", "D", 0.9), ("A", "E", 0.8), ("B", "D", 0.7), ("B", "E", 0.6)]
    problem = find_one(repeat(*cells), "identical_seeds")
    assert problem.severity == "warning"
    assert problem.reason.startswith("Every model has the same score with every seed")
    other = make_runs(("B", "F", 0.5, "1"), ("B", "F", 0.51, "2"))
    for runs in (GOOD, repeat(cells[0]), pd.concat([repeat(*cells), other])):
        assert find(runs, "identical_seeds", incomplete="adjust") == []
    outcomes = [(*cell[:2], score) for cell, score in zip(cells, (0, 0, 1, 1), strict=True)]
    assert find(repeat(*outcomes), "identical_seeds") != []
    many = [(f"M{n}", "D", n % 2) for n in range(8)]
    assert find(repeat(*many), "identical_seeds") == []


# Summary


def test_the_summary_can_be_written_as_json_and_counts_everything():
    validation = validate(RAGGED)
    summary = summarize(validation)
    assert summary["ok"] is False
    assert summary["seeds_per_cell"] == {"min": 1, "median": 1.0, "max": 1}
    assert summary["metrics"] == {"accuracy": 2}
    assert [warning["code"] for warning in summary["warnings"]] == ["one_seed"]
    assert summary["warnings_total"] == 1


def test_a_thousand_warnings_are_summarized_with_every_kind_and_all_rows_are_listed():
    found = [fault("not_a_number", line=n) for n in range(2, 3002)]
    found.append(fault("wrong_width", line=9999))
    validation = validate(GOOD, found, invalid="quarantine")
    summary = summarize(validation)
    kinds = {warning["code"] for warning in summary["warnings"]}
    assert kinds == {"not_a_number", "one_seed", "wrong_width"}
    assert len(summary["warnings"]) == 1000
    assert summary["warnings_total"] == 3002
    assert len(list_rejected(validation)) == 3001


def test_rejected_lists_errors_but_not_what_is_only_worth_a_warning():
    table = list_rejected(validate(RAGGED))
    assert table.columns.to_list() == ["source", "line", "column", "value", "reason", "remedy"]
    assert table["value"].to_list() == ["B"]


def test_the_message_has_counts_examples_and_the_place_of_the_rest():
    found = [fault("not_a_number", line=n) for n in range(2, 102)]
    problems = validate(GOOD.assign(metric="quality"), found).problems
    message = write_message(problems, place="rejected.csv", files=1, rows=104)
    lines = message.splitlines()
    assert lines[0] == (
        "101 errors (100 not_a_number, 1 unknown_metric) and 1 warning in 1 file with 104 rows."
    )
    assert "line 2, column 'score', value 'x': It is bad. Mend it." in message
    assert "Whether a higher 'quality' is better is not known" in message
    assert "And 99 more like this: line 3; line 4; line 5 …." in message
    assert len(lines) == 1 + 3 + 1
    assert lines[-1] == "All errors are in rejected.csv."


def test_examples_show_every_kind_before_they_repeat_one():
    problems = [fault("a", line=n) for n in range(50)] + [
        fault("b"),
        fault("c", severity="warning"),
    ]
    chosen = choose_examples(problems, most=4)
    assert [problem.code for problem in chosen] == ["a", "a", "a", "b"]


def test_problems_do_not_depend_on_the_order_of_rows():
    runs = pd.concat([RAGGED, column(91, 88, metric="f1").assign(dataset="F")])
    first, second = validate(runs), validate(runs.iloc[::-1])
    assert {problem.reason for problem in first.problems} == {
        problem.reason for problem in second.problems
    }
