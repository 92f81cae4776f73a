"""The mark grid: colored cells, such as models against datasets, the empty ones hatched."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
    LEAST_WIDTH,
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
    SMALL_SIZE,
    TEXT_SIZE,
    break_name,
    column_width,
    page_width,
    shorten_names,
    widest,
)
from capmap.wording import label_scores

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
PLACE_NOTE = "In brackets: rank."
CORNER_SIZE = 0.055
DARK, BRIGHTNESS = 0.5, (0.299, 0.587, 0.114)

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


def draw_grid(
    table: pd.DataFrame,
    *,
    scale: Scale,
    wording: Wording,
    writings: Sequence[Writing],
    corners: pd.DataFrame | None = None,
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
    corners : DataFrame of bool, optional
        Which cells have a black triangle in the upper right corner, arranged as the table.

    Notes
    -----
    More than 40 columns become rows. Empty cells are hatched. At most 480 cells have texts, where
    they fit at 6 points in at most eight inches. The colors are an image in PDF and SVG files too,
    which keeps those of large tables small.
    """
    if table.shape[1] > MAX_MODELS:
        table = table.T
        writings = [replace(writing, texts=writing.texts.T) for writing in writings]
        corners = None if corners is None else corners.T
    rows, columns = str(table.index.name), str(table.columns.name)
    margins = 3 * PADDING + GAP
    spare = page_width() - margins - ROOMY_CELL * table.shape[1]
    wide = min(max(spare, WIDE_LABEL), WIDEST_LABEL)
    rest = margins + max(LEAST_WIDTH, LEAST_CELL * table.shape[1])
    labels = fit_labels(list(table.index), narrow=NARROW_LABEL, wide=wide, rest=rest)
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
    if corners is not None:
        _draw_corners(sheet, corners)
    told = table.map(lambda value: f"{value:.4g}" if value == value else "").to_numpy().tolist()
    names_of = list(table.index), list(table.columns)
    mark_cells(sheet.axes, *names_of, kinds=(rows, columns), texts=told)
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


def draw_places(
    cells: pd.DataFrame,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    statistic: str,
    wording: Wording,
) -> Figure:
    """Draw scores with ranks.

    Parameters
    ----------
    cells : DataFrame
        score and rank, either may be empty, by row and column.
    rows, columns : sequence of str
        In the order in which they are drawn, of columns the first 40.
    statistic : str
        What the scores are.
    wording : Wording
        Words around the axes.

    Notes
    -----
    The rank in its column stands behind a score, and the first one has a corner.
    """
    kept = list(columns)[:MAX_MODELS]
    cells = cells[["score", "rank"]].astype("float64")
    scores, ranks = (pivot_cells(cells[name], rows, kept) for name in ("score", "rank"))
    notes = [*wording.notes, f"Corner: first of its {scores.columns.name}."]
    if len(kept) < len(columns):
        notes.append(f"First {MAX_MODELS} of {len(columns)} {scores.columns.name}s.")
    if scores.isna().to_numpy().any():
        notes.append("Hatched: no score.")
    places = ranks.map(lambda rank: "" if rank != rank else f" ({rank:.0f})")
    ways = [scores.map(partial(format_decimal, decimals=n)) + places for n in (3, 2)]
    ways.append(ways[-1].map(lambda text: text.replace(" ", "\n")))
    return draw_grid(
        scores,
        scale=Scale(label_scores(statistic), *span_colors(scores), RISING),
        wording=replace(wording, notes=tuple(notes)),
        writings=[*(Writing(way, PLACE_NOTE) for way in ways), *write_decimals(scores, 2)],
        corners=ranks == 1,
    )


def write_decimals(table: pd.DataFrame, *ways: int) -> list[Writing]:
    """Ways to write values, by their number of decimals."""
    return [Writing(table.map(partial(format_decimal, decimals=n))) for n in ways]


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
    brightness = mesh.to_rgba(values)[..., :3] @ BRIGHTNESS
    look: dict[str, Any] = {"size": SMALL_SIZE, "ha": "center", "va": "center"}
    for (row, column), text in np.ndenumerate(texts.to_numpy()):
        if text:
            color = "white" if brightness[row, column] < DARK else "black"
            axes.text(column + 0.5, row + 0.5, text, color=color, **look)


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


def _draw_corners(sheet: Sheet, cells: pd.DataFrame) -> None:
    size = (sheet.width / cells.shape[1], sheet.height / cells.shape[0])
    across, down = (min(CORNER_SIZE / length, 0.4) for length in size)
    rows, columns = np.nonzero(cells.to_numpy(bool))
    corner = np.array([(1 - across, 0), (1, 0), (1, down)])
    places = corner + np.column_stack([columns, rows])[:, None, :]
    signs = PolyCollection(list(places), facecolors="black", linewidths=0)
    sheet.axes.add_collection(signs, autolim=False)
