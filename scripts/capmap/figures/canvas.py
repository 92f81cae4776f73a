"""The sheet that a figure is drawn on: one pair of axes with margins measured in inches.

Margins follow from the widths of the texts in them, so nothing is cut off and no layout engine
runs. Above the axes stands a legend.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.analyses import FIGURES, list_parameters, load_analysis, place_read
from capmap.figures.marks import mark, mark_rows
from capmap.figures.style import (
    FAINT_INK,
    SMALL_SIZE,
    TEXT_SIZE,
    arrange_models,
    break_name,
    column_width,
    current_look,
    page_width,
    shorten_names,
    widest,
    wrap_text,
)

ROW_HEIGHT = 0.165
MAX_MODELS = 40
MAX_DATASETS = 60
MOST_BROKEN = 24
PADDING = 0.06
GAP = 0.08
HEADER_HEIGHT = 0.16
TICKS_HEIGHT = 0.19
HEADING_SIZE = 8.0
_LEADING = 1.3 / 72

KEY_WIDTH = 0.3
LINE_HEIGHT = 0.14

# The least room for what is drawn, where a width is asked for; a figure that needs more is wider.
LEAST_WIDTH = 0.5
LEAST_LABEL = 0.6
COLUMN_GAP = 1.5 * GAP
MINUS = "\N{MINUS SIGN}"
ONE_MODEL = "There is nothing to compare with one model."
RANK_NOTE = "In brackets: confidence set of the rank."


class NothingToDraw(Exception):  # noqa: N818 - no fault
    """A figure would be empty; the message says why, and the figure is not drawn."""


@dataclass(frozen=True)
class Wording:
    """What a figure says around its axes.

    Parameters
    ----------
    heading : str
        What is shown.
    x_label : str
        What the x axis means, with its unit.
    notes : tuple of str
        Sentences under the axes: what marks mean and what was left out.
    """

    heading: str
    x_label: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A figure, its main axes, and their place on it, in inches from the lower left corner.

    Parameters
    ----------
    figure, axes : Figure, Axes
        What is drawn on.
    left, bottom, width, height : float
        Place of the axes in the layout.
    """

    figure: Figure
    axes: Axes
    left: float
    bottom: float
    width: float
    height: float

    def add_axes(self, *, left: float, bottom: float, width: float, height: float) -> Axes:
        """Add axes at a place relative to the main axes' lower left corner, in inches."""
        across, up = self.figure.get_size_inches()
        place = ((self.left + left) / across, (self.bottom + bottom) / up)
        return self.figure.add_axes((*place, width / across, height / up))

    def add_panel(self, *, left: float, bottom: float, width: float, height: float) -> "Sheet":
        """Add axes, as `add_axes` does, that are a sheet of their own."""
        axes = self.add_axes(left=left, bottom=bottom, width=width, height=height)
        place = (self.left + left, self.bottom + bottom)
        return Sheet(self.figure, axes, *place, width, height)

    def add_layer(self) -> Axes:
        """Add empty axes above the main ones, whose unit is an inch."""
        layer = self.add_axes(left=0, bottom=0, width=self.width, height=self.height)
        layer.set(xlim=(0, self.width), ylim=(0, self.height))
        layer.set_axis_off()
        return layer

    def write(self, text: str, *, x: float, y: float, **look: Any) -> Text:
        """Write text at a place relative to the main axes' lower left corner, in inches."""
        across, up = self.figure.get_size_inches()
        place = ((self.left + x) / across, (self.bottom + y) / up)
        return self.figure.text(*place, text, **look)

    def label_rows(
        self,
        labels: Sequence[str],
        *,
        header: str,
        names: Iterable[str] = (),
        texts: Sequence[str] = (),
    ) -> None:
        """Number the rows from the top, label them, and head the column of labels.

        Parameters
        ----------
        labels : sequence of str
            What is written.
        header : str
            What the rows are.
        names, texts : iterable of str
            The rows' names, which labels may shorten, and what pages show of each.
        """
        mark_rows(self.axes, list(names) or labels, kind=header, texts=texts)
        self.axes.set_ylim(len(labels) - 0.5, -0.5)
        self.axes.set_yticks(range(len(labels)), labels)
        self.head_rows(header, distance=GAP / 2)

    def head_rows(self, header: str, *, distance: float) -> None:
        """Say above the row labels, whose distance from the axes is in inches, what they are."""
        self.axes.set_ylabel(header, rotation=0, ha="right", va="bottom", color=FAINT_INK)
        self.axes.yaxis.set_label_coords(-distance / self.width, 1 + 0.02 / self.height)

    def limit_ticks(self) -> None:
        """Keep the numbers of the x axis few and short."""
        number_axis(self.axes.xaxis, most=max(1, int(self.width / 0.5)))


def number_axis(axis: Axis, *, most: int) -> None:
    """Write short numbers at an axis, at the ends of at most so many parts."""
    steps = [1, 2, 2.5, 5, 10]
    axis.set_major_locator(MaxNLocator(most, steps=steps, min_n_ticks=min(most, 3)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))


def make_sheet(
    *,
    width: float,
    height: float,
    wording: Wording,
    left: float,
    right: float,
    head: float = HEADER_HEIGHT,
    ticks: float = TICKS_HEIGHT,
    keys: Mapping[str, Artist] = MappingProxyType({}),
) -> Sheet:
    """Make a figure of a width whose axes have a height, and write its words and its legend.

    Parameters
    ----------
    width, height : float
        Of the figure and of its main axes, in inches.
    wording : Wording
        Words around the axes.
    left, right, head, ticks : float
        Room around the axes for what belongs to them, in inches: above them beside the legend, and
        below them for the labels of ticks.
    keys : mapping of str to Artist
        Samples of a legend above the axes, by their names.
    """
    if current_look().width:
        width = max(width, left + right + LEAST_WIDTH)
    room = width - 2 * PADDING
    axes_width = width - left - right
    legend = plan_legend(list(keys), sheet_width=width) if keys else None
    head += legend.height if legend else 0
    top = _wrap(wording.heading, room, HEADING_SIZE)
    label = wrap_text(wording.x_label, width=max(axes_width, 1.2), size=TEXT_SIZE, max_lines=4)
    foot = [line for note in wording.notes for line in _wrap(note, room, SMALL_SIZE)]
    below = ticks + len(label) * TEXT_SIZE * _LEADING + PADDING
    below += len(foot) * SMALL_SIZE * _LEADING + (PADDING if foot else 0)
    total = below + height + head + len(top) * HEADING_SIZE * _LEADING + PADDING
    figure = Figure(figsize=(width, total))
    box = (left / width, below / total, axes_width / width, height / total)
    axes = figure.add_axes(box)
    sheet = Sheet(figure, axes, left, below, axes_width, height)
    axes.set_xlabel("\n".join(label), linespacing=1.1, va="top")
    axes.xaxis.set_label_coords(0.5, -ticks / height)
    y = total - PADDING
    for line in top:
        figure.text(PADDING / width, y / total, line, size=HEADING_SIZE, va="top")
        y -= HEADING_SIZE * _LEADING
    for position, line in enumerate(reversed(foot)):
        y = PADDING + position * SMALL_SIZE * _LEADING
        figure.text(PADDING / width, y / total, line, size=SMALL_SIZE, color=FAINT_INK)
    if legend:
        draw_legend(sheet, legend, list(keys.values()))
    return sheet


@dataclass(frozen=True)
class Labels:
    """Labels of rows, the widest in inches, and the width of a figure with room.

    Labels of two lines need `extra_height` inches more of their rows.
    """

    texts: list[str]
    width: float
    sheet_width: float
    extra_height: float = 0.0


def fit_labels(names: Sequence[str], *, narrow: float, wide: float, rest: float = 0.0) -> Labels:
    """Label rows in a figure that is a column wide if all labels fit, otherwise a page wide.

    Parameters
    ----------
    names : sequence of str
        Names of the rows.
    narrow, wide : float
        Room for a label in a column and in a page, in inches.
    rest : float
        What else needs room: where a width is asked for, labels have all that is left of it.

    Notes
    -----
    Of at most 24 names those that are longer are broken into two lines; what is still too long is
    shortened.
    """
    if current_look().width and rest:
        wide = max(page_width() - rest, LEAST_LABEL)
    labels = shorten_names(names, width=wide, size=TEXT_SIZE)
    texts = [labels[name] for name in names]
    if len(names) <= MOST_BROKEN:
        texts = [break_name(name, width=wide, size=TEXT_SIZE) or labels[name] for name in names]
    lines = [line for text in texts for line in text.split("\n")]
    width = widest(lines, size=TEXT_SIZE)
    sheet_width = column_width() if width <= narrow else page_width()
    extra = LINE_HEIGHT if len(lines) > len(texts) else 0.0
    return Labels(texts, width, sheet_width, extra)


def choose_models(models: Iterable[str], order: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Choose the models that a figure has room for.

    Parameters
    ----------
    models : iterable of str
        All models of the table.
    order : sequence of str
        Models from the best to the worst; those that it lacks follow by name. Empty: by name. The
        study's own order comes first, and its models are drawn in place of the last ones.

    Returns
    -------
    list of str
        At most 40 models, best first.
    tuple of str
        A note about those left out; empty when there are none.
    """
    place = {model: position for position, model in enumerate(order)}
    ranked = sorted(set(models), key=lambda model: (place.get(model, len(place)), model))
    if len(ranked) <= MAX_MODELS:
        return arrange_models(ranked), ()
    wanted = current_look().order
    chosen = set(sorted(ranked, key=lambda model: model not in wanted)[:MAX_MODELS])
    first = next(place for place, model in enumerate(ranked) if model not in chosen)
    kind = f"Top {first}" if order else f"First {first}"
    more = f", and {MAX_MODELS - first} more" if first < MAX_MODELS else ""
    note = f"{kind} of {len(ranked)} models{'' if order else ' by name'}{more}."
    return arrange_models(model for model in ranked if model in chosen), (note,)


def choose_datasets(datasets: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
    """Choose the first 60 datasets by name, with a note when there are more."""
    ordered = sorted(set(datasets))
    if len(ordered) <= MAX_DATASETS:
        return ordered, ()
    return ordered[:MAX_DATASETS], (f"First {MAX_DATASETS} of {len(ordered)} datasets by name.",)


def _wrap(text: str, width: float, size: float) -> list[str]:
    return wrap_text(text, width=width, size=size, max_lines=2)


@dataclass(frozen=True)
class Legend:
    """Names and texts of a legend in order, its columns, and its height in inches with a margin."""

    names: list[str]
    texts: list[str]
    columns: int
    height: float


def plan_legend(models: Sequence[str], *, sheet_width: float) -> Legend:
    """Arrange models in rows that fit a sheet; names too long for one row are shortened."""
    room = sheet_width - 2 * PADDING
    labels = shorten_names(models, width=room - KEY_WIDTH, size=TEXT_SIZE)
    width = widest(labels.values(), size=TEXT_SIZE) + KEY_WIDTH
    columns = max(1, min(len(models), int(room / width)))
    rows = -(-len(models) // columns)
    texts = [labels[model] for model in models]
    return Legend(list(models), texts, columns, rows * LINE_HEIGHT + PADDING)


def draw_legend(sheet: Sheet, legend: Legend, keys: Sequence[Artist]) -> None:
    """Draw a planned legend above the header of a sheet's axes."""
    _, sheet_height = sheet.figure.get_size_inches()
    bottom = sheet.bottom + sheet.height + HEADER_HEIGHT
    drawn = sheet.figure.legend(
        keys,
        legend.texts,
        loc="lower left",
        bbox_to_anchor=(0.0, bottom / sheet_height),
        ncols=legend.columns,
        frameon=False,
        borderpad=0,
        borderaxespad=PADDING * 72 / TEXT_SIZE,
        handlelength=1.3,
        handleheight=0.8,
        handletextpad=0.5,
        columnspacing=1.0,
        labelspacing=0.35,
    )
    parts = zip(legend.names, drawn.legend_handles, drawn.get_texts(), strict=True)
    for name, handle, text in parts:
        mark(text, name)
        if handle is not None:
            mark(handle, name)


@dataclass(frozen=True)
class SideColumns:
    """Texts by the header of their column, the widths of the columns, and all of it in inches."""

    texts: Mapping[str, Sequence[str]]
    widths: list[float]
    width: float


def plan_columns(texts: Mapping[str, Sequence[str]]) -> SideColumns:
    """Measure columns; those without any text are left out.

    Parameters
    ----------
    texts : mapping of str to sequence of str
        Texts of the rows from the top, by the header of their column.
    """
    kept = {header: rows for header, rows in texts.items() if any(rows)}
    widths = [widest([header, *rows], size=TEXT_SIZE) for header, rows in kept.items()]
    return SideColumns(kept, widths, sum(widths) + COLUMN_GAP * len(widths))


def write_columns(sheet: Sheet, columns: SideColumns) -> None:
    """Write planned columns at the right of a sheet's axes, whose rows have one height."""
    x = sheet.width
    for (header, texts), width in zip(columns.texts.items(), columns.widths, strict=True):
        x += COLUMN_GAP
        sheet.write(header, x=x, y=sheet.height + 0.02, color=FAINT_INK, va="bottom")
        for row, text in enumerate(texts):
            y = sheet.height * (1 - (row + 0.5) / len(texts))
            sheet.write(text, x=x, y=y, va="center_baseline")
        x += width


def format_decimal(value: float, decimals: int = 2) -> str:
    """Write a number without the zero in front and with a true minus; empty when missing.

    Examples
    --------
    >>> format_decimal(0.534), format_decimal(-0.5), format_decimal(1.0), format_decimal(-0.001)
    ('.53', '\N{MINUS SIGN}.50', '1.00', '.00')
    """
    if value != value:
        return ""
    text = f"{value:z.{decimals}f}"
    text = text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
    return text.replace("-", MINUS)


def write_p(value: float) -> str:
    """Write a p value with three decimals, as ``<.001`` below; empty when missing.

    Examples
    --------
    >>> write_p(0.0304), write_p(0.0001), write_p(1.0)
    ('.030', '<.001', '1.000')
    """
    return "<.001" if value < 0.001 else format_decimal(value, 3)


def format_interval(low: float, high: float) -> str:
    """Write the interval of a whole number, such as ``2–4``; empty when missing.

    Examples
    --------
    >>> format_interval(2, 4), format_interval(3, 3), format_interval(float("nan"), 4)
    ('2–4', '3', '')
    """
    if low != low or high != high:
        return ""
    return f"{low:.0f}" if low == high else f"{low:.0f}\N{EN DASH}{high:.0f}"


def write_ranks(table: pd.DataFrame) -> list[str]:
    """Write the column rank with rank_low and rank_high, such as ``3 (2–4)``, where they are."""
    ranks = table[["rank", "rank_low", "rank_high"]].astype(float).to_numpy()
    return [
        ("" if rank != rank else f"{rank:.0f}")
        + (f" ({ends})" if (ends := format_interval(low, high)) else "")
        for rank, low, high in ranks
    ]


def draw_figure(
    name: str,
    options: Mapping[str, Any],
    folder: str,
    read: Callable[[str], pd.DataFrame],
    reasons: Mapping[str, str],
) -> Figure:
    """Draw a figure, with `read` to read tables; one with nothing to show raises.

    `reasons` says why tables have no rows, by their file.
    """
    owner, known = FIGURES[name], dict(options)
    draw = load_analysis(owner).figures[name].load()
    reads = list_parameters(draw, behind_star=False)
    tables = [read(f"{folder}/{place_read(table, owner)}") for table in reads]
    for table, content in zip(reads, tables, strict=True):
        if not len(content) and f"{table}.csv" in reasons:
            raise NothingToDraw(reasons[f"{table}.csv"])
    if not len(tables[0]):
        raise NothingToDraw(f"The table {reads[0]} has no rows.")
    if "order" in list_parameters(draw, behind_star=True):
        ranking = read(f"{folder}/{place_read('ranking', owner)}")
        known["order"] = ranking["model"].unique().tolist()
    made: Figure = draw(*tables, **known)
    return made
