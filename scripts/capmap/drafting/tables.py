"""What the columns of files hold, and what has to be said so that the files can be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from capmap.drafting.words import MISSING, split_words
from capmap.exports.cells import make_texts
from capmap.exports.files import HEAD, FileOptions, has_suffix, read_content, refuse
from capmap.exports.layouts import name_sheet
from capmap.exports.markdown import MARKDOWN
from capmap.exports.numbers import Kind, parse_numbers, parse_summaries
from capmap.exports.sheets import NESTED, open_sheet
from capmap.exports.workbooks import list_sheets
from capmap.problems import UnreadableExportError

COMMENTS = ("#", "%")
BINARY = frozenset({".parquet", ".pq", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
MOST_HEADERS = 3
MOSTLY = 0.5
RARELY = 0.25
# Files that are looked into, where there are more; their names are looked at in any case.
SAMPLE = 30


@dataclass(frozen=True)
class Column:
    """A column of all files.

    Parameters
    ----------
    name : str
        Its name.
    texts : tuple of str
        Its cells, trimmed.
    is_field : bool
        Whether it is a part of paths or keys.
    label : str
        What to judge it by instead of its name.
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
    def filled(self) -> tuple[bool, ...]:
        """Which of its cells are filled."""
        return tuple(map(bool, self.texts))

    @cached_property
    def kinds(self) -> tuple[float, float]:
        """The shares of its filled cells that are numbers, and numbers with a spread."""
        cells = make_texts([text for text in self.texts if text])
        if not len(cells):
            return 0.0, 0.0
        numbers = [Kind.NUMBER, Kind.NAN, Kind.INFINITE, Kind.AMBIGUOUS, Kind.OTHER_MARK]
        cells = make_texts([text for text in cells.to_pylist() if text not in MISSING] or [""])
        fine = np.isin(parse_numbers(cells).kinds, numbers)
        if fine.all():
            return 1.0, 0.0
        spreads = parse_summaries(cells).spreads
        known = np.zeros(len(cells), bool) if spreads is None else np.isfinite(spreads)
        # "0.76 (2)" has a rank in brackets.
        if spreads is not None and (spreads[known] % 1 == 0).all() and (spreads[known] >= 1).all():
            known = np.zeros(len(cells), bool)
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
    """The columns of all files, and the settings under ``reading`` and ``header_rows``."""

    columns: dict[str, Column]
    reading: dict[str, Any]
    header_rows: int = 1

    @cached_property
    def size(self) -> int:
        """The number of rows."""
        return max((len(column.texts) for column in self.columns.values()), default=0)

    def select(self, rows: Sequence[bool]) -> "Table":
        """Keep some rows."""
        columns = {
            name: replace(column, texts=tuple(compress(column.texts, rows)))
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)

    def rename(self, names: Mapping[str, str]) -> "Table":
        """Call some columns otherwise; fields of keys that are not among them are any text."""
        columns = {
            names.get(name, name): replace(column, name=names.get(name, name))
            for name, column in self.columns.items()
        }
        reading = dict(self.reading)
        if "names" in reading:
            reading["names"] = [names.get(name, name) for name in reading["names"]]
        for name, column in self.columns.items():
            if column.is_field and "records" in reading:
                field = f"{{{names[name]}}}" if name in names else "*"
                reading["records"] = reading["records"].replace(f"{{{name}}}", field)
        return Table(columns, reading, self.header_rows)


def choose_sample(paths: Sequence[str]) -> list[str]:
    """Choose files to look into, evenly among all."""
    if len(paths) <= SAMPLE:
        return list(paths)
    return [paths[round(place)] for place in np.linspace(0, len(paths) - 1, SAMPLE)]


def read_table(
    fields: Mapping[str, Mapping[str, str]], *, labels: Mapping[str, str], records: str = ""
) -> Table:
    """Read all columns of some files.

    Parameters
    ----------
    fields : mapping of str to mapping
        The files, and what the path of each says, by names that no column has.
    labels : mapping of str to str
        What to judge these, and the fields of `records`, by.
    records : str, optional
        Where the records of nested files are.

    Raises
    ------
    UnreadableExportError
        When a file cannot be read in any way that is tried.
    """
    first = next(iter(fields))
    options = FileOptions(records=records)
    if not has_suffix(first, NESTED):
        options = _find_options(first)
    cells: dict[str, list[str]] = {}
    count = 0
    for path, own in fields.items():
        sheet = name_sheet(open_sheet(path, wanted=(), options=options), own)
        names = list(dict.fromkeys(sheet.columns))
        found = sheet.read_cells(names)
        for name in names:
            known = cells.setdefault(name, [])
            known += [""] * (count - len(known))
            known += [text.strip() for text in found.columns[name].to_pylist()]
        count += len(found.lines)
    rows = [texts + [""] * (count - len(texts)) for texts in cells.values()]
    # A row with nothing but a name is a heading of the rows below it.
    are_rows = [sum(map(bool, row)) > 1 or len(rows) < 3 for row in zip(*rows, strict=True)]
    columns = {
        name: Column(
            name,
            tuple(compress(texts, are_rows)),
            is_field=name in labels,
            label=labels.get(name, ""),
        )
        for name, texts in zip(cells, rows, strict=True)
    }
    said = {"names": list(options.names), "comment": options.comment, "encoding": options.encoding}
    said |= {"records": records, "sheet": options.sheet}
    plain = vars(FileOptions())
    reading = {name: value for name, value in said.items() if value and value != plain[name]}
    return Table(columns, reading, options.header_rows)


def _find_options(path: str) -> FileOptions:
    """Find the encoding, comments and header of a table."""
    options = FileOptions(encoding=_find_encoding(path))
    if not has_suffix(path, MARKDOWN | BINARY):
        head = read_content(path, limit=HEAD).decode(options.encoding, errors="replace")
        lines = [line for line in head.lstrip("\ufeff").splitlines() if line.strip()]
        marks = [mark for mark in COMMENTS if any(line.startswith(mark) for line in lines)]
        if marks and not all(line.startswith(marks[0]) for line in lines):
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
        count = len(open_sheet(path, wanted=(), options=options).columns)
        return replace(options, names=[f"column {place + 1}" for place in range(count)])
    return replace(options, header_rows=_count_headers(grid, numeric))


def _choose_sheet(path: str, options: FileOptions) -> tuple[FileOptions, list[list[str]]]:
    """Choose the first sheet that holds numbers."""
    found = []
    for name in list_sheets(path):
        try:
            own = replace(options, sheet=name)
            found.append((own, _read_grid(path, own)))
        except UnreadableExportError:
            continue
        if _find_numeric(found[-1][1]):
            return found[-1]
    if not found:
        raise refuse("no_sheet", path, "No sheet holds a table.", "Export it as CSV.")
    return found[0]


def _find_encoding(path: str) -> str:
    head = read_content(path, limit=HEAD)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        head[: head.rfind(b"\n") + 1 or None].decode("utf-8-sig")
    except UnicodeDecodeError:
        is_text = not has_suffix(path, frozenset({".parquet", ".pq"})) and b"\0" not in head
        return "latin-1" if is_text else "utf-8"
    return "utf-8"


def _read_grid(path: str, options: FileOptions) -> list[list[str]]:
    """Read the rows of a table with its header; a blank name is an empty text."""
    sheet = open_sheet(path, wanted=(), options=options)
    names = list(dict.fromkeys(sheet.columns))
    cells = sheet.read_cells(names)
    rows = zip(*(cells.columns[name].to_pylist() for name in names), strict=True)
    header = ["" if name.startswith("Unnamed: ") else name for name in names]
    return [header, *([text.strip() for text in row] for row in rows)]


def _are_numbers(texts: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    cells = make_texts(list(texts))
    fine = parse_numbers(cells).kinds == Kind.NUMBER
    spreads = None if fine.all() else parse_summaries(cells).spreads
    return np.asarray(fine if spreads is None else fine | np.isfinite(spreads))


def _find_numeric(grid: Sequence[Sequence[str]]) -> list[int]:
    """Find the columns whose cells far from the top are numbers."""
    below = grid[MOST_HEADERS:] if len(grid) > 2 * MOST_HEADERS else grid[-1:]
    numeric = []
    for place, column in enumerate(zip(*below, strict=True)):
        filled = [text for text in column if text]
        if filled and _are_numbers(filled).mean() >= MOSTLY:
            numeric.append(place)
    return numeric


def _lacks_header(names: Sequence[str]) -> bool:
    """Whether numbers stand where names should, unless they count the columns."""
    counts = (
        [str(number) for number in range(int(names[0]), int(names[0]) + len(names))]
        if (names and names[0].isdecimal())
        else []
    )
    if not names or (len(names) > 1 and names == counts):
        return False
    return bool(_are_numbers(names).all())


def _count_headers(grid: Sequence[Sequence[str]], numeric: Sequence[int]) -> int:
    """Count the rows at the top that have no number in numeric columns, where the others have."""
    for count, row in enumerate(grid[1 : MOST_HEADERS + 1], 1):
        texts = [row[place] for place in numeric if row[place] and row[place] not in MISSING]
        if not texts or _are_numbers(texts).mean() >= RARELY or not any(map(split_words, texts)):
            return count
    return 1
