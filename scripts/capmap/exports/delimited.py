"""Tables of text: CSV with commas or semicolons, and TSV."""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from capmap.exports.cells import Cells, join_header, make_texts
from capmap.exports.files import HEAD, check_text, read_bounded
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import count_things

DELIMITERS = (",", ";", "\t")
END = "\N{END OF TEXT}"


class Record(NamedTuple):
    """A row of a delimited table, and the first and last line on which it stands."""

    first: int
    last: int
    cells: list[str]


@dataclass(frozen=True)
class DelimitedSheet:
    r"""A delimited table whose header has been read.

    Parameters
    ----------
    path : str
        The file.
    delimiter : {",", ";", "\t"}
        What stands between two cells.
    columns : list of str
        The names in the header.
    header_end : int
        The last line of the header, which is that of its last row unless it holds line breaks or
        follows blank lines.
    header_rows : int
        The number of its rows.
    """

    path: str
    delimiter: str
    columns: list[str]
    header_end: int
    header_rows: int

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns, with the lines on which their rows start.

        Notes
        -----
        Blank lines are skipped. A row with too many or too few cells is a problem and left out.
        A quick reader takes the file first; its result stands when there are as many rows as
        lines, and the exact reader takes over otherwise.
        """
        content = read_bounded(self.path)
        check_text(content, self.path)
        known = {name: place for place, name in enumerate(self.columns)}
        places = [known[name] for name in names]
        columns = self._read_quickly(content, places)
        if columns is not None:
            lines = self.header_rows + np.arange(1, len(columns[0]) + 1)
            return Cells(dict(zip(names, columns, strict=True)), lines)
        return self._read_exactly(content, names, places)

    def _read_quickly(self, content: bytes, places: Sequence[int]) -> list[pa.Array] | None:
        returns = content.count(b"\r")
        if (
            self.header_end != self.header_rows
            or (returns and returns != content.count(b"\r\n"))
            or content.count(b'"') % 2
        ):
            return None
        keys = [str(place) for place in range(len(self.columns))]
        wanted = [keys[place] for place in places]
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(content),
                pa_csv.ReadOptions(
                    column_names=keys, skip_rows=self.header_rows, use_threads=False
                ),
                pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=b'"' in content),
                pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.large_string()),
                    include_columns=wanted,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        lines = content.rstrip(b"\r\n").count(b"\n") + 1
        if table.num_rows + self.header_rows != lines:
            return None
        return [table[key].combine_chunks() for key in wanted]

    def _read_exactly(self, content: bytes, names: Sequence[str], places: Sequence[int]) -> Cells:
        lines: list[int] = []
        rows: list[list[str]] = []
        problems: list[Problem] = []
        records = read_records(_decode(content), self.path, self.delimiter)
        try:
            for record in islice(records, self.header_rows, None):
                if len(record.cells) == len(self.columns):
                    lines.append(record.first)
                    rows.append([record.cells[place] for place in places])
                else:
                    problems.append(self._explain_width(record))
        except UnreadableExportError as error:
            problems += error.problems
        columns = zip(*rows, strict=True) if rows else ([] for _ in names)
        texts = {name: make_texts(column) for name, column in zip(names, columns, strict=True)}
        return Cells(texts, np.array(lines, dtype=np.int64), problems=problems)

    def _explain_width(self, record: Record) -> Problem:
        width, expected = len(record.cells), len(self.columns)
        if width > expected:
            remedy = "Put cells that contain the delimiter, such as decimal commas, into quotes."
        else:
            remedy = "Complete or remove the row."
        return Problem(
            code="wrong_width",
            source=self.path,
            reason=f"The row has {width} cells where the header has {expected}.",
            remedy=remedy,
            line=record.first,
        )


def open_delimited(
    path: str, head: bytes, *, wanted: Collection[str], header_rows: int = 1
) -> DelimitedSheet:
    """Read the header of a delimited table.

    Parameters
    ----------
    path : str
        The file.
    head : bytes
        Its beginning, unpacked; the whole file where it is shorter than `HEAD`.
    wanted : collection of str
        Names that the header should have.
    header_rows : int, optional
        How many rows it has, see `join_header`.

    Returns
    -------
    DelimitedSheet
        With the delimiter that yields most of the wanted names and, among equals, most columns.

    Raises
    ------
    UnreadableExportError
        When the file is not text, or its header does not end, has too few rows, or rows of
        different widths.
    """
    complete = len(head) < HEAD
    check_text(head, path, complete=complete)
    candidates: list[tuple[DelimitedSheet, list[Record]]] = []
    faults: list[UnreadableExportError] = []
    for delimiter in DELIMITERS:
        try:
            header = list(islice(read_records(_decode(head), path, delimiter), header_rows))
        except UnreadableExportError as error:
            faults.append(error)
        else:
            by_column = zip_longest(*(record.cells for record in header), fillvalue="")
            columns = join_header(list(zip(*by_column, strict=True)))
            sheet = DelimitedSheet(path, delimiter, columns, header[-1].last, header_rows)
            candidates.append((sheet, header))
    if not candidates:
        raise faults[0]
    best, header = max(
        candidates,
        key=lambda found: (len({*wanted} & {*found[0].columns}), len(found[0].columns)),
    )
    if not complete and best.header_end > head.count(b"\n") + head.count(b"\r"):
        raise UnreadableExportError(_explain_long_header(path))
    if problems := _check_header(header, path, header_rows):
        raise UnreadableExportError(*problems)
    return best


def _check_header(header: Sequence[Record], path: str, header_rows: int) -> list[Problem]:
    """Find out that a header lacks rows, or has rows of different widths."""
    first, *others = header
    if len(header) < header_rows:
        rows = count_things(len(header), "row")
        reason = f"The file has {rows} where its header should have {header_rows}."
        remedy = "Set `header_rows` to the number of rows above the scores."
        return [Problem(code="short_header", source=path, reason=reason, remedy=remedy, line=1)]
    return [
        Problem(
            code="wrong_width",
            source=path,
            reason=f"The header row has {len(record.cells)} cells where the first has "
            f"{len(first.cells)}.",
            remedy="Complete the shorter row with empty cells, or set `header_rows` to the number "
            "of rows above the scores.",
            line=record.first,
        )
        for record in others
        if len(record.cells) != len(first.cells)
    ]


def _explain_long_header(path: str) -> Problem:
    reason = f"The header is longer than {HEAD} bytes."
    remedy = "Check that this is a table whose first line names its columns."
    return Problem(code="long_header", source=path, reason=reason, remedy=remedy, line=1)


def read_records(stream: Iterable[str], path: str, delimiter: str) -> Iterator[Record]:
    """Read the rows of a delimited table, skipping blank lines.

    Raises
    ------
    UnreadableExportError
        When a quote is never closed, or a cell is longer than the csv module takes. Rows before it
        have been yielded by then.
    """
    ended = False

    def add_end() -> Iterator[str]:
        nonlocal ended
        yield from stream
        ended = True
        yield END

    reader = csv.reader(add_end(), delimiter=delimiter)
    first = 1
    try:
        for cells in reader:
            if ended and first < reader.line_num:
                raise UnreadableExportError(_explain_quote(path, first))
            if cells and not ended:
                yield Record(first, reader.line_num, cells)
            first = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableExportError(_explain_length(path, first)) from error


def _explain_quote(path: str, line: int) -> Problem:
    reason = "A quote that opens in this row is never closed."
    remedy = "Close it, or write a quote within a quoted cell twice."
    return Problem(code="unclosed_quote", source=path, reason=reason, remedy=remedy, line=line)


def _explain_length(path: str, line: int) -> Problem:
    reason = f"A cell that starts in this row has more than {csv.field_size_limit()} characters."
    remedy = "Close the quote that opens it, or check that the file is a table."
    return Problem(code="long_cell", source=path, reason=reason, remedy=remedy, line=line)


def _decode(content: bytes) -> Iterable[str]:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="replace", newline="")
