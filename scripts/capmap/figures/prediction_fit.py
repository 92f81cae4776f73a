"""Estimated against true gaps, of results that were known and of those that were hidden."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from capmap.figures.canvas import PADDING, Margins, Sheet, Wording
from capmap.figures.note import draw_note
from capmap.figures.panels import (
    add_panel,
    make_backdrop,
    name_method,
    number_axis,
    order_methods,
    style_method,
)
from capmap.figures.side_columns import format_decimal
from capmap.figures.style import (
    COLUMN_WIDTH,
    FAINT_INK,
    PAGE_WIDTH,
    SMALL_SIZE,
    figure_style,
)
from capmap.wording import count_things

HEADING = "Estimated and true \N{GREEK CAPITAL LETTER DELTA}"
TRUE = "true \N{GREEK CAPITAL LETTER DELTA} (0 = best, 1 = worst)"
LEFT = 0.58
GUTTER = 0.12
TITLE = 0.26
MOST_WIDTH = 1.9
LEAST, MOST = -0.5, 2.0
CROWD = 300
MAX_POINTS = 4000
ROWS = {"train": "training", "validation": "validation"}


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
        distance, dimension (NA for baselines, which are not drawn), protocol (random is drawn),
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
        return draw_note(text, heading=HEADING)
    predictions = np.concatenate([table["prediction"] for table in tables.values()])
    limits = _find_limits(predictions)
    outside = int(np.sum((predictions < limits[0]) | (predictions > limits[1])))
    panels = _place_panels(len(methods), limits, _write_notes(dimension, outside))
    chosen = summary[summary["protocol"].eq("random") & summary["dimension"].eq(dimension)]
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
    known = table[table["dimension"].eq(dimension)].dropna(subset=["truth", "prediction"])
    columns = ["distance", "truth", "prediction"]
    ordered = known[columns].sort_values(columns, ignore_index=True)
    return ordered.astype({"truth": float, "prediction": float})


def _find_limits(predictions: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Ends of the y axis: all estimates, but at least 0 to 1 and at most −0.5 to 2."""
    low, high = min(predictions.min(), 0.0), max(predictions.max(), 1.0)
    return max(LEAST, float(low) - 0.05), min(MOST, float(high) + 0.05)


def _write_notes(dimension: int, outside: int) -> tuple[str, ...]:
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
    sheet_width = COLUMN_WIDTH if count <= 2 else PAGE_WIDTH
    room = sheet_width - LEFT - PADDING
    width = min(MOST_WIDTH, (room - (count - 1) * GUTTER) / count)
    height = width * float(np.clip((limits[1] - limits[0]) / 1.1, 1.0, 1.4))
    used = count * width + (count - 1) * GUTTER
    sheet = make_backdrop(
        width=sheet_width,
        height=2 * height + TITLE,
        margins=Margins(LEFT, sheet_width - LEFT - used, head=TITLE + 0.06),
        wording=Wording(HEADING, TRUE, notes),
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
