"""What is known of models and datasets beside their scores: architecture, size, date and kind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from capmap.exports.cells import (
    Cells,
    Kind,
    Place,
    check_columns,
    parse_mixed,
    reject_failed,
    trim,
)
from capmap.exports.layouts import find_blanks, find_no_rows, find_words
from capmap.exports.sheets import Sheet, open_sheet
from capmap.problems import Problem, UnreadableExportError

Role: TypeAlias = Literal["model", "dataset"]
Values: TypeAlias = Sequence[str | float | None]

NUMBERS = {"parameters", "cost"}
# How dates may be written, and the codes of `datetime.strptime` for that.
WAYS = {
    "2024-02-13": ("%Y-%m-%d", "%Y-%m", "%Y"),
    "13/02/2024": ("%d/%m/%Y",),
    "02/13/2024": ("%m/%d/%Y",),
}
NO_NUMBER = Problem(
    code="bad_number",
    reason="This is no number above 0.",
    remedy="Correct it, or leave the cell empty if it is not known.",
)
MARKED = replace(
    NO_NUMBER,
    reason="The mark may divide thousands, or is not the decimal mark of the others.",
)
NO_DATES = Problem(
    code="no_dates",
    reason="This is no date.",
    remedy=f"Write dates in one of these ways: {', '.join(WAYS)}.",
)
TWO_WAYS = replace(
    NO_DATES,
    reason="Nothing in the column says whether its days or its months come first.",
    remedy="Write dates as 2024-02-13.",
)


def find_attribute_faults(attributes: Mapping[str, Mapping[str, str]]) -> list[Problem]:
    """Find all that is wrong with the tables of attributes that the settings of a study name."""
    roles: dict[str, Role] = {"models": "model", "datasets": "dataset"}
    problems: list[Problem] = []
    for kind, settings in attributes.items():
        columns = {name: value for name, value in settings.items() if name != "file"}
        try:
            read_attributes(settings["file"], roles[kind], columns)
        except UnreadableExportError as error:
            problems += error.problems
    return problems


def read_attributes(path: str, role: Role, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read what is known of models or datasets, a row each by name; no path is an empty table.

    `columns` are those of the file by their setting, empty where it has none. The name is in the
    column ``model`` or ``dataset``, in capitals or not, unless ``name`` is another one.

    - Names and texts are trimmed, and a blank cell is not known. A word such as ``NA`` is a text
      and, where a number should be, not known; it is a fault where a date should be.
    - Rows without any filled cell are left out. Any other row without a name is a fault.
    - A model may be repeated with the same values, and then counts once. Other values, also one
      that is known in only one of the rows, are a fault.
    - Numbers are above 0 and may have decimal commas, see `parse_numbers`.
    - Dates are written in one of the ways of `WAYS`; a month or a day that is lacking is the first.
    """
    columns = {"name": role, **columns}
    if not path:
        return _make_table({}, 0, list(columns), role)
    used = {key: column.strip() for key, column in columns.items() if column.strip()}
    sheet = open_sheet(path, wanted=set(used.values()))
    same = (name for name in sheet.columns if name.casefold() == used["name"].casefold())
    used["name"] = used["name"] if used["name"] in sheet.columns else next(same, used["name"])
    cells = _read_cells(sheet, path, used, role)
    texts = {key: trim(cells.columns[column]) for key, column in used.items()}
    problems = [
        *cells.problems,
        *find_no_rows(len(cells.lines), cells.problems, source=path),
        *find_blanks(texts["name"], role, Place(path, cells.lines, used["name"])),
    ]
    values: dict[str, Values] = {
        key: [text or None for text in column.to_pylist()] for key, column in texts.items()
    }
    for key in sorted(NUMBERS & used.keys()):
        values[key], faults = _read_numbers(cells, key, used[key], path, role)
        problems += faults
    if "date" in used:
        values["date"], faults = _read_dates(cells, used["date"], path)
        problems += faults
    table = _make_table(values, len(cells.lines), list(columns), role)
    spoiled = [problem.line for problem in problems]
    is_sound = ~np.isin(cells.lines, spoiled)
    distinct = table[is_sound].drop_duplicates()
    conflict = Problem(
        code="conflict",
        reason=f"Another row of this {role} has other values.",
        remedy="Correct or remove one of the rows.",
    )
    place = Place(path, cells.lines, used["name"], texts["name"])
    problems += place.report(conflict, distinct.index[distinct.duplicated(role)])
    if problems:
        raise UnreadableExportError(*sorted(problems, key=lambda problem: problem.line))
    return table.drop_duplicates(role).sort_values(role, ignore_index=True)


def _read_cells(sheet: Sheet, path: str, columns: Mapping[str, str], role: Role) -> Cells:
    """Read the rows with a filled cell, all columns of them."""
    wishes = [
        (f"attributes: {{{role}s: {{{'file' if key == 'name' else key}: …}}}}", column)
        for key, column in columns.items()
    ]
    if problems := check_columns(wishes, sheet.columns, path):
        raise UnreadableExportError(*problems)
    counts = Counter(sheet.columns)
    cells = sheet.read_cells([column for column in counts if counts[column] == 1])
    cells = reject_failed(cells, source=path)
    filled = np.zeros(len(cells.lines), dtype=np.bool_)
    for column in cells.columns.values():
        filled |= pc.not_equal(trim(column), "").to_numpy(zero_copy_only=False)
    return cells.select(filled)


def _read_numbers(
    cells: Cells, key: str, column: str, path: str, role: Role
) -> tuple[Values, list[Problem]]:
    """Read numbers above 0."""
    texts = trim(cells.columns[column])
    numbers = parse_mixed(texts, cells.find_numerals(column))
    remedy = f"Set `attributes: {{{role}s: {{{key}: …}}}}` to a column of numbers."
    place = Place(path, cells.lines, column, texts)
    if words := find_words(numbers.kinds, place, remedy=remedy):
        return [None] * len(texts), words
    found = numbers.values  # noqa: PD011 (numbers are no table)
    is_sound = (numbers.kinds == Kind.NUMBER) & (found > 0)
    bad, marked = ~is_sound & (numbers.kinds != Kind.EMPTY), numbers.kinds == Kind.AMBIGUOUS
    problems = place.report(NO_NUMBER, np.flatnonzero(bad & ~marked))
    problems += place.report(MARKED, np.flatnonzero(bad & marked))
    return [own if sound else None for own, sound in zip(found, is_sound, strict=True)], problems


def _read_dates(cells: Cells, column: str, path: str) -> tuple[Values, list[Problem]]:
    """Read dates as texts such as 2024-02-13: those of the file are written in one way."""
    texts = trim(cells.columns[column]).to_pylist()
    ways = {way: [_parse_date(text, forms) for text in texts] for way, forms in WAYS.items()}
    counts = {way: sum(date is not None for date in dates) for way, dates in ways.items()}
    best = max(WAYS, key=counts.__getitem__)
    dates, day_first, month_first = ways[best], ways["13/02/2024"], ways["02/13/2024"]
    place = Place(path, cells.lines, column, cells.columns[column])
    if counts[best] and counts["13/02/2024"] == counts["02/13/2024"] == counts[best]:
        both = enumerate(zip(day_first, month_first, strict=True))
        if rows := [row for row, (one, other) in both if one != other]:
            return dates, place.report(TWO_WAYS, rows[:1])
    bad = [row for row, text in enumerate(texts) if text and dates[row] is None]
    if not any(dates):
        return dates, place.report(NO_DATES, bad[:1])
    problem = replace(NO_NUMBER, code="bad_date", reason=f"This is not a date written as {best}.")
    return dates, place.report(problem, bad)


def _parse_date(text: str, forms: Sequence[str]) -> str | None:
    for form in forms:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    return None


def _make_table(
    values: Mapping[str, Values], count: int, keys: Sequence[str], role: Role
) -> pd.DataFrame:
    """Make the table of all rows; a key without values is a column of nothing known."""
    columns = {}
    for key in keys:
        kind = pa.float64() if key in NUMBERS else pa.large_string()
        columns[role if key == "name" else key] = pa.array(values.get(key) or [None] * count, kind)
    table: pd.DataFrame = pa.table(columns).to_pandas()
    return table
