"""Whether results on some kinds of tasks help to predict those on others."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    TICKS_HEIGHT,
    Margins,
    Sheet,
    Wording,
    draw_legend,
    draw_note,
    plan_legend,
)
from capmap.figures.look import page_width
from capmap.figures.names import shorten_names, widest
from capmap.figures.panels import ERROR, add_panel, find_top, make_backdrop, note_cut, number_axis
from capmap.figures.side_columns import SideColumns, format_decimal, plan_columns, write_columns
from capmap.figures.style import PALETTE, TEXT_SIZE, ModelStyle, figure_style

HEADING = "Transfer between tasks"
NOTHING = "Too few datasets to train on some and test on others."
ARROW = " \N{RIGHTWARDS ARROW} "
ROWS_HEADER = "trained on" + ARROW + "tested on"
TITLE = 0.17
NAME_WIDTH = 1.25
NOTES = (
    "All predict the same hidden results from the rest of the tested datasets; transfer also knows "
    "what it is trained on, alone nothing else, all others every other dataset.",
    "Bars and brackets: intervals. Difference: transfer minus alone, below 0 where transfer helps.",
)
PANELS = {"type": "one type of task for another", "families": "some families for others"}
ERRORS = {
    "mse": ("transfer", ModelStyle(PALETTE[0], "o", "none")),
    "mse_alone": ("alone", ModelStyle(PALETTE[3], "s", "none")),
    "mse_all": ("all others", ModelStyle(PALETTE[2], "D", "none")),
    "mse_additive": ("additive", ModelStyle(PALETTE[7], "x", "none")),
}


@dataclass(frozen=True)
class _Block:
    """The rows of a panel, from the top, with their labels and the columns beside them."""

    title: str
    rows: pd.DataFrame
    labels: list[str]
    side: SideColumns

    @property
    def height(self) -> float:
        """Height of the rows in inches."""
        return len(self.rows) * ROW_HEIGHT


@figure_style()
def draw_transfer(transfer: pd.DataFrame) -> Figure:
    """Draw the errors on some datasets of maps that were trained on others.

    Parameters
    ----------
    transfer : DataFrame
        kind (type; types, which sums those up; families), trained_on, tested_on,
        train_results, predictions, mse, mse_low, mse_high, mse_alone, mse_all, mse_additive,
        difference, difference_low, difference_high; errors may be empty. Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): the types together and each pair of them by name, and below
        a row per number of families.

    Notes
    -----
    Only transfer has an interval. At the right stand the difference between transfer and alone, and
    the number of results that were predicted.
    """
    known = transfer.dropna(subset="mse")
    found = [_collect_rows(known, kinds) for kinds in (("types", "type"), ("families",))]
    blocks = [block for block in found if block is not None]
    if not blocks:
        return draw_note(NOTHING, heading=HEADING)
    top = find_top(known[list(ERRORS)], known["mse_high"])
    notes = (*NOTES, *note_cut(known["mse_high"], top))
    for panel, block in zip(_place_panels(blocks, notes), blocks, strict=True):
        panel.write(block.title, x=0, y=panel.height + HEADER_HEIGHT + 0.04)
        panel.label_rows(block.labels, header=ROWS_HEADER)
        write_columns(panel, block.side)
        _draw_rows(panel.axes, block.rows)
        panel.axes.set_xlim(0, top)
        number_axis(panel.axes.xaxis, most=6)
        panel.axes.grid(axis="x")
    return panel.figure


def _collect_rows(known: pd.DataFrame, kinds: Sequence[str]) -> _Block | None:
    """Order the rows of a panel: summaries on top, pairs by name, families by number."""
    rows = known[known["kind"].isin(kinds)]
    if rows.empty:
        return None
    rows = rows.assign(
        pair=rows["kind"] != "types",
        size=rows["train_results"].where(rows["kind"] == "families", 0),
    ).sort_values(["pair", "size", "trained_on", "tested_on"])
    names = shorten_names(
        [*rows["trained_on"], *rows["tested_on"]], width=NAME_WIDTH, size=TEXT_SIZE
    )
    labels = [
        names[trained] + ARROW + names[tested]
        for trained, tested in zip(rows["trained_on"], rows["tested_on"], strict=True)
    ]
    side = plan_columns(
        {
            "difference": [_write_difference(row) for row in rows.to_dict("records")],
            "results": [f"{count:.0f}" for count in rows["predictions"]],
        }
    )
    return _Block(PANELS[kinds[-1]], rows, labels, side)


def _write_difference(row: Mapping[Hashable, Any]) -> str:
    """Write a difference with three decimals, and its interval in brackets."""
    values = [row[name] for name in ("difference", "difference_low", "difference_high")]
    texts = ["" if pd.isna(value) else format_decimal(float(value), 3) for value in values]
    return texts[0] + (f" ({texts[1]} to {texts[2]})" if all(texts) else "")


def _place_panels(blocks: Sequence[_Block], notes: tuple[str, ...]) -> list[Sheet]:
    """Make the figure with its legend, and a panel per block, from the top."""
    legend = plan_legend([label for label, _ in ERRORS.values()], sheet_width=page_width())
    labels = [label for block in blocks for label in (*block.labels, ROWS_HEADER)]
    space = TICKS_HEIGHT + TITLE + HEADER_HEIGHT
    total = sum(block.height for block in blocks) + (len(blocks) - 1) * space
    left = PADDING + widest(labels, size=TEXT_SIZE) + GAP
    sheet = make_backdrop(
        width=page_width(),
        height=total,
        margins=Margins(
            left=left,
            right=2 * PADDING + max(block.side.width for block in blocks),
            head=TITLE + HEADER_HEIGHT + legend.height,
        ),
        wording=Wording(HEADING, ERROR, notes),
    )
    place = replace(sheet, height=total + TITLE)
    draw_legend(place, legend, [_make_key(*error) for error in ERRORS.values()])
    panels, top = [], total
    for block in blocks:
        bottom = top - block.height
        box = {"width": sheet.width, "height": block.height}
        panels.append(add_panel(sheet, left=0, bottom=bottom, **box))
        top = bottom - space
    return panels


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
