"""Figures of pairs and groups: legible and honest."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from capmap.figures.comparison import NO_SHARED, mirror_pairs
from tests.figure_checks import (
    assert_legible,
    cell_texts,
    drawn_words,
)
from tests.matrix_figure_tables import make_apart, make_pair
from tests.steps import make_figure

MINUS = "\N{MINUS SIGN}"


def marked_cells(figure, mark):
    """Cells, as (row, column), that carry the mark that was drawn at a place of the order."""
    paths = figure.axes[0].collections[1 + mark].get_paths()
    corners = [np.floor(path.vertices.mean(axis=0)).astype(int) for path in paths]
    return {(int(row), int(column)) for column, row in corners}


def test_a_pair_seen_from_the_other_side_swaps_what_is_better():
    _, back = (row for _, row in mirror_pairs(make_pair()).iterrows())
    assert tuple(back[["model_a", "model_b"]]) == ("b", "a")
    # b - a = -0.25 in [-0.5, -0.125]; 7 wins of a are 7 losses of b.
    assert tuple(back[["mean_difference", "ci_low", "ci_high"]]) == (-0.25, -0.5, -0.125)
    assert tuple(back[["wins", "ties", "losses", "effect_size"]]) == (1, 2, 7, -0.5)
    assert back["wilcoxon_p_holm"] == 0.01


def test_the_comparison_matrix_shows_row_minus_column_and_marks_what_is_significant():
    figure = make_figure("pairwise", make_pair(), order=["b", "a"], alpha=0.05)
    assert cell_texts(figure) == {(0, 1): f"{MINUS}.250\n1/2/7", (1, 0): ".250\n7/2/1"}
    assert marked_cells(figure, 0) == {(0, 0), (1, 1)}  # the gray diagonal
    assert marked_cells(figure, 1) == {(0, 1), (1, 0)}
    mesh = figure.axes[0].collections[0]
    # Blue where the row is better, orange where it is worse, and as strong.
    assert to_hex(mesh.to_rgba(0.25)) == "#2b6cb0"
    assert to_hex(mesh.to_rgba(-0.25)) == "#d98200"


def test_a_pair_without_a_dataset_in_common_is_hatched_and_said_to_be():
    apart = make_apart()
    figure = make_figure("pairwise", apart, alpha=0.05)
    assert np.ma.getmaskarray(figure.axes[0].collections[0].get_array()).all()
    assert "Hatched: no dataset in common." in drawn_words(figure)
    assert not cell_texts(figure)
    pairs = pd.concat([apart, make_pair(model_b="c")])
    figure = make_figure("pairwise_reference", pairs, reference="a")
    assert NO_SHARED in drawn_words(figure)
    assert_legible(figure)


def test_groups_have_scores_with_ranks_and_mark_the_best():
    groups = pd.DataFrame(
        [
            ("", "b", 0.6, 1),
            ("", "a", 0.4, 2),
            ("g", "a", 0.5, 2),
            ("g", "b", 0.75, 1),
            ("h", "b", 0.25, 1),
        ],
        columns=["group", "model", "score", "rank"],
    ).assign(unit="runs", statistic="iqm")
    figure = make_figure("groups", groups)
    # b is the first of the headline; h leaves a out.
    assert cell_texts(figure) == {(0, 0): ".750 (1)", (0, 1): ".250 (1)", (1, 0): ".500 (2)"}
    assert marked_cells(figure, 0) == {(0, 0), (0, 1)}
    assert "Hatched: left out of the group." in drawn_words(figure)


def test_the_reference_is_compared_with_the_difference_of_the_model():
    pairs = pd.concat([make_pair(), make_pair(model_b="c", mean_difference=0.75)])
    figure = make_figure("pairwise_reference", pairs, reference="a")
    line, interval, point, *_ = figure.axes[0].lines
    assert list(line.get_xdata()) == [0, 0]
    assert tuple(interval.get_xdata()) == (-0.5, -0.125)
    assert list(point.get_xdata()) == [-0.25]
    assert {"1/2/7", ".010", f"{MINUS}.50"} <= set(drawn_words(figure))


def test_an_interval_beyond_the_scale_does_not_hide_the_others():
    wide = {"ci_low": -0.1, "ci_high": 4.0, "wilcoxon_p_holm": 1.0}
    pairs = pd.concat([make_pair(**wide), make_pair(model_b="c", **wide)])
    figure = make_figure("pairwise_reference", pairs, reference="a")
    _, interval, *_ = figure.axes[0].lines
    assert interval.get_xdata().tolist() == [-1, 0.1]
    words = drawn_words(figure)
    assert "An interval that reaches \N{PLUS-MINUS SIGN}1 goes on." in words
    assert "p (Holm)" not in words
