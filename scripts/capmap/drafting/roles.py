"""What each column, part of a path and part of a header is: a name, or something beside scores."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import pandas as pd
import pyarrow as pa

from capmap.drafting import words
from capmap.drafting.words import (
    MISSING,
    WORDS,
    Paths,
    Piece,
    find_slots,
    has_word,
    label_slot,
    rate_role,
    rate_values,
    split_words,
)
from capmap.exports.cells import SEPARATOR
from capmap.exports.doubts import is_attribute
from capmap.exports.files import HEAD, PLAIN, FileOptions, has_suffix, read_content
from capmap.exports.layouts import name_sheet
from capmap.exports.numbers import Kind, Numbers, parse_summaries
from capmap.exports.records import list_values
from capmap.exports.sheets import MARKDOWN, NESTED, WORKBOOKS, list_sheets, open_sheet
from capmap.problems import UnreadableExportError
from capmap.wording import list_names

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
# Larger parts of their means are no spreads, but other numbers in brackets.
MOST_SPREAD = 0.5
TINY = 1e-300
NAMING = ("seed", "metric", "dataset", "model", "split")
SURE = 2.0
# From this difference on, names say whether rows are models or datasets.
LIKELY = 0.3
# More names than that, one in each row, are identities of rows.
MOST_ROWS = 50
MOSTLY_APART = 0.9
# How many more pairs than names models and datasets have at least.
CROSSED = 1.2
PERCENT = 100.0
CLASS_PATH = re.compile(r"\w+([./]\w+)+")


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
        return frozenset(self.counts.index)

    @cached_property
    def share(self) -> float:
        """The share of its filled cells that are numbers, with whatever stands behind them."""
        fine = [NUMBERISH.fullmatch(text) is not None for text in self.counts.index]
        return float(self.counts[fine].sum() / max(self.counts.sum(), 1))

    @cached_property
    def numbers(self) -> Numbers:
        """What a study reads of its different texts."""
        return parse_summaries(pa.array(self.counts.index, pa.large_string()))

    @property
    def is_readable(self) -> bool:
        """Whether a study can read most of its cells; ranks behind scores, as in 96 (1st), not."""
        fine = self.numbers.kinds == Kind.NUMBER
        return bool(2 * self.counts[fine].sum() >= self.counts.sum())

    @cached_property
    def is_summary(self) -> bool:
        """Whether its cells are means with spreads; a rank, or another score, is none."""
        own = {name: vars(self.numbers)[name] for name in ("values", "spreads")}
        table = pd.DataFrame(own).abs().dropna()
        is_whole = (table["spreads"] % 1 == 0).all()
        shares = table["spreads"] / table["values"].clip(lower=TINY)
        return bool(not is_whole and shares.median() < MOST_SPREAD)

    @cached_property
    def is_number(self) -> bool:
        """Whether it holds numbers, but for some cells."""
        return not self.is_field and self.share >= MOSTLY and bool(len(self.counts))

    @cached_property
    def filled(self) -> float:
        """The share of its cells that are filled."""
        return float((self.texts != "").mean())

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest of its numbers."""
        found = vars(self.numbers)["values"][self.numbers.kinds == Kind.NUMBER]
        return (float(found.min()), float(found.max())) if found.size else (0.0, 0.0)

    @property
    def largest(self) -> float:
        """The largest of its numbers."""
        return self.limits[1]

    @property
    def is_whole(self) -> bool:
        """Whether all that it holds are whole numbers."""
        return all(text.removesuffix(".0").lstrip("+-").isdecimal() for text in self.names)


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


def read_table(paths: Paths) -> tuple[Table, str]:
    """Read all columns of the files, or of some of many, and say what has to be asked."""
    options, asked = _find_options(paths.paths[0])
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
    return Table(cells[(filled > 1) | (cells.shape[1] < 3)], options, paths.labels), asked


def _find_options(path: str) -> tuple[FileOptions, str]:
    """Find the encoding, comments and header of a table, or the records of a nested file."""
    if has_suffix(path, NESTED):
        [value, *others], is_list = list_values(path, most=2)
        return replace(PLAIN, records="" if is_list or others else _find_list(value)), ""
    options = PLAIN
    if not has_suffix(path, BINARY):
        head = read_content(path, limit=HEAD)
        options = replace(options, encoding=_find_encoding(head))
        text = head.decode(options.encoding, errors="replace").lstrip("\ufeff")
        starts = {line.strip()[:1] for line in text.splitlines() if line.strip()}
        marks = [mark for mark in COMMENTS if mark in starts]
        if marks and len(starts) > 1 and not has_suffix(path, MARKDOWN):
            options = replace(options, comment=marks[0])
    options, grid, asked = _choose_sheet(path, options)
    numeric = _find_numeric(grid)
    if _lacks_header([grid[0][place] for place in numeric]):
        names = [f"column {place + 1}" for place in range(len(grid[0]))]
        if len(numeric) > 1 and all(row[numeric[0]].isdecimal() for row in grid):
            names[numeric[0]] = "step"
        names[numeric[-1]] = "score"
        return replace(options, names=names), asked
    return replace(options, header_rows=_count_headers(grid, numeric)), asked


def _find_list(value: Any) -> str:
    """Find the records of an object that lists them under a key; "" where it does not."""
    for key, child in value.items() if isinstance(value, dict) else ():
        if isinstance(child, list) and child and all(isinstance(own, dict) for own in child):
            return f"{key}.*"
    return ""


def _choose_sheet(path: str, options: FileOptions) -> tuple[FileOptions, list[list[str]], str]:
    """Choose the sheet of a workbook, or the table of Markdown, that holds most numbers."""
    is_markdown = has_suffix(path, MARKDOWN)
    sheets = [*map(str, range(1, MOST_TABLES))] if is_markdown else [""]
    if has_suffix(path, WORKBOOKS) and len(list_sheets(path)) > 1:
        sheets = list_sheets(path)
    grids: list[tuple[FileOptions, list[list[str]]]] = []
    for sheet in sheets:
        own = replace(options, sheet=sheet)
        try:
            grids.append((own, _read_grid(path, own)))
        except UnreadableExportError:
            if not grids and (sheet == sheets[-1] or is_markdown):
                raise
            if is_markdown:
                break
    counts = [sum(map(_is_numberish, chain(*grid))) for _, grid in grids]
    best = counts.index(max(counts))
    rivals = [
        str(own.sheet) for (own, _), n in zip(grids, counts, strict=True) if 2 * n > max(counts)
    ]
    asked = f"The tables {list_names(rivals)} hold numbers, of which one is read. Is it right?"
    options, grid = grids[best]
    if options.sheet == "1" and len(rivals) == 1:
        options = replace(options, sheet="")
    return options, grid, asked if len(rivals) > 1 else ""


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


def name_columns(table: Table, *, taken: Collection[str] = ()) -> dict[str, Any]:
    """Find the columns whose names or values say their roles; `taken` roles have theirs already."""
    found: dict[str, Any] = {}
    for role in NAMING:
        rated = {
            name: rate_name(column, role, table.size)
            for name, column in table.columns.items()
            if name not in found.values() and role not in taken
        }
        best = max(rated, key=lambda name: rated[name], default="")
        if best and rated[best] >= SURE:
            found[role] = best
    return found


def rate_name(column: Column, role: str, size: int) -> float:
    """Rate a column of names: 2 and more are sure enough."""
    if not column.names or (column.is_number and not column.is_whole):
        return 0.0
    text = column.name if column.label is None else column.label
    # Of a header of several rows, such a corner names these rows.
    text = "" if SEPARATOR in text else re.sub(r"(?<=\S) *\([^()]*\)$", "", text)
    by_name, by_value = rate_role(text, role), rate_values(column.names, role)
    if column.is_field and text in {"data", "benchmark", "benchmarks"}:
        by_name = 0
    exact = 0.5 * (split_words(text)[-1:] == [role])
    if role == "seed":
        is_named = by_name == 3 and by_value >= 0.5
        is_number = by_value == 1 and column.is_whole
        own = (by_name + exact) * column.filled + SURE * column.is_field
        return own * (is_named or is_number)
    if role in ("metric", "split"):
        return by_name * (by_value > 0 or role == "metric") + SURE * (by_value > 0.5)
    if len(column.names) == size > MOST_ROWS and not column.is_field and by_name < 3:
        by_name = 0
    if len(column.names) == 1 and not column.is_field and role in ("model", "dataset"):
        # Rather one setting of all files, or the text of links.
        return SURE * (by_name == 3)
    other = rate_values(column.names, "dataset" if role == "model" else "model")
    is_path = column.is_field and not column.name.startswith(PART)
    return by_name + (SURE * max(by_value - other, 0) if is_path else by_value) + exact


def list_scores(table: Table, taken: Collection[str]) -> list[Column]:
    """List the columns that may hold scores: numbers that are neither attributes nor spreads."""
    numbers = {name: own for name, own in table.columns.items() if own.is_number}
    ends = words.list_ends(numbers)
    found = [
        column
        for name, column in numbers.items()
        if name not in {*taken, *ends}
        and rate_role(name, "step") < 2
        and not (words.is_beside(name) or is_attribute(name))
    ]
    return [own for own in found if own.is_readable] or found


def list_alike(table: Table, scores: Sequence[Column]) -> list[str]:
    """List the columns that are called like something else, but hold numbers as the scores do."""
    low, high = (pick(own.limits[at] for own in scores) for at, pick in ((0, min), (1, max)))
    ends = words.list_ends([*table.columns])
    return [
        name
        for name, own in table.columns.items()
        if own.is_number and not own.is_whole and own not in scores and name not in ends
        if low <= own.limits[0] and own.limits[1] <= high
        if not (words.is_statistic(name) or has_word(name, WORDS["averages"]))
    ]


def choose_scores(scores: Sequence[Column], roles: Mapping[str, Any]) -> list[Column]:
    """Choose the value beside a column of metrics, or the metric that each row has; else all."""
    measures = [own for own in scores if words.is_measure(own.name)]
    if len(measures) > 1 and all(own in measures or _is_cost(own) for own in scores):
        scores = measures
    scores = _leave_counts(scores)
    values = [own for own in scores if rate_role(own.name, "score") >= 2]
    if "metric" in roles and values:
        return [max(values, key=lambda own: (own.filled, words.rate_score(own.name)))]
    known = [own for own in scores if words.find_known(own.name)]
    known = [own for own in known if words.rate_score(own.name) > 1]
    rows = {own.name: frozenset(own.texts.index[own.texts != ""]) for own in known}
    every = frozenset[int]().union(*(own.texts.index[own.texts != ""] for own in scores))
    for first in sorted(known, key=lambda own: (-own.filled, len(split_words(own.name)))):
        chosen, covered = [first], rows[first.name]
        for own in known:
            if rows[own.name] and not covered & rows[own.name]:
                chosen.append(own)
                covered |= rows[own.name]
        if len(chosen) > 1 and covered == every:
            return chosen
    return list(scores)


def _is_cost(column: Column) -> bool:
    """Whether a column beside measures of models counts something, or says what it cost."""
    return column.is_whole or words.guess_direction(column.name) == "min"


def _leave_counts(scores: Sequence[Column]) -> list[Column]:
    """Leave out what counts or marks something, where most columns hold shares or percentages."""
    small = [own for own in scores if not own.is_whole and own.largest <= PERCENT]
    if 2 * len(small) <= len(scores):
        return list(scores)
    odd = [
        place
        for place, own in enumerate(scores)
        if (own.largest > PERCENT or (own.is_whole and own.largest <= 1))
        and not words.rate_score(own.name)
    ]
    # What stands between several of them is of their kind.
    inside = range(odd[0], odd[-1] + 1) if odd else range(0)
    odd = [*inside] if 2 * len(odd) > len(inside) else odd
    return [own for place, own in enumerate(scores) if place not in odd]


def melt(table: Table, scores: Sequence[Column], roles: Mapping[str, Any]) -> Table:
    """Give each filled cell of several columns of scores a row, and its header columns."""
    names = [own.name for own in scores]
    if len(names) == 1:
        return table
    pieces = find_slots(names)
    slots = [at for at, piece in enumerate(pieces) if not isinstance(piece, str)]
    fixed = [word for piece in pieces if isinstance(piece, str) for word in split_words(piece)]
    # What columns have in common is no part of names, as in acc_{seed}.
    is_open = len(slots) == 1 and not all(map(_says_no_name, fixed))
    if len(slots) == 1 and {"model", "dataset"} <= {*roles}:
        rated = [rate_values(pieces[slots[0]], role) for role in ("metric", "seed", "split")]
        is_open |= max(rated) <= 0.5
    if is_open:
        pieces, slots = [tuple(names)], [0]
    heads = {f"{PART}{at}": dict(zip(names, pieces[at], strict=True)) for at in slots}
    labels = {f"{PART}{at}": label_slot(pieces, at) for at in slots}
    if len(pieces) == 1 and _are_measures(names, {*roles}):
        labels[f"{PART}0"] = "metric"
    rest = [name for name in table.columns if name not in names]
    cells = table.cells.melt(rest, names, var_name=PART, value_name=SEPARATOR)
    cells = cells[cells.pop(SEPARATOR) != ""]
    for name, said in heads.items():
        cells[name] = cells[PART].map(said).astype("str")
    return Table(cells, table.options, {**table.labels, **labels}, pieces)


def _says_no_name(word: str) -> bool:
    is_value = rate_role(word, "score") > 0 or rate_role(word, "metric") > 0
    return is_value or bool(words.find_known(word)) or words.is_label(word) or word in words.SPLITS


def _are_measures(names: Sequence[str], known: Collection[str]) -> bool:
    """Whether columns are metrics: others name models and datasets, or they vary in metrics."""
    if all(map(words.is_measure, names)):
        return True
    if {"model", "dataset"} <= {*known} and rate_values(names, "seed") < 1:
        return True
    if not {"model", "dataset"} & {*known} or rate_values(names, "dataset") >= LIKELY:
        return False
    if rate_values(names, "metric") > 0.5:
        return True
    parts = {*words.SPLITS, *WORDS["training"], *WORDS["averages"], "pred", "prediction"}
    split = [split_words(name) for name in names]
    found = [(own, [word for word in own if words.find_known(word)]) for own in split]
    metrics = {own[-1] for _, own in found if own}
    rests = {frozenset(every) - {*own} - parts for every, own in found if own}
    return len(metrics) > max(len(rests), 1)


def fill_gaps(table: Table, roles: dict[str, Any]) -> str:
    """Let parts of paths and headers, then columns of text, be what no name says.

    Returns
    -------
    str
        What has to be asked.
    """
    free = _list_free(table, roles)
    paths = [own for own in free if own.is_field and not own.name.startswith(PART)]
    heads = [own for own in free if own.name.startswith(PART)]
    rows = [own for own in free if not own.is_field] or ([] if paths else _list_keys(table, roles))
    most = max((len(own.names) for own in rows), default=0)
    rows.sort(key=lambda own: 2 * len(own.names) < most)
    missing = [role for role in ("model", "dataset") if role not in roles]
    if len(missing) == 1:
        rows.sort(key=lambda own: -len(own.names))
    asked = ""
    pair = [*paths, *heads] if len(paths) + len(heads) > 1 else [*rows[:1], *paths, *heads]
    if len(missing) == 2 and pair:
        first, *others = pair[:2]
        as_model = _lean(first) - sum(map(_lean, others))
        missing = missing[::-1] if as_model < 0 else missing
        if abs(as_model) < LIKELY and (as_model or first.is_field):
            asked = f"Are {list_names(sorted(first.names)[:3])} {missing[0]}s? No name says so."
        roles[missing.pop(0)] = first.name
    known = [table.columns[roles[k]] for k in ("model", "dataset") if k in roles]
    dense = [own for own in rows if any(_is_crossed(table, own, other) for other in known)]
    for column in dict.fromkeys([*paths, *dense, *heads, *rows]):
        known = [table.columns[roles[k]] for k in ("model", "dataset") if k in roles]
        if not missing or column.name in roles.values() or _repeat(table, column, known):
            continue
        roles[missing[0]] = column.name
        if not column.is_field and len(rows) > 1:
            asked = f"Are {column.name!r} {missing[0]}s? No name says so."
        missing = missing[1:]
    return asked


def _lean(column: Column) -> float:
    """How much rather names look like those of models than of datasets, from -1 to 1."""
    return rate_values(column.names, "model") - rate_values(column.names, "dataset")


def _list_keys(table: Table, roles: Mapping[str, Any]) -> list[Column]:
    """List the first column of text that says something else in each row of the files."""
    size = table.count([name for name in table.columns if name not in table.labels])
    free = [own for name, own in table.columns.items() if name not in roles.values()]
    return [own for own in free if not own.is_number and len(own.names) == size][:1]


def _list_free(table: Table, roles: Mapping[str, Any]) -> list[Column]:
    """List the columns without a role that may name models or datasets."""
    return [
        own
        for name, own in table.columns.items()
        if name not in roles.values()
        and own.label != "metric"
        and (own.is_field or not own.is_number)
        and len(own.names) > (not own.is_field)
        and (own.is_field or not _is_of_rows(own, table))
    ]


def _is_crossed(table: Table, column: Column, other: Column) -> bool:
    """Whether most values of two columns stand beside each other."""
    pairs = table.count([column.name, other.name])
    return min(len(column.names), len(other.names)) > 1 and (
        pairs >= 0.5 * len(column.names) * len(other.names)
    )


def _repeat(table: Table, column: Column, others: Sequence[Column]) -> bool:
    """Whether a column differs nearly as another does, as names of models and datasets do not."""
    sizes = [max(len(own.names), len(column.names)) for own in others]
    counts = [table.count([column.name, own.name]) for own in others]
    return any(1 < n < CROSSED * size for size, n in zip(sizes, counts, strict=True))


def _is_of_rows(column: Column, table: Table) -> bool:
    """Whether a column of text names rows, or how models were evaluated, rather than models."""
    is_identity = len(column.names) == table.size > MOST_ROWS
    is_protocol = rate_role(column.name, "protocol") >= 2 or is_attribute(column.name)
    is_key = split_words(column.name)[-1:] == ["id"] and 2 * len(column.names) <= table.size
    return is_identity or is_protocol or (words.is_metadata(column.name) and not is_key)


def narrow(table: Table, roles: Mapping[str, Any]) -> str:
    """Take the narrower of nested columns of models, such as a short name beside a class path."""
    best = table.columns[roles["model"]]
    for name, column in table.columns.items():
        if name in roles.values() or column.is_number or column.is_field or best.is_field:
            continue
        is_path = all(map(CLASS_PATH.fullmatch, best.names)) and not _is_of_rows(column, table)
        is_nested = table.count([name, best.name]) == len(column.names) > len(best.names)
        is_crossed = table.count([name, roles["dataset"]]) > len(column.names)
        if is_nested and is_crossed and (is_path or rate_role(name, "model") >= 2):
            best = column
    return best.name


def find_step(table: Table, names: Sequence[str]) -> str:
    """Find the step of a log, in which nearly all rows of the same names differ."""
    for name, column in table.columns.items():
        is_step = column.is_number and len(column.names) > 1 and rate_role(name, "step") >= 2
        is_told = table.count(names) < table.size
        if is_step and is_told and table.count([*names, name]) >= MOSTLY_APART * table.size:
            return name
    return ""


def name_split(names: Collection[str]) -> str:
    """The split that is reported, of several; "" where there is no choice."""
    ordered = sorted(names, key=lambda name: (len(name), name)) if len(names) > 1 else []
    return next((name for split in words.SPLITS for name in ordered if has_word(name, {split})), "")


def find_variants(table: Table, names: Sequence[str], *, only_fields: bool) -> list[str]:
    """Find the columns that distinguish rows of the same names, such as settings of models.

    Parts of paths come first, then columns of text, then of numbers that are settings; none is
    needed that tells no further rows apart. ``only_fields`` is whether rows of one file may repeat.
    """
    free = [
        column
        for name, column in table.columns.items()
        if name not in names and (column.is_field or (not only_fields and _may_name(column, table)))
    ]
    free.sort(key=lambda own: (not own.is_field, own.is_number, len(own.names)))
    chosen: list[str] = []
    for column in free:
        known = [*names, *chosen]
        if table.count([*known, column.name]) > table.count(known):
            chosen.append(column.name)
    for name in chosen[:-1]:
        rest = [other for other in chosen if other != name]
        if table.count([*names, *rest]) == table.count([*names, *chosen]):
            chosen = rest
    return chosen


def _may_name(column: Column, table: Table) -> bool:
    """Whether a column may be part of names: words, or numbers of a setting, such as the shots."""
    count, name = len(column.names), column.name
    if words.is_metadata(name) or not 1 < count < table.size:
        return False
    if not column.is_number:
        return column.share == 0
    return not (words.is_statistic(name) or words.rate_score(name)) and 2 * count <= table.size


def is_part(table: Table, name: str, roles: Mapping[str, Any]) -> bool:
    """Whether what a column names is of one dataset each, but of several models."""
    if not {"model", "dataset"} <= {*roles} or len(table.columns[roles["dataset"]].names) < 2:
        return False
    of_models, of_datasets = (table.count([name, roles[role]]) for role in ("model", "dataset"))
    return table.count([name]) == of_datasets < of_models


def find_spread(table: Table, score: str) -> dict[str, str]:
    """Find the columns of the spread and the number of the runs behind a column of means."""
    own, found = split_words(score), dict[str, str]()
    rests: tuple[list[str], ...] = ([], own, own[:-1], own[1:])
    for role in ("spread", "count"):
        for name, column in table.columns.items():
            said = split_words(name)
            rest = [word for word in said if word not in words.ROLES[role]]
            is_beside_it = (rest != said and rest in rests) or "".join(said) in words.ROLES[role]
            if column.is_number and name != score and is_beside_it:
                found.setdefault(role, name)
    return found if "spread" in found else {}
