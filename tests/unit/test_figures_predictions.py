"""Figures of errors over dimensions, results, dates and tasks: legible and faithful."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from tests.figure_checks import assert_legible, draw_shown
from tests.figure_plans import plan_errors
from tests.prediction_figure_tables import TASKS, make_errors


@pytest.fixture(scope="module")
def figures():
    """The figures of a plausible study, which no test changes."""
    return draw_shown(plan_errors(make_errors()))


@pytest.fixture(scope="module")
def words(figures):
    """The lines of text in these figures, of which none is cut off, small or overlapping."""
    return {key: assert_legible(figure) for key, figure in figures.items()}


def find_bars(axes):
    return [lines for lines in axes.collections if isinstance(lines, LineCollection)]


def count_bars(axes):
    return sum(len(lines.get_segments()) for lines in find_bars(axes))


def test_missing_numbers_leave_everything_else_where_it_is():
    tables = make_errors(methods=("l2",), dimensions=(2, 5), tasks=TASKS[:2])
    for table in tables.values():
        ends = [name for name in table.columns if name.endswith(("_low", "_high"))]
        table[ends] = np.nan
    tables["summary"][["train_mse", "train_pearson", "pearson"]] = np.nan
    tables["error_curve"]["coverage"] = np.nan
    figures = draw_shown(plan_errors(tables))
    words = {key: assert_legible(figure) for key, figure in figures.items()}
    for key, figure in figures.items():
        assert sum(count_bars(axes) for axes in figure.axes) == 0, key
        assert not any("ntervals" in text for text in words[key]) or key == "transfer"
    assert {"MSE .072, r \N{EN DASH}", "MSE \N{EN DASH}, r \N{EN DASH}"} <= set(words["fit"])


def test_points_of_a_fit_are_those_of_the_table_at_its_dimension():
    tables = make_errors(methods=("cosine", "l2"), dimensions=(2, 5))
    figure = plan_errors(tables)["fit"]()
    assert_legible(figure, widths=(3.4,))
    for row, name in enumerate(("training", "validation")):
        table = tables[name]
        chosen = table[(table["dimension"] == 5) & (table["distance"] == "l2")]
        # Axes: one below all panels, then the panels column by column, training above.
        points = figure.axes[1 + row].collections[0].get_offsets()
        expected = chosen.sort_values(["truth", "prediction"])[["truth", "prediction"]]
        assert np.allclose(points, expected.to_numpy())
        assert figure.axes[1 + row].lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
