"""Tables as a page shows them: rounded to read, exact to sort and download, cut to fit."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd
from markupsafe import escape

from capmap.tables import format_numbers, is_number

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
    """

    name: str
    label: str
    numeric: bool


@dataclass(frozen=True)
class Cell:
    """A cell's content.

    Parameters
    ----------
    text : str
        What the page shows.
    exact : str
        The number with all its digits where the text is rounded, otherwise "".
    """

    text: str
    exact: str = ""


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
    header : int
        Position of the column that names the rows.
    rows : list of Row
        Its rows, as many as fit.
    note : str
        What was cut, or "".
    file : str
        The whole table's file relative to the page, or "".
    size : int
        About how much of the page it takes, in bytes.
    """

    name: str
    caption: str
    columns: list[Column]
    header: int
    rows: list[Row]
    note: str
    file: str
    size: int


def make_view(
    table: pd.DataFrame,
    *,
    name: str,
    caption: str,
    max_bytes: int,
    total: int | None = None,
    file: str = "",
    labels: Mapping[str, str] | None = None,
    marked: Collection[str] = (),
) -> View:
    """Prepare a table for a page.

    Parameters
    ----------
    table : pandas.DataFrame
        The finished table; its order is kept and the column ``model``, or else the
        first one of text (or of all), names the rows.
    name, caption, file : str
        See `View`.
    max_bytes : int
        About how much of the page the table may take, in bytes of HTML; the last rows are cut.
    total : int, optional
        How many rows there are, where the table has only the first of them.
    labels : mapping of str to str, optional
        How the page names columns; others keep their name.
    marked : collection of str, optional
        Names of the rows that are to stand out.

    Returns
    -------
    View
        The table, with a note where it was cut.

    Notes
    -----
    Columns beyond the first 60 are cut. The exact numbers are written as
    `capmap.artifacts.render_csv` writes them, so a table that is not cut downloads as the bytes of
    its file.
    """
    shown = table.iloc[:, :MAX_COLUMNS]
    numeric = [is_number(shown.iloc[:, position]) for position in range(shown.shape[1])]
    columns = [
        Column(str(label), (labels or {}).get(str(label), str(label)), kind)
        for label, kind in zip(shown.columns, numeric, strict=True)
    ]
    cells = [_format_column(shown.iloc[:, position], kind) for position, kind in enumerate(numeric)]
    header = _find_header(columns)
    rows, size = [], 0
    for row in zip(*cells, strict=True):
        more = MARKUP_OF_ROW + sum(map(_measure, row, numeric))
        if size + more > max_bytes:
            break
        size += more
        rows.append(Row(list(row), row[header].text in marked))
    everything = (len(table) if total is None else total, table.shape[1])
    note = _describe_cut((len(rows), len(columns)), everything)
    return View(name, caption, columns, header, rows, note, file, size)


def _find_header(columns: list[Column]) -> int:
    names = [column.name for column in columns]
    text = [position for position, column in enumerate(columns) if not column.numeric]
    return names.index("model") if "model" in names else [*text, 0][0]


def _format_column(values: pd.Series, numeric: bool) -> list[Cell]:
    if not numeric:
        return [Cell("" if pd.isna(value) else str(value)) for value in values]
    exact = ["" if pd.isna(value) else repr(value) for value in values.tolist()]
    pairs = zip(format_numbers(values), exact, strict=True)
    return [Cell(text, "" if text == number else number) for text, number in pairs]


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
