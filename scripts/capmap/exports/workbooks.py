"""Sheets of workbooks: Excel and OpenDocument."""

import inspect
import io
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any
from zipfile import BadZipFile, ZipFile

from capmap.exports.delimited import Record, RowSheet, check_header, name_columns
from capmap.exports.files import LONGEST, FileOptions, has_suffix, read_bounded, refuse
from capmap.problems import Problem, UnreadableExportError, ask_nearest, shorten
from capmap.wording import count_things, list_names, quote_name

WORKBOOKS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
ZIP = b"PK\x03\x04"
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
PARTS = frozenset({"xl/workbook.xml", "xl/workbook.bin"})
OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
# Bytes of memory and seconds of the processor that a workbook may take.
MEMORY = 1 << 32
SECONDS = 20
BYTES_PER_SECOND = 1 << 18


def is_workbook(path: str, head: bytes) -> bool:
    """Whether a file is a workbook, by content or else by suffix.

    Parameters
    ----------
    path : str
        The file.
    head : bytes
        Its beginning, unpacked.

    Raises
    ------
    UnreadableExportError
        When it may be one and cannot be read.
    """
    if has_suffix(path, WORKBOOKS) or head.startswith(COMPOUND):
        return True
    if not head.startswith(ZIP) or has_suffix(path, frozenset({".zip"})):
        return False
    if OPEN_DOCUMENT in head[:200]:
        return True
    try:
        with ZipFile(io.BytesIO(read_bounded(path))) as archive:
            return not PARTS.isdisjoint(archive.namelist())
    except (BadZipFile, ValueError):
        return False


def open_workbook(path: str, *, options: FileOptions) -> RowSheet:
    """Read a sheet of a workbook.

    Parameters
    ----------
    path : str
        The file: ``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls`` or ``.ods``.
    options : FileOptions
        The sheet, and the rows of its header or its names.

    Returns
    -------
    RowSheet
        Its rows have the numbers of the sheet. Numbers are the shortest text that gives the same
        float again, without ".0"; dates are ISO 8601, and truth values true and false. Cells are
        as they were last computed, and blank where that is an error or was never done, with a
        warning in ``.xlsx``, which has one for hidden rows and columns too. Of merged cells, all
        but the first are blank. Blank rows, and blank columns on either side, are left out. In
        numbers of ``.xlsx``, raised or lowered text such as the mark of a footnote has "^" or "_"
        before it, so that it joins no digits.

    Raises
    ------
    UnreadableExportError
        When the file is damaged, protected by a password or too large, has no cells, or several
        sheets and none of them is named.
    """
    remedy = "Save the sheet as CSV or Parquet."
    content = read_bounded(path, limit=LONGEST, remedy=remedy)
    found = _run_reader(path, content, options.sheet)
    rows = _choose_sheet(path, found, options.sheet)
    rows = [(line, cells) for line, cells in rows if any(map(_is_filled, cells))]
    if not rows:
        raise refuse("empty_file", path, "The sheet is empty.", "Fill it in, or leave it out.")
    filled = [
        any(map(_is_filled, column)) for column in zip(*(row for _, row in rows), strict=True)
    ]
    left, right = filled.index(True), len(filled) - filled[::-1].index(True)
    rows = [(line, cells[left:right]) for line, cells in rows]
    records = [Record(line, line, [*map(_write_cell, cells)]) for line, cells in rows]
    header = records[: 1 if options.names else options.header_rows]
    columns = name_columns(header, path, options)
    if problems := check_header(header, path, options):
        raise UnreadableExportError(*problems)
    first = 0 if options.names else options.header_rows
    numeric, numerals = set(), {}
    by_column = zip(*(cells for _, cells in rows[first:]), strict=True)
    for name, column in zip(columns, by_column, strict=False):
        numbers = [isinstance(cell, int | float) for cell in column]
        if all(
            number or not _is_filled(cell) for number, cell in zip(numbers, column, strict=True)
        ):
            numeric.add(name)
        elif any(numbers):
            lines = (line for line, _ in rows[first:])
            numerals[name] = {line for line, number in zip(lines, numbers, strict=True) if number}
    head = header[-1].last if first else 0
    places = [
        (line, columns[place - left], error)
        for line, place, error in found["blank"]
        if line > head and left <= place < right
    ]
    hidden = {line for line, _ in rows[first:]}.intersection(found["hidden_rows"])
    unseen = [columns[place - left] for place in found["hidden_columns"] if left <= place < right]
    problems = [*_explain_blank(path, places), *_explain_hidden(path, sorted(hidden), unseen)]
    return RowSheet(path, columns, records[first:], frozenset(numeric), numerals, problems)


def _explain_blank(path: str, places: Sequence[tuple[int, str, str]]) -> list[Problem]:
    """Explain cells of errors, and of formulas without a value, by line and column."""
    found = defaultdict(list)
    for line, column, error in places:
        found[column, error != ""].append((line, error))
    return [
        Problem(
            severity="warning",
            code="error_cell" if is_error else "uncomputed_formula",
            source=path,
            line=own[0][0],
            column=column,
            value=own[0][1],
            reason=f"The column has {count_things(len(own), 'error' if is_error else 'formula')}"
            f"{'' if is_error else ' without a value'}, read as blank; this is the first.",
            remedy="Correct them in a spreadsheet program, or delete them where a run is missing."
            if is_error
            else "Open the file in a spreadsheet program, which computes them, and save it.",
        )
        for (column, is_error), own in found.items()
    ]


def _explain_hidden(path: str, lines: Sequence[int], columns: Sequence[str]) -> Iterator[Problem]:
    """Explain rows and columns that a reader of the sheet does not see."""
    rows = f"{count_things(len(lines), 'row')} of the sheet {'is' if len(lines) == 1 else 'are'}"
    places = [(lines[0], "", rows)] if lines else []
    for line, column, what in [*places, *((0, column, "The column is") for column in columns)]:
        yield Problem(
            severity="warning",
            code="hidden_cells",
            source=path,
            line=line,
            column=column,
            reason=f"{what} hidden, by a filter or by hand, and read like the others.",
            remedy="Delete in the file what is not meant, or leave it out by its names (`select`).",
        )


def list_sheets(path: str) -> list[str]:
    """List the sheets of a workbook.

    Raises
    ------
    UnreadableExportError
        When it cannot be read.
    """
    sheets: list[str] = _run_reader(path, read_bounded(path, limit=LONGEST), "")["sheets"]
    return sheets


def _is_filled(cell: Any) -> bool:
    return not isinstance(cell, str) or bool(cell.strip())


def _write_cell(cell: Any) -> str:
    return cell if isinstance(cell, str) else repr(cell).removesuffix(".0")


def _choose_sheet(path: str, found: dict[str, Any], wanted: str) -> list[tuple[int, list[Any]]]:
    """Give the rows that were read, or say why there are none."""
    sheets = found["sheets"]
    if "rows" in found:
        return [(line, cells) for line, cells in found["rows"]]
    if not sheets:
        raise refuse("no_sheet", path, "The workbook has no sheet of cells.", "Export it again.")
    listed = f"The sheets are {list_names(sheets)}."
    if wanted:
        reason, near = f"There is no sheet {quote_name(wanted)}.", ask_nearest(wanted, sheets)
        raise refuse("no_sheet", path, reason, f"{near}{listed} Correct `reading: {{sheet: …}}`.")
    reason = f"The workbook has {len(sheets)} sheets, and none of them is chosen."
    raise refuse("several_sheets", path, reason, f"Set `reading: {{sheet: …}}` to one. {listed}")


def _run_reader(path: str, content: bytes, sheet: str) -> dict[str, Any]:
    """Run `_read_sheet` in a process of its own.

    Notes
    -----
    Damaged workbooks make calamine 0.9 loop for ever, or ask for so much memory that the process is
    aborted. The limits of this process hold for XML that is made to do harm as well.
    """
    sources = [inspect.getsource(step) for step in (*HELPERS, _read_sheet)]
    program = "\n".join(["from __future__ import annotations", *sources, "_read_sheet()"])
    seconds = SECONDS + len(content) // BYTES_PER_SECOND
    # Neither the files of the working directory nor those of this room are modules of the reader.
    command = [sys.executable, "-P", "-c", program, sheet, str(MEMORY), str(seconds)]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    if done.returncode == 0:
        found: dict[str, Any] = json.loads(done.stdout)
        if "fault" not in found:
            return found
        raise _explain_fault(path, content, **found)
    if b"No module named 'python_calamine'" in done.stderr:
        raise ModuleNotFoundError("Workbooks are read by python-calamine, which is not installed.")
    reason = "Reading the workbook takes too much memory or time: it is damaged, or a cell far from"
    remedy = "Delete what is beside the table and save it again, or save the sheet as CSV."
    raise refuse("damaged_workbook", path, f"{reason} the table widens it.", remedy)


def _explain_fault(path: str, content: bytes, fault: str, kind: str) -> UnreadableExportError:
    if not content.startswith((ZIP, COMPOUND)):
        reason = "The file is called a workbook but is something else."
        return refuse("not_workbook", path, reason, "Give it the suffix of what it is.")
    if kind == "PasswordError" or "password" in fault.lower() or ENCRYPTED in content:
        reason = "The workbook is protected by a password."
        return refuse("protected_workbook", path, reason, "Save it again without one.")
    # Of older workbooks and OpenDocument calamine does not say which it is.
    reason = f"The workbook is damaged, or protected by a password ({shorten(fault)})."
    remedy = "Copy it again, save it without a password, or save the sheet as CSV."
    return refuse("damaged_workbook", path, reason, remedy)


def _open_parts(content: bytes, sheet: str) -> tuple[bytes, bytes]:
    """Unpack the XML of a sheet of an Excel workbook, and that of shared texts if there are any."""
    import io
    import zlib
    from contextlib import suppress
    from xml.etree import ElementTree as Xml
    from zipfile import BadZipFile, ZipFile

    part = texts = b""
    damage = (BadZipFile, EOFError, KeyError, RuntimeError, Xml.ParseError, zlib.error)
    with suppress(*damage), ZipFile(io.BytesIO(content)) as archive:
        book = Xml.fromstring(archive.read("xl/workbook.xml"))  # noqa: S314
        links = Xml.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
        targets = {link.get("Id"): link.get("Target", "") for link in links}
        for about in book.iter():
            if about.tag.endswith("}sheet") and about.get("name") == sheet:
                keys = [text for name, text in about.attrib.items() if name.endswith("}id")]
                target = targets[keys[0]].removeprefix("/") if keys else ""
                part = archive.read(target if target.startswith("xl/") else f"xl/{target}")
        texts = archive.read("xl/sharedStrings.xml")
    return part, texts


def _list_cells(part: bytes) -> Iterator[tuple[int, int, Any]]:
    """List the cells in the XML of a sheet, with their line and, counted from 0, their column."""
    import io
    from contextlib import suppress
    from xml.etree import ElementTree as Xml

    line = column = 0
    with suppress(Xml.ParseError, ValueError):
        for event, found in Xml.iterparse(io.BytesIO(part), ("start", "end")):  # noqa: S314
            kind = found.tag.rpartition("}")[2]
            if kind == "row" and event == "start":
                line, column = int(found.get("r", line + 1)), 0
            elif kind == "row":
                found.clear()
            elif kind == "c" and event == "end":
                if letters := found.get("r", "").rstrip("0123456789"):
                    column = 0
                    for letter in letters:
                        column = 26 * column + ord(letter) - 64
                    column -= 1
                yield line, column, found
                column += 1


def _mark_raised(text: Any) -> str:
    """Write a number of several runs with marks before what is raised or lowered, or nothing."""
    import re

    signs = {"superscript": "^", "subscript": "_"}
    written, is_raised = "", False
    for run in text:
        said = "".join(part.text or "" for part in run if part.tag.endswith("}t"))
        places = [part.get("val") for part in run.iter() if part.tag.endswith("}vertAlign")]
        sign = signs.get(places[0], "") if places and said.strip() else ""
        written, is_raised = f"{written}{sign}{said}", is_raised or sign != ""
    is_number = re.match(r"\W*\d", written) and not re.search(r"[^\W\d_eE]", written)
    return written if is_raised and is_number else ""


def _find_raised(part: bytes, shared: bytes) -> list[tuple[int, int, str]]:
    """Find the cells of a sheet with numbers that are partly raised or lowered."""
    import io
    from contextlib import suppress
    from xml.etree import ElementTree as Xml

    texts: list[str] = []
    with suppress(Xml.ParseError):
        if b"vertAlign" in shared:
            for _, found in Xml.iterparse(io.BytesIO(shared)):  # noqa: S314
                if found.tag.endswith("}si"):
                    texts.append(_mark_raised(found))
                    found.clear()
    raised = {str(place): text for place, text in enumerate(texts) if text}
    if not raised and b"vertAlign" not in part:
        return []
    marked = []
    for line, column, cell in _list_cells(part):
        is_shared = cell.get("t") == "s"
        for child in cell:
            text = raised.get(child.text, "") if is_shared else _mark_raised(child)
            if text:
                marked.append((line, column, text))
    return marked


def _find_blank(part: bytes) -> list[tuple[int, int, str]]:
    """Find the cells of a sheet with an error, or a formula and no value, not even empty text."""
    import re

    # Going through all cells takes several times as long as reading them.
    formula = rb"(</(\w+:)?f>|<(\w+:)?f(\s[^<>]*)?/>)\s*"
    value = rb"(<(\w+:)?v\s*/>|<(\w+:)?v>\s*</(\w+:)?v>)?\s*"
    is_blank = re.search(formula + value + rb"</(\w+:)?c>", part)
    if not is_blank and not re.search(rb"<(\w+:)?c\s[^<>]*\bt=[\"']e[\"']", part):
        return []
    found = []
    for line, column, cell in _list_cells(part):
        texts = {child.tag.rpartition("}")[2]: child.text for child in cell}
        if cell.get("t") == "e":
            found.append((line, column, texts.get("v") or "error"))
        elif "f" in texts and not texts.get("v") and cell.get("t") != "str":
            found.append((line, column, ""))
    return found


def _find_hidden(part: bytes) -> tuple[list[int], list[int]]:
    """Find the hidden rows of a sheet, and its hidden columns, counted from 0."""
    import re

    rows: list[int] = []
    columns: list[int] = []
    if b"hidden=" not in part:
        return rows, columns
    for tag in re.finditer(rb"<(?:\w+:)?(row|col)\s[^<>]*hidden=[\"'](?:1|true)[\"'][^<>]*>", part):
        places = re.findall(rb"\b(?:r|min|max)=[\"'](\d{1,7})[\"']", tag[0])
        if tag[1] == b"row":
            rows += [int(place) for place in places]
        elif len(places) == 2:
            first, last = sorted(map(int, places))
            columns += range(first - 1, min(last, 16384))
    return rows, columns


HELPERS = (_open_parts, _list_cells, _mark_raised, _find_raised, _find_blank, _find_hidden)


def _read_sheet() -> None:
    """Read a sheet of the workbook on standard input, and write its cells as JSON.

    Notes
    -----
    This runs by itself: the arguments are the name of the sheet, perhaps empty, and how many bytes
    of memory and seconds it may take.
    """
    import datetime
    import io
    import json
    import resource
    import sys
    from contextlib import suppress

    import python_calamine

    sheet, memory, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    limits = {"RLIMIT_AS": memory, "RLIMIT_CPU": seconds, "RLIMIT_CORE": 0}
    for name, limit in limits.items():
        # A limit may be lower already.
        with suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (limit, limit))

    def write(cell: object) -> object:
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, datetime.date | datetime.time):
            return cell.isoformat()
        return str(cell) if isinstance(cell, datetime.timedelta) else cell

    found: dict[str, object]
    try:
        content = sys.stdin.buffer.read()
        book = python_calamine.load_workbook(io.BytesIO(content))
        is_cells = python_calamine.SheetTypeEnum.WorkSheet
        sheets = [about.name for about in book.sheets_metadata if about.typ == is_cells]
        found = {"sheets": sheets}
        # A number is that of a table in another file of the study.
        is_other = sheet.isdecimal() and not "".join(sheets).isdecimal()
        if len(sheets) == 1 and (not sheet or is_other):
            sheet = sheets[0]
        if sheet in sheets:
            rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
            part, shared = _open_parts(content, sheet)
            for line, column, text in _find_raised(part, shared):
                if 0 < line <= len(rows) and 0 <= column < len(rows[line - 1]):
                    rows[line - 1][column] = text
            lines = enumerate(rows, start=1)
            found["rows"] = [
                (line, [*map(write, row)]) for line, row in lines if any(map(str, row))
            ]
            is_filled = all(cell != "" for row in rows for cell in row)
            found["blank"] = [] if is_filled else _find_blank(part)
            found["hidden_rows"], found["hidden_columns"] = _find_hidden(part)
    except python_calamine.CalamineError as error:
        found = {"fault": str(error), "kind": type(error).__name__}
    json.dump(found, sys.stdout)
