"""Tables of text: CSV with commas, semicolons or pipes, TSV, and columns between blanks."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from capmap.exports.cells import Cells, clean_header, join_header, make_texts
from capmap.exports.files import (
    HEAD,
    PLAIN,
    FileOptions,
    check_text,
    read_bounded,
    recode_text,
    refuse,
)
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import count_things, list_names

DELIMITERS = (",", ";", "\t", "|")
BLANKS = " "
BLANK_CELL = re.compile(r'"((?:[^"]|"")*)"(?![^ \t])|([^ \t]+)')
QUOTE = "Put cells that contain the delimiter, such as decimal commas, into quotes."


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
    delimiter : str
        What stands between two cells, a space for any blanks.
    columns : list of str
        The names in the header.
    header_end : int
        The last line of the header, which is that of its last row unless it holds line breaks or
        follows blank lines.
    header_rows : int
        The number of its rows, 0 where the names were given.
    options : FileOptions, optional
        How the file is written.
    """

    path: str
    delimiter: str
    columns: list[str]
    header_end: int
    header_rows: int
    options: FileOptions = PLAIN

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns, with the lines on which their rows start.

        Notes
        -----
        Blank lines are skipped. A row with too many or too few cells is a problem and left out.
        A quick reader takes the file first; its result stands when there are as many rows as
        lines, and the exact reader takes over otherwise.
        """
        content = recode_text(read_bounded(self.path), self.path, self.options.encoding)
        check_text(content, self.path)
        known = {name: place for place, name in enumerate(self.columns)}
        places = [known[name] for name in names]
        columns = self._read_quickly(content, places)
        if columns is not None:
            lines = self.header_rows + np.arange(1, len(columns[0]) + 1)
            return Cells(dict(zip(names, columns, strict=True)), lines)
        records = read_records(
            _decode(content), self.path, self.delimiter, comment=self.options.comment
        )
        return gather_cells(islice(records, self.header_rows, None), self.path, self.columns, names)

    def _read_quickly(self, content: bytes, places: Sequence[int]) -> list[pa.Array] | None:
        """Read by pyarrow what is plain: no quotes, comments or blank lines above the header."""
        returns = content.count(b"\r")
        if (
            self.delimiter == BLANKS
            or b'"' in content
            or self.header_end != self.header_rows
            or (returns and returns != content.count(b"\r\n"))
            or self._has_comments(content)
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
                pa_csv.ParseOptions(delimiter=self.delimiter),
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

    def _has_comments(self, content: bytes) -> bool:
        comment = re.escape(self.options.comment.encode())
        return bool(comment) and re.search(rb"(?:^|[\r\n])\s*" + comment, content) is not None


@dataclass(frozen=True)
class RowSheet:
    """A table whose rows have been read.

    Parameters
    ----------
    path : str
        The file.
    columns : list of str
        The names in the header.
    rows : sequence of Record
        Those below the header.
    numeric : frozenset of str
        Columns that the file holds as numbers.
    numerals : mapping of str to set of int
        The lines in which columns that hold text as well have numbers.
    problems : sequence of Problem
        What else is wrong with the file, or with the column that a problem names.
    remedy : str
        What to do about a row with too many cells.
    """

    path: str
    columns: list[str]
    rows: Sequence[Record]
    numeric: frozenset[str] = frozenset()
    numerals: Mapping[str, Collection[int]] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    remedy: str = QUOTE

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Pick the cells of some columns."""
        cells = gather_cells(self.rows, self.path, self.columns, names, remedy=self.remedy)
        return replace(
            cells,
            numeric=self.numeric & {*names},
            numerals={
                name: np.isin(cells.lines, list(self.numerals[name]))
                for name in names
                if name in self.numerals
            },
            problems=[
                *cells.problems,
                *(problem for problem in self.problems if problem.column in {"", *names}),
            ],
        )


def gather_cells(
    records: Iterable[Record],
    path: str,
    columns: Sequence[str],
    names: Sequence[str],
    *,
    remedy: str = QUOTE,
) -> Cells:
    """Gather the cells of some columns.

    Parameters
    ----------
    records : iterable of Record
        The rows below the header. Where reading them fails, those before count.
    path : str
        The file.
    columns : sequence of str
        The names in its header.
    names : sequence of str
        Those that are wanted.
    remedy : str, optional
        What to do about a row with too many cells.

    Returns
    -------
    Cells
        A row with too many or too few cells is a problem and left out.
    """
    known = {name: place for place, name in enumerate(columns)}
    places = [known[name] for name in names]
    lines: list[int] = []
    rows: list[list[str]] = []
    problems: list[Problem] = []
    try:
        for record in records:
            if len(record.cells) == len(columns):
                lines.append(record.first)
                rows.append([record.cells[place] for place in places])
            else:
                problems.append(_explain_width(path, record, len(columns), remedy))
    except UnreadableExportError as error:
        problems += error.problems
    by_column = zip(*rows, strict=True) if rows else ([] for _ in names)
    texts = {name: make_texts(column) for name, column in zip(names, by_column, strict=True)}
    return Cells(texts, np.array(lines, dtype=np.int64), problems=problems)


def _explain_width(path: str, record: Record, expected: int, remedy: str) -> Problem:
    width = len(record.cells)
    return Problem(
        code="wrong_width",
        source=path,
        reason=f"The row has {count_things(width, 'cell')} where the header has {expected}.",
        remedy=remedy if width > expected else "Complete or remove the row.",
        line=record.first,
    )


def open_delimited(
    path: str, head: bytes, *, wanted: Collection[str], options: FileOptions = PLAIN
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
    options : FileOptions, optional
        How it is written.

    Returns
    -------
    DelimitedSheet
        With the delimiter that yields most of the wanted names and, among equals, as many columns
        as there are `names` or most columns. Blanks are a delimiter where no other yields several
        columns and each line has the same number of cells between them.

    Raises
    ------
    UnreadableExportError
        When the file is not text, or its header does not end, has too few rows, rows of different
        widths, or not as many cells as there are names.
    """
    complete = len(head) < HEAD
    content = recode_text(head, path, options.encoding, complete=complete)
    check_text(content, path, complete=complete)
    candidates: list[tuple[DelimitedSheet, list[Record]]] = []
    faults: list[UnreadableExportError] = []
    for delimiter in DELIMITERS:
        try:
            candidates.append(_try_delimiter(content, path, delimiter, options))
        except UnreadableExportError as error:
            faults.append(error)
    if not candidates:
        raise faults[0]
    is_single = all(_measure_width(header) == 1 for _, header in candidates)
    if is_single and _has_blanks(content, options, complete=complete):
        candidates.append(_try_delimiter(content, path, BLANKS, options))
    best, header = max(candidates, key=lambda found: _rate(found[0], found[1], wanted))
    if not complete and best.header_end > content.count(b"\n") + content.count(b"\r"):
        raise UnreadableExportError(_explain_long_header(path))
    if problems := check_header(header, path, options):
        raise UnreadableExportError(*problems)
    return best


def _try_delimiter(
    content: bytes, path: str, delimiter: str, options: FileOptions
) -> tuple[DelimitedSheet, list[Record]]:
    records = read_records(_decode(content), path, delimiter, comment=options.comment)
    if options.names:
        first = list(islice(records, 1))
        columns = name_columns(first, path, options)
        return DelimitedSheet(path, delimiter, columns, 0, 0, options), first
    header = list(islice(records, options.header_rows))
    columns = name_columns(header, path, options)
    end = header[-1].last
    return DelimitedSheet(path, delimiter, columns, end, options.header_rows, options), header


def _measure_width(header: Sequence[Record]) -> int:
    return max(len(record.cells) for record in header)


def _rate(
    sheet: DelimitedSheet, header: Sequence[Record], wanted: Collection[str]
) -> tuple[int, bool, int]:
    width = _measure_width(header)
    return len({*wanted} & {*sheet.columns}), width == len(sheet.columns), width


def _has_blanks(content: bytes, options: FileOptions, *, complete: bool) -> bool:
    """Whether each line has the same number of cells between blanks, two or more."""
    if not complete:
        content = content[: content.rfind(b"\n") + 1]
    records = read_records(_decode(content), "", BLANKS, comment=options.comment)
    widths = (len(record.cells) for record in records)
    first = next(widths, 1)
    return first > 1 and all(width == first for width in widths)


def name_columns(header: Sequence[Record], path: str, options: FileOptions) -> list[str]:
    """Name the columns of a table after its header, or as the options say.

    Parameters
    ----------
    header : sequence of Record
        Its first rows, see `check_header`.
    path : str
        The file.
    options : FileOptions
        With the names, if there is no header.

    Raises
    ------
    UnreadableExportError
        When there is no row at all.
    """
    if not header:
        reason, remedy = "The file has no rows.", "Export it again, or leave it out."
        raise refuse("empty_file", path, reason, remedy)
    if options.names:
        return clean_header(options.names)
    by_column = zip_longest(*(record.cells for record in header), fillvalue="")
    return join_header(list(zip(*by_column, strict=True)))


def check_header(header: Sequence[Record], path: str, options: FileOptions) -> list[Problem]:
    """Find out that a header lacks rows, has rows of different widths, or does not fit the names.

    Parameters
    ----------
    header : sequence of Record, at least one
        The rows of the header; the first row of the table where names are given.
    path : str
        The file.
    options : FileOptions
        With the names, or the number of rows that the header should have.
    """
    first, *others = header
    header_rows = options.header_rows
    if options.names:
        return _check_names(first, path, options.names)
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


def _check_names(first: Record, path: str, names: Sequence[str]) -> list[Problem]:
    if len(first.cells) == len(names):
        return []
    cells, given = count_things(len(first.cells), "cell"), count_things(len(names), "name")
    return [
        Problem(
            code="wrong_names",
            source=path,
            reason=f"The first row has {cells}, and {given} are given: {list_names(names)}.",
            remedy="Correct `reading: {names: […]}`, which needs a name for each column; leave it "
            "out where the file has a header.",
            line=first.first,
        )
    ]


def _explain_long_header(path: str) -> Problem:
    reason = f"The header is longer than {HEAD} bytes."
    remedy = "Check that this is a table whose first line names its columns."
    return Problem(code="long_header", source=path, reason=reason, remedy=remedy, line=1)


def read_records(
    stream: Iterable[str], path: str, delimiter: str, *, comment: str = ""
) -> Iterator[Record]:
    """Read the rows of a delimited table, skipping blank lines.

    Parameters
    ----------
    stream : iterable of str
        Its lines with their ends.
    path : str
        The file.
    delimiter : str
        What stands between two cells, a space for any blanks; cells between blanks have no line
        breaks.
    comment : str, optional
        What the lines begin with, perhaps after blanks, that are skipped.

    Raises
    ------
    UnreadableExportError
        When a quote is never closed, text follows one that closes a cell, or a cell is longer than
        the csv module takes. Rows before it have been yielded by then.
    """
    if delimiter == BLANKS:
        yield from _read_blank_records(stream, comment)
        return
    first = 1

    def blank_comments() -> Iterator[str]:
        for number, line in enumerate(stream, start=1):
            is_comment = comment and number == first and line.lstrip().startswith(comment)
            yield "\n" if is_comment else line

    reader = csv.reader(blank_comments(), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if cells:
                yield Record(first, reader.line_num, cells)
            first = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableExportError(_explain_fault(path, first, str(error))) from error


def _read_blank_records(stream: Iterable[str], comment: str) -> Iterator[Record]:
    for number, line in enumerate(stream, start=1):
        if comment and line.lstrip().startswith(comment):
            continue
        found = BLANK_CELL.finditer(line.rstrip("\r\n"))
        cells = [(match[1] or "").replace('""', '"') or match[2] or "" for match in found]
        if cells:
            yield Record(number, number, cells)


def _explain_fault(path: str, line: int, fault: str) -> Problem:
    if "field limit" in fault:
        code = "long_cell"
        reason = f"A cell that starts in this row has over {csv.field_size_limit()} characters."
    elif "end of data" in fault:
        code, reason = "unclosed_quote", "A quote that opens in this row is never closed."
    else:
        code, reason = "text_behind_quote", "Text follows the quote that closes a cell of this row."
    remedy = "Close each quote, and write a quote within a quoted cell twice."
    return Problem(code=code, source=path, reason=reason, remedy=remedy, line=line)


def _decode(content: bytes) -> Iterable[str]:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="replace", newline="")
