"""The mark grid: colored cells, such as models against datasets, the empty ones hatched."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    MAX_MODELS,
    PADDING,
    Sheet,
    Wording,
    fit_labels,
    format_decimal,
    make_sheet,
)
from capmap.figures.marks import mark_cells
from capmap.figures.style import (
    GRID_COLOR,
    SMALL_SIZE,
    TEXT_SIZE,
    break_name,
    column_width,
    page_width,
    shorten_names,
    widest,
)

ROW_HEIGHT = 0.15
NARROW_LABEL = 1.1
WIDE_LABEL = 2.1
WIDEST_LABEL = 3.6
ROOMY_CELL = 0.45
COLUMN_LABEL = 1.6
NARROW_COLUMNS = 8
NARROW_CELL = 0.2
LEAST_CELL = 0.115
MAX_WRITTEN = 480
HATCH = {"hatch": "//////", "facecolor": "white", "edgecolor": "#CDCDCD"}
SCALE_HEIGHT = 0.07
SCALE_WIDTH = 1.6
SCALE_ROOM = 0.4
LINE_HEIGHT = SMALL_SIZE * 1.25 / 72
MAX_WRITTEN_HEIGHT = 8.0
MOST_HEIGHT = 7.2
CORNER_SIZE = 0.055
DARK = 0.5
VERY_DARK = 0.3

# Blue is better, in all figures: from worse over equal to better, where the orange end is brighter
# than the blue one, in gray too, and from nothing to the best.
DIVERGING = LinearSegmentedColormap.from_list("diverging", ("#D98200", "#F7F7F7", "#2B6CB0"))
RISING = LinearSegmentedColormap.from_list("rising", ("#F4F7FB", "#3B82BD"))

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """What the colors of a heat map mean.

    Parameters
    ----------
    label : str
        Quantity and unit.
    low, high : float
        Values of the first and the last color; values beyond have these colors too.
    colors : str or Colormap
        From the lowest to the highest value.
    """

    label: str
    low: float
    high: float
    colors: str | Colormap


@dataclass(frozen=True)
class Writing:
    """A way to write into the cells of a heat map.

    Parameters
    ----------
    texts : DataFrame of str
        Texts of one or several lines, arranged as the table.
    note : str
        What the texts mean, said under the axes.
    """

    texts: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class Mark:
    """A sign that some cells of a heat map carry.

    Parameters
    ----------
    cells : DataFrame of bool
        Which cells, arranged as the table.
    is_cover : bool
        Whether it is a gray cover of the whole cell, instead of a triangle in the upper right
        corner that is black, or white on a very dark cell.
    """

    cells: pd.DataFrame
    is_cover: bool = False


def draw_grid(
    table: pd.DataFrame,
    *,
    scale: Scale,
    wording: Wording,
    writings: Sequence[Writing],
    marks: Sequence[Mark] = (),
    hover: pd.DataFrame | None = None,
) -> Figure:
    """Draw a table as colored cells.

    Parameters
    ----------
    table : DataFrame
        Values, NaN where a cell is empty, in the order in which they are drawn. Its index and its
        columns are the labels, and their names say what the labels are.
    scale : Scale
        What the colors mean.
    wording : Wording
        Words around the axes; its x label is replaced by the name of the columns.
    writings : sequence of Writing
        Ways to write into the cells; the first that fits is used.
    marks : sequence of Mark
        Signs in the cells, drawn in this order.
    hover : DataFrame, optional
        What pages show of the cells below their value, arranged as the table; NaN for nothing.

    Notes
    -----
    More than 40 columns become rows. Empty cells are hatched. At most 480 cells have texts, where
    they fit at 6 points in at most eight inches. The colors are an image in PDF and SVG files too,
    which keeps those of large tables small.
    """
    if table.shape[1] > MAX_MODELS:
        table = table.T
        writings = [replace(writing, texts=writing.texts.T) for writing in writings]
        marks = [replace(mark, cells=mark.cells.T) for mark in marks]
        hover = None if hover is None else hover.T
    rows, columns = str(table.index.name), str(table.columns.name)
    spare = page_width() - 3 * PADDING - GAP - ROOMY_CELL * table.shape[1]
    wide = min(max(spare, WIDE_LABEL), WIDEST_LABEL)
    labels = fit_labels(list(table.index), narrow=NARROW_LABEL, wide=wide)
    left = PADDING + max(labels.width, 0.45) + GAP
    around = left + 2 * PADDING
    crowded = table.shape[1] > min(NARROW_COLUMNS, (column_width() - around) / NARROW_CELL)
    least = around + table.shape[1] * LEAST_CELL
    sheet_width = page_width(least) if crowded else labels.sheet_width
    cell_width = (sheet_width - around) / table.shape[1]
    names, upright = fit_columns(list(table.columns), cell_width)
    written = _fit_writing(writings, cell_width - 0.03)
    notes = (*wording.notes, written.note) if written.note else wording.notes
    row_height = max(_row_height(written.texts), ROW_HEIGHT + labels.extra_height)
    if written.texts.empty:
        row_height = min(row_height, MOST_HEIGHT / len(table))
    sheet = make_sheet(
        width=sheet_width,
        height=table.shape[0] * row_height,
        wording=replace(wording, x_label=columns, notes=notes),
        left=left,
        right=2 * PADDING,
        head=SCALE_ROOM + HEADER_HEIGHT,
        ticks=measure_ticks(names, upright=upright),
    )
    sheet.axes.patch.set(**HATCH)
    mesh = _color_cells(sheet, table, scale)
    _write_texts(sheet.axes, mesh, table.to_numpy(float), written.texts)
    _draw_marks(sheet, table, marks)
    texts = table.map(lambda value: f"{value:.4g}" if value == value else "")
    if hover is not None:
        texts = texts + hover.map(lambda more: f"\n{more}" if more == more else "").to_numpy()
    kinds, told = (rows, columns), texts.to_numpy().tolist()
    mark_cells(sheet.axes, list(table.index), list(table.columns), kinds=kinds, texts=told)
    sheet.axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90 if upright else 0)
    sheet.axes.set_yticks(np.arange(len(table)) + 0.5, labels.texts)
    sheet.axes.tick_params(length=0)
    sheet.head_rows(rows, distance=GAP / 2)
    return sheet.figure


def _color_cells(sheet: Sheet, table: pd.DataFrame, scale: Scale) -> ScalarMappable:
    """Draw the cells of a table that have a value, y running down, and the scale above them."""
    values = table.to_numpy(float)
    beyond = (values < scale.low).any() + 2 * (values > scale.high).any()
    mesh = sheet.axes.pcolormesh(
        np.ma.masked_invalid(values),
        vmin=scale.low,
        vmax=scale.high,
        cmap=scale.colors,
        edgecolors="white",
        linewidth=0.4,
        rasterized=True,
    )
    sheet.axes.set(xlim=(0, table.shape[1]), ylim=(table.shape[0], 0))
    sheet.axes.spines[["left", "bottom"]].set_visible(False)
    left, bottom = PADDING - sheet.left, sheet.height + HEADER_HEIGHT + 0.12
    sheet.write(scale.label, x=left, y=bottom + SCALE_HEIGHT + 0.05)
    axes = sheet.add_axes(left=left + 0.06, bottom=bottom, width=SCALE_WIDTH, height=SCALE_HEIGHT)
    axes.tick_params(length=1.5, pad=1.5, labelsize=SMALL_SIZE)
    bar = sheet.figure.colorbar(
        mesh,
        cax=axes,
        orientation="horizontal",
        extend=("neither", "min", "max", "both")[beyond],
        ticks=MaxNLocator(4),
        format=StrMethodFormatter("{x:g}"),
    )
    bar.outline.set_linewidth(0)
    if bar.solids is not None:
        bar.solids.set_rasterized(True)
    return mesh


def pivot_cells(
    values: "pd.Series[Any]", rows: Sequence[str], columns: Sequence[str] | Sequence[int]
) -> pd.DataFrame:
    """Arrange values, indexed by row and column, as rows against columns; NaN where there is none.

    Examples
    --------
    >>> values = pd.Series([0.5, 1.0], index=pd.MultiIndex.from_tuples([("a", "d"), ("b", "e")]))
    >>> pivot_cells(values, ["b", "a"], ["d", "e"]).to_numpy().tolist()
    [[nan, 1.0], [0.5, nan]]
    """
    places = pd.MultiIndex.from_product([rows, columns])
    cells = values.reindex(places).to_numpy().reshape(len(rows), len(columns))
    names = values.index.names
    return pd.DataFrame(cells, pd.Index(rows, name=names[0]), pd.Index(columns, name=names[1]))


def mark_diagonal(table: pd.DataFrame) -> Mark:
    """Gray out the cells of a square table in which a model would meet itself."""
    same = pd.DataFrame(np.eye(len(table), dtype=bool), table.index, table.columns)
    return Mark(same, is_cover=True)


def span_evenly(values: pd.DataFrame) -> float:
    """End of a scale of colors that reaches as far below zero as above it.

    Notes
    -----
    It spans 98% of the finite values, so an outlier does not hide the rest; 1 where there are none
    or all are zero.
    """
    sizes = np.abs(values.to_numpy(float))
    sizes = sizes[np.isfinite(sizes)]
    return (float(np.quantile(sizes, 0.98)) or float(sizes.max()) or 1.0) if sizes.size else 1.0


def span_colors(values: pd.DataFrame, *, share: float = 1.0) -> tuple[float, float]:
    """Ends of a scale over the middle share of values, apart even when these are equal or missing.

    Examples
    --------
    >>> span_colors(pd.DataFrame([[0.25, 0.5]])), span_colors(pd.DataFrame([[1.0]]))
    ((0.25, 0.5), (0.5, 1.5))
    """
    known = values.to_numpy(float)
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0, 1.0
    low, high = (float(end) for end in np.quantile(known, ((1 - share) / 2, (1 + share) / 2)))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def write_places(values: pd.DataFrame, ranks: pd.DataFrame, decimals: int) -> pd.DataFrame:
    """Write scores, each with its rank in brackets where it has one."""
    places = ranks.map(lambda rank: "" if rank != rank else f" ({rank:.0f})")
    return values.map(lambda value: format_decimal(value, decimals)) + places


def fit_columns(names: Sequence[str], cell_width: float) -> tuple[list[str], bool]:
    """Labels of columns, whole in one or two lines if they fit, and whether they stand upright."""
    ways = [(cell_width - GAP / 4, False)]
    if cell_width > 2.5 * LINE_HEIGHT:
        ways += [(0.75 * COLUMN_LABEL, True), (COLUMN_LABEL, True)]
    for room, upright in ways:
        whole = [break_name(name, width=room, size=TEXT_SIZE) for name in names]
        if all(whole):
            return whole, upright
    labels = shorten_names(names, width=COLUMN_LABEL, size=TEXT_SIZE)
    upright = widest(labels.values(), size=TEXT_SIZE) > cell_width - GAP / 2
    return [labels[name] for name in names], upright


def measure_ticks(labels: Sequence[str], *, upright: bool) -> float:
    """Height of the labels of the columns, with the gap above them, in inches."""
    if upright:
        lines = [line for label in labels for line in label.split("\n")]
        return GAP + widest(lines, size=TEXT_SIZE)
    return GAP + (1 + max(label.count("\n") for label in labels)) * TEXT_SIZE * 1.3 / 72


def _write_texts(axes: Axes, mesh: ScalarMappable, values: FloatArray, texts: pd.DataFrame) -> None:
    """Write into the cells, in white on dark ones."""
    for (row, column), text in np.ndenumerate(texts.to_numpy()):
        if text:
            axes.text(
                column + 0.5,
                row + 0.5,
                text,
                size=SMALL_SIZE,
                ha="center",
                va="center",
                color=_find_contrast(mesh, values[row, column], DARK),
            )


def _fit_writing(ways: Iterable[Writing], room: float) -> Writing:
    """Choose the first way of writing whose texts fit, or one without texts when none does."""
    for way in ways:
        if way.texts.size > MAX_WRITTEN:
            break
        lines = [line for text in way.texts.to_numpy().ravel() for line in text.split("\n")]
        fits = widest(lines, size=SMALL_SIZE) <= room
        if fits and len(way.texts) * _row_height(way.texts) <= MAX_WRITTEN_HEIGHT:
            return way
    return Writing(pd.DataFrame())


def _row_height(texts: pd.DataFrame) -> float:
    """Height of a row in inches, by the lines of its texts."""
    breaks = max((text.count("\n") for text in texts.to_numpy().ravel()), default=0)
    return ROW_HEIGHT + breaks * LINE_HEIGHT


def _draw_marks(sheet: Sheet, table: pd.DataFrame, marks: Sequence[Mark]) -> None:
    mesh, values = sheet.axes.collections[0], table.to_numpy(float)
    size = (sheet.width / table.shape[1], sheet.height / table.shape[0])
    across, down = (min(CORNER_SIZE / length, 0.4) for length in size)
    cover, corner = [(0, 0), (1, 0), (1, 1), (0, 1)], [(1 - across, 0), (1, 0), (1, down)]
    for mark in marks:
        rows, columns = np.nonzero(mark.cells.to_numpy(bool))
        outline = np.array(cover if mark.is_cover else corner)
        places = outline + np.column_stack([columns, rows])[:, None, :]
        marked = values[rows, columns]
        colors = [
            GRID_COLOR if mark.is_cover else _find_contrast(mesh, value, VERY_DARK)
            for value in marked
        ]
        signs = PolyCollection(list(places), facecolors=colors, linewidths=0)
        sheet.axes.add_collection(signs, autolim=False)


def _find_contrast(mesh: ScalarMappable, value: Any, dark: float) -> str:
    """White on the cells of a mesh whose brightness is below a limit, otherwise black."""
    if value != value:
        return "black"
    brightness = np.dot(mesh.to_rgba(value)[:3], (0.299, 0.587, 0.114))
    return "white" if brightness < dark else "black"
