"""Heat maps: what is written into cells, and the ends of their colors."""

import numpy as np
import pandas as pd
import pytest

from capmap.figures.canvas import Wording
from capmap.figures.heatmap import Mark, Scale, Writing, draw_grid, span_evenly
from capmap.figures.style import figure_style
from tests.figure_checks import assert_legible, cell_texts, drawn_words


def draw_toy_grid(*writings, rows=2):
    table = pd.DataFrame(
        np.zeros((rows, 2)),
        index=pd.Index([f"m-{row}" for row in range(rows)], name="model"),
        columns=pd.Index(["c", "d"], name="column"),
    )
    ways = [Writing(table.map(lambda _, text=text: text), note) for text, note in writings]
    with figure_style():
        return draw_grid(
            table,
            scale=Scale("unit", -1, 1, (), "cividis"),
            wording=Wording("Toy", "", ("Always.",)),
            writings=ways,
            marks=[Mark(table == 0)],
        ).figure


def test_the_first_way_of_writing_that_fits_is_used_and_explained():
    figure = draw_toy_grid(("x" * 60, "Too wide."), ("1\n2", "Two lines."), ("3", "One line."))
    assert set(cell_texts(figure).values()) == {"1\n2"}
    assert {"Always.", "Two lines."} == {words for words in drawn_words(figure) if words[-1] == "."}
    assert_legible(figure)


def test_rows_too_many_for_two_lines_have_one():
    figure = draw_toy_grid(("1\n2", "Two lines."), ("3", "One line."), rows=40)
    assert set(cell_texts(figure).values()) == {"3"}
    assert_legible(figure)


def test_differing_colors_reach_as_far_below_zero_as_above():
    assert span_evenly(pd.DataFrame([[-0.5, np.nan], [0.25, -0.5]])) == pytest.approx(0.5)
    assert span_evenly(pd.DataFrame([[0.0, np.nan]])) == 1
    assert span_evenly(pd.DataFrame([[np.nan]])) == 1
