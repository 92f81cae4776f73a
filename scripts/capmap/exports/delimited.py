"""Tables of text: CSV with commas, semicolons, bars or blanks, TSV; and rows that were read."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from capmap.exports.cells import Cells, clean_header, join_header, make_cells
from capmap.exports.files import FileOptions, check_text, read_bounded, recode_text, refuse
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import count_things, list_names

DELIMITERS = (",", ";", "\t", "|")
BLANKS = " "
SPACE = re.compile(r"[ \t]+")
QUOTE = "Put cells that contain the delimiter, such as decimal commas, into quotes."
# Rows with a title, such as that of a sheet, that may stand above a header.
MOST_TITLES = 5


class Record(NamedTuple):
    """A row of a table, the first and last line on which it stands, and its cells."""

    first: int
    last: int
    cells: Sequence[str]


@dataclass(frozen=True)
class RowSheet:
    """A table whose header has been read, and what reads the rows below it.

    ``remedy`` is what to do about a row with too many cells; ``problems`` is what else is wrong.
    """

    path: str
    columns: list[str]
    rows: Iterable[Record]
    remedy: str = QUOTE
    problems: Sequence[Problem] = ()

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns; a row with too many or too few cells is a problem."""
        known = {name: place for place, name in enumerate(self.columns)}
        places = [known[name] for name in names]
        lines: list[int] = []
        rows: list[list[str]] = []
        problems = [*self.problems]
        try:
            for record in self.rows:
                if len(record.cells) == len(self.columns):
                    lines.append(record.first)
                    rows.append([record.cells[place] for place in places])
                else:
                    problems.append(self._explain_width(record))
        except UnreadableExportError as error:
            problems += error.problems
        columns = zip(*rows, strict=True) if rows else ([] for _ in names)
        return make_cells(dict(zip(names, columns, strict=True)), lines, problems)

    def _explain_width(self, record: Record) -> Problem:
        width, expected = len(record.cells), len(self.columns)
        return Problem(
            code="wrong_width",
            source=self.path,
            reason=f"The row has {count_things(width, 'cell')} where the header has {expected}.",
            remedy=self.remedy if width > expected else "Complete or remove the row.",
            line=record.first,
        )


@dataclass(frozen=True)
class DelimitedSheet:
    """A delimited table whose header has been read, which ends with a line of the file."""

    path: str
    delimiter: str
    columns: list[str]
    header: Sequence[Record]
    options: FileOptions

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns, with the lines on which their rows start.

        Notes
        -----
        A quick reader takes the file first; its result stands when there are as many rows as
        lines, and the exact reader takes over otherwise.
        """
        content = _load(self.path, self.options)
        quick = self._read_quickly(content, names)
        if quick is not None:
            return quick
        records = read_records(content, self.path, self.delimiter, self.options.comment)
        rows = islice(records, len(self.header), None)
        return RowSheet(self.path, self.columns, rows).read_cells(names)

    def _read_quickly(self, content: bytes, names: Sequence[str]) -> Cells | None:
        """Read by pyarrow what is plain: no quotes, comments or blank lines above the header."""
        count, returns = len(self.header), content.count(b"\r")
        comment = self.options.comment.encode()
        if (
            self.delimiter == BLANKS
            or b'"' in content
            or (self.header and self.header[-1].last != count)
            or (returns and returns != content.count(b"\r\n"))
            or (comment and re.search(rb"(?:^|[\r\n])\s*" + re.escape(comment), content))
        ):
            return None
        keys = [str(place) for place in range(len(self.columns))]
        wanted = [keys[self.columns.index(name)] for name in names]
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(content),
                pa_csv.ReadOptions(column_names=keys, skip_rows=count, use_threads=False),
                pa_csv.ParseOptions(delimiter=self.delimiter),
                pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.large_string()),
                    include_columns=wanted,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        if table.num_rows + count != content.rstrip(b"\r\n").count(b"\n") + 1:
            return None
        columns = [table[key].combine_chunks() for key in wanted]
        lines = count + np.arange(1, table.num_rows + 1)
        return Cells(dict(zip(names, columns, strict=True)), lines)


def open_delimited(path: str, *, wanted: Collection[str], options: FileOptions) -> DelimitedSheet:
    """Read the header of a delimited table.

    The delimiter is the one that yields most of the wanted names and, among equals, as many columns
    as there are `names` or most columns. Blanks are a delimiter where no other yields several
    columns and each line has the same number of cells between them.

    Raises
    ------
    UnreadableExportError
        When the file is not text, or its header does not end, has too few rows, rows of different
        widths, or not as many cells as there are names.
    """
    content = _load(path, options)
    found: list[tuple[tuple[int, bool, int], DelimitedSheet, list[Record]]] = []
    faults: list[UnreadableExportError] = []

    def attempt(delimiter: str, *, titled: bool = False) -> None:
        records = read_records(content, path, delimiter, options.comment)
        above, header = take_header(records, options, titled=titled)
        columns = name_columns(header, path, options)
        skipped = above if options.names else [*above, *header]
        sheet = DelimitedSheet(path, delimiter, columns, skipped, options)
        width = max(len(record.cells) for record in header)
        rating = (len({*wanted} & {*columns}), width == len(columns), width)
        found.append((rating, sheet, header))

    for delimiter in DELIMITERS:
        try:
            attempt(delimiter)
        except UnreadableExportError as error:
            faults.append(error)
    if not found:
        raise faults[0]
    if all(width == 1 for (_, _, width), *_ in found):
        records = read_records(content, path, BLANKS, options.comment)
        widths = {len(record.cells) for record in records}
        if len(widths) == 1 and widths != {1}:
            attempt(BLANKS)
        else:
            for _, sheet, _ in [*found]:
                attempt(sheet.delimiter, titled=True)
    _, best, header = max(found, key=lambda item: item[0])
    check_header(header, path, options)
    return best


def _load(path: str, options: FileOptions) -> bytes:
    content = recode_text(read_bounded(path), path, options.encoding)
    check_text(content, path)
    return content


def take_header(
    records: Iterable[Record], options: FileOptions, *, titled: bool = False
) -> tuple[list[Record], list[Record]]:
    """Take what stands above the header off the rows of a table, and its header.

    Rows of several cells, of which the first alone is filled, are titles where another row follows;
    so are those of one cell if the table is ``titled``. Where the names are given, the header is
    the first row.
    """
    count = 1 if options.names else options.header_rows
    rows = iter(records)
    above = [*islice(rows, options.skip)]
    first = [*islice(rows, count)]
    titles = 0
    while not options.names and titles < len(first) and _is_title(first[titles], titled):
        titles += 1
        first += islice(rows, 1 if titles <= MOST_TITLES else 0)
    if titles == len(first):
        titles = 0
    return above + first[:titles], first[titles : titles + count]


def _is_title(record: Record, titled: bool) -> bool:
    first, *others = map(str.strip, record.cells)
    return bool(first) and not any(others) and bool(others or titled)


def name_columns(header: Sequence[Record], path: str, options: FileOptions) -> list[str]:
    """Name the columns of a table after its header, or as the options say.

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


def check_header(header: Sequence[Record], path: str, options: FileOptions) -> None:
    """Refuse a header of too few rows, of unlike widths, or with not as many cells as names."""
    first = header[0]
    width = len(first.cells)
    if options.names and width != len(options.names):
        cells, given = count_things(width, "cell"), count_things(len(options.names), "name")
        reason = f"The first row has {cells}, and {given} are given: {list_names(options.names)}."
        remedy = (
            "Correct `reading: {names: […]}`, which needs a name for each column; leave it out "
            "where the file has a header."
        )
        raise refuse("wrong_names", path, reason, remedy, line=first.first)
    remedy = "Set `header_rows` to the number of rows above the scores."
    if not options.names and len(header) < options.header_rows:
        rows = count_things(len(header), "row")
        reason = f"The file has {rows} where its header should have {options.header_rows}."
        raise refuse("short_header", path, reason, remedy, line=1)
    for record in header:
        if len(record.cells) != width:
            reason = f"The header row has {len(record.cells)} cells where the first has {width}."
            remedy = f"Complete the shorter row with empty cells. {remedy}"
            raise refuse("wrong_width", path, reason, remedy, line=record.first)


def make_sheet(
    path: str, records: Sequence[Record], options: FileOptions, *, remedy: str = QUOTE
) -> RowSheet:
    """Make a sheet of the rows of a table, with its header.

    Raises
    ------
    UnreadableExportError
        As in `open_delimited`.
    """
    above, header = take_header(records, options)
    columns = name_columns(header, path, options)
    check_header(header, path, options)
    start = len(above) + (0 if options.names else len(header))
    return RowSheet(path, columns, records[start:], remedy)


def read_records(content: bytes, path: str, delimiter: str, comment: str = "") -> Iterator[Record]:
    """Read the rows of a delimited table, skipping blank lines and those that are comments.

    Raises
    ------
    UnreadableExportError
        When a quote is never closed, text follows one that closes a cell, or a cell is longer than
        the csv module takes. Rows before it have been yielded by then.
    """
    stream = io.TextIOWrapper(
        io.BytesIO(content), encoding="utf-8-sig", errors="replace", newline=""
    )
    first, is_blank = 1, delimiter == BLANKS

    def prepare_lines() -> Iterator[str]:
        for number, line in enumerate(stream, start=1):
            is_comment = comment and number == first and line.lstrip().startswith(comment)
            text = SPACE.sub(" ", line.strip()) + "\n" if is_blank else line
            yield "\n" if is_comment else text

    lines = prepare_lines()
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=is_blank)
    try:
        for cells in reader:
            if cells:
                yield Record(first, reader.line_num, cells)
            first = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableExportError(_explain_fault(path, first, str(error))) from error


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
