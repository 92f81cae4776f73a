"""Predicted results against true ones: by point, by number of dimensions, and by cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    Margins,
    Sheet,
    Wording,
    draw_note,
    make_sheet,
)
from capmap.figures.curves import scale_by_log
from capmap.figures.heatmap import SCALE_ROOM, Scale, color_cells, pivot_cells, span_evenly
from capmap.figures.look import column_width, page_width
from capmap.figures.names import shorten_names, widest
from capmap.figures.panels import (
    ERROR,
    FOOT,
    Numbers,
    add_panel,
    draw_estimates,
    dress_errors,
    find_top,
    make_backdrop,
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
from capmap.figures.side_columns import format_decimal
from capmap.figures.style import FAINT_INK, SMALL_SIZE, TEXT_SIZE, ModelStyle, figure_style
from capmap.wording import count_things

PREDICTOR = "factors"
FIT_HEADING = "Estimated and true \N{GREEK CAPITAL LETTER DELTA}"
TRUE = "true \N{GREEK CAPITAL LETTER DELTA} (0 = best, 1 = worst)"
LEFT = 0.58
GUTTER = 0.12
TITLE = 0.26
MOST_WIDTH = 1.9
LEAST_PANEL = 1.0
LEAST_CELL = 0.1
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
LABEL_STEP = 0.105

ERRORS_HEADING = "Errors of predictions"
ERRORS_UNIT = "error of the predicted gap (absolute)"
NO_RESULT = "No result was hidden and predicted."
ERRORS_ORDER = (
    "Models and datasets with the most results first. Blank: no result, or none that was hidden."
)
COLORS = "cividis_r"
EMPTY_COLOR = "#F5F5F5"
MAX_MODELS = 50
MAX_DATASETS = 75
NAME_WIDTH = 1.5
MODEL_NAME_WIDTH = 1.0
NARROW_MODELS = 12
ROW_HEIGHT = (0.088, 0.15)
MAX_HEIGHT = 6.6


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
        return draw_note(text, heading=FIT_HEADING)
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
    sheet = make_backdrop(
        width=sheet_width,
        height=2 * height + TITLE,
        margins=Margins(LEFT, sheet_width - LEFT - used, head=TITLE + 0.06),
        wording=Wording(FIT_HEADING, TRUE, notes),
    )
    panels = {}
    for column in range(count):
        for row, name in enumerate(ROWS):
            left, bottom = column * (width + GUTTER), (1 - row) * (height + TITLE)
            panel = add_panel(sheet, left=left, bottom=bottom, width=width, height=height)
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
        return draw_note(NO_METHOD, heading=DIMENSIONS_HEADING)
    methods = order_methods(fitted["distance"])
    names = [name_method(name) for name in order_methods(baselines["distance"])]
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


@figure_style()
def draw_prediction_errors(predictions: pd.DataFrame) -> Figure:
    """Draw the absolute error of each prediction whose result was hidden.

    Parameters
    ----------
    predictions : DataFrame
        model, dataset, observed (gap; NaN where there is no result), predicted, held_out (whether
        the result was hidden when it was predicted); rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        Datasets as rows and models as columns. A column wide (3.4 in) up to 12 models, beyond that
        a page (7 in).

    Notes
    -----
    Of more than 50 models or 75 datasets, those with the most results are drawn; ties go by name.
    The colors span 98% of the errors, so an outlier does not hide the rest.
    """
    known = predictions[predictions["held_out"].astype(bool)].dropna(
        subset=["observed", "predicted"]
    )
    if known.empty:
        return draw_note(NO_RESULT, heading=ERRORS_HEADING)
    datasets, notes = _choose_names(predictions, "dataset", MAX_DATASETS)
    models, more = _choose_names(predictions, "model", MAX_MODELS)
    cells = known.set_index(["dataset", "model"])
    table = pivot_cells((cells["predicted"] - cells["observed"]).abs(), datasets, models)
    sheet = _make_grid(table, " ".join((*notes, *more, ERRORS_ORDER)))
    sheet.axes.patch.set_facecolor(EMPTY_COLOR)
    color_cells(sheet, table, Scale(ERRORS_UNIT, 0.0, span_evenly(table), (), COLORS))
    return sheet.figure


def _make_grid(table: pd.DataFrame, note: str) -> Sheet:
    """Make the sheet with the names of rows and columns, as small as they can be read."""
    rows = shorten_names(table.index, width=NAME_WIDTH, size=SMALL_SIZE)
    columns = shorten_names(table.columns, width=MODEL_NAME_WIDTH, size=SMALL_SIZE)
    left = PADDING + max(widest(rows.values(), size=SMALL_SIZE), 0.45) + GAP
    least = left + 2 * PADDING + LEAST_CELL * len(columns)
    sheet = make_sheet(
        width=column_width() if len(columns) <= NARROW_MODELS else page_width(least),
        height=len(rows) * float(np.clip(MAX_HEIGHT / len(rows), *ROW_HEIGHT)),
        margins=Margins(
            left=left,
            right=2 * PADDING,
            head=SCALE_ROOM + HEADER_HEIGHT,
            ticks=GAP + widest(columns.values(), size=SMALL_SIZE),
        ),
        wording=Wording(ERRORS_HEADING, "model", (note,)),
    )
    sheet.axes.set_xticks(np.arange(len(columns)) + 0.5, table.columns.map(columns), rotation=90)
    sheet.axes.set_yticks(np.arange(len(rows)) + 0.5, table.index.map(rows))
    sheet.axes.tick_params(length=0, labelsize=SMALL_SIZE)
    sheet.head_rows("dataset", distance=GAP / 2)
    return sheet


def _choose_names(
    predictions: pd.DataFrame, kind: str, limit: int
) -> tuple[list[str], tuple[str, ...]]:
    """Names by number of results, the most first, with a note about those left out."""
    counts = predictions.dropna(subset="observed")[kind].value_counts()
    names = sorted(counts.index, key=lambda name: (-counts[name], name))
    if len(names) <= limit:
        return names, ()
    return names[:limit], (f"{limit} of {len(names)} {kind}s, those with the most results.",)
