"""Tables as a page shows them: rounded, intervals in one cell, the first rows of long ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import pandas as pd

from capmap.analyses.columns import explain_column
from capmap.analyses.declarations import Best
from capmap.tables import count_decimals, find_best, format_numbers, is_number

MOST_ROWS, MOST_COLUMNS = 10, 40


@dataclass(frozen=True)
class Column:
    """A column's heading: its name in CSV and on the page, and what it holds, or ""."""

    name: str
    label: str
    numeric: bool
    meaning: str


@dataclass(frozen=True)
class Cell:
    """A cell's text, and whether none in its column is better."""

    text: str
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """A row's cells, and whether it is to stand out."""

    cells: list[Cell]
    marked: bool


@dataclass(frozen=True)
class View:
    """A table on a page.

    Parameters
    ----------
    name : str
        Names the table in the page.
    caption : str
        What the table holds.
    columns : list of Column
        Its headings.
    header : int, optional
        Position of the column that names the rows; None where all columns hold numbers.
    rows : list of Row
        Its first rows.
    note : str
        What was cut, or "".
    files : sequence of str
        The whole table's files relative to the page, in several formats, the first as CSV.
    """

    name: str
    caption: str
    columns: list[Column]
    header: int | None
    rows: list[Row]
    note: str
    files: Sequence[str]


def make_view(
    table: pd.DataFrame,
    *,
    name: str,
    caption: str,
    files: Sequence[str] = (),
    labels: Mapping[str, str],
    marked: Collection[str] = (),
    best: Best | None = None,
    most: int = MOST_ROWS,
) -> View:
    """Prepare a table for a page.

    Parameters
    ----------
    table : pandas.DataFrame
        The finished table; its order is kept and the column ``model``, or else the first one of
        text, names the rows.
    name, caption, files : str
        See `View`.
    labels : mapping of str to str
        How the page names columns.
    marked : collection of str, optional
        Names of the rows that are to stand out.
    best : mapping of {"max", "min"}, optional
        Columns whose best value stands out, and what is best in them.
    most : int, optional
        How many rows the page may have.

    Returns
    -------
    View
        The table, with a note where it was cut. The ends of an interval stand in the cell of the
        estimate.
    """
    shown = table.iloc[:, :MOST_COLUMNS]
    numeric = [is_number(shown.iloc[:, place]) for place in range(shown.shape[1])]
    columns = [
        Column(label, labels.get(label, label), kind, explain_column(name, label))
        for label, kind in zip(map(str, shown.columns), numeric, strict=True)
    ]
    intervals = _find_ends(columns)
    decimals = _count_decimals(shown, columns, intervals)
    cells = [
        _format_column(shown.iloc[:, place], decimals[place], (best or {}).get(column.name), most)
        for place, column in enumerate(columns)
    ]
    for place, ends in intervals.items():
        cells[place] = list(map(_join_ends, cells[place], *(cells[end] for end in ends)))
    hidden = {end for ends in intervals.values() for end in ends}
    kept = [place for place in range(len(columns)) if place not in hidden]
    columns, cells = [columns[place] for place in kept], [cells[place] for place in kept]
    header = _find_header(columns)
    rows = [
        Row(list(row), header is not None and row[header].text in marked)
        for row in zip(*cells, strict=True)
    ]
    note = f"The first {most} of {len(table):,} rows." if len(table) > most else ""
    return View(name, caption, columns, header, rows, note, files)


def list_formats(file: str, formats: str) -> list[str]:
    """Addresses of a table in all its formats, the first as CSV; none where it has no file."""
    path = PurePosixPath(file)
    return [str(path.with_suffix(f".{suffix}")) for suffix in formats.split()] if file else []


def _find_header(columns: list[Column]) -> int | None:
    names = [column.name for column in columns]
    text = (position for position, column in enumerate(columns) if not column.numeric)
    return names.index("model") if "model" in names else next(text, None)


def _count_decimals(
    table: pd.DataFrame, columns: Sequence[Column], intervals: Mapping[int, tuple[int, int]]
) -> list[int | None]:
    """The decimals of each column, ends of an interval as its estimate; None of text."""
    counts = [
        count_decimals(table.iloc[:, place]) if column.numeric else None
        for place, column in enumerate(columns)
    ]
    for place, ends in intervals.items():
        most = max(counts[part] or 0 for part in (place, *ends))
        for part in (place, *ends):
            counts[part] = most
    return counts


def _format_column(
    values: pd.Series, decimals: int | None, direction: str | None, most: int
) -> list[Cell]:
    """The first cells of a column."""
    first = values.iloc[:most]
    if decimals is None:
        return [Cell("" if pd.isna(value) else str(value)) for value in first]
    printed = format_numbers(first, decimals=decimals)
    ends = format_numbers(values.dropna().agg(["min", "max"]), decimals=decimals)
    best = find_best(ends, direction)
    return [Cell(text, is_best=text == best) for text in printed]


def _find_ends(columns: Sequence[Column]) -> dict[int, tuple[int, int]]:
    """Where the ends of an interval are, by the place of the estimate.

    Notes
    -----
    ``x_low`` and ``x_high`` are ends of ``x`` or, where that is not there, of the number before
    them.
    """
    places = {column.name: place for place, column in enumerate(columns) if column.numeric}
    pairs = {
        name: (place, places[name.removesuffix("low") + "high"])
        for name, place in places.items()
        if name.endswith("low") and name.removesuffix("low") + "high" in places
    }
    taken = {end for ends in pairs.values() for end in ends}
    found: dict[int, tuple[int, int]] = {}
    for name, ends in pairs.items():
        owner = places.get(name.removesuffix("low").rstrip("_"), ends[0] - 1)
        if owner in places.values() and owner not in taken and owner not in found:
            found[owner] = ends
    return found


def _join_ends(cell: Cell, low: Cell, high: Cell) -> Cell:
    """A cell with the ends of its interval, such as ``0.652 [0.643, 0.663]``."""
    if not (cell.text and low.text and high.text):
        return cell
    return replace(cell, text=f"{cell.text} [{low.text}, {high.text}]")
