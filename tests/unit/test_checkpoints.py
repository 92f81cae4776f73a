"""Which checkpoint is chosen, what the choice is worth, and how curves are averaged."""

import runpy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.checkpoints.rankings import trace_curves
from capmap.checkpoints.selection import choose_checkpoints, gather_runs, measure_optimism
from capmap.exports.checkpoints import read_step
from capmap.rng import make_stream
from tests.checkpoint_tables import choose_by_hand, make_training, make_values, plan

ROOT = Path(__file__).parents[2]
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
        ("0", 0),
        *(
            (name, None)
            for name in (
                "step=2k",
                "1Mtok",
                "5ep",
                "best-v2.ckpt",
                "version_3",
                "3x",
                "12h",
                "2kHz",
                "1.5B",
            )
        ),
        ("9" * 18, 10**18 - 1),
        ("last", None),
        ("", None),
        ("0.5", None),
        ("v2-1200", None),
        *((name, None) for name in ("step=1_000", "step 1,000", "1.000", "step_1 000", "1e3")),
        *((name, None) for name in ("step=-5", "-5", "step=1.5", "epoch 2,5", "step: \u22125")),
        ("9" * 19, None),
        ("9" * 5000, None),
        ("٣", None),
    ],
)
def test_steps_are_read_off_names(name, step):
    found = read_step(name)
    assert (found and found[0]) == step


@given(st.text(max_size=40))
@settings(max_examples=200)
def test_any_name_has_a_step_or_none(name):
    found = read_step(name)
    assert found is None or (0 <= found[0] < 2**63 and found[1] in {"step", "epoch"})


def find_chosen(values, found):
    table = choose_checkpoints(values, found)
    rows = table[table["chosen"]]
    return dict(zip(rows["training"], rows["step"].tolist(), strict=True))


def test_the_earliest_of_equal_checkpoints_is_chosen():
    # 0.1 + 0.2 differs from 0.3 in the last bit only.
    values = make_values(make_training([0.1, 0.3, 0.1 + 0.2, 0.2]))
    assert find_chosen(values, plan(values)) == {"run": 2}


def test_of_errors_the_lowest_is_chosen():
    values = make_values(make_training([3.0, 1.0, 2.0], metric="RMSE"))
    found = plan(values)
    assert find_chosen(values, found) == {"run": 2}
    row = measure_optimism(values, choose_checkpoints(values, found), found).iloc[0]
    # The best is 1, the mean 2 and the last 2: the choice is better by 1 than both.
    assert row[["selection", "mean", "last"]].tolist() == [1, 2, 2]
    assert row[["optimism_mean", "optimism_last"]].tolist() == [1, 1]


def test_equal_values_are_no_gain_whatever_their_last_bit():
    rows = make_training([0.1, 0.5, 0.2])
    values = make_values([*rows, *make_training([0.1, 0.1 + 0.2, 0.3], split="test")])
    found = plan(values)
    assert measure_optimism(values, choose_checkpoints(values, found), found)[
        "gain_report"
    ].tolist() == [0]


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


def test_a_constant_dataset_and_a_lone_checkpoint_leave_no_hole():
    values = make_values([*make_training([0.5], dataset="A"), *make_training([0.5], dataset="B")])
    found = plan(values)
    table = measure_optimism(values, choose_checkpoints(values, found), found)
    assert table["checkpoints"].tolist() == [1]
    assert table[["selection", "report", "mean", "last"]].iloc[0].tolist() == [0.5] * 4
    assert table[["optimism_mean", "optimism_last", "gain_report"]].iloc[0].tolist() == [0] * 3


def test_a_checkpoint_without_all_datasets_is_listed_but_not_chosen():
    rows = [*make_training([0.5, 0.6, 0.9], dataset="A"), *make_training([0.5, 0.4], dataset="B")]
    values = make_values(rows)
    table = choose_checkpoints(values, plan(values))
    assert table["datasets"].tolist() == [2, 2, 1]
    assert table["selection"].isna().tolist() == [False, False, True]
    # A: 0 and 0.25; B: 1 and 0. The first has mean 0.5, the second 0.125.
    assert table["chosen"].tolist() == [True, False, False]


def test_trainings_of_two_models_may_share_a_name():
    rows = [*make_training([0.1, 0.2]), *(("N", *row[1:]) for row in make_training([0.4, 0.3]))]
    values = make_values(rows)
    table = choose_checkpoints(values, plan(values))
    assert table.loc[table["chosen"], ["model", "step"]].to_numpy().tolist() == [["M", 2], ["N", 1]]


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


def test_the_best_of_equal_checkpoints_beats_their_mean_as_the_theory_says():
    # 400 trainings of five checkpoints that differ by standard normal noise only, on two splits.
    # The expected maximum of five is 1.163 standard deviations; the standard error of the mean of
    # 400 is about 0.67 / 20 = 0.03. On the other split nothing is gained (standard error 0.07).
    rng = np.random.default_rng(1)
    rows = [
        ("M", f"run{run:03d}", step, "D", "accuracy", split, score)
        for run in range(400)
        for split in ("validation", "test")
        for step, score in enumerate(rng.normal(size=5))
    ]
    values = make_values(rows)
    found = plan(values)
    table = measure_optimism(values, choose_checkpoints(values, found), found)
    assert table["optimism_mean"].mean() == pytest.approx(1.163, abs=0.12)
    assert table["optimism_last"].mean() == pytest.approx(1.163, abs=0.2)
    assert table["gain_report"].mean() == pytest.approx(0, abs=0.25)


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


def test_intervals_of_curves_are_those_of_a_mean_over_datasets():
    rng = np.random.default_rng(3)
    rows = [
        row
        for place, pair in enumerate(rng.random((30, 2)))
        for row in make_training([*pair, 0.0, 1.0], dataset=f"D{place:02d}")
    ]
    values = make_values(rows)
    table = trace(values, plan(values))
    first = values.loc[values["step"] == 1, "score"]
    # 0 and 1 are on each dataset, so values are normalized already. The percentile interval of a
    # mean of 30 is close to that of the normal distribution.
    half = 1.96 * first.std(ddof=0) / np.sqrt(30)
    assert table["mean"][0] == pytest.approx(first.mean())
    assert table["ci_low"][0] == pytest.approx(first.mean() - half, abs=0.02)
    assert table["ci_high"][0] == pytest.approx(first.mean() + half, abs=0.02)


def test_a_step_without_some_dataset_says_so():
    rows = [*make_training([0.0, 1.0], dataset="A"), *make_training([0.5], dataset="B")]
    values = make_values(rows)
    table = trace(values, plan(values))
    assert table["datasets"].tolist() == [2, 1]
    assert table["mean"].tolist() == [0.25, 1.0]
    assert table["ci_low"].isna().tolist() == [False, True]


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


def test_trainings_are_averaged_on_the_same_datasets_only():
    rows = [
        *make_training([0.0, 1.0], training="a", dataset="A"),
        *make_training([0.0, 1.0], training="a", dataset="B"),
        *make_training([0.5, 0.5], training="b", dataset="A"),
        *make_training([0.5], training="b", dataset="B"),
    ]
    values = make_values(rows)
    table = trace(values, plan(values))
    # On the second step, b has A only.
    assert table.loc[table["training"] == "", "step"].tolist() == [1]


def test_the_shipped_example_is_what_its_script_makes():
    script = runpy.run_path(str(ROOT / "data/make_checkpoints.py"))
    for name, text in script["render_examples"]().items():
        assert (ROOT / "data/checkpoints" / name).read_bytes() == text.encode()
