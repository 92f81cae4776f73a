"""Errors of predicted results: by point, dimensions, number of results, and type of dataset."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    PADDING,
    ROW_HEIGHT,
    NothingToDraw,
    Sheet,
    Wording,
    format_decimal,
    format_interval,
    make_sheet,
    plan_columns,
    write_columns,
)
from capmap.figures.curves import scale_by_log
from capmap.figures.names import shorten_names, widest
from capmap.figures.panels import (
    ERROR,
    FOOT,
    Numbers,
    draw_dots,
    draw_estimates,
    dress_errors,
    find_top,
    make_curve_key,
    make_method_key,
    make_panels,
    name_method,
    note_cut,
    number_axis,
    order_methods,
    read_points,
    spread_evenly,
    style_method,
)
from capmap.figures.style import (
    FAINT_INK,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    ModelStyle,
    column_width,
    figure_style,
    page_width,
)
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import count_things

PREDICTOR = "factors"
FIT_HEADING = "Estimated and true \N{GREEK CAPITAL LETTER DELTA}"
TRUE = "true \N{GREEK CAPITAL LETTER DELTA} (0 = best, 1 = worst)"
LEFT = 0.58
GUTTER = 0.12
TITLE = 0.26
MOST_WIDTH = 1.9
LEAST_PANEL = 1.0
LABEL_STEP = 0.105
LEAST, MOST = -0.5, 2.0
CROWD = 300
MAX_POINTS = 4000
ROWS = {"train": "training", "validation": "validation"}

PROTOCOLS = {
    "random": "random results hidden",
    "strict": "strict: bounds hidden too",
    "family": "families hidden",
}
PROTOCOL_NOTES = {
    "strict": "Strict: \N{GREEK CAPITAL LETTER DELTA} by the bounds of the known results only.",
    "family": "Families: with a result, the model's others in the dataset's family are hidden.",
}
DIMENSIONS_HEADING = "Error over the number of dimensions"
NO_METHOD = "No method was validated."


@figure_style()
def draw_fit(
    training: pd.DataFrame, validation: pd.DataFrame, summary: pd.DataFrame, *, dimension: int
) -> Figure:
    """Draw estimated against true gaps, a column of panels per method.

    Parameters
    ----------
    training : DataFrame
        distance, dimension, truth, prediction of the results that one fold knew.
    validation : DataFrame
        distance, dimension (NA for factors, and baselines, which are not drawn), protocol
        (random is drawn),
        truth, prediction of the hidden results of all folds.
    summary : DataFrame
        distance, dimension, protocol, train_mse, train_pearson, mse, pearson (may be empty):
        written above the panels.
    dimension : int
        Of the fits that are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in), or a column (3.4 in) with at most two methods; upper row training,
        lower row validation.

    Notes
    -----
    All panels have the same axes. Estimates below −0.5 or above 2 are drawn as triangles at the
    end, and a note counts them. From 4000 points on, points are drawn as an image in PDF and SVG.
    """
    tables = {
        "train": _choose_rows(training, dimension),
        "validation": _choose_rows(validation[validation["protocol"] == "random"], dimension),
    }
    methods = order_methods(name for table in tables.values() for name in table["distance"])
    if not methods:
        text = f"No method was validated with {count_things(dimension, 'dimension')}."
        raise NothingToDraw(text)
    predictions = np.concatenate([table["prediction"] for table in tables.values()])
    limits = _find_limits(predictions)
    outside = int(np.sum((predictions < limits[0]) | (predictions > limits[1])))
    panels = _place_panels(len(methods), limits, _write_outside(dimension, outside))
    is_shown = summary["dimension"].eq(dimension) | summary["distance"].eq(PREDICTOR)
    chosen = summary[summary["protocol"].eq("random") & is_shown.fillna(False)]
    marks = chosen.set_index("distance")
    for column, method in enumerate(methods):
        panels["train", column].write(
            name_method(method), x=0, y=panels["train", column].height + 0.14, weight="bold"
        )
        for row, table in tables.items():
            panel, prefix = panels[row, column], "train_" if row == "train" else ""
            _draw_panel(panel, table[table["distance"] == method], method, limits)
            _write_marks(panel, marks, method, prefix)
    return panels["train", 0].figure


def _choose_rows(table: pd.DataFrame, dimension: int) -> pd.DataFrame:
    is_shown = table["dimension"].eq(dimension) | table["distance"].eq(PREDICTOR)
    known = table[is_shown.fillna(False)].dropna(subset=["truth", "prediction"])
    columns = ["distance", "truth", "prediction"]
    ordered = known[columns].sort_values(columns, ignore_index=True)
    return ordered.astype({"truth": float, "prediction": float})


def _find_limits(predictions: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Ends of the y axis: all estimates, but at least 0 to 1 and at most −0.5 to 2."""
    low, high = min(predictions.min(), 0.0), max(predictions.max(), 1.0)
    return max(LEAST, float(low) - 0.05), min(MOST, float(high) + 0.05)


def _write_outside(dimension: int, outside: int) -> tuple[str, ...]:
    notes = (
        f"{count_things(dimension, 'dimension')}; validation: random results hidden, all folds; "
        "training: one fold. MSE and r: means over folds.",
    )
    if not outside:
        return notes
    verb = "is" if outside == 1 else "are"
    return (*notes, f"{count_things(outside, 'estimate')} outside {verb} drawn at the edge.")


def _place_panels(
    count: int, limits: tuple[float, float], notes: tuple[str, ...]
) -> dict[tuple[str, int], Sheet]:
    """Make the figure and its panels, by row and column."""
    sheet_width = column_width() if count <= 2 else page_width(LEFT + count * LEAST_PANEL)
    room = sheet_width - LEFT - PADDING
    width = min(MOST_WIDTH, (room - (count - 1) * GUTTER) / count)
    height = width * float(np.clip((limits[1] - limits[0]) / 1.1, 1.0, 1.4))
    used = count * width + (count - 1) * GUTTER
    sheet = make_sheet(
        width=sheet_width,
        height=2 * height + TITLE,
        wording=Wording(FIT_HEADING, TRUE, notes),
        left=LEFT,
        right=sheet_width - LEFT - used,
        head=TITLE + 0.06,
    )
    sheet.hide_axes()
    panels = {}
    for column in range(count):
        for row, name in enumerate(ROWS):
            left, bottom = column * (width + GUTTER), (1 - row) * (height + TITLE)
            panel = sheet.add_panel(left=left, bottom=bottom, width=width, height=height)
            panel.axes.tick_params(labelleft=column == 0, labelbottom=row == 1)
            panels[name, column] = panel
    for name, words in ROWS.items():
        panels[name, 0].axes.set_ylabel(f"estimated \N{GREEK CAPITAL LETTER DELTA}, {words}")
    return panels


def _draw_panel(panel: Sheet, rows: pd.DataFrame, method: str, limits: tuple[float, float]) -> None:
    panel.axes.plot((0, 1), (0, 1), color=FAINT_INK, linewidth=0.7, zorder=1)
    predictions = rows["prediction"].to_numpy(float)
    shown = np.clip(predictions, *limits)
    look: Any = {
        "color": style_method(method).color,
        "alpha": 0.35 if len(rows) > CROWD else 0.65,
        "linewidths": 0,
        "rasterized": len(rows) > MAX_POINTS,
    }
    for marker, size, chosen in (
        ("o", 5, shown == predictions),
        ("^", 12, predictions > shown),
        ("v", 12, predictions < shown),
    ):
        panel.axes.scatter(
            rows["truth"][chosen], shown[chosen], size, marker=marker, clip_on=False, **look
        )
    panel.axes.set(xlim=(-0.05, 1.05), ylim=limits, xticks=[0, 0.5, 1])
    panel.axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    number_axis(panel.axes.yaxis, most=5)
    panel.axes.grid()


def _write_marks(panel: Sheet, marks: pd.DataFrame, method: str, prefix: str) -> None:
    """Write the errors of the summary above a panel."""
    if method not in marks.index:
        return
    columns = [f"{prefix}mse", f"{prefix}pearson"]
    values = marks.loc[method, columns].to_numpy(dtype=float, na_value=np.nan)
    texts = [format_decimal(values[0], 3), format_decimal(values[1], 2)]
    mse, r = (text or "\N{EN DASH}" for text in texts)
    panel.write(f"MSE {mse}, r {r}", x=0, y=panel.height + 0.035, size=SMALL_SIZE)


@figure_style()
def draw_dimensions(summary: pd.DataFrame) -> Figure:
    """Draw the error of each method over the number of dimensions, a panel per protocol.

    Parameters
    ----------
    summary : DataFrame
        distance (a method or baseline), dimension (NA for baselines), protocol (random, strict,
        family), train_mse, mse, mse_low, mse_high; numbers may be empty. Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in); a column (3.4 in) with one protocol.

    Notes
    -----
    The panels share their y axis, which starts at 0 and shows all errors; an interval beyond 1.6
    times the largest of them is cut at the top. Methods stand beside each other at a dimension,
    so that their intervals can be told apart. Training errors are drawn where they are known.
    """
    known = summary.dropna(subset="mse")
    protocols = [name for name in PROTOCOLS if (known["protocol"] == name).any()]
    fitted = known.dropna(subset="dimension")
    baselines = known[known["dimension"].isna()]
    if not protocols:
        raise NothingToDraw(NO_METHOD)
    methods = order_methods(fitted["distance"])
    names = [name_method(name) for name in baselines["distance"]]
    room = widest(names, size=SMALL_SIZE) + GAP if names else PADDING
    top = find_top(known[["mse", "train_mse"]], known["mse_high"])
    panels = make_panels(
        [PROTOCOLS[name] for name in protocols],
        wording=Wording(
            DIMENSIONS_HEADING, "dimensions (log scale)", _write_protocols(known, protocols, top)
        ),
        keys=[make_method_key(name, line="-") for name in methods],
        room=room,
    )
    for panel, protocol in zip(panels, protocols, strict=True):
        rows = fitted[fitted["protocol"] == protocol]
        _draw_methods(panel, rows, methods, ticks=sorted(set(fitted["dimension"].astype(int))))
        dress_errors(panel.axes, top)
        _draw_baselines(panel, baselines[baselines["protocol"] == protocol], top)
    panels[0].axes.set_ylabel(ERROR)
    return panels[0].figure


def _write_protocols(known: pd.DataFrame, protocols: Sequence[str], top: float) -> tuple[str, ...]:
    marks = ["Bars: intervals over folds."] if known["mse_low"].notna().any() else []
    if known["train_mse"].notna().any():
        marks.append("Dashed, pale: training error.")
    marks += note_cut(known["mse_high"], top)
    hidden = [PROTOCOL_NOTES[name] for name in protocols if name in PROTOCOL_NOTES]
    return tuple(" ".join(sentences) for sentences in (marks, hidden) if sentences)


def _draw_methods(
    panel: Sheet, rows: pd.DataFrame, methods: Sequence[str], *, ticks: Sequence[int]
) -> None:
    """Draw a protocol's curves; the dimensions of all protocols are the ends of the x axis."""
    scale_by_log(panel.axes, ticks=_thin_ticks(ticks, panel.width))
    panel.axes.set_xlim(*((min(ticks) / 1.15, max(ticks) * 1.15) if ticks else (1, 10)))
    for position, method in enumerate(methods):
        chosen = rows[rows["distance"] == method]
        look = style_method(method)
        points = read_points(chosen, ["dimension", "mse", "mse_low", "mse_high"])
        points[:, 0] *= np.exp(spread_evenly(position, len(methods), step=0.03))
        draw_estimates(panel.axes, points, ModelStyle(look.color, look.marker, "-"))
        x, training = read_points(chosen, ["dimension", "train_mse"]).T
        panel.axes.plot(
            x,
            training,
            color=look.color,
            linestyle=(0, (2.5, 1.5)),
            linewidth=0.8,
            marker=look.marker,
            markersize=1.8,
            alpha=0.6,
        )


def _thin_ticks(ticks: Sequence[int], width: float) -> list[int]:
    """Leave out dimensions whose numbers would touch the one before."""
    if len(ticks) < 2:
        return list(ticks)
    unit = width / np.log(1.15**2 * ticks[-1] / ticks[0])
    kept = [ticks[-1]]
    for tick in reversed(ticks[:-1]):
        if unit * np.log(kept[-1] / tick) > widest([str(kept[-1])], size=TEXT_SIZE) + 0.06:
            kept.append(tick)
    return kept[::-1]


def _draw_baselines(panel: Sheet, rows: pd.DataFrame, top: float) -> None:
    """Draw a line per baseline, with its name at the right end."""
    ordered = rows.sort_values(["mse", "distance"])
    values = ordered["mse"].to_numpy(float)
    heights = _part_labels(panel.height * (values / top + FOOT) / (1 + FOOT), panel.height)
    for method, value, height in zip(ordered["distance"], values, heights, strict=True):
        look = style_method(method)
        line: Any = look.line
        panel.axes.axhline(value, color=look.color, linestyle=line, linewidth=0.8, zorder=1.2)
        place = {"x": panel.width + GAP / 2, "y": height, "va": "center_baseline"}
        panel.write(name_method(method), size=SMALL_SIZE, color=look.color, **place)


def _part_labels(heights: Numbers, top: float) -> Numbers:
    """Move labels, ordered from the lowest, apart so that none touches the next one."""
    parted = heights.copy()
    for place in range(1, len(parted)):
        parted[place] = max(parted[place], parted[place - 1] + LABEL_STEP)
    for place in range(len(parted) - 1, -1, -1):
        above = parted[place + 1] - LABEL_STEP if place + 1 < len(parted) else top
        parted[place] = min(parted[place], above)
    return parted


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
        raise NothingToDraw(NO_RESULTS)
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
def draw_error_curve(
    error_curve: pd.DataFrame, *, confidence_level: float = PREDICTION_LEVEL
) -> Figure:
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
        raise NothingToDraw(NO_CURVE)
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


HEADING = "Transfer between types of datasets"
NOTHING = "No type with datasets enough."
ROWS_HEADER = "type"
NAME_WIDTH = 2.0
NOTES = (
    "All predict the same hidden results from the rest of the datasets of the type; alone knows "
    "nothing else, the others know all datasets of other types too.",
    "Bars and brackets: intervals. Difference: transfer minus alone, below 0 where transfer helps.",
)
ERRORS = {
    "mse": ("transfer", ModelStyle(PALETTE[0], "o", "none")),
    "mse_alone": ("alone", ModelStyle(PALETTE[3], "s", "none")),
    "mse_additive": ("additive", ModelStyle(PALETTE[7], "x", "none")),
}


@figure_style()
def draw_transfer(transfer: pd.DataFrame) -> Figure:
    """Draw the errors on types of datasets, with and without those of other types.

    Parameters
    ----------
    transfer : DataFrame
        tested_on, predictions, mse, mse_low, mse_high, mse_alone, mse_additive, difference,
        difference_low, difference_high; errors may be empty. Rows in order, from the top.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in), a row per type.

    Notes
    -----
    Only transfer has an interval. At the right stand the difference between transfer and alone, and
    the number of results that were predicted.
    """
    known = transfer.dropna(subset="mse")
    if known.empty:
        raise NothingToDraw(NOTHING)
    names = shorten_names(known["tested_on"], width=NAME_WIDTH, size=TEXT_SIZE)
    labels = [names[name] for name in known["tested_on"]]
    side = plan_columns(
        {
            "difference": [_write_difference(row) for row in known.to_dict("records")],
            "results": [f"{count:.0f}" for count in known["predictions"]],
        }
    )
    top = find_top(known[list(ERRORS)], known["mse_high"])
    sheet = make_sheet(
        width=page_width(),
        height=len(known) * ROW_HEIGHT,
        wording=Wording(HEADING, ERROR, (*NOTES, *note_cut(known["mse_high"], top))),
        left=PADDING + widest([*labels, ROWS_HEADER], size=TEXT_SIZE) + GAP,
        right=2 * PADDING + side.width,
        keys={label: make_curve_key(label, look, line="none") for label, look in ERRORS.values()},
    )
    sheet.label_rows(labels, header=ROWS_HEADER)
    write_columns(sheet, side)
    closed = known.reset_index(drop=True).dropna(subset=["mse_low", "mse_high"])
    bar: Any = {"color": ERRORS["mse"][1].color, "linewidth": 1.2, "zorder": 2}
    sheet.axes.hlines(closed.index, closed["mse_low"], closed["mse_high"], **bar)
    draw_dots(sheet.axes, known, ERRORS)
    sheet.axes.set_xlim(0, top)
    number_axis(sheet.axes.xaxis, most=6)
    sheet.axes.grid(axis="x")
    return sheet.figure


def _write_difference(row: Mapping[Hashable, Any]) -> str:
    """Write a difference with three decimals, and its interval in brackets."""
    values = [row[name] for name in ("difference", "difference_low", "difference_high")]
    texts = ["" if pd.isna(value) else format_decimal(float(value), 3) for value in values]
    return texts[0] + (f" ({texts[1]} to {texts[2]})" if all(texts) else "")
