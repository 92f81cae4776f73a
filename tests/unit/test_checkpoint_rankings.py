"""Rankings of chosen checkpoints: each method by hand, ties, gaps, and faulty settings."""

import pytest

from capmap.checkpoints.rankings import check_rankings, rank_checkpoints
from capmap.checkpoints.selection import choose_checkpoints, measure_optimism
from tests.checkpoint_tables import make_values, plan

SELECT = {"metric": "accuracy"}
# One checkpoint per training: accuracy on A and B, and the error on A, all on the test split.
SCORES = {"x": (0.9, 0.5, 0.3), "y": (0.7, 0.7, 0.1), "z": (0.5, 0.3, 0.2)}


def make_table(scores=None):
    rows = []
    for training, (first, second, error) in (scores or SCORES).items():
        rows.append(("M", training, 1, "A", "accuracy", "validation", first))
        cells = (("A", "accuracy", first), ("B", "accuracy", second), ("A", "ece", error))
        rows += [
            ("M", training, 1, dataset, metric, "test", score)
            for dataset, metric, score in cells
            if score is not None
        ]
    return make_values(rows)


def rank(values, *rankings, **options):
    found = plan(values, select=SELECT, **options)
    listed = choose_checkpoints(values, found)
    chosen = measure_optimism(values, listed, found)
    return rank_checkpoints(values, listed, chosen, rankings, found)


def read(table):
    rows = table[["training", "rank", "score"]].itertuples(index=False, name=None)
    return [(training, rank, round(score, 9)) for training, rank, score in rows]


def test_a_single_metric_is_ranked_by_its_direction():
    table = rank(make_table(), {"name": "acc", "metric": "accuracy"})
    # Means over A and B: 0.7 and 0.7 and 0.4.
    assert read(table) == [("x", 1, 0.7), ("y", 1, 0.7), ("z", 3, 0.4)]
    table = rank(make_table(), {"name": "ece", "metric": "ece"})
    assert read(table) == [("y", 1, 0.1), ("z", 2, 0.2), ("x", 3, 0.3)]


def test_the_best_checkpoints_are_ranked_by_what_is_reported():
    # Accuracy, normalized on A and B: 0.75, 0.75 and 0.
    table = rank(make_table(), {"name": "best"})
    assert read(table) == [("x", 1, 0.75), ("y", 1, 0.75), ("z", 3, 0)]


def test_an_expression_is_worked_out_for_raw_means():
    text = "0.5*accuracy - 0.5*ece"
    table = rank(make_table(), {"name": "e", "expression": text})
    assert read(table) == [("y", 1, 0.3), ("x", 2, 0.2), ("z", 3, 0.1)]


def test_what_lacks_a_value_has_no_rank_and_stands_last():
    values = make_table(SCORES | {"a": (0.99, None, 0.0), "b": (0.99, 0.99, None)})
    rankings = [
        {"name": "acc", "metric": "accuracy"},
        {"name": "best"},
        {"name": "e", "expression": "accuracy / ece"},
    ]
    table = rank(values, *rankings)
    unranked = table[table["rank"].isna()]
    assert unranked[["ranking", "training"]].to_numpy().tolist() == [
        ["acc", "a"],
        ["best", "a"],
        ["e", "a"],
        ["e", "b"],
    ]
    assert table["rank"].dtype == "Int64"
    assert table.groupby("ranking").tail(1)["rank"].isna().all()
    # An error of zero divides by zero, so its quotient is no score.
    zero = rank(make_table({"x": (0.9, 0.5, 0.0)}), rankings[2])
    assert zero["rank"].isna().all()


def test_one_training_is_first_everywhere():
    table = rank(make_table({"x": (0.9, 0.5, 0.3)}), {"name": "b"})
    assert table[["rank", "score"]].to_numpy().tolist() == [[1, 0.5]]


def test_no_rankings_make_an_empty_table():
    table = rank(make_table())
    assert table.empty
    assert list(table) == [
        *("ranking", "method", "rank", "model", "training", "checkpoint", "score", "stamp")
    ]


def test_a_choice_on_the_test_split_stamps_every_row():
    values = make_table()
    found = plan(values, select=SELECT | {"split": "test"}, allow_test_selection=True)
    listed = choose_checkpoints(values, found)
    chosen = measure_optimism(values, listed, found)
    best = [{"name": "b"}]
    for table in (listed, chosen, rank_checkpoints(values, listed, chosen, best, found)):
        assert set(table["stamp"]) == {"selected on the test split"}


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ({"name": "r", "metric": "accurcy"}, "Did you mean 'accuracy'?"),
        ({"name": "r", "expression": "ece +"}, "'ece +' is no expression"),
        ({"name": "r", "expression": "acuracy"}, "Did you mean 'accuracy'?"),
        ({"name": "r", "expression": "1"}, "has no metric"),
    ],
)
def test_faulty_rankings_are_told_with_a_remedy(ranking, message):
    values = make_table()
    (problem,) = check_rankings([ranking], values, plan(values, select=SELECT))
    assert problem.column == "checkpoints.rankings[0]"
    assert message in str(problem)


def test_all_faults_of_all_rankings_are_told_at_once():
    values = make_table()
    values.loc[values["metric"] == "ece", "metric"] = "quality"
    faulty = [
        {"name": "r", "metric": "quality"},
        {"name": "r"},
        {"name": "s", "expression": "quality + xyz"},
    ]
    problems = check_rankings(faulty, values, plan(values, select=SELECT))
    assert [problem.column[-3:] for problem in problems] == ["[0]", "[1]", "[2]"]
    assert "metrics: {quality: {direction: max}} or min" in str(problems[0])
