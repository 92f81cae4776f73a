"""Figures of checkpoints: legible, faithful, and the same for rows in any order."""

import numpy as np
import pandas as pd
import pytest

from capmap.figures.leaderboard import draw_checkpoint_curves, draw_checkpoint_optimism
from tests.figure_checks import assert_legible, assert_same_bytes, draw_shown, drawn_words

HOSTILE = ["$x_1$", "=cmd|calc", "<script>", "模型甲", "a" * 150, "W" * 300, "line\nbreak"]
STUDIES = {
    "one training": (["only"], 1, 1),
    "usual": ([f"Model-{number}" for number in range(4)], 3, 6),
    "hostile": (HOSTILE, 2, 4),
    "many": ([f"m{number:02d}" for number in range(25)], 2, 3),
}


def make_tables(models, runs, steps, *, metric="accuracy", split="validation"):
    rng = np.random.default_rng(5)
    curves = pd.DataFrame(
        [
            (f"{model} run{run}", model, metric, split, 100 * step, rng.random())
            for model in models
            for run in range(runs)
            for step in range(1, steps + 1)
        ],
        columns=["training", "model", "metric", "split", "step", "mean"],
    )
    curves = curves.assign(ci_low=curves["mean"] - 0.1, ci_high=curves["mean"] + 0.1, datasets=4)
    curves["trainings"] = 1
    best = curves.sort_values("mean").drop_duplicates("training", keep="last")
    groups = curves.groupby("training")["mean"]
    selected = best[["model", "training", "step"]].assign(selection=best["mean"])
    selected["checkpoints"] = steps
    selected["mean"] = selected["training"].map(groups.mean())
    selected["last"] = selected["training"].map(groups.last())
    return {
        "curves": add_means(curves, runs),
        "selected": selected.reset_index(drop=True),
        "checkpoints": selected.assign(split=split, metric=metric),
    }


def add_means(curves, runs):
    """Add the mean of each model's trainings, if there are several."""
    keys = ["model", "metric", "split", "step"]
    means = curves.groupby(keys, as_index=False)[["mean", "ci_low", "ci_high"]].mean()
    means = means.assign(training="", datasets=4, trainings=runs)
    return pd.concat([curves, means if runs > 1 else means.iloc[:0]], ignore_index=True)


def draw_curves(tables, *, metric="accuracy", order=()):
    names = ("curves", "selected", "checkpoints")
    return draw_checkpoint_curves(*(tables[name] for name in names), metric=metric, order=order)


def draw_all(tables):
    plan = {
        "curves": lambda: draw_curves(tables),
        "optimism": lambda: draw_checkpoint_optimism(tables["selected"]),
    }
    return draw_shown(plan)


@pytest.mark.parametrize("study", STUDIES)
def test_no_text_is_cut_off_small_or_overlapping(study):
    for figure in draw_all(make_tables(*STUDIES[study])).values():
        assert_legible(figure)


def test_rows_in_any_order_give_the_same_bytes(tmp_path):
    tables = make_tables(*STUDIES["hostile"])
    shuffled = {name: table.sample(frac=1, random_state=3) for name, table in tables.items()}
    assert_same_bytes(draw_all, tables, shuffled, tmp_path)


def test_markers_stand_at_the_chosen_checkpoints():
    tables = make_tables(["A", "B"], 1, 5)
    axes = draw_all(tables)["curves"].axes[0]
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() not in ("None", None)]
    chosen = tables["selected"].sort_values("model")
    found = np.concatenate([points for points in marks if len(points)])
    np.testing.assert_allclose(found, chosen[["step", "selection"]].to_numpy(float))


@pytest.mark.parametrize(
    ("runs", "widths", "bands"),
    [(1, [1.0], 1), (2, [1.6, 0.6, 0.6], 0), (3, [1.6, 0.6, 0.6, 0.6], 1)],
)
def test_several_trainings_are_thin_below_their_bold_mean(runs, widths, bands):
    tables = make_tables(["A"], runs, 4)
    figure = draw_all(tables)["curves"]
    lines = [line for line in figure.axes[0].lines if line.get_linestyle() != "None"]
    assert [line.get_linewidth() for line in lines] == widths
    mean = tables["curves"].groupby("step")["mean"].mean()
    np.testing.assert_allclose(lines[0].get_ydata(), mean)
    shades = [shade.get_paths() for shade in figure.axes[0].collections]
    assert sum(bool(np.ptp(path.vertices[:, 1]) > 0) for [path] in filter(len, shades)) == bands
    words = " ".join(drawn_words(figure))
    assert ("Bold: the mean of a model's trainings." in words) == (runs > 1)
    assert ("Bands: intervals over trainings." in words) == (runs > 2)
    assert ("Bands: intervals over datasets." in words) == (runs == 1)


def test_trainings_beyond_forty_are_left_out_with_a_note():
    words = drawn_words(draw_all(make_tables(*STUDIES["many"]))["optimism"])
    assert "First 40 of 50 trainings by name." in words


@pytest.mark.parametrize("split", ["validation", ""])
def test_without_a_metric_that_of_most_datasets_on_the_split_of_the_choice_is_drawn(split):
    tables = make_tables(["A", "=B"], 2, 3, split=split)
    own = tables["curves"]
    others = [own.assign(metric="f1", datasets=1), own.assign(metric="f1", split="test")]
    tables["curves"] = pd.concat([*others, own], ignore_index=True)
    figure = draw_curves(tables, metric="")
    lines = ["normalized accuracy", "on validation"] if split else ["normalized accuracy"]
    assert figure.axes[0].get_ylabel().splitlines() == lines
    assert_legible(figure)


def test_the_best_models_come_first_in_the_legend():
    words = drawn_words(draw_curves(make_tables(["A", "B"], 1, 3), order=["B", "A"]))
    assert words.index("B") < words.index("A")
