"""A grid of colored cells, models against datasets, that shows which cells are empty."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import Colormap, Normalize
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
MAX_WRITTEN = 800
HATCH_COLOR = "#9A9A9A"
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
    the cells where they fit at 6 points and where there are at most 800.
    """
    rows, columns = "model", "dataset"
    if table.shape[1] > MAX_MODELS:
        table, rows, columns = table.T, columns, rows
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
    mesh = _draw_cells(sheet, table.to_numpy(float), scale)
    sheet.label_rows(labels.texts, header=rows)
    sheet.axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90 if upright else 0)
    sheet.axes.tick_params(length=0)
    sheet.axes.spines[:].set_visible(False)
    _draw_scale(sheet, mesh, table.to_numpy(float), scale)
    return sheet.figure


def _fit_columns(names: Sequence[str], cell_width: float) -> tuple[list[str], bool]:
    """Labels of the columns, and whether they have to stand upright."""
    labels = shorten_names(names, width=COLUMN_LABEL, size=TEXT_SIZE)
    upright = widest(labels.values(), size=TEXT_SIZE) > cell_width - GAP / 2
    return [labels[name] for name in names], upright


def _draw_cells(sheet: Sheet, values: np.ndarray, scale: Scale) -> QuadMesh:
    rows, columns = values.shape
    mesh = sheet.axes.pcolormesh(
        np.arange(columns + 1),
        np.arange(rows + 1) - 0.5,
        np.ma.masked_invalid(values),
        cmap=scale.colors,
        norm=Normalize(scale.low, scale.high),
        edgecolors="white",
        linewidth=0.4,
    )
    empty = [
        ((column, row - 0.5), (column + 1, row - 0.5), (column + 1, row + 0.5), (column, row + 0.5))
        for row, column in np.argwhere(~np.isfinite(values))
    ]
    hatched = PolyCollection(
        empty, hatch="//////", facecolor="white", edgecolor=HATCH_COLOR, linewidth=0
    )
    sheet.axes.add_collection(hatched, autolim=False)
    _write_values(sheet, mesh, values, scale)
    return mesh


def _write_values(sheet: Sheet, mesh: QuadMesh, values: np.ndarray, scale: Scale) -> None:
    texts = _fit_texts(values, sheet.width / values.shape[1], scale)
    for (row, column), text in texts.items():
        color = mesh.cmap(mesh.norm(values[row, column]))
        dark = np.dot(color[:3], (0.299, 0.587, 0.114)) < 0.5
        sheet.axes.text(
            column + 0.5,
            row,
            text,
            size=SMALL_SIZE,
            color="white" if dark else "black",
            ha="center",
            va="center",
        )


def _fit_texts(values: np.ndarray, cell_width: float, scale: Scale) -> dict[tuple[int, int], str]:
    """Texts of the cells by row and column, empty when they do not fit."""
    filled = [(int(row), int(column)) for row, column in np.argwhere(np.isfinite(values))]
    if values.size > MAX_WRITTEN:
        return {}
    for write in scale.formats:
        texts = {cell: write(values[cell]) for cell in filled}
        if widest(texts.values(), size=SMALL_SIZE) <= cell_width - 0.03:
            return texts
    return {}


def _draw_scale(sheet: Sheet, mesh: QuadMesh, values: np.ndarray, scale: Scale) -> None:
    low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
    left = PADDING - sheet.left
    bottom = sheet.height + HEADER_HEIGHT + 0.12
    axes = sheet.add_axes(left=left + 0.06, bottom=bottom, width=SCALE_WIDTH, height=SCALE_HEIGHT)
    sheet.write(scale.label, x=left, y=bottom + SCALE_HEIGHT + 0.05)
    bar = sheet.figure.colorbar(
        mesh,
        cax=axes,
        orientation="horizontal",
        extend=extend.get((bool(low < scale.low), bool(high > scale.high)), "neither"),
        ticks=MaxNLocator(4, integer=scale.integer),
        format=StrMethodFormatter("{x:g}"),
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=1.5, pad=1.5, labelsize=SMALL_SIZE)
