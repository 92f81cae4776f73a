"""A grid of colored cells, models against datasets, that shows which cells are empty."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    MAX_MODELS,
    PADDING,
    Margins,
    Sheet,
    Wording,
    fit_labels,
    make_sheet,
)
from capmap.figures.names import shorten_names, widest
from capmap.figures.style import PAGE_WIDTH, SMALL_SIZE, TEXT_SIZE

ROW_HEIGHT = 0.15
NARROW_LABEL = 1.1
WIDE_LABEL = 2.1
COLUMN_LABEL = 1.2
NARROW_COLUMNS = 8
MAX_WRITTEN = 360
HATCH = {"hatch": "//////", "facecolor": "white", "edgecolor": "#9A9A9A"}
SCALE_HEIGHT = 0.07
SCALE_WIDTH = 1.6
SCALE_ROOM = 0.4


@dataclass(frozen=True)
class Scale:
    """What the colors of a heat map mean.

    Parameters
    ----------
    label : str
        Quantity and unit.
    low, high : float
        Values of the first and the last color; values beyond have these colors too.
    formats : sequence of callable
        Ways to write a value into its cell; the first whose texts all fit is used.
    colors : str or Colormap
        From the lowest to the highest value.
    integer : bool
        Whether only whole numbers make sense on the scale.
    """

    label: str
    low: float
    high: float
    formats: Sequence[Callable[[float], str]]
    colors: str | Colormap
    integer: bool = False


def draw_heatmap(table: pd.DataFrame, *, scale: Scale, wording: Wording) -> Figure:
    """Draw a table of models (rows) against datasets (columns) as colored cells.

    Parameters
    ----------
    table : DataFrame
        Values, NaN where a cell is empty, in the order in which they are drawn.
    scale : Scale
        What the colors mean.
    wording : Wording
        Words around the axes; its x label is replaced.

    Notes
    -----
    More datasets than a page is wide become rows. Empty cells are hatched. Values are written into
    the cells where they fit at 6 points and where there are at most 360. The colors are an image
    in PDF and SVG files too, which keeps those of large tables small.
    """
    table = table.rename_axis(index="model", columns="dataset")
    if table.shape[1] > MAX_MODELS:
        table = table.T
    rows, columns = str(table.index.name), str(table.columns.name)
    labels = fit_labels(list(table.index), narrow=NARROW_LABEL, wide=WIDE_LABEL)
    crowded = table.shape[1] > NARROW_COLUMNS
    sheet_width = PAGE_WIDTH if crowded else labels.sheet_width
    left = PADDING + max(labels.width, 0.45) + GAP
    cell_width = (sheet_width - left - 2 * PADDING) / table.shape[1]
    names, upright = _fit_columns(list(table.columns), cell_width)
    ticks = GAP + (widest(names, size=TEXT_SIZE) if upright else TEXT_SIZE * 1.3 / 72)
    sheet = make_sheet(
        width=sheet_width,
        height=table.shape[0] * ROW_HEIGHT,
        margins=Margins(left=left, right=2 * PADDING, head=SCALE_ROOM + HEADER_HEIGHT, ticks=ticks),
        wording=replace(wording, x_label=columns),
    )
    _draw_cells(sheet, table, scale)
    sheet.axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90 if upright else 0)
    sheet.axes.set_yticks(np.arange(len(table)) + 0.5, labels.texts)
    sheet.axes.tick_params(length=0)
    sheet.head_rows(rows, distance=GAP / 2)
    return sheet.figure


def _fit_columns(names: Sequence[str], cell_width: float) -> tuple[list[str], bool]:
    """Labels of the columns, and whether they have to stand upright."""
    labels = shorten_names(names, width=COLUMN_LABEL, size=TEXT_SIZE)
    upright = widest(labels.values(), size=TEXT_SIZE) > cell_width - GAP / 2
    return [labels[name] for name in names], upright


def _draw_cells(sheet: Sheet, table: pd.DataFrame, scale: Scale) -> None:
    """Draw the cells over a hatched ground, which shows where there is none."""
    sheet.axes.patch.set(**HATCH)
    beyond = (table < scale.low).any(axis=None) + 2 * (table > scale.high).any(axis=None)
    sns.heatmap(
        table,
        ax=sheet.axes,
        vmin=scale.low,
        vmax=scale.high,
        cmap=scale.colors,
        annot=_fit_texts(table, sheet.width / table.shape[1], scale),
        fmt="",
        annot_kws={"size": SMALL_SIZE},
        linewidths=0.4,
        rasterized=True,
        cbar_ax=_add_scale(sheet, scale.label),
        cbar_kws={
            "orientation": "horizontal",
            "extend": ("neither", "min", "max", "both")[beyond],
            "ticks": MaxNLocator(4, integer=scale.integer),
            "format": StrMethodFormatter("{x:g}"),
        },
        xticklabels=False,
        yticklabels=False,
    )
    _color_texts(sheet.axes, table)


def _fit_texts(table: pd.DataFrame, cell_width: float, scale: Scale) -> pd.DataFrame | None:
    """Texts of the cells, or None when they do not fit."""
    if table.size > MAX_WRITTEN:
        return None
    for write in scale.formats:
        texts = table.map(lambda value, write=write: write(value) if value == value else "")
        if widest(texts.to_numpy().ravel(), size=SMALL_SIZE) <= cell_width - 0.03:
            return texts
    return None


def _color_texts(axes: Axes, table: pd.DataFrame) -> None:
    """Write in white on dark cells only; seaborn's white is hard to read on medium ones."""
    mesh, values = axes.collections[0], table.to_numpy()
    for text in axes.texts:
        column, row = (int(place) for place in text.get_position())
        color = mesh.to_rgba(values[row, column])
        dark = np.dot(color[:3], (0.299, 0.587, 0.114)) < 0.5
        text.set_color("white" if dark else "black")


def _add_scale(sheet: Sheet, label: str) -> Axes:
    """Axes for the scale of colors above the cells, under their label."""
    left = PADDING - sheet.left
    bottom = sheet.height + HEADER_HEIGHT + 0.12
    sheet.write(label, x=left, y=bottom + SCALE_HEIGHT + 0.05)
    axes = sheet.add_axes(left=left + 0.06, bottom=bottom, width=SCALE_WIDTH, height=SCALE_HEIGHT)
    axes.tick_params(length=1.5, pad=1.5, labelsize=SMALL_SIZE)
    return axes
