"""Figures of errors over dimensions, results, dates and tasks: legible and faithful."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from capmap.figures.drift import draw_drift
from capmap.figures.look import PAGE_WIDTH
from capmap.figures.panels import find_top, style_method
from capmap.figures.predictions import (
    draw_dimensions,
    draw_error_by_results,
    draw_error_curve,
    draw_transfer,
)
from capmap.figures.style import save_figure
from tests.figure_checks import assert_legible, draw_shown, drawn_words
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


def test_no_text_is_cut_off_small_or_overlapping(words):
    assert all(words.values())


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


@pytest.mark.parametrize(
    ("key", "column"), [("drift", "mse"), ("drift", "shift"), ("transfer", "mse_alone")]
)
def test_tables_may_lack_any_number(key, column):
    tables = make_errors(methods=())
    tables[key][column] = np.nan
    assert_legible(plan_errors(tables)[key]())


def test_one_row_with_an_error_of_zero_is_enough():
    tables = {
        key: table.iloc[-1:].copy()
        for key, table in make_errors(methods=("l2",), dimensions=(2, 5), tasks=TASKS[:2]).items()
    }
    for table in tables.values():
        numbers = [n for n in table.columns if table[n].dtype == float and n != "coverage"]
        table[numbers] = 0.0
    for figure in draw_shown(plan_errors(tables)).values():
        assert_legible(figure)


def test_methods_look_the_same_in_all_figures(figures):
    for key, other in (("dimensions", "l2"), ("by_results", "l2"), ("curve", "additive")):
        colors = {to_hex(line.get_color()).upper() for line in figures[key].axes[1].lines}
        assert {style_method(method).color for method in ("factors", other)} <= colors, key


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


def test_a_fit_has_the_errors_of_the_summary_above_its_panels():
    tables = make_errors(methods=("l2",), dimensions=(5,))
    at_five = tables["summary"]["protocol"].eq("random") & tables["summary"]["distance"].eq("l2")
    tables["summary"].loc[at_five, ["mse", "pearson"]] = [0.0654, 0.701]
    tables["summary"].loc[at_five, ["train_mse", "train_pearson"]] = [0.0271, 1.0]
    words = drawn_words(plan_errors(tables)["fit"]())
    assert {"L2", "MSE .065, r .70", "MSE .027, r 1.00"} <= set(words)


def test_estimates_far_outside_are_drawn_at_the_edge_and_counted():
    tables = make_errors(methods=("l2",), dimensions=(5,))
    validation = tables["validation"].reset_index(drop=True)
    validation.loc[:2, "prediction"] = [7.0, 9.0, -3.0]
    tables["validation"] = validation
    figure = plan_errors(tables)["fit"]()
    words = assert_legible(figure)
    inside, above, below = (points.get_offsets() for points in figure.axes[2].collections)
    assert (len(inside), len(above), len(below)) == (97, 2, 1)
    assert set(above[:, 1]) == {2.0}
    assert set(below[:, 1]) == {-0.5}
    assert any("3 estimates outside are drawn" in text for text in words)


def test_many_points_become_an_image(tmp_path):
    tables = make_errors(methods=("l2",), dimensions=(5,))
    tables["training"] = pd.concat([tables["training"]] * 90, ignore_index=True)
    save_figure(plan_errors(tables)["fit"](), [tmp_path / "fit.svg"])
    text = (tmp_path / "fit.svg").read_text("utf-8")
    assert text.count("<image") == 1
    assert len(text) < 300_000


def test_baselines_are_lines_at_their_errors_with_their_names(figures, words):
    summary, figure = make_errors()["summary"], figures["dimensions"]
    strict = summary[(summary["protocol"] == "strict") & summary["dimension"].isna()]
    drawn = [line.get_ydata()[0] for line in figure.axes[2].lines[-5:]]
    assert drawn == pytest.approx(sorted(strict["mse"]))
    assert words["dimensions"].count("dataset mean") == 3
    assert float(figure.get_size_inches()[0]) == PAGE_WIDTH


def test_many_dimensions_and_baselines_with_one_error_have_labels_apart():
    summary = make_errors(methods=("l2",), dimensions=range(1, 31))["summary"]
    for error in (0.08, 0.5):
        summary.loc[summary["dimension"].isna(), "mse"] = error
        assert_legible(draw_dimensions(summary))


def test_an_axis_has_room_for_all_errors_but_not_for_endless_intervals():
    # Largest error 0.1: at most 1.6 times as much, and 5% on top.
    estimates = pd.DataFrame({"mse": [0.1, np.nan]})
    assert find_top(estimates, pd.Series([np.nan, 40.0])) == pytest.approx(0.168)
    assert find_top(estimates, pd.Series([0.12, np.nan])) == pytest.approx(0.126)
    assert find_top(estimates.iloc[1:], pd.Series([np.nan])) == 1.0
    summary = make_errors(methods=("l2",), dimensions=(2, 5), tasks=TASKS[:2])["summary"]
    summary.loc[3, "mse_high"] = 40.0
    figure = draw_dimensions(summary)
    assert any("A bar that reaches the edge goes on." in words for words in drawn_words(figure))


def test_groups_of_results_have_their_labels_and_numbers_of_models(figures, words):
    assert {"1\N{EN DASH}4", "40+", "22", "7"} <= set(words["by_results"])
    # Two methods and the additive baseline in five groups.
    assert count_bars(figures["by_results"].axes[1]) == 15


def test_the_methods_by_results_are_three_and_that_of_the_study():
    by_results = make_errors()["by_results"]
    for method, own in (("l2_ridge", []), ("cosine", ["cosine"])):
        figure = draw_error_by_results(by_results, method=method)
        names = [text.get_text() for text in figure.legends[0].get_texts()]
        assert names == ["factors", "L2", *own, "additive"]


def test_a_note_explains_the_bars_of_few_models():
    by_results = make_errors()["by_results"]
    by_results.loc[0, "mse_high"] = 40.0
    words = drawn_words(draw_error_by_results(by_results, method="l2_ridge"))
    assert "Bars: intervals, wide where models are few." in words
    assert "A bar that reaches the edge goes on." in words


def test_coverage_stands_beside_its_nominal_level(figures, words):
    figure = figures["curve"]
    level = figure.axes[2].lines[-1]
    assert set(level.get_ydata()) == {0.9}
    drawn = sum(np.isfinite(line.get_ydata()).sum() for line in figure.axes[2].lines[:-1])
    assert drawn == 7
    assert "Dashed line: nominal coverage, 0.9." in words["curve"]
    low = draw_error_curve(make_errors()["error_curve"].assign(coverage=0.0), confidence_level=0.9)
    assert low.axes[2].get_ylim()[0] < 0


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["2017-11-30", "2021-06-01", "2024-05-30"], [str(year) for year in range(2018, 2025)]),
        (["2021", "2022"], ["2021-01", "2021-04", "2021-07", "2021-10", "2022-01"]),
        (["2024-01-20", "2024-03-02"], ["2024-02", "2024-03"]),
        (["2024-01-20", "2024-01-28"], ["2024-01-23"]),
        (["0950-01-01", "2024-03-02"], ["1000", "1500", "2000"]),
        (["2023-05"], ["2023-01", "2023-04"]),
    ],
)
def test_dates_are_written_as_short_as_tells_them_apart(dates, expected):
    drift = make_errors()["drift"].tail(len(dates)).assign(date=dates)
    figure = draw_drift(drift)
    assert_legible(figure)
    assert [text.get_text() for text in figure.axes[2].get_xticklabels()] == expected


@pytest.mark.parametrize(("step", "date"), [(0, "1970-01-01"), (9, "2038-01-01")])
def test_where_steps_are_close_the_first_and_the_last_have_their_numbers(step, date):
    drift = make_errors(methods=())["drift"]
    drift = drift.assign(date=[f"2004-05-{day:02d}" for day in range(1, 11)])
    drift["models"] += 100
    drift.loc[step, "date"] = date
    words = assert_legible(draw_drift(drift))
    assert {"models", "new"} <= set(words)
    assert set(words) & {f"{count}" for count in drift["models"]} == {"104", "145"}


def test_the_first_step_has_no_shift_and_no_newcomer(figures):
    drift, figure = make_errors()["drift"], figures["drift"]
    assert [len(line.get_xdata()) for line in figure.axes[1].lines] == [9, 10, 10]
    assert [len(line.get_xdata()) for line in figure.axes[2].lines] == [9, 9]
    words = drawn_words(draw_drift(drift.iloc[:1]))
    assert "One step: no earlier map to compare with." in words
    assert "No result of a newcomer could be predicted." in words


def test_rows_of_transfer_have_their_errors_and_the_difference_in_words():
    transfer = make_errors()["transfer"].iloc[:1].reset_index(drop=True)
    transfer.loc[0, ["mse", "mse_low", "mse_high"]] = [0.07, 0.06, 0.08]
    transfer.loc[0, ["mse_alone", "mse_additive"]] = [0.08, 0.09]
    transfer.loc[0, ["difference", "difference_low", "difference_high"]] = [-0.01, -0.02, 0.0]
    figure = draw_transfer(transfer)
    drawn = [line.get_xdata()[0] for line in figure.axes[0].lines]
    assert sorted(drawn) == [0.07, 0.08, 0.09]
    assert find_bars(figure.axes[0])[0].get_segments()[0][:, 0].tolist() == [0.06, 0.08]
    minus = "\N{MINUS SIGN}"
    assert f"{minus}.010 ({minus}.020 to .000)" in drawn_words(figure)
