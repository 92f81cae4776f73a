"""Cells of text with the lines they stand on: columns, names, seeds and filters."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from capmap.problems import Problem, ask_nearest
from capmap.wording import list_names, quote_name

SEPARATOR = " / "
INVISIBLE = r"^[\p{Z}\p{Cf}]+$"
WHOLE = re.compile(r"([+-]?\d{1,18})(?:\.0*)?", re.ASCII)
BOOLEANS = {"true": True, "false": False}

Value: TypeAlias = str | int | float | bool
Filters: TypeAlias = Mapping[str, Value | Sequence[Value]]

Names: TypeAlias = str | Sequence[str]
LISTS = frozenset({"datasets", "ignore", "keep", "step", "selection", "spread", "count"})

Mapped: TypeAlias = Mapping[str, Names]


@dataclass(frozen=True)
class Cells:
    """Columns of a file, as text.

    Parameters
    ----------
    columns : mapping of str to pyarrow array of large_string
        Each of the same length and without nulls: an empty cell is an empty text.
    lines : ndarray of int64, shape (rows,)
        The line on which each row starts, the header being line 1.
    numerals : mapping of str to ndarray of bool, shape (rows,)
        Where the file holds numbers, not texts, in columns that have any: their mark is a point.
    problems : list of Problem
        Rows of the file that could not be split into cells.
    failed : sequence of int
        The rows of records without any results, as of runs that failed.
    """

    columns: Mapping[str, pa.Array]
    lines: npt.NDArray[np.int64]
    numerals: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    failed: Sequence[int] = ()

    def select(self, rows: npt.NDArray[np.bool_]) -> "Cells":
        """Keep some of the rows."""
        if rows.all():
            return self
        mask = pa.array(rows)
        columns = {name: column.filter(mask) for name, column in self.columns.items()}
        numerals = {name: places[rows] for name, places in self.numerals.items()}
        return Cells(columns, self.lines[rows], numerals, self.problems)

    def find_numerals(self, name: str) -> npt.NDArray[np.bool_]:
        """Find the rows in which the file holds a number, not a text, in a column."""
        return self.numerals.get(name, np.zeros(len(self.lines), dtype=np.bool_))


class Numeral(str):
    """The text of a number of the file, whose decimal mark is a point."""

    __slots__ = ()


WORDS = {None: "", True: "true", False: "false"}


def make_cells(
    columns: Mapping[str, Sequence[Any]], lines: Sequence[int], problems: list[Problem]
) -> Cells:
    """Make cells of values: texts, `Numeral`, truth values, and None for empty ones."""
    texts, numerals = {}, {}
    for name, column in columns.items():
        kinds = {type(cell) for cell in column if cell is not None and cell != ""}
        if Numeral in kinds:
            # An empty cell is one of either kind.
            numerals[name] = np.array(
                [type(cell) is Numeral or cell in (None, "") for cell in column], dtype=np.bool_
            )
        if not kinds <= {str, Numeral} or None in column:
            column = [WORDS.get(cell, cell) for cell in column]
        texts[name] = make_texts(column)
    places = np.array(lines, dtype=np.int64)
    return Cells(texts, places, numerals, problems)


ZERO = ("zero_character", "The cell holds the character NUL, which ends a text.", "Remove it.")
FAILED = (
    "no_results",
    "The record holds no results, as of a run that failed.",
    "Leave it out with `failed: drop` or `invalid: quarantine`, or by a column that says so, as in "
    "`where: {status: ok}`.",
)


def reject_unusable(
    cells: Cells, names: Sequence[str], *, source: str, where: Filters | None = None
) -> Cells:
    """Leave out rows without results, or with a NUL in a column of names.

    There is a problem for each of them that no filter leaves out by a filled cell.
    """
    faults: dict[int, tuple[str, tuple[str, str, str]]] = {}
    for name in reversed(names):
        zeros = pc.match_substring(cells.columns[name], "\0").to_numpy(zero_copy_only=False)
        faults.update((int(row), (name, ZERO)) for row in np.flatnonzero(zeros))
    faults.update((row, ("", FAILED)) for row in cells.failed)
    passes = np.ones(len(cells.lines), dtype=np.bool_)
    for name, wanted in (where or {}).items() if cells.failed else ():
        empty = pc.equal(cells.columns[name], "").to_numpy(zero_copy_only=False)
        passes &= empty | match_rows(cells, {name: wanted})
    problems = [
        Problem(
            code=fault[0],
            source=source,
            reason=fault[1],
            remedy=fault[2],
            line=int(cells.lines[row]),
            column=name,
            value=cells.columns[name][row].as_py() if name else "",
        )
        for row, (name, fault) in sorted(faults.items())
        if passes[row] or fault is not FAILED
    ]
    rows = np.ones(len(cells.lines), dtype=np.bool_)
    rows[list(faults)] = False
    return replace(cells.select(rows), problems=[*cells.problems, *problems], failed=())


def make_texts(values: Sequence[str | None]) -> pa.Array:
    """Make a column of text."""
    return pa.array(values, pa.large_string())


def repeat_text(value: str, count: int) -> pa.Array:
    """Make a column that says the same everywhere."""
    return pa.repeat(pa.scalar(value, pa.large_string()), count)


def choose_texts(values: Sequence[str], places: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Make a column of the values at some places, each of which is kept once."""
    return pa.DictionaryArray.from_arrays(places.astype(np.int32), make_texts(values))


def trim(texts: pa.Array) -> pa.Array:
    """Take white space off both ends of names, also no-break and other Unicode spaces.

    A name of nothing but invisible characters, such as zero-width spaces, is empty.
    """
    trimmed = pc.utf8_trim_whitespace(texts)
    if pc.all(pc.string_is_ascii(trimmed)).as_py():
        return trimmed
    return pc.if_else(pc.match_substring_regex(trimmed, INVISIBLE), "", trimmed)


def join_names(parts: Sequence[pa.Array]) -> pa.Array:
    """Join the columns that make up a name with " / ", leaving out empty parts.

    Parameters
    ----------
    parts : sequence of pyarrow arrays, at least one
        Trimmed columns of one length.

    Returns
    -------
    pyarrow array of large_string
        The names; empty where all parts are.

    Examples
    --------
    >>> join_names([make_texts(["ViT", "ViT"]), make_texts(["openai", ""])]).to_pylist()
    ['ViT / openai', 'ViT']
    """
    if len(parts) == 1:
        return parts[0]
    filled = [pc.if_else(pc.equal(part, ""), None, part) for part in parts]
    # pyarrow leaves out a row without any part, which would move up all those below.
    is_blank = reduce(pc.and_, map(pc.is_null, filled))
    filled[0] = pc.if_else(is_blank, "", filled[0])
    separator = pa.scalar(SEPARATOR, pa.large_string())
    return pc.binary_join_element_wise(*filled, separator, null_handling="skip")


def read_seeds(texts: pa.Array) -> pa.Array:
    """Read seeds as text, a whole number in one way however it is written; NaN is no seed.

    Examples
    --------
    >>> read_seeds(make_texts(["205.0", " 7 ", "007", "1e1", "a", "nan", ""])).to_pylist()
    ['205', '7', '7', '1e1', 'a', '', '']
    """
    encoded = trim(texts).dictionary_encode()
    seeds = [_read_seed(text) for text in encoded.dictionary.to_pylist()]
    return make_texts(seeds).take(encoded.indices)


def _read_seed(text: str) -> str:
    found = WHOLE.fullmatch(text)
    if found:
        return str(int(found[1]))
    return "" if text in ("nan", "NaN") else text


def list_values(wanted: Value | Sequence[Value]) -> list[Value]:
    """List the values that a filter lets through, one or several of them."""
    if isinstance(wanted, (str, int, float)):
        return [wanted]
    return list(wanted)


def match_value(text: str, value: Value) -> bool:
    """Whether a cell says what a filter asks for.

    Numbers are compared as numbers ("1.0" is 1), truth values whatever their case, and everything
    else as trimmed text.

    Examples
    --------
    >>> match_value("1.0", 1), match_value("TRUE", True), match_value("1.0", "1")
    (True, True, False)
    """
    text = text.strip()
    if isinstance(value, bool):
        return BOOLEANS.get(text.lower()) is value
    if isinstance(value, str):
        return text == value.strip()
    try:
        return float(text) == value
    except ValueError:
        return False


def match_rows(cells: Cells, where: Filters) -> npt.NDArray[np.bool_]:
    """Find the rows that all filters let through.

    Parameters
    ----------
    cells : Cells
        With all columns of `where`.
    where : mapping
        Column and value, or list of values.

    Returns
    -------
    ndarray of bool, shape (rows,)
    """
    rows = np.ones(len(cells.lines), dtype=np.bool_)
    for name, wanted in where.items():
        values = list_values(wanted)
        column = cells.columns[name]
        texts = [
            text
            for text in column.unique().to_pylist()
            if any(match_value(text, value) for value in values)
        ]
        matching = pc.is_in(column, make_texts(texts))
        rows &= matching.to_numpy(zero_copy_only=False)
    return rows


class Wish(NamedTuple):
    """A column that a study asks for: where the configuration names it, and its name."""

    setting: str
    name: str


def clean_header(names: Sequence[str]) -> list[str]:
    """Trim the names of columns; a column without a name is called after its position.

    Examples
    --------
    >>> clean_header(["", " score "])
    ['Unnamed: 0', 'score']
    """
    return [name.strip() or f"Unnamed: {position}" for position, name in enumerate(names)]


def join_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join the rows of a header into one name per column.

    Parameters
    ----------
    rows : sequence of sequence of str, shape (header_rows, columns)
        The cells of the header, at least one row.

    Returns
    -------
    list of str
        Cleaned as in `clean_header`, the parts of each name joined with " / ".

    Notes
    -----
    A blank cell of any row but the last repeats the cell on its left, unless a new name starts
    above it. It stays blank in the first columns, where there is nothing to repeat. A blank cell of
    the last row adds nothing to the name.

    Examples
    --------
    >>> join_header([["", "PASTIS", "", "OSCD"], ["model", "test", " val", ""]])
    ['model', 'PASTIS / test', 'PASTIS / val', 'OSCD']
    """
    *upper, last = [[cell.strip() for cell in row] for row in rows]
    starts = [False] * len(last)
    for row in upper:
        for place, cell in enumerate(row):
            starts[place] |= bool(cell)
            if place and not starts[place]:
                row[place] = row[place - 1]
    columns = zip(*upper, last, strict=True)
    return clean_header([SEPARATOR.join(filter(None, parts)) for parts in columns])


def list_columns(columns: Mapped, role: str) -> list[str]:
    """List the columns that are mapped to a role, by default as the configuration has it.

    Examples
    --------
    >>> list_columns({"model": ["name", "pretrained"]}, "model"), list_columns({}, "score")
    (['name', 'pretrained'], ['score'])
    """
    names = columns.get(role, () if role in LISTS else role) or ()
    return [name.strip() for name in ([names] if isinstance(names, str) else names)]


def check_columns(
    wishes: Sequence[Wish], present: Sequence[str], source: str, *, hint: str = ""
) -> list[Problem]:
    """Check that a file has each wanted column once.

    Parameters
    ----------
    wishes : sequence of Wish
        What is asked for.
    present : sequence of str
        The columns of the file.
    source : str
        The file.
    hint : str, optional
        A further sentence for the remedy of a missing column.

    Returns
    -------
    list of Problem
        With the codes "missing_column" and "duplicated_column".
    """
    counts = Counter(present)
    problems = []
    for setting, name in dict.fromkeys(wishes):
        if counts[name] == 1:
            continue
        code, reason = "missing_column", f"There is no column {quote_name(name)} ({setting})."
        remedy = f"{ask_nearest(name, present)}The columns are {list_names(present)}. {hint}"
        if counts[name]:
            code = "duplicated_column"
            reason = f"{counts[name]} columns are called {quote_name(name)}."
            remedy = (
                "Rename or remove all but one of them, or set `header_rows: 2` if the row below "
                "goes on with their names."
            )
        problem = Problem(code=code, source=source, reason=reason, remedy=remedy.rstrip())
        problems.append(replace(problem, line=1, column=name))
    return problems
