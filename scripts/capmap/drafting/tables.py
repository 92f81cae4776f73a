"""What the columns of files hold, and what has to be said so that the files can be read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from capmap.drafting.paths import Paths, Piece
from capmap.drafting.words import MISSING, split_words
from capmap.exports.files import HEAD, PLAIN, FileOptions, has_suffix, read_content
from capmap.exports.layouts import name_sheet
from capmap.exports.markdown import MARKDOWN
from capmap.exports.records import list_values
from capmap.exports.sheets import NESTED, open_sheet
from capmap.exports.workbooks import WORKBOOKS, list_sheets
from capmap.problems import UnreadableExportError

COMMENTS = ("#", "%")
BINARY = WORKBOOKS | {".parquet", ".pq"}
MOST_HEADERS = 3
MOST_TABLES = 50
MOSTLY = 0.5
# The names of columns of scores, whose parts are called so with a number.
PART = "{header}"
# Files that are looked into, where there are more; their names are looked at in any case.
SAMPLE = 400
NUMBER = r"[-+\u2212]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][-+]?\d+)?"
OPEN = "(\\[{\uff08±+*†‡§^↑↓"
# A number, with whatever stands behind it but words.
NUMBERISH = re.compile(rf"(?i)[~<>≈*±]*{NUMBER}\s*[%‰]?\s*(?:[{re.escape(OPEN)}].*)?|nan|[-+]?inf")
SPREAD = re.compile(rf"({NUMBER})\s*%?\s*(?:±|\+/?-|\(±?|\[±?)\s*({NUMBER})\s*[)\]%]*")
# Larger parts of their means are no spreads, but other numbers in brackets.
MOST_SPREAD = 0.5


@dataclass(frozen=True, eq=False)
class Column:
    """A column of all files: its trimmed cells, and what to judge it by.

    ``label`` is the word before a part of paths, and None where the column is one of the files.
    """

    name: str
    texts: "pd.Series[str]"
    label: str | None = None

    @property
    def is_field(self) -> bool:
        """Whether it is a part of paths."""
        return self.label is not None

    @cached_property
    def counts(self) -> "pd.Series[int]":
        """How often each text stands there; empty cells and missing runs are not counted."""
        return self.texts[~self.texts.isin(["", *MISSING])].value_counts()

    @cached_property
    def names(self) -> frozenset[str]:
        """What its filled cells say."""
        return frozenset(self.texts.unique()) - {""}

    @cached_property
    def share(self) -> float:
        """The share of its filled cells that are numbers, with whatever stands behind them."""
        fine = [NUMBERISH.fullmatch(text) is not None for text in self.counts.index]
        return float(self.counts[fine].sum() / max(self.counts.sum(), 1))

    @cached_property
    def is_summary(self) -> bool:
        """Whether its cells are means with spreads; a rank, or another score, is none."""
        found = list(filter(None, map(SPREAD.fullmatch, self.counts.index)))
        pairs = [(abs(_read(match[1])), abs(_read(match[2]))) for match in found]
        has_points = any(re.search("[.,]", match[2]) for match in found)
        is_small = bool(pairs) and np.median([s / m if m else 0 for m, s in pairs]) < MOST_SPREAD
        return has_points and is_small

    @cached_property
    def is_number(self) -> bool:
        """Whether it holds numbers, but for some cells."""
        return not self.is_field and self.share >= MOSTLY and bool(len(self.counts))

    @cached_property
    def filled(self) -> float:
        """The share of its cells that are filled."""
        return float((self.texts != "").mean())

    @cached_property
    def largest(self) -> float:
        """The largest number that a cell begins with."""
        found = [re.match(NUMBER, text) for text in self.names]
        return max((_read(match[0]) for match in found if match), default=0.0)

    @property
    def is_whole(self) -> bool:
        """Whether all that it holds are whole numbers."""
        return all(text.removesuffix(".0").lstrip("+-").isdecimal() for text in self.names)


def _read(text: str) -> float:
    try:
        return float(text.replace(",", ".").replace("\u2212", "-"))
    except ValueError:
        return 0.0


class Table:
    """The cells of all files as text, and how the files are read."""

    def __init__(
        self,
        cells: pd.DataFrame,
        options: FileOptions,
        labels: Mapping[str, str] | None = None,
        pieces: Sequence[Piece] = (),
    ) -> None:
        self.cells, self.options, self.labels = cells, options, dict(labels or {})
        # Of the names of several columns of scores, whose cells have a row each.
        self.pieces = list(pieces)
        self.columns = {
            name: Column(name, cells[name], self.labels.get(name))
            for name in cells.columns
            if name != PART
        }

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.cells)

    def count(self, names: Sequence[str]) -> int:
        """Count the different rows of some columns."""
        return len(self.cells.drop_duplicates([*names])) if names else 1

    def select(self, rows: "pd.Series[bool]") -> "Table":
        """Keep some rows."""
        return Table(self.cells[rows], self.options, self.labels, self.pieces)


def read_table(paths: Paths) -> Table:
    """Read all columns of the files, or of some of many."""
    options = _find_options(paths.paths[0])
    frames = []
    for number in range(0, len(paths.paths), -(-len(paths.paths) // SAMPLE)):
        sheet = open_sheet(paths.paths[number], wanted=(), options=options)
        sheet = name_sheet(sheet, paths.read_fields(number))
        found = sheet.read_cells(list(dict.fromkeys(sheet.columns))).columns
        texts = {name: column.to_pandas().str.strip() for name, column in found.items()}
        frames.append(pd.DataFrame(texts, dtype="str"))
    cells = pd.concat(frames, ignore_index=True).fillna("")
    # A row with nothing but a name is a heading of the rows below it.
    filled = cells.map(bool).sum(axis=1)
    return Table(cells[(filled > 1) | (cells.shape[1] < 3)], options, paths.labels)


def _find_options(path: str) -> FileOptions:
    """Find the encoding, comments and header of a table, or the records of a nested file."""
    if has_suffix(path, NESTED):
        [value, *others], is_list = list_values(path, most=2)
        return replace(PLAIN, records="" if is_list or others else _find_list(value))
    options = PLAIN
    if not has_suffix(path, BINARY):
        text = read_content(path, limit=HEAD).decode("utf-8-sig", errors="replace")
        starts = {line.strip()[:1] for line in text.splitlines() if line.strip()}
        marks = [mark for mark in COMMENTS if mark in starts]
        if marks and len(starts) > 1 and not has_suffix(path, MARKDOWN):
            options = replace(options, comment=marks[0])
    options, grid = _choose_sheet(path, options)
    numeric = _find_numeric(grid)
    if _lacks_header([grid[0][place] for place in numeric]):
        names = [f"column {place + 1}" for place in range(len(grid[0]))]
        if len(numeric) > 1 and all(row[numeric[0]].isdecimal() for row in grid):
            names[numeric[0]] = "step"
        names[numeric[-1]] = "score"
        return replace(options, names=names)
    return replace(options, header_rows=_count_headers(grid, numeric))


def _find_list(value: Any) -> str:
    """Find the records of an object that lists them under a key; "" where it does not."""
    for key, child in value.items() if isinstance(value, dict) else ():
        if isinstance(child, list) and child and all(isinstance(own, dict) for own in child):
            return f"{key}.*"
    return ""


def _choose_sheet(path: str, options: FileOptions) -> tuple[FileOptions, list[list[str]]]:
    """Choose the sheet of a workbook, or the table of Markdown, that holds most numbers."""
    is_markdown = has_suffix(path, MARKDOWN)
    sheets = ["", *map(str, range(2, MOST_TABLES))] if is_markdown else [""]
    if has_suffix(path, WORKBOOKS) and len(list_sheets(path)) > 1:
        sheets = list_sheets(path)
    grids: list[tuple[FileOptions, list[list[str]]]] = []
    for sheet in sheets:
        own = replace(options, sheet=sheet)
        try:
            grids.append((own, _read_grid(path, own)))
        except UnreadableExportError:
            if sheet == sheets[-1] and not grids:
                raise
            if is_markdown and grids:
                break
    return max(grids, key=lambda found: sum(map(_is_numberish, chain(*found[1]))))


def _read_grid(path: str, options: FileOptions) -> list[list[str]]:
    """Read the rows of a table with its header; a blank name is an empty text."""
    sheet = open_sheet(path, wanted=(), options=options)
    cells = sheet.read_cells(list(dict.fromkeys(sheet.columns)))
    rows = zip(*(cells.columns[name].to_pylist() for name in sheet.columns), strict=True)
    header = ["" if name.startswith("Unnamed: ") else name for name in sheet.columns]
    return [header, *([text.strip() for text in row] for row in rows)]


def _is_numberish(text: str) -> bool:
    return NUMBERISH.fullmatch(text) is not None


def _share_numbers(texts: Sequence[str]) -> float:
    filled = [text for text in texts if text and text not in MISSING]
    return sum(map(_is_numberish, filled)) / max(len(filled), 1)


def _find_numeric(grid: Sequence[Sequence[str]]) -> list[int]:
    """Find the columns whose cells far from the top are numbers."""
    below = grid[MOST_HEADERS:] if len(grid) > 2 * MOST_HEADERS else grid[-1:]
    columns = enumerate(zip(*below, strict=True))
    return [place for place, column in columns if _share_numbers(column) >= MOSTLY]


def _lacks_header(names: Sequence[str]) -> bool:
    """Whether numbers stand where names should, unless they count the columns."""
    if not names or not all(map(_is_numberish, names)):
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
        if not any(map(split_words, texts)) or _share_numbers(texts) >= MOSTLY / 2:
            return count
    return 1
