"""Sheets of workbooks: Excel and OpenDocument."""

import datetime
import io
from typing import Any

from capmap.exports.cells import Numeral
from capmap.exports.delimited import Record, RowSheet, make_sheet
from capmap.exports.files import LONGEST, FileOptions, has_suffix, read_bounded, refuse
from capmap.problems import ask_nearest, shorten
from capmap.wording import list_names, quote_name

WORKBOOKS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
ZIP = b"PK\x03\x04"
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What an archive of a workbook holds: Excel, OpenDocument.
PARTS = (b"xl/workbook.xml", b"xl/workbook.bin", b"content.xml")


def is_workbook(path: str, head: bytes) -> bool:
    """Whether a file, of which `head` is the beginning, is a workbook by content or by suffix."""
    if has_suffix(path, WORKBOOKS) or head.startswith(COMPOUND):
        return True
    is_archive = head.startswith(ZIP) and not has_suffix(path, frozenset({".zip"}))
    return is_archive and any(part in head for part in PARTS)


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
    book = _load(path)
    sheet = book.get_sheet_by_name(_choose_sheet(path, _list_names(book), str(options.sheet)))
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
    return _list_names(_load(path))


def _load(path: str) -> Any:
    # Not above: a study without workbooks does without the package.
    import python_calamine

    content = read_bounded(path, limit=LONGEST, remedy="Save the sheet as CSV or Parquet.")
    try:
        return python_calamine.load_workbook(io.BytesIO(content))
    except python_calamine.CalamineError as error:
        if not content.startswith((ZIP, COMPOUND)):
            reason = "The file is called a workbook but is something else."
            remedy = "Give it the suffix of what it is."
            raise refuse("not_workbook", path, reason, remedy) from error
        reason = f"The workbook is damaged, or protected by a password ({shorten(str(error))})."
        remedy = "Copy it again, save it without a password, or save the sheet as CSV."
        raise refuse("damaged_workbook", path, reason, remedy) from error


def _list_names(book: Any) -> list[str]:
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
    if not sheets:
        raise refuse("no_sheet", path, "The workbook has no sheet of cells.", "Export it again.")
    listed = f"The sheets are {list_names(sheets)}."
    if wanted:
        reason, near = f"There is no sheet {quote_name(wanted)}.", ask_nearest(wanted, sheets)
        raise refuse("no_sheet", path, reason, f"{near}{listed} Correct `reading: {{sheet: …}}`.")
    reason = f"The workbook has {len(sheets)} sheets, and none of them is chosen."
    raise refuse("several_sheets", path, reason, f"Set `reading: {{sheet: …}}` to one. {listed}")


def _write_cell(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    is_number = isinstance(cell, int | float)
    return Numeral(repr(cell).removesuffix(".0")) if is_number else str(cell)
