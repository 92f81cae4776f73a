"""Pipe tables of Markdown, as papers and web pages have them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from capmap.exports.delimited import Record, RowSheet, make_sheet
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
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# Tags of HTML, footnotes, links and images, bold and italic text, code.
MARKS = (
    (re.compile(r"<br\s*/?>", re.IGNORECASE), " "),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
    (re.compile(r"(?<!\\)\[\^[^\[\]]+\]"), ""),
    (re.compile(r"!?(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\((?:[^()]|\([^()]*\))*\)"), r"\1"),
    (re.compile(r"(?<!\\)(\*{1,3})(?=\S)((?:\\.|[^*\\])+)(?<=\S)\1"), r"\2"),
    (
        re.compile(r"(?<![\\\w])(_{1,3})(?=\S)((?:\\.|[^_\\]|(?<=\w)_(?=\w))+)(?<=\S)\1(?!\w)"),
        r"\2",
    ),
)
CODE = re.compile(r"(?<!\\)(`+)([^`]+)\1")
# Marks within marks, from the inside out.
DEPTH = 3


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
            sheets.append(make_sheet(path, rows, options, remedy=REMEDY))
        except UnreadableExportError as error:
            faults.append(error)
    if not sheets:
        reason, remedy = "The file has no table with pipes.", "Check that it is the right file."
        raise faults[0] if faults else refuse("no_table", path, reason, remedy)
    number = str(options.sheet)
    if number.isdecimal() or (number and len(sheets) > 1):
        return _choose_table(path, sheets, number)
    fits = [len({*wanted} & {*sheet.columns}) for sheet in sheets]
    best = sheets[fits.index(max(fits))]
    if fits.count(max(fits)) == 1:
        return best
    return replace(best, problems=[_warn_of_other_tables(path, fits.count(max(fits)), best)])


def _choose_table(path: str, sheets: Sequence[RowSheet], number: str) -> RowSheet:
    """Choose a table by its number in the file, from 1."""
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
        line=next((row.first for row in best.rows), 0),
        reason=f"The file has {count} tables with such a header, of which this one is read.",
        remedy="Set `reading: {sheet: …}` to the number of another one, from 1.",
    )


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
    cleaned = [row._replace(cells=_fit([*map(_clean, row.cells)], width)) for row in rows]
    yield [row for row in cleaned if any(row.cells)]


def _split_pipes(line: str) -> list[str]:
    *cells, last = PIPE.split(line.strip().removeprefix("|"))
    return [cell.strip() for cell in (cells if cells and not last else [*cells, last])]


def _fit(cells: list[str], width: int) -> list[str]:
    """Fill up a row that is short, and leave out surplus blank cells, as Markdown is shown."""
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells + [""] * (width - len(cells))


def _clean(cell: str) -> str:
    """Leave out the marks of a cell; what stands as code or behind a backslash is plain."""
    cell = CODE.sub(
        lambda match: re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", match[2].strip()),
        cell.replace(r"\|", "|"),
    )
    for _ in range(DEPTH):
        for mark, text in MARKS:
            cell = mark.sub(text, cell)
    return ESCAPED.sub(r"\1", cell).strip()
