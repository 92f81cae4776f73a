"""Tables as a page shows them: rounded to read, exact to sort and download, cut to fit."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import pandas as pd
from markupsafe import escape

from capmap.analyses.columns import explain_column
from capmap.analyses.declarations import Best
from capmap.tables import count_decimals, find_best, format_numbers, is_number

MAX_COLUMNS = 60
MARKUP_OF_ROW = 35
MARKUP_OF_NUMBER = 4
MARKUP_OF_EXACT = 9
MARKUP_OF_TEXT = 17


@dataclass(frozen=True)
class Column:
    """A column's heading.

    Parameters
    ----------
    name : str
        Its name in CSV.
    label : str
        Its name on the page.
    numeric : bool
        Whether it holds numbers.
    hidden : bool
        Whether it is kept for downloads only, as another column shows it.
    meaning : str
        What it holds, or "".
    """

    name: str
    label: str
    numeric: bool
    hidden: bool = False
    meaning: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell's content.

    Parameters
    ----------
    text : str
        What the page shows.
    exact : str
        The number with all its digits where the text is rounded, otherwise "".
    is_best : bool
        Whether none in its column is better.
    """

    text: str
    exact: str = ""
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """A row's cells.

    Parameters
    ----------
    cells : list of Cell
        One per column.
    marked : bool
        Whether the row is to stand out.
    """

    cells: list[Cell]
    marked: bool


@dataclass(frozen=True)
class View:
    """A table on a page.

    Parameters
    ----------
    name : str
        Names the table in the page and its download.
    caption : str
        What the table holds, in a sentence.
    columns : list of Column
        Its headings.
    header : int, optional
        Position of the column that names the rows; None where all columns hold numbers.
    rows : list of Row
        Its rows, as many as fit.
    note : str
        What was cut, or "".
    files : sequence of str
        The whole table's files relative to the page, in several formats, the first as CSV.
    size : int
        About how much of the page it takes, in bytes.
    """

    name: str
    caption: str
    columns: list[Column]
    header: int | None
    rows: list[Row]
    note: str
    files: Sequence[str]
    size: int


def make_view(
    table: pd.DataFrame,
    *,
    name: str,
    caption: str,
    max_bytes: int,
    total: int | None = None,
    files: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    marked: Collection[str] = (),
    best: Best | None = None,
) -> View:
    """Prepare a table for a page.

    Parameters
    ----------
    table : pandas.DataFrame
        The finished table; its order is kept and the column ``model``, or else the first one of
        text, names the rows.
    name, caption, files : str
        See `View`.
    max_bytes : int
        About how much of the page the table may take, in bytes of HTML; the last rows are cut.
    total : int, optional
        How many rows there are, where the table has only the first of them.
    labels : mapping of str to str, optional
        How the page names columns; others keep their name.
    marked : collection of str, optional
        Names of the rows that are to stand out.
    best : mapping of {"max", "min"}, optional
        Columns whose best value stands out, and what is best in them.

    Returns
    -------
    View
        The table, with a note where it was cut.

    Notes
    -----
    Columns beyond the first 60 are cut. The ends of an interval stand in the cell of the estimate,
    and their columns are hidden. The exact numbers are written as
    `capmap.artifacts.render_csv` writes them, so a table that is not cut downloads as the bytes of
    its file.
    """
    shown = table.iloc[:, :MAX_COLUMNS]
    numeric = [is_number(shown.iloc[:, position]) for position in range(shown.shape[1])]
    columns = [
        Column(label, (labels or {}).get(label, label), kind, meaning=explain_column(name, label))
        for label, kind in zip(map(str, shown.columns), numeric, strict=True)
    ]
    intervals = _find_ends(columns)
    decimals = _count_decimals(shown, columns, intervals)
    directions = [(best or {}).get(column.name) for column in columns]
    most = max_bytes // MARKUP_OF_ROW + 1
    cells = [
        _format_column(shown.iloc[:, place], decimals[place], directions[place], most=most)
        for place in range(len(columns))
    ]
    for place, ends in intervals.items():
        cells[place] = list(map(_join_ends, cells[place], *(cells[end] for end in ends)))
        for end in ends:
            columns[end] = replace(columns[end], hidden=True)
    header = _find_header(columns)
    rows, size = [], 0
    for row in zip(*cells, strict=True):
        more = MARKUP_OF_ROW + sum(map(_measure, row, numeric))
        if size + more > max_bytes:
            break
        size += more
        rows.append(Row(list(row), header is not None and row[header].text in marked))
    everything = (len(table) if total is None else total, table.shape[1])
    note = _describe_cut((len(rows), len(columns)), everything)
    return View(name, caption, columns, header, rows, note, files, size)


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
    values: pd.Series, decimals: int | None, direction: str | None, *, most: int
) -> list[Cell]:
    """The first cells of a column, as many as the page may have rows."""
    first = values.iloc[:most]
    if decimals is None:
        return [Cell("" if pd.isna(value) else str(value)) for value in first]
    exact = ["" if pd.isna(value) else repr(value) for value in first.tolist()]
    printed = format_numbers(first, decimals=decimals)
    ends = values.dropna().agg(["min", "max"]) if len(values) > most else first
    best = find_best(format_numbers(ends, decimals=decimals), direction)
    return [
        Cell(text, "" if text == number else number, is_best=text == best)
        for text, number in zip(printed, exact, strict=True)
    ]


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
    text = f"{cell.text} [{low.text}, {high.text}]"
    return replace(cell, text=text, exact=cell.exact or cell.text)


def _measure(cell: Cell, numeric: bool) -> int:
    if not numeric:
        return MARKUP_OF_TEXT + len(escape(cell.text).encode())
    return (
        MARKUP_OF_NUMBER + len(cell.text) + bool(cell.exact) * (MARKUP_OF_EXACT + len(cell.exact))
    )


def _describe_cut(shown: tuple[int, int], everything: tuple[int, int]) -> str:
    parts = [
        f"the first {some:,} of {every:,} {what}"
        for some, every, what in zip(shown, everything, ("rows", "columns"), strict=True)
        if some < every
    ]
    return f"Shown here: {' and '.join(parts)}." if parts else ""
