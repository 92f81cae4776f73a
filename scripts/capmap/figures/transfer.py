"""Whether results on other types of datasets help to predict those on one."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    ROW_HEIGHT,
    Margins,
    Wording,
    draw_legend,
    draw_note,
    make_sheet,
    plan_legend,
)
from capmap.figures.look import page_width
from capmap.figures.names import shorten_names, widest
from capmap.figures.panels import ERROR, find_top, note_cut, number_axis
from capmap.figures.side_columns import format_decimal, plan_columns, write_columns
from capmap.figures.style import PALETTE, TEXT_SIZE, ModelStyle, figure_style

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
        return draw_note(NOTHING, heading=HEADING)
    names = shorten_names(known["tested_on"], width=NAME_WIDTH, size=TEXT_SIZE)
    labels = [names[name] for name in known["tested_on"]]
    side = plan_columns(
        {
            "difference": [_write_difference(row) for row in known.to_dict("records")],
            "results": [f"{count:.0f}" for count in known["predictions"]],
        }
    )
    top = find_top(known[list(ERRORS)], known["mse_high"])
    legend = plan_legend([label for label, _ in ERRORS.values()], sheet_width=page_width())
    sheet = make_sheet(
        width=page_width(),
        height=len(known) * ROW_HEIGHT,
        margins=Margins(
            left=PADDING + widest([*labels, ROWS_HEADER], size=TEXT_SIZE) + GAP,
            right=2 * PADDING + side.width,
            head=HEADER_HEIGHT + legend.height,
        ),
        wording=Wording(HEADING, ERROR, (*NOTES, *note_cut(known["mse_high"], top))),
    )
    draw_legend(sheet, legend, [_make_key(*error) for error in ERRORS.values()])
    sheet.label_rows(labels, header=ROWS_HEADER)
    write_columns(sheet, side)
    _draw_rows(sheet.axes, known)
    sheet.axes.set_xlim(0, top)
    number_axis(sheet.axes.xaxis, most=6)
    sheet.axes.grid(axis="x")
    return sheet.figure


def _write_difference(row: Mapping[Hashable, Any]) -> str:
    """Write a difference with three decimals, and its interval in brackets."""
    values = [row[name] for name in ("difference", "difference_low", "difference_high")]
    texts = ["" if pd.isna(value) else format_decimal(float(value), 3) for value in values]
    return texts[0] + (f" ({texts[1]} to {texts[2]})" if all(texts) else "")


def _make_key(label: str, look: ModelStyle) -> Line2D:
    return Line2D([], [], linestyle="none", label=label, **_mark(look))


def _mark(look: ModelStyle) -> dict[str, Any]:
    """Open markers, except for the circles of transfer, which have intervals."""
    face = look.color if look.marker == "o" else "none"
    return {
        "marker": look.marker,
        "markersize": 4,
        "markeredgecolor": look.color,
        "markerfacecolor": face,
        "markeredgewidth": 1.0,
    }


def _draw_rows(axes: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows))
    low, high = rows[["mse_low", "mse_high"]].to_numpy(float).T
    color = ERRORS["mse"][1].color
    closed = np.isfinite(low) & np.isfinite(high)
    axes.hlines(places[closed], low[closed], high[closed], color=color, linewidth=1.2, zorder=2)
    for depth, (name, (_, look)) in enumerate(reversed(ERRORS.items())):
        values = rows[name].to_numpy(float)
        axes.plot(values, places, linestyle="none", zorder=3 + depth, **_mark(look))
