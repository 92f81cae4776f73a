"""Figures of checkpoints: legible, faithful, and the same for rows in any order."""

import numpy as np
import pandas as pd
import pytest

from tests.figure_checks import assert_legible, drawn_words
from tests.figure_plans import make_checkpoints, plan_checkpoints


def test_markers_stand_at_the_chosen_checkpoints():
    tables = make_checkpoints(["A", "B"], 1, 5)
    axes = plan_checkpoints(tables)["curves"]().axes[0]
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() not in ("None", None)]
    chosen = tables["selected"].sort_values("model")
    found = np.concatenate([points for points in marks if len(points)])
    np.testing.assert_allclose(found, chosen[["step", "selection"]].to_numpy(float))


@pytest.mark.parametrize(
    ("runs", "widths", "bands"),
    [(1, [1.0], 1), (2, [1.6, 0.6, 0.6], 0), (3, [1.6, 0.6, 0.6, 0.6], 1)],
)
def test_several_trainings_are_thin_below_their_bold_mean(runs, widths, bands):
    tables = make_checkpoints(["A"], runs, 4)
    figure = plan_checkpoints(tables)["curves"]()
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


@pytest.mark.parametrize("split", ["validation", ""])
def test_without_a_metric_that_of_most_datasets_on_the_split_of_the_choice_is_drawn(split):
    tables = make_checkpoints(["A", "=B"], 2, 3, split=split)
    own = tables["curves"]
    others = [own.assign(metric="f1", datasets=1), own.assign(metric="f1", split="test")]
    tables["curves"] = pd.concat([*others, own], ignore_index=True)
    figure = plan_checkpoints(tables, metric="")["curves"]()
    lines = ["normalized accuracy", "on validation"] if split else ["normalized accuracy"]
    assert figure.axes[0].get_ylabel().splitlines() == lines
    assert_legible(figure)


def test_the_best_models_come_first_in_the_legend():
    words = drawn_words(
        plan_checkpoints(make_checkpoints(["A", "B"], 1, 3), order=["B", "A"])["curves"]()
    )
    assert words.index("B") < words.index("A")
