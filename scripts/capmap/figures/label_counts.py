"""How many labels the images of each dataset have."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    Margins,
    Wording,
    choose_datasets,
    make_sheet,
)
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.names import shorten_names, widest
from capmap.figures.note import draw_note
from capmap.figures.side_columns import plan_columns, write_columns
from capmap.figures.style import INK, PAGE_WIDTH, SMALL_SIZE, TEXT_SIZE, figure_style
from capmap.wording import format_count

HEADING = "Labels per image"
NOTHING = "No image has a label."
X_LABEL = "share of the images with labels (%)"
ROW_HEIGHT = 0.2
NAME_WIDTH = 1.8
MORE = "more"
COLORS = "cividis_r"
DARK = 0.45


@figure_style()
def draw_label_counts(label_counts: pd.DataFrame) -> Figure:
    """Draw the shares of images with one, two and more labels, a bar per dataset.

    Parameters
    ----------
    label_counts : DataFrame
        dataset, labels (the number, or ``more``), images, share (from 0 to 1; empty for 0
        labels); rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): a row for each of at most 60 datasets by name, with its number of
        images with labels. Shares that have room for it are written in percent.

    Notes
    -----
    Colors go from light to dark with the number of labels. Images without labels are left out; a
    note counts them.
    """
    counts = label_counts.assign(labels=label_counts["labels"].astype("str"))
    known = counts[(counts["images"] > 0) & (counts["labels"] != "0")]
    if known.empty:
        return draw_note(NOTHING, heading=HEADING)
    datasets, notes = choose_datasets(known["dataset"])
    known = known[known["dataset"].isin(datasets)]
    numbers = sorted(set(known["labels"]), key=_order_labels)
    cells = known.set_index(["dataset", "labels"])
    totals = cells["images"].groupby("dataset").sum()
    names = shorten_names(datasets, width=NAME_WIDTH, size=TEXT_SIZE)
    side = plan_columns({"images": [f"{totals[name]:,}" for name in datasets]})
    legend = plan_legend(_name_numbers(numbers), sheet_width=PAGE_WIDTH)
    empty = counts.loc[(counts["labels"] == "0") & counts["dataset"].isin(datasets), "images"].sum()
    left_out = (f"Left out: {format_count(empty, 'image')} without a label.",) if empty else ()
    sheet = make_sheet(
        width=PAGE_WIDTH,
        height=len(datasets) * min(ROW_HEIGHT, 8 / len(datasets)),
        margins=Margins(
            left=PADDING + max(widest(names.values(), size=TEXT_SIZE), 0.45) + GAP,
            right=2 * PADDING + side.width,
            head=HEADER_HEIGHT + legend.height,
        ),
        wording=Wording(HEADING, X_LABEL, (*notes, *left_out)),
    )
    colors = _choose_colors(len(numbers))
    shares = np.array([[cells["share"].get((d, n), 0.0) for n in numbers] for d in datasets])
    _stack_shares(sheet.axes, 100 * shares, colors, width=sheet.width)
    sheet.label_rows([names[name] for name in datasets], header="dataset")
    write_columns(sheet, side)
    draw_legend(sheet, legend, [Patch(color=color) for color in colors])
    return sheet.figure


def _order_labels(labels: str) -> tuple[bool, int]:
    return labels == MORE, 0 if labels == MORE else int(labels)


def _name_numbers(numbers: Sequence[str]) -> list[str]:
    """Write numbers of labels for the legend; the last may be all beyond those before it."""
    return [
        ("more labels" if number == MORE else f"{number} label" + "s" * (number != "1"))
        for number in numbers
    ]


def _choose_colors(count: int) -> list[str]:
    """Colors from light to dark, as many as there are numbers of labels."""
    colors = mpl.colormaps[COLORS]
    return [to_hex(colors(place)) for place in np.linspace(0.05, 0.95, count)]


def _stack_shares(axes: Axes, percents: np.ndarray, colors: Sequence[str], *, width: float) -> None:
    """Draw the parts of each row one after the other, with their percents where they fit."""
    rows = np.arange(len(percents))
    starts = np.cumsum(percents, axis=1) - percents
    for part, color in enumerate(colors):
        axes.barh(
            rows, percents[:, part], 0.78, starts[:, part], color=color, edgecolor="white", lw=0.3
        )
        ink = "white" if float(np.dot(to_rgb(color), (0.3, 0.59, 0.11))) < DARK else INK
        for row, percent in enumerate(percents[:, part]):
            text = f"{percent:.1f}"
            if widest([text], size=SMALL_SIZE) + GAP / 2 < width * percent / 100:
                middle = starts[row, part] + percent / 2
                look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "size": SMALL_SIZE}
                axes.text(middle, row, text, color=ink, **look)
    axes.set_xlim(0, 100)
    axes.xaxis.set_major_locator(FixedLocator(range(0, 101, 20)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
