"""Errors of predictions for models that have few results, and for models left with few."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from capmap.figures.canvas import Sheet, Wording, draw_note
from capmap.figures.names import widest
from capmap.figures.panels import (
    ERROR,
    draw_estimates,
    dress_errors,
    find_top,
    make_method_key,
    make_panels,
    note_cut,
    order_methods,
    read_points,
    spread_evenly,
    style_method,
)
from capmap.figures.side_columns import format_interval
from capmap.figures.style import FAINT_INK, TEXT_SIZE, figure_style

BINS_HEADING = "Error by the number of results of a model"
BINS_LABEL = "results of the model that were known; below: models"
NO_RESULTS = "No result was hidden and predicted."
CURVE_HEADING = "Predictions for models with few results"
CURVE_LABEL = "results left to the model; below: models"
NO_CURVE = "No model has enough results to hide some of them."
COVERAGE_TITLE = "hidden results within their interval"
SHOWN = ("factors", "l2", "additive")
INTERVALS = "Bars: intervals, wide where models are few."
ERROR_COLUMNS = ["mse", "mse_low", "mse_high"]
STEP = 0.11
WIDE_GAP = 0.5


@figure_style()
def draw_error_by_results(by_results: pd.DataFrame, *, method: str) -> Figure:
    """Draw the error over the number of results that a model has.

    Parameters
    ----------
    by_results : DataFrame
        distance (a method or baseline), results_from, results_to (NA where open), models, mse,
        mse_low, mse_high (may be empty). Rows in any order.
    method : str
        Of the positions, which is drawn beside factors, l2 and additive.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).

    Notes
    -----
    Methods stand beside each other, and the number of models below each number of results. An
    interval beyond 1.6 times the largest error is cut at the top, which a note says.
    """
    known = by_results.dropna(subset="mse")
    bins = _label_bins(known[known["distance"].isin({*SHOWN, method})])
    if bins.empty:
        return draw_note(NO_RESULTS, heading=BINS_HEADING)
    methods = order_methods(bins["method"])
    top = find_top(bins[["mse"]], bins["mse_high"])
    [panel] = make_panels(
        [""],
        wording=Wording(BINS_HEADING, BINS_LABEL, _write_notes(bins, top)),
        keys=[make_method_key(name) for name in methods],
        tick_lines=2,
    )
    _draw_groups(panel, bins, methods, ERROR_COLUMNS)
    dress_errors(panel.axes, top)
    panel.axes.set_ylabel(ERROR)
    return panel.figure


@figure_style()
def draw_error_curve(error_curve: pd.DataFrame, *, confidence_level: float) -> Figure:
    """Draw error and coverage over the number of results that were left to a model.

    Parameters
    ----------
    error_curve : DataFrame
        results, models, mse, mse_low, mse_high (may be empty), mse_additive, coverage (share of
        hidden results within their prediction interval, 0 to 1). Rows in any order.
    confidence_level : float
        Nominal coverage, 0 to 1: a line.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in).
    """
    known = error_curve.dropna(subset="mse").sort_values("results")
    if known.empty:
        return draw_note(NO_CURVE, heading=CURVE_HEADING)
    known = known.assign(place=range(len(known)), label=[f"{n:.0f}" for n in known["results"]])
    bare = dict.fromkeys(("mse_low", "mse_high", "coverage"), np.nan)
    additive = known.assign(method="additive", mse=known["mse_additive"], **bare)
    curves = pd.concat([known.assign(method="factors"), additive], ignore_index=True)
    methods = order_methods(curves["method"])
    top = find_top(curves[["mse"]], curves["mse_high"])
    notes = (*_write_notes(curves, top), f"Dashed line: nominal coverage, {confidence_level:.4g}.")
    panels = make_panels(
        ["error", COVERAGE_TITLE],
        wording=Wording(CURVE_HEADING, CURVE_LABEL, notes),
        keys=[make_method_key(method) for method in methods],
        gap=WIDE_GAP,
        tick_lines=2,
    )
    _draw_groups(panels[0], curves, methods, ERROR_COLUMNS)
    dress_errors(panels[0].axes, top)
    panels[0].axes.set_ylabel(ERROR)
    covered = curves[curves["method"] == "factors"].assign(none=np.nan)
    _draw_groups(panels[1], covered, methods, ["coverage", "none", "none"])
    lowest = covered["coverage"].min()
    lowest = confidence_level if np.isnan(lowest) else lowest
    _dress_coverage(panels[1], lowest, confidence_level)
    return panels[0].figure


def _write_notes(errors: pd.DataFrame, top: float) -> tuple[str, ...]:
    bars = (INTERVALS,) if errors["mse_high"].notna().any() else ()
    return bars + note_cut(errors["mse_high"], top)


def _label_bins(bins: pd.DataFrame) -> pd.DataFrame:
    """Give each group of numbers of results its place, from the left, and its label."""
    starts = sorted(set(bins["results_from"]))
    labels = [
        f"{start:.0f}+" if pd.isna(end) else format_interval(start, end)
        for start, end in zip(bins["results_from"], bins["results_to"], strict=True)
    ]
    places = [starts.index(start) for start in bins["results_from"]]
    return bins.assign(place=places, label=labels, method=bins["distance"])


def _draw_groups(
    panel: Sheet, table: pd.DataFrame, methods: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw curves over places, the methods beside each other, with the models of each place."""
    present = [method for method in methods if (table["method"] == method).any()]
    for position, method in enumerate(present):
        rows = table[table["method"] == method]
        points = read_points(rows, ["place", *columns])
        points[:, 0] += spread_evenly(position, len(present), step=STEP)
        draw_estimates(panel.axes, points, style_method(method))
    groups = table.groupby("place").agg({"label": "first", "models": "max"})
    places = groups.index.to_numpy(float)
    panel.axes.set_xlim(places.min() - 0.5, places.max() + 0.5)
    texts = [
        f"{label}\n{models:.0f}"
        for label, models in zip(groups["label"], groups["models"], strict=True)
    ]
    words = [word for text in texts for word in text.split("\n")]
    unit = panel.width / (places.max() - places.min() + 1)
    every = int(np.ceil((widest(words, size=TEXT_SIZE) + 0.06) / unit))
    kept = [row for row in range(len(places)) if (places[row] - places[0]) % every == 0]
    panel.axes.set_xticks(places[kept], [texts[row] for row in kept], linespacing=1.15)


def _dress_coverage(panel: Sheet, lowest: float, confidence_level: float) -> None:
    """Let the y axis end at 100% and start where all shares and the nominal one have room."""
    start = min(lowest, confidence_level) - 0.05
    bottom = max(0.0, np.floor(10 * min(start, 0.7)) / 10)
    panel.axes.axhline(
        confidence_level, color=FAINT_INK, linestyle=(0, (4, 2)), linewidth=0.8, zorder=1
    )
    panel.axes.set_ylim(bottom - 0.01, 1.01)
    panel.axes.set_yticks(np.linspace(bottom, 1, 1 + round(10 * (1 - bottom))))
    panel.axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panel.axes.grid(axis="y")
