"""Which checkpoint is chosen, what the choice is worth, rankings, expressions and curves."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.checkpoints.rankings import (
    check_rankings,
    compare_rankings,
    evaluate,
    list_metrics,
    rank_checkpoints,
    read_expression,
    trace_curves,
)
from capmap.checkpoints.selection import choose_checkpoints, gather_runs, measure_optimism
from capmap.errors import ValidationError
from capmap.exports.reading import read_step
from capmap.rng import make_stream
from tests.checkpoint_tables import choose_by_hand, make_training, make_values, plan

QUIET = settings(max_examples=6)
trace = partial(
    trace_curves,
    n_resamples=200,
    confidence_level=0.95,
    make_rng=partial(make_stream, 0, "test"),
)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("1200", 1200),
        (" 300.0 ", 300),
        ("epoch=3-step=1200.ckpt", 1200),
        ("step=1-step=7", 7),
        ("step=1200-v1.ckpt", 1200),
        ("global_step1000.pt", 1000),
        ("Epoch 12 (best 0.5)", 12),
        ("checkpoint-0500", 500),
        ("9" * 18, 10**18 - 1),
        *((name, None) for name in ("step=2k", "best-v2.ckpt", "version_3", "12h", "last", "0.5")),
        *((name, None) for name in ("v2-1200", "step=1_000", "step 1,000", "1e3", "-5", "9" * 19)),
    ],
)
def test_steps_are_read_off_names(name, step):
    found = read_step(name)
    assert (found and found[0]) == step


def find_chosen(values, found):
    table = choose_checkpoints(values, found)
    rows = table[table["chosen"]]
    return dict(zip(rows["training"], rows["step"].tolist(), strict=True))


def test_the_earliest_of_equal_checkpoints_is_chosen():
    # 0.1 + 0.2 differs from 0.3 in the last bit only.
    values = make_values(make_training([0.1, 0.3, 0.1 + 0.2, 0.2]))
    assert find_chosen(values, plan(values)) == {"run": 2}


def test_several_datasets_weigh_the_same_whatever_their_scale():
    # Normalized, step 1 has 1 and 0 on A and B, step 2 has 0.4 and 0.8, step 3 has 0 and 1. The
    # raw means, in which B hardly counts, would choose step 1.
    rows = [
        *make_training([1.0, 0.4, 0.0], dataset="A"),
        *make_training([0.0, 0.008, 0.01], dataset="B"),
    ]
    values = make_values(rows)
    table = choose_checkpoints(values, plan(values))
    assert table["selection"].tolist() == pytest.approx([0.5, 0.6, 0.5])
    assert table["chosen"].tolist() == [False, True, False]


def test_a_checkpoint_without_all_datasets_is_listed_but_not_chosen():
    rows = [*make_training([0.5, 0.6, 0.9], dataset="A"), *make_training([0.5, 0.4], dataset="B")]
    values = make_values(rows)
    table = choose_checkpoints(values, plan(values))
    assert table["datasets"].tolist() == [2, 2, 1]
    assert table["selection"].isna().tolist() == [False, False, True]
    # A: 0 and 0.25; B: 1 and 0. The first has mean 0.5, the second 0.125.
    assert table["chosen"].tolist() == [True, False, False]


def test_chosen_checkpoints_are_reported_on_the_other_split():
    rows = [
        *make_training([0.1, 0.3, 0.2]),
        *make_training([0.6, 0.5, 0.9], split="test"),
        *make_training([0.1, 0.3, 0.2], metric="loss", split="test"),
    ]
    values = make_values(rows)
    found = plan(values, select={"metric": "accuracy"})
    listed = choose_checkpoints(values, found)
    row = measure_optimism(values, listed, found).iloc[0]
    # Step 2 is chosen: 0.5 on the test split, where the last has 0.9.
    assert row["report"] == 0.5
    assert row["gain_report"] == pytest.approx(-0.4)
    runs = gather_runs(values, listed, found)
    assert runs[["model", "seed", "metric", "score", "step"]].to_numpy().tolist() == [
        ["M", "run", "accuracy", 0.5, "2"]
    ]


TABLES = st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6))


def draw_table(shape):
    trainings, steps, datasets, seed = shape
    rng = np.random.default_rng(seed)
    return make_values(
        (f"M{run % 2}", f"run{run}", 10 * step, f"D{place}", "accuracy", "validation", score)
        for run in range(trainings)
        for step in range(steps)
        for place in range(datasets)
        for score in [int(rng.integers(0, 5)) / 5]
    )


@QUIET
@given(TABLES)
def test_choices_agree_with_plain_loops(shape):
    values = draw_table(shape)
    expected = choose_by_hand(values, "accuracy", "validation", best="max")
    assert find_chosen(values, plan(values)) == expected


def test_curves_average_datasets_with_intervals():
    rows = [
        *make_training([0.0, 1.0], dataset="A"),
        *make_training([5.0, 15.0], dataset="B"),
        *make_training([0.2, 0.1], metric="loss", dataset="A"),
    ]
    table = trace(make_values(rows), plan(make_values(rows), select={"metric": "accuracy"}))
    accuracy = table[table["metric"] == "accuracy"]
    assert accuracy[["step", "mean", "ci_low", "ci_high"]].to_numpy().tolist() == [
        [1, 0, 0, 0],
        [2, 1, 1, 1],
    ]
    loss = table[table["metric"] == "loss"]
    assert loss["mean"].tolist() == [0.2, 0.1]
    assert loss["ci_low"].isna().all()
    assert loss["datasets"].tolist() == [1, 1]


def test_a_model_has_the_mean_of_its_trainings_with_an_interval_over_them():
    scores = {"a": [0.1, 0.5, 0.9], "b": [0.2, 0.4, 0.8], "c": [0.6, 0.6]}
    rows = [row for name, own in scores.items() for row in make_training(own, training=name)]
    rows += [("N", *row[1:]) for row in make_training([0.3, 0.4])]
    values = make_values(rows)
    table = trace(values, plan(values))
    assert set(table.loc[table["model"] == "N", "training"]) == {"run"}
    means = table[table["training"] == ""]
    # The third step is not that of all three trainings.
    assert means[["model", "step", "datasets", "trainings"]].to_numpy().tolist() == [
        ["M", 1, 1, 3],
        ["M", 2, 1, 3],
    ]
    for row, own in zip(means.itertuples(), ([0.1, 0.2, 0.6], [0.5, 0.4, 0.6]), strict=True):
        low, high = stats.t.interval(0.95, 2, loc=np.mean(own), scale=stats.sem(own))
        assert [row.mean, row.ci_low, row.ci_high] == pytest.approx([np.mean(own), low, high])
    assert table.loc[table["training"] != "", "trainings"].eq(1).all()


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
    found = plan(values, **{"select": {"metric": "accuracy"}, **options})
    chosen = measure_optimism(values, choose_checkpoints(values, found), found)
    return rank_checkpoints(values[values["split"] == "test"], chosen, rankings, found)


def read(table):
    rows = table[["training", "rank", "score"]].itertuples(index=False, name=None)
    return [(training, rank, round(score, 9)) for training, rank, score in rows]


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        # Means over A and B: 0.7 and 0.7 and 0.4.
        ({"metric": "accuracy"}, [("x", 1, 0.7), ("y", 1, 0.7), ("z", 3, 0.4)]),
        ({"metric": "ece"}, [("y", 1, 0.1), ("z", 2, 0.2), ("x", 3, 0.3)]),
        # Accuracy, normalized on A and B: 0.75, 0.75 and 0.
        ({}, [("x", 1, 0.75), ("y", 1, 0.75), ("z", 3, 0)]),
        (
            {"expression": "0.5*accuracy - 0.5*ece"},
            [("y", 1, 0.3), ("x", 2, 0.2), ("z", 3, 0.1)],
        ),
    ],
)
def test_trainings_are_ranked_as_asked(ranking, expected):
    assert read(rank(make_table(), {"name": "r", **ranking})) == expected


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
    assert table.groupby("ranking").tail(1)["rank"].isna().all()
    # An error of zero divides by zero, so its quotient is no score.
    assert rank(make_table({"x": (0.9, 0.5, 0.0)}), rankings[2])["rank"].isna().all()
    assert rank(make_table()).empty


def test_a_choice_on_the_test_split_stamps_every_row():
    options = {"select": {"metric": "accuracy", "split": "test"}, "allow_test_selection": True}
    values = make_table()
    listed = choose_checkpoints(values, plan(values, **options))
    for table in (listed, rank(values, {"name": "b"}, **options)):
        assert set(table["stamp"]) == {"selected on the test split"}


def test_faults_of_all_rankings_are_told_at_once_with_a_remedy():
    values = make_table()
    values.loc[values["metric"] == "ece", "metric"] = "quality"
    faulty = {
        "metric: accurcy": "Did you mean 'accuracy'?",
        "expression: quality +": "'quality +' is no expression",
        "expression: acuracy": "Did you mean 'accuracy'?",
        "expression: 1": "has no metric",
        "metric: quality": "metrics: {quality: {direction: max}} or min",
    }
    rankings = [{"name": "r", **dict([text.split(": ")])} for text in faulty]
    found = plan(values, select={"metric": "accuracy"})
    told = check_rankings(rankings, values[values["split"] == "test"], found)
    assert len(told) == len(faulty)
    for position, (text, part) in enumerate(zip(told, faulty.values(), strict=True)):
        assert f"checkpoints.rankings[{position}]" in text
        assert part in text
    [twice] = check_rankings([{"name": "r"}] * 2, values, found)
    assert "Another ranking has this name." in twice


VALUES = {"acc": 0.8, "ece": 0.1, "top-1 error": 0.2, "mean": 3.0, "größe": 2.0, "zero": 0.0}


def work_out(text):
    return float(evaluate(read_expression(text), {name: [own] for name, own in VALUES.items()})[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.7*acc - 0.3*ece", 0.56 - 0.03),
        ("1 - 2 - 3", -4),
        ("1 + 2 * 3 - -8 / 2 / 2", 9),
        ("(1 + 2) * 3", 9),
        ("min(3, 1, 2) + max(3)", 4),
        ("mean(mean, 1)", 2),
        ("abs(-2) + sqrt(16) + log(1)", 6),
        ('`top-1 error` + "top-1 error"', 0.4),
        ("größe", 2),
        (" \t1\n+ 1e-3 ", 1.001),
    ],
)
def test_expressions_mean_what_they_mean_on_paper(text, expected):
    assert work_out(text) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("text", ["1 / zero", "log(zero)", "sqrt(-1)", "max(1 / zero, 1)"])
def test_an_undefined_part_leaves_no_value(text):
    assert math.isnan(work_out(text))


def test_an_expression_names_its_metrics_and_skips_units_without_one():
    root = read_expression("max(a, b) + 1")
    assert list_metrics(root) == ["a", "b"]
    found = evaluate(root, {"a": [1, np.nan], "b": [2, 5]})
    np.testing.assert_array_equal(found, [3, np.nan])


@pytest.mark.parametrize(
    "text",
    [
        *("", "a b", "(a", "a ** b", "exp(a)", "log(a, b)", "min()", "3a", "a.b", "a[0]", "True"),
        *("__import__('os').system('x')", "(lambda: 0)()", "1j", "min(*a)", "max(a, key=b)"),
        *("a" * 501, "9" * 400, "(" * 240 + "a" + ")" * 240, "a if b else c"),
    ],
)
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(ValidationError, match="use numbers, metrics"):
        read_expression(text)


def make_rankings(**scores):
    """Rankings by scores, higher first; what has none has no rank."""
    tables = []
    for name, own in scores.items():
        table = pd.DataFrame({"score": own, "training": [f"t{i:02d}" for i in range(len(own))]})
        rank = table["score"].rank(ascending=False, method="min").astype("Int64")
        tables.append(table.assign(ranking=name, model="M", checkpoint="1", rank=rank, stamp=""))
    return pd.concat(tables, ignore_index=True)


def test_rankings_agree_as_scipy_says_among_what_both_rank():
    first, second = [5, 4, 4, 2, 1, 0], [4, 5, 3, 3, 3, 1]
    table = compare_rankings(make_rankings(one=[*first, np.nan], two=[*second, 9], three=[1, 2]))
    assert table[["ranking_a", "ranking_b"]].to_numpy().tolist() == [
        *(["one", "two"], ["one", "three"], ["two", "three"]),
    ]
    row = table.iloc[0]
    assert row["kendall_tau"] == pytest.approx(stats.kendalltau(first, second).statistic)
    assert row[["checkpoints", "tied_a", "tied_b"]].tolist() == [6, 2, 3]
    # Ranks 1 2 2 4 5 6 and 2 1 3 3 3 6.
    assert row["moved"] == 5
    assert compare_rankings(make_rankings(a=[1, 2]).iloc[:0]).empty
