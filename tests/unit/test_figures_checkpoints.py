"""Figures of checkpoints: legible, faithful, and the same for rows in any order."""

import numpy as np
import pandas as pd
import pytest

from capmap.artifacts import render_csv, write_text
from capmap.figures.checkpoint_curves import draw_checkpoint_curves, draw_checkpoint_optimism
from plot_checkpoints import plot_checkpoints
from tests.figure_checks import assert_legible, assert_same_bytes, drawn_words

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
    return {"curves": add_means(curves, runs), "selected": selected.reset_index(drop=True)}


def add_means(curves, runs):
    """Add the mean of each model's trainings, if there are several."""
    keys = ["model", "metric", "split", "step"]
    means = curves.groupby(keys, as_index=False)[["mean", "ci_low", "ci_high"]].mean()
    means = means.assign(training="", datasets=4, trainings=runs)
    return pd.concat([curves, means if runs > 1 else means.iloc[:0]], ignore_index=True)


def draw_all(tables):
    curves = draw_checkpoint_curves(
        tables["curves"], tables["selected"], metric="accuracy", split="validation"
    )
    return {"curves": curves, "optimism": draw_checkpoint_optimism(tables["selected"])}


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


def test_a_table_without_anything_to_draw_says_so():
    tables = make_tables(["A"], 1, 1)
    other = draw_checkpoint_curves(tables["curves"], tables["selected"], metric="x", split="test")
    assert "No training has a value of this metric." in drawn_words(other)
    words = drawn_words(draw_checkpoint_optimism(tables["selected"]))
    assert "No training had a choice between checkpoints." in words


def test_trainings_beyond_forty_are_left_out_with_a_note():
    words = drawn_words(draw_all(make_tables(*STUDIES["many"]))["optimism"])
    assert "First 40 of 50 trainings by name." in words


def test_the_script_draws_the_split_of_the_choice_also_without_a_name(tmp_path):
    tables = make_tables(["A", "=B"], 2, 3, split="")
    tables["checkpoints_table"] = tables["selected"].assign(split="")
    tables["iqm"] = pd.DataFrame({"model": ["=B", "A"], "rank": [1, 2]})
    paths = {}
    for name, table in tables.items():
        paths[name] = str(tmp_path / f"{name}.csv")
        write_text(paths[name], render_csv(table))
    figures = {
        name: [str(tmp_path / f"{name}.svg")]
        for name in ("checkpoint_curves", "checkpoint_optimism")
    }
    plot_checkpoints(**paths, metric="", **figures)
    assert all((tmp_path / f"{name}.svg").stat().st_size > 5000 for name in figures)
