"""Pipe tables of Markdown, as papers and web pages have them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from capmap.exports.delimited import Record, RowSheet, check_header, name_columns
from capmap.exports.files import (
    LONGEST,
    FileOptions,
    check_text,
    read_bounded,
    recode_text,
    refuse,
)
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import quote_name

MARKDOWN = frozenset({".md", ".markdown"})
REMEDY = r"Write \| where it belongs to a cell, or remove the surplus cells."

PIPE = re.compile(r"(?<!\\)\|")
ALIGNMENT = re.compile(r":?-+:?")
FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")
ESCAPED = re.compile(rf"\\{SPECIAL.pattern}")
CODE = re.compile(r"(?<!\\)(`+)([^`]+)\1")
FOOTNOTE = re.compile(r"(?<!\\)\[\^[^\[\]]+\]")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
MARKS = (
    (re.compile(r"!?(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\((?:[^()]|\([^()]*\))*\)"), r"\1"),
    (re.compile(r"(?<!\\)(\*{1,3})(?=\S)((?:\\.|[^*\\])+)(?<=\S)\1"), r"\2"),
    (
        re.compile(r"(?<![\\\w])(_{1,3})(?=\S)((?:\\.|[^_\\]|(?<=\w)_(?=\w))+)(?<=\S)\1(?!\w)"),
        r"\2",
    ),
)
# Marks within marks, from the inside out; what is nested deeper stays as it is.
DEPTH = 5


def open_markdown(path: str, *, wanted: Collection[str], options: FileOptions) -> RowSheet:
    """Read a table of Markdown.

    Parameters
    ----------
    path : str
        The file.
    wanted : collection of str
        Names that the header should have.
    options : FileOptions
        The rows of its header, or its names, its encoding, and the number of the table.

    Returns
    -------
    RowSheet
        Of several tables, the first of those whose header has most of the wanted names. Cells are
        plain text.

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
            sheets.append(_make_sheet(rows, path, options))
        except UnreadableExportError as error:
            faults.append(error)
    if not sheets:
        reason, remedy = "The file has no table with pipes.", "Check that it is the right file."
        raise faults[0] if faults else refuse("no_table", path, reason, remedy)
    if options.sheet:
        return _choose_table(path, sheets, options.sheet)
    fits = [len({*wanted} & {*sheet.columns}) for sheet in sheets]
    best = sheets[fits.index(max(fits))]
    if fits.count(max(fits)) == 1:
        return best
    return replace(best, problems=[_warn_of_other_tables(path, fits.count(max(fits)), best)])


def _choose_table(path: str, sheets: Sequence[RowSheet], number: str) -> RowSheet:
    """Choose a table by its number in the file, from 1; the only one where a sheet is named."""
    if len(sheets) == 1 and not number.isdecimal():
        return sheets[0]
    if number.isdecimal() and 0 < int(number) <= len(sheets):
        return sheets[int(number) - 1]
    reason = f"There is no table {quote_name(number)}: the file has {len(sheets)}."
    raise refuse(
        "no_sheet", path, reason, "Set `reading: {sheet: …}` to the number of one, from 1."
    )


def _warn_of_other_tables(path: str, count: int, best: RowSheet) -> Problem:
    return Problem(
        severity="warning",
        code="other_tables",
        source=path,
        line=best.rows[0].first if best.rows else 0,
        reason=f"The file has {count} tables with such a header, of which this one is read.",
        remedy="Set `reading: {sheet: …}` to the number of another one, from 1.",
    )


def _make_sheet(table: list[Record], path: str, options: FileOptions) -> RowSheet:
    header = table[: 1 if options.names else options.header_rows]
    columns = name_columns(header, path, options)
    if problems := check_header(header, path, options):
        raise UnreadableExportError(*problems)
    rows = table if options.names else table[options.header_rows :]
    return RowSheet(path, columns, rows, remedy=REMEDY)


def _list_tables(text: str, header_rows: int) -> Iterator[list[Record]]:
    """List the blocks of lines with pipes that have a row of dashes; those in fences are none."""
    block: list[Record] = []
    fence = ""
    written = [*text.split("\n"), ""]
    shown = [*COMMENT.sub(_blank, text).split("\n"), ""]
    for number, (line, before) in enumerate(zip(shown, written, strict=True), start=1):
        # A row of a table that is commented out does not end the table.
        if not line.strip() and PIPE.search(before):
            continue
        if match := FENCE.match(line):
            mark = match[0].strip()[0]
            fence = "" if fence == mark else fence or mark
        if PIPE.search(line) and not fence and not match:
            block.append(Record(number, number, _split_pipes(line)))
            continue
        dashes = [place for place, row in enumerate(block) if _is_alignment(row)]
        if dashes:
            above = block[: dashes[0]]
            # A header is one line, unless the options say more.
            above = above[-header_rows:] if header_rows else above
            width = len(block[dashes[0]].cells)
            rows = [*above, *(row for row in block[dashes[0] :] if not _is_alignment(row))]
            cleaned = [row._replace(cells=_fit([*map(_clean, row.cells)], width)) for row in rows]
            yield [row for row in cleaned if any(row.cells)]
        block = []


def _blank(match: re.Match[str]) -> str:
    """Blanks in place of text, so that what follows keeps its line."""
    return re.sub(r"[^\n]", " ", match[0])


def _split_pipes(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    *cells, last = PIPE.split(line)
    return [cell.strip() for cell in (cells if cells and not last else [*cells, last])]


def _is_alignment(row: Record) -> bool:
    return all(map(ALIGNMENT.fullmatch, row.cells))


def _fit(cells: list[str], width: int) -> list[str]:
    """Fill up a row that is short, and leave out surplus blank cells, as Markdown is shown."""
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells + [""] * (width - len(cells))


def _clean(cell: str) -> str:
    """Leave out the marks of a cell."""
    cell = BREAK.sub(" ", FOOTNOTE.sub("", cell.replace(r"\|", "|")))
    cell = CODE.sub(lambda match: SPECIAL.sub(r"\\\1", match[2].strip()), cell)
    for _ in range(DEPTH):
        for mark, text in MARKS:
            cell = mark.sub(text, cell)
    return ESCAPED.sub(r"\1", cell).strip()
