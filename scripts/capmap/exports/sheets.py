"""Any export as a sheet: a list of columns, and their cells on request."""

import datetime
import io
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.exports.cells import Cells, Numeral, clean_header
from capmap.exports.delimited import Record, RowSheet, make_sheet, open_delimited
from capmap.exports.files import (
    HEAD,
    LARGEST,
    LONGEST,
    PARQUET,
    PLAIN,
    FileOptions,
    check_text,
    has_suffix,
    read_bounded,
    read_content,
    recode_text,
    refuse,
)
from capmap.exports.records import LINES, YAML, open_records
from capmap.problems import Problem, UnreadableExportError, ask_nearest, shorten
from capmap.wording import list_names, quote_name

NESTED = LINES | YAML | {".json"}
# What pyarrow raises of damaged files: lengths, indexes and names that make no sense.
DAMAGE = (pa.ArrowException, OSError, LookupError, ValueError, OverflowError)


class Sheet(Protocol):
    """A file whose columns are known and whose cells can be read."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns in the order of the file, duplicates included."""

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns.

        Raises
        ------
        UnreadableExportError
            When the file turns out to be damaged.
        """


def open_sheet(path: str, *, wanted: Collection[str], options: FileOptions = PLAIN) -> Sheet:
    """Open an export as what it is.

    Parameters
    ----------
    path : str
        The file. Parquet, workbooks and gzip are known by their first bytes. Suffixes (before
        ``.gz``) distinguish nested files (``.jsonl``, ``.ndjson``, ``.json``, ``.yaml`` or
        ``.yml``) and Markdown (``.md`` or ``.markdown``); all else is a delimited table.
    wanted : collection of str
        The names that its header should have, by which the delimiter is found, and the table where
        Markdown has several.
    options : FileOptions, optional
        How it is written. Several header rows are joined, see `join_header`. What a format does not
        know is ignored, such as the sheet of a CSV, but names and header rows are not.

    Raises
    ------
    UnreadableExportError
        When it cannot be opened, or names its columns itself and should not.
    """
    head = read_content(path, limit=HEAD)
    is_parquet = head.startswith(PARQUET) or has_suffix(path, frozenset({".parquet", ".pq"}))
    if is_parquet or has_suffix(path, NESTED):
        if options.names or options.header_rows > 1:
            reason = "The file names each column itself, once: it has no header that can be given."
            remedy = "Remove `header_rows` and `reading: {names: …}`, or export the table as CSV."
            raise refuse("names", path, reason, remedy)
        if is_parquet:
            return open_parquet(path)
        return open_records(path, records=options.records, encoding=options.encoding)
    if is_workbook(path, head):
        return open_workbook(path, options=options)
    if has_suffix(path, MARKDOWN):
        return open_markdown(path, wanted=wanted, options=options)
    return open_delimited(path, wanted=wanted, options=options)


@dataclass(frozen=True)
class ParquetSheet:
    """A Parquet file whose schema has been read: its columns, trimmed, and their own names."""

    path: str
    columns: list[str]
    fields: dict[str, str]

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns as text; the first row counts as line 2.

        A number is written with the fewest digits that give the same float again. Null is an empty
        cell.
        """
        fields = [self.fields[name] for name in names]
        try:
            file = pq.ParquetFile(self.path)
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            size = sum(group.total_byte_size for group in groups)
            if size > LARGEST:
                reason = f"The file takes {size} bytes once unpacked; {LARGEST} are the limit."
                raise refuse("too_large", self.path, reason, "Split the file into several ones.")
            table = file.read(fields, use_threads=False)
            columns = {
                name: self._write_column(table.column(field), name)
                for name, field in zip(names, fields, strict=True)
            }
        except DAMAGE as error:
            raise _explain_damage(self.path, error) from error
        numerals = {
            name: np.ones(table.num_rows, dtype=np.bool_)
            for name in names
            if _is_number(table.field(self.fields[name]))
        }
        return Cells(columns, np.arange(2, table.num_rows + 2), numerals)

    def _write_column(self, column: Any, name: str) -> pa.Array:
        try:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if pa.types.is_floating(column.type):
                column = column.cast(pa.float64())
            texts = column.cast(pa.large_string()).combine_chunks()
        except pa.ArrowException as error:
            reason = f"The column holds {column.type}, which is neither text nor number."
            remedy = f"Write {quote_name(name)} as text or as numbers."
            raise refuse("nested_column", self.path, reason, remedy, line=1, column=name) from error
        texts.validate(full=True)
        return texts.fill_null("")


def open_parquet(path: str) -> ParquetSheet:
    """Read the schema of a Parquet file; one that is damaged or something else is refused."""
    try:
        names = pq.read_schema(path).names
        columns = clean_header(names)
    except DAMAGE as error:
        raise _explain_damage(path, error) from error
    return ParquetSheet(path, columns, dict(zip(columns, names, strict=True)))


def _explain_damage(path: str, error: Exception) -> UnreadableExportError:
    fault = shorten(str(error).partition("\n")[0])
    reason = f"The Parquet file is damaged, or something else ({fault})."
    return refuse("damaged_parquet", path, reason, "Copy or download it again, or write it again.")


def _is_number(field: Any) -> bool:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    return any(test(kind) for test in tests)


WORKBOOKS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
ZIP = b"PK\x03\x04"
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What an archive of a workbook holds: Excel, OpenDocument.
BOOK_PARTS = (b"xl/workbook.xml", b"xl/workbook.bin", b"content.xml")


def is_workbook(path: str, head: bytes) -> bool:
    """Whether a file, of which `head` is the beginning, is a workbook by content or by suffix."""
    if has_suffix(path, WORKBOOKS) or head.startswith(COMPOUND):
        return True
    is_archive = head.startswith(ZIP) and not has_suffix(path, frozenset({".zip"}))
    return is_archive and any(part in head for part in BOOK_PARTS)


def open_workbook(path: str, *, options: FileOptions) -> RowSheet:
    """Read a sheet of a workbook.

    Its rows have the numbers of the sheet. Numbers are the shortest text that gives the same float
    again, without ".0"; dates are ISO 8601. Cells are as they were last computed. Of merged cells,
    all but the first are blank. Blank rows, and blank columns on either side, are left out.

    Raises
    ------
    UnreadableExportError
        When the file is damaged or protected by a password, has no cells, or several sheets and
        none of them is named.
    """
    book = _load_book(path)
    sheet = book.get_sheet_by_name(_choose_sheet(path, _list_sheet_names(book), str(options.sheet)))
    written = [
        [_write_cell(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)
    ]
    rows = [(line, row) for line, row in enumerate(written, start=1) if any(map(str.strip, row))]
    if not rows:
        raise refuse("empty_file", path, "The sheet is empty.", "Fill it in, or leave it out.")
    filled = [any(map(str.strip, column)) for column in zip(*(row for _, row in rows), strict=True)]
    left, right = filled.index(True), len(filled) - filled[::-1].index(True)
    return make_sheet(path, [Record(line, line, row[left:right]) for line, row in rows], options)


def list_sheets(path: str) -> list[str]:
    """List the sheets of a workbook.

    Raises
    ------
    UnreadableExportError
        When it cannot be read.
    """
    return _list_sheet_names(_load_book(path))


def _load_book(path: str) -> Any:
    # Not above: a study without workbooks does without the package.
    import python_calamine

    content = read_bounded(path, limit=LONGEST, remedy="Save the sheet as CSV or Parquet.")
    try:
        return python_calamine.load_workbook(io.BytesIO(content))
    except python_calamine.CalamineError as error:
        fault = shorten(str(error))
        reason = f"The workbook is damaged, protected by a password, or something else ({fault})."
        remedy = "Copy it again, save it without a password, or save the sheet as CSV."
        raise refuse("damaged_workbook", path, reason, remedy) from error


def _list_sheet_names(book: Any) -> list[str]:
    """List the sheets of cells; others hold diagrams."""
    from python_calamine import SheetTypeEnum

    return [about.name for about in book.sheets_metadata if about.typ == SheetTypeEnum.WorkSheet]


def _choose_sheet(path: str, sheets: list[str], wanted: str) -> str:
    """Choose the sheet that is named or numbered, or the only one."""
    if wanted in sheets:
        return wanted
    if wanted.isdecimal() and 0 < int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    if len(sheets) == 1 and not wanted:
        return sheets[0]
    code, reason = "no_sheet", f"There is no sheet {quote_name(wanted)}."
    if not wanted:
        code = "several_sheets" if sheets else "no_sheet"
        reason = f"The workbook has {len(sheets)} sheets of cells, and none of them is chosen."
    remedy = f"{ask_nearest(wanted, sheets)}Set `reading: {{sheet: …}}` to one: "
    raise refuse(code, path, reason, f"{remedy}{list_names(sheets)}.")


def _write_cell(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    is_number = isinstance(cell, int | float)
    return Numeral(repr(cell).removesuffix(".0")) if is_number else str(cell)


MARKDOWN = frozenset({".md", ".markdown"})
PIPE_REMEDY = r"Write \| where it belongs to a cell, or remove the surplus cells."

PIPE = re.compile(r"(?<!\\)\|")
ALIGNMENT = re.compile(r":?-+:?")
FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# Tags of HTML, footnotes, links and images, bold and italic text, code.
MARKS = (
    (re.compile(r"<br\s*/?>", re.IGNORECASE), " "),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
    (re.compile(r"(?<!\\)\[\^[^\[\]]+\]"), ""),
    (re.compile(r"!?(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\((?:[^()]|\([^()]*\))*\)"), r"\1"),
    (re.compile(r"(?<!\\)(\*{1,3})(?=\S)((?:\\.|[^*\\])+)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\\\w])(_{1,3})(?=\S)((?:\\.|[^_\\])+)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<!\\)`+([^`]+)`+"), r"\1"),
)


def open_markdown(path: str, *, wanted: Collection[str], options: FileOptions) -> RowSheet:
    """Read a table of Markdown; its cells are plain text.

    Of several tables it is the one that the option ``sheet`` numbers, or the first of those whose
    header has most of the wanted names, with a warning where others have as many.

    Raises
    ------
    UnreadableExportError
        When the file is not text, has no table, or none with a sound header.
    """
    content = read_bounded(path, limit=LONGEST, remedy="Write the table as CSV or Parquet.")
    content = recode_text(content, path, options.encoding)
    check_text(content, path)
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    sheets, faults = [], []
    for rows in _list_tables(text, 0 if options.names else options.header_rows):
        try:
            sheets.append(make_sheet(path, rows, options, remedy=PIPE_REMEDY))
        except UnreadableExportError as error:
            faults.append(error)
    if not sheets:
        reason, remedy = "The file has no table with pipes.", "Check that it is the right file."
        raise faults[0] if faults else refuse("no_table", path, reason, remedy)
    number = str(options.sheet)
    if number.isdecimal() or (number and len(sheets) > 1):
        if number.isdecimal() and 0 < int(number) <= len(sheets):
            return sheets[int(number) - 1]
        reason = f"There is no table {quote_name(number)}: the file has {len(sheets)}."
        remedy = "Set `reading: {sheet: …}` to the number of one, from 1."
        raise refuse("no_sheet", path, reason, remedy)
    fits = [len({*wanted} & {*sheet.columns}) for sheet in sheets]
    best = sheets[fits.index(max(fits))]
    if fits.count(max(fits)) == 1:
        return best
    warning = Problem(
        severity="warning",
        code="other_tables",
        source=path,
        line=next((row.first for row in best.rows), 0),
        reason=f"The file has {fits.count(max(fits))} tables with such a header, of which this one "
        "is read.",
        remedy="Set `reading: {sheet: …}` to the number of another one, from 1.",
    )
    return replace(best, problems=[warning])


def _list_tables(text: str, header_rows: int) -> Iterator[list[Record]]:
    """List the blocks of lines with pipes that have a row of dashes; those in fences are none."""
    shown = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text).split("\n")
    block: list[Record] = []
    fence = ""
    for number, (line, written) in enumerate(zip(shown, text.split("\n"), strict=True), start=1):
        # A row of a table that is commented out does not end the table.
        if not line.strip() and PIPE.search(written):
            continue
        if match := FENCE.match(line):
            mark = match[0].strip()[0]
            fence = "" if fence == mark else fence or mark
        if PIPE.search(line) and not fence and not match:
            block.append(Record(number, number, _split_pipes(line)))
        else:
            yield from _read_block(block, header_rows)
            block = []
    yield from _read_block(block, header_rows)


def _read_block(block: Sequence[Record], header_rows: int) -> Iterator[list[Record]]:
    """Read the table of a block of lines, whose header is one line unless more are expected."""
    is_rule = [all(map(ALIGNMENT.fullmatch, row.cells)) for row in block]
    if True not in is_rule:
        return
    place = is_rule.index(True)
    first = max(0, place - header_rows) if header_rows else 0
    width = len(block[place].cells)
    rows = [row for row, rule in zip(block[first:], is_rule[first:], strict=True) if not rule]
    cleaned = [row._replace(cells=_fit([*map(_clean_cell, row.cells)], width)) for row in rows]
    yield [row for row in cleaned if any(row.cells)]


def _split_pipes(line: str) -> list[str]:
    *cells, last = PIPE.split(line.strip().removeprefix("|"))
    return [cell.strip() for cell in (cells if cells and not last else [*cells, last])]


def _fit(cells: list[str], width: int) -> list[str]:
    """Fill up a row that is short, and leave out surplus blank cells, as Markdown is shown."""
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells + [""] * (width - len(cells))


def _clean_cell(cell: str) -> str:
    """Leave out the marks of a cell, also marks within marks."""
    for mark, text in MARKS * 2:
        cell = mark.sub(text, cell)
    return ESCAPED.sub(r"\1", cell).strip()
