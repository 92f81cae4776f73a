"""What the columns of files hold, and what has to be said so that the files can be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from capmap.drafting.files import Paths
from capmap.drafting.words import MISSING, split_words
from capmap.exports.cells import make_texts
from capmap.exports.files import HEAD, PLAIN, FileOptions, has_suffix, read_content, refuse
from capmap.exports.layouts import name_sheet
from capmap.exports.markdown import MARKDOWN
from capmap.exports.numbers import Kind, parse_numbers, parse_summaries
from capmap.exports.records import list_values
from capmap.exports.sheets import NESTED, open_sheet
from capmap.exports.workbooks import WORKBOOKS, list_sheets
from capmap.problems import UnreadableExportError

COMMENTS = ("#", "%")
BINARY = WORKBOOKS | {".parquet", ".pq"}
MOST_HEADERS = 3
MOSTLY = 0.5
RARELY = 0.25
# Files that are looked into, where there are more; their names are looked at in any case.
SAMPLE = 30
NUMBERS = (Kind.NUMBER, Kind.NAN, Kind.INFINITE, Kind.AMBIGUOUS, Kind.OTHER_MARK)


@dataclass(frozen=True)
class Column:
    """A column of all files: its trimmed cells, and what to judge it by.

    ``is_field`` is whether it is a part of paths or keys, and ``label`` then the word before it.
    """

    name: str
    texts: tuple[str, ...]
    is_field: bool = False
    label: str = ""

    @cached_property
    def names(self) -> frozenset[str]:
        """What its filled cells say."""
        return frozenset(self.texts) - {""}

    @cached_property
    def kinds(self) -> tuple[float, float]:
        """The shares of its filled cells that are numbers, and numbers with a spread."""
        cells = [text for text in self.texts if text and text not in MISSING]
        if not cells:
            return 0.0, 0.0
        fine = np.isin(parse_numbers(make_texts(cells)).kinds, NUMBERS)
        known = np.zeros(len(cells), bool)
        spreads = None if fine.all() else parse_summaries(make_texts(cells)).spreads
        # "0.76 (2)" has a rank in brackets.
        if spreads is not None and (spreads[np.isfinite(spreads)] % 1).any():
            known = np.isfinite(spreads)
        return float((fine | known).mean()), float(known.mean())

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, but for some cells."""
        return not self.is_field and self.kinds[0] >= MOSTLY

    @property
    def is_whole(self) -> bool:
        """Whether all that it holds are whole numbers."""
        return all(text.removesuffix(".0").lstrip("+-").isdecimal() for text in self.names)


@dataclass(frozen=True)
class Table:
    """The columns of all files, and how these are read."""

    columns: dict[str, Column]
    options: FileOptions = PLAIN

    @cached_property
    def size(self) -> int:
        """The number of rows."""
        return max((len(column.texts) for column in self.columns.values()), default=0)

    def count(self, names: Sequence[str]) -> int:
        """Count the different rows of some columns."""
        rows = zip(*(self.columns[name].texts for name in names), strict=True)
        return len({*rows}) if names else 1

    def select(self, rows: Sequence[bool]) -> "Table":
        """Keep some rows."""
        columns = {
            name: replace(column, texts=tuple(compress(column.texts, rows)))
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)

    def rename(self, names: Mapping[str, str]) -> "Table":
        """Call some columns otherwise."""
        columns = {
            names.get(name, name): replace(column, name=names.get(name, name))
            for name, column in self.columns.items()
        }
        own = [names.get(name, name) for name in self.options.names]
        return Table(columns, replace(self.options, names=own))


def read_table(paths: Paths) -> Table:
    """Read all columns of the files, or of some of many.

    Raises
    ------
    UnreadableExportError
        When a file cannot be read in any way that is tried.
    """
    options, fields = _find_options(paths.paths[0]), paths.labels
    cells: dict[str, list[str]] = {}
    count = 0
    for number in range(0, len(paths.paths), -(-len(paths.paths) // SAMPLE)):
        sheet = open_sheet(paths.paths[number], wanted=(), options=options)
        sheet = name_sheet(sheet, paths.read_fields(number))
        found = sheet.read_cells(list(dict.fromkeys(sheet.columns)))
        for name, column in found.columns.items():
            known = cells.setdefault(name, [])
            known += [""] * (count - len(known)) + [text.strip() for text in column.to_pylist()]
        count += len(found.lines)
    columns = {
        name: Column(
            name, (*texts, *[""] * (count - len(texts))), name in fields, fields.get(name, "")
        )
        for name, texts in cells.items()
    }
    table = Table(columns, options)
    # A row with nothing but a name is a heading of the rows below it.
    texts = zip(*(column.texts for column in columns.values()), strict=True)
    return table.select([sum(map(bool, row)) > 1 or len(columns) < 3 for row in texts])


def _find_options(path: str) -> FileOptions:
    """Find the encoding, comments and header of a table, or the records of a nested file."""
    if has_suffix(path, NESTED):
        [value, *others], is_list = list_values(path, most=2)
        return replace(PLAIN, records="" if is_list or others else _find_list(value))
    options = PLAIN
    if not has_suffix(path, BINARY):
        head = read_content(path, limit=HEAD)
        options = replace(options, encoding=_find_encoding(head))
        text = head.decode(options.encoding, errors="replace").lstrip("\ufeff")
        starts = {line.strip()[:1] for line in text.splitlines() if line.strip()}
        marks = [mark for mark in COMMENTS if mark in starts]
        if marks and len(starts) > 1 and not has_suffix(path, MARKDOWN):
            options = replace(options, comment=marks[0])
    try:
        grid = _read_grid(path, options)
    except UnreadableExportError as error:
        if not any(problem.code == "several_sheets" for problem in error.problems):
            raise
        options, grid = _choose_sheet(path, options)
    numeric = _find_numeric(grid)
    if _lacks_header([grid[0][place] for place in numeric]):
        # Cells of the first row may be equal, where names of columns would not be.
        return replace(options, names=[f"column {place + 1}" for place in range(len(grid[0]))])
    return replace(options, header_rows=_count_headers(grid, numeric))


def _find_list(value: Any) -> str:
    """Find the records of an object that lists them under a key; "" where it does not."""
    for key, child in value.items():
        if isinstance(child, list) and child and all(isinstance(own, dict) for own in child):
            return f"{key}.*"
    return ""


def _choose_sheet(path: str, options: FileOptions) -> tuple[FileOptions, list[list[str]]]:
    """Choose the first sheet that holds numbers."""
    for name in list_sheets(path):
        try:
            own = replace(options, sheet=name)
            grid = _read_grid(path, own)
        except UnreadableExportError:
            continue
        if _find_numeric(grid):
            return own, grid
    raise refuse("no_sheet", path, "No sheet holds a table of numbers.", "Export it as CSV.")


def _find_encoding(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        head[: head.rfind(b"\n") + 1 or None].decode("utf-8-sig")
    except UnicodeDecodeError:
        return "utf-8" if b"\0" in head else "latin-1"
    return "utf-8"


def _read_grid(path: str, options: FileOptions) -> list[list[str]]:
    """Read the rows of a table with its header; a blank name is an empty text."""
    sheet = open_sheet(path, wanted=(), options=options)
    cells = sheet.read_cells(list(dict.fromkeys(sheet.columns)))
    rows = zip(*(cells.columns[name].to_pylist() for name in sheet.columns), strict=True)
    header = ["" if name.startswith("Unnamed: ") else name for name in sheet.columns]
    return [header, *([text.strip() for text in row] for row in rows)]


def _share_numbers(texts: Sequence[str]) -> float:
    """The share of filled cells that are numbers, with a spread or without."""
    return Column("", tuple(texts)).kinds[0]


def _find_numeric(grid: Sequence[Sequence[str]]) -> list[int]:
    """Find the columns whose cells far from the top are numbers."""
    below = grid[MOST_HEADERS:] if len(grid) > 2 * MOST_HEADERS else grid[-1:]
    columns = enumerate(zip(*below, strict=True))
    return [place for place, column in columns if _share_numbers(column) >= MOSTLY]


def _lacks_header(names: Sequence[str]) -> bool:
    """Whether numbers stand where names should, unless they count the columns."""
    if not names or not all(_share_numbers([name]) == 1 for name in names):
        return False
    first = int(names[0]) if names[0].isdecimal() else 0
    counts = [str(number) for number in range(first, first + len(names))]
    return len(names) == 1 or [*names] != counts


def _count_headers(grid: Sequence[Sequence[str]], numeric: Sequence[int]) -> int:
    """Count the rows at the top that have no number in numeric columns, where the others have."""
    if len({*grid[0]}) < len(grid[0]) and len(grid) > 1 and not grid[1][0]:
        return 2
    for count, row in enumerate(grid[1 : MOST_HEADERS + 1], 1):
        texts = [row[place] for place in numeric if row[place] and row[place] not in MISSING]
        if not any(map(split_words, texts)) or _share_numbers(texts) >= RARELY:
            return count
    return 1
