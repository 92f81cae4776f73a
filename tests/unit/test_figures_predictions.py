"""Figures of errors over dimensions, results, dates and tasks: legible and faithful."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from capmap.figures.style import PAGE_WIDTH
from tests.figure_checks import assert_legible, draw_shown, drawn_words
from tests.figure_plans import plan_errors
from tests.prediction_figure_tables import TASKS, make_errors
from tests.steps import make_figure


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


def test_baselines_are_lines_at_their_errors_with_their_names(figures, words):
    summary, figure = make_errors()["summary"], figures["dimensions"]
    strict = summary[(summary["protocol"] == "strict") & summary["dimension"].isna()]
    drawn = [line.get_ydata()[0] for line in figure.axes[2].lines[-5:]]
    assert drawn == pytest.approx(sorted(strict["mse"]))
    assert words["dimensions"].count("dataset mean") == 3
    assert float(figure.get_size_inches()[0]) == PAGE_WIDTH


def test_the_first_step_has_no_shift_and_no_newcomer(figures):
    drift, figure = make_errors()["drift"], figures["drift"]
    assert [len(line.get_xdata()) for line in figure.axes[1].lines] == [9, 10, 10]
    assert [len(line.get_xdata()) for line in figure.axes[2].lines] == [9, 9]
    words = drawn_words(make_figure("drift", drift.iloc[:1]))
    assert "One step: no earlier map to compare with." in words
    assert "No result of a newcomer could be predicted." in words


def test_rows_of_transfer_have_their_errors_and_the_difference_in_words():
    transfer = make_errors()["transfer"].iloc[:1].reset_index(drop=True)
    transfer.loc[0, ["mse", "mse_low", "mse_high"]] = [0.07, 0.06, 0.08]
    transfer.loc[0, ["mse_alone", "mse_additive"]] = [0.08, 0.09]
    transfer.loc[0, ["difference", "difference_low", "difference_high"]] = [-0.01, -0.02, 0.0]
    figure = make_figure("transfer", transfer)
    drawn = [line.get_xdata()[0] for line in figure.axes[0].lines]
    assert sorted(drawn) == [0.07, 0.08, 0.09]
    assert find_bars(figure.axes[0])[0].get_segments()[0][:, 0].tolist() == [0.06, 0.08]
    minus = "\N{MINUS SIGN}"
    assert f"{minus}.010 ({minus}.020 to .000)" in drawn_words(figure)
