"""What is known of models and datasets beside their scores: architecture, size, date and kind."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from capmap.errors import ValidationError
from capmap.exports.cells import Cells, Wish, check_columns, reject_unusable, trim
from capmap.exports.numbers import Kind, parse_mixed, parse_numbers
from capmap.exports.runs import find_blank_names, find_no_rows, find_words
from capmap.exports.sheets import open_sheet
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import count_things, quote_name

Role: TypeAlias = Literal["model", "dataset"]
Values: TypeAlias = Sequence[str | float | None]

SHOWN = 20
NUMBERS = {"parameters", "cost"}
UNKNOWN = "leave the cell empty if it is not known."
NUMBER_FAULTS = {
    Kind.NUMBER: ("The number is not above 0.", f"Correct it, or {UNKNOWN}"),
    Kind.NAN: ("This is not a number.", f"Correct it, or {UNKNOWN}"),
    Kind.INFINITE: ("The number is infinite.", f"Correct it, or {UNKNOWN}"),
    Kind.TEXT: ("This is not a number.", f"Correct it, or {UNKNOWN}"),
    Kind.OTHER_MARK: (
        "The number does not fit the decimal mark of the others.",
        "Write all numbers of the column with one mark.",
    ),
    Kind.AMBIGUOUS: (
        "The mark may be a decimal mark or divide thousands.",
        "Write the number without a mark between thousands.",
    ),
}
# Two days that differ in nothing but the year, not even in the day of the week.
DAYS = (datetime(2024, 2, 13), datetime(2052, 2, 13))


class AttributesError(ValidationError):
    """A table of attributes that cannot be used.

    Parameters
    ----------
    problems : sequence of Problem
        Everything that is wrong with it.
    path : str
        The table.
    """

    def __init__(self, problems: Sequence[Problem], path: str) -> None:
        super().__init__(_write_message(problems, path))
        self.problems = list(problems)


def find_attribute_faults(attributes: Mapping[str, Mapping[str, str]]) -> list[Problem]:
    """Find all that is wrong with the tables of attributes of a study.

    Parameters
    ----------
    attributes : mapping
        As the setting `attributes` has them: "models" and "datasets", or neither.
    """
    readers: dict[str, Callable[..., pd.DataFrame]] = {
        "models": read_model_attributes,
        "datasets": read_dataset_attributes,
    }
    problems: list[Problem] = []
    for kind, settings in attributes.items():
        columns = {name: value for name, value in settings.items() if name != "file"}
        try:
            readers[kind](settings["file"], **columns)
        except AttributesError as error:
            problems += error.problems
    return problems


def read_model_attributes(
    path: str,
    *,
    name: str,
    architecture: str,
    parameters: str,
    date: str,
    date_format: str,
    cost: str = "",
) -> pd.DataFrame:
    """Read what is known of models.

    Parameters
    ----------
    path : str
        CSV, TSV, JSON lines or Parquet with a row per model; empty means that there is none.
    name : str
        Column of the model's name.
    architecture, parameters, cost, date : str
        Columns of the architecture, of the number of parameters and of a cost (in any unit), and
        of the date of publication; empty means that the file has none.
    date_format : str
        How dates are written, in the codes of `datetime.strptime`. It must have the year; a month
        or a day that it lacks is the first.

    Returns
    -------
    DataFrame
        model (text), architecture (text), parameters (float64, above 0), date (text such as
        ``2024-02-13``), and, if it is named, cost (float64, above 0), a row per model by name.
        What is not known is None or NaN.

    Raises
    ------
    ValidationError
        When anything is wrong. The message has the place and the remedy of the first 20 faults.

    Notes
    -----
    - Names and texts are trimmed, and a blank cell is not known. A word such as ``NA`` is a text,
      and a fault where a number or a date should be.
    - Rows without any filled cell are left out. Any other row without a name is a fault.
    - A model may be repeated with the same values, and then counts once. Other values, also one
      that is known in only one of the rows, are a fault.
    - Numbers may have decimal commas, see `parse_numbers`.
    """
    columns = {"name": name, "architecture": architecture, "parameters": parameters, "date": date}
    columns |= {"cost": cost} if cost else {}
    return _read_attributes(path, columns, "model", date_format=date_format)


def read_dataset_attributes(
    path: str,
    *,
    name: str,
    type: str,  # noqa: A002 (the name of the configured option)
    family: str,
) -> pd.DataFrame:
    """Read what is known of datasets.

    Parameters
    ----------
    path : str
        CSV, TSV, JSON lines or Parquet with a row per dataset; empty means that there is none.
    name : str
        Column of the dataset's name.
    type, family : str
        Columns of the type of task and of the family; empty means that the file has none.

    Returns
    -------
    DataFrame
        dataset, type and family (text), a row per dataset by name. What is not known is None; a
        family is never derived from the name.

    Raises
    ------
    ValidationError
        When anything is wrong. The message has the place and the remedy of the first 20 faults.

    Notes
    -----
    Blank cells, blank rows and repeated names are as in `read_model_attributes`.
    """
    columns = {"name": name, "type": type, "family": family}
    return _read_attributes(path, columns, "dataset")


def _read_attributes(
    path: str,
    columns: Mapping[str, str],
    role: Role,
    *,
    date_format: str = "",
) -> pd.DataFrame:
    """Read the columns of a file; their keys are those of the configuration."""
    if not path:
        return _make_table({}, [], list(columns), role)
    used = {key: column.strip() for key, column in columns.items() if column.strip()}
    try:
        cells = _read_cells(path, used, role)
    except UnreadableExportError as error:
        raise AttributesError(error.problems, path) from error
    texts = {key: trim(cells.columns[column]) for key, column in used.items()}
    problems = [
        *cells.problems,
        *find_no_rows(cells.lines, cells.problems, source=path),
        *find_blank_names(texts["name"], role, column=used["name"], source=path, lines=cells.lines),
    ]
    values: dict[str, Values] = {
        key: [text or None for text in column.to_pylist()] for key, column in texts.items()
    }
    for key in sorted(NUMBERS & used.keys()):
        values[key], faults = _read_numbers(cells, key, used[key], path, role)
        problems += faults
    if "date" in used:
        values["date"], faults = _read_dates(cells, used["date"], path, date_format)
        problems += faults
    spoiled = {problem.line for problem in problems}
    sound = [row for row, line in enumerate(cells.lines.tolist()) if line not in spoiled]
    rows, faults = _find_rows(values, sound, cells, used, path, role)
    problems += faults
    if problems:
        raise AttributesError(problems, path)
    return _make_table(values, rows, list(columns), role)


def _read_cells(path: str, columns: Mapping[str, str], role: Role) -> Cells:
    """Read the rows with a filled cell, all columns of them."""
    sheet = open_sheet(path, wanted=set(columns.values()))
    wishes = [
        Wish(f"attributes: {{{role}s: {{{key}: …}}}}", column) for key, column in columns.items()
    ]
    if problems := check_columns(wishes, sheet.columns, path):
        raise UnreadableExportError(*problems)
    counts = Counter(sheet.columns)
    cells = sheet.read_cells([column for column in counts if counts[column] == 1])
    cells = reject_unusable(cells, list(columns.values()), source=path)
    filled = np.zeros(len(cells.lines), dtype=np.bool_)
    for column in cells.columns.values():
        filled |= pc.not_equal(trim(column), "").to_numpy(zero_copy_only=False)
    return cells.select(filled)


def _read_numbers(
    cells: Cells, key: str, column: str, path: str, role: Role
) -> tuple[Values, list[Problem]]:
    """Read numbers above 0."""
    texts = trim(cells.columns[column])
    numbers = parse_mixed(
        texts,
        cells.find_numerals(column),
        lambda texts, *, numeric: parse_numbers(texts, decimal="." if numeric else "auto"),
    )
    remedy = f"Set `attributes: {{{role}s: {{{key}: …}}}}` to a column of numbers."
    if words := find_words(
        numbers, texts, column=column, source=path, lines=cells.lines, remedy=remedy
    ):
        return [None] * len(texts), words
    found = numbers.values.tolist()  # noqa: PD011 (numbers are no table)
    values: list[float | None] = []
    problems = []
    for row, kind in enumerate(map(Kind, numbers.kinds)):
        is_sound = kind == Kind.NUMBER and found[row] > 0
        values.append(found[row] if is_sound else None)
        if kind != Kind.EMPTY and not is_sound:
            reason, remedy = NUMBER_FAULTS[kind]
            problems.append(_cell_problem(cells, row, column, path, "bad_number", reason, remedy))
    return values, problems


def _read_dates(
    cells: Cells, column: str, path: str, date_format: str
) -> tuple[Values, list[Problem]]:
    """Read dates as texts such as 2024-02-13."""
    texts = trim(cells.columns[column]).to_pylist()
    remedy = "Set `attributes: {models: {date_format: …}}` to how dates are written"
    if not _has_year(date_format):
        reason = f"{quote_name(date_format)} is no format of dates with a year."
        problem = Problem(
            code="bad_date_format",
            source=path,
            reason=reason,
            remedy=f'{remedy}, such as "%d/%m/%Y".',
            column=column,
        )
        return [None] * len(texts), [problem]
    dates = [_parse_date(text, date_format) for text in texts]
    bad = [row for row, text in enumerate(texts) if text and dates[row] is None]
    if bad and not any(dates):
        reason = f"No cell of the column is a date written as {quote_name(date_format)}."
        return dates, [_cell_problem(cells, bad[0], column, path, "no_dates", reason, f"{remedy}.")]
    reason = f"This is not a date written as {quote_name(date_format)}."
    remedy = f"Correct it, or {UNKNOWN}"
    return dates, [
        _cell_problem(cells, row, column, path, "bad_date", reason, remedy) for row in bad
    ]


def _has_year(date_format: str) -> bool:
    """Whether dates written so can be read again, with their year."""
    try:
        written, other = (day.strftime(date_format) for day in DAYS)
        return written != other and datetime.strptime(written, date_format).year == DAYS[0].year
    except (ValueError, re.error):
        return False


def _parse_date(text: str, date_format: str) -> str | None:
    try:
        return datetime.strptime(text, date_format).date().isoformat()
    except ValueError:
        return None


def _find_rows(
    values: Mapping[str, Values],
    rows: Sequence[int],
    cells: Cells,
    columns: Mapping[str, str],
    path: str,
    role: Role,
) -> tuple[list[int], list[Problem]]:
    """Find the first row of each name, in order of the names, and rows that contradict it."""
    firsts: dict[str, int] = {}
    problems = []
    for row in rows:
        name = str(values["name"][row])
        first = firsts.setdefault(name, row)
        for key, column in columns.items():
            if values[key][row] != values[key][first]:
                reason = (
                    f"The {role} {quote_name(name)} has another value on line {cells.lines[first]}."
                )
                remedy = "Correct or remove one of the rows."
                problems.append(_cell_problem(cells, row, column, path, "conflict", reason, remedy))
    return [firsts[name] for name in sorted(firsts)], problems


def _make_table(
    values: Mapping[str, Values], rows: Sequence[int], keys: Sequence[str], role: Role
) -> pd.DataFrame:
    """Make the table of some rows; a key without values is a column of nothing known."""
    columns = {}
    for key in keys:
        kind = pa.float64() if key in NUMBERS else pa.large_string()
        column = values.get(key)
        known = [column[row] if column else None for row in rows]
        columns[role if key == "name" else key] = pa.array(known, kind)
    table: pd.DataFrame = pa.table(columns).to_pandas()
    return table


def _cell_problem(
    cells: Cells, row: int, column: str, path: str, code: str, reason: str, remedy: str
) -> Problem:
    return Problem(
        code=code,
        source=path,
        line=int(cells.lines[row]),
        column=column,
        value=cells.columns[column][row].as_py(),
        reason=reason,
        remedy=remedy,
    )


def _write_message(problems: Sequence[Problem], path: str) -> str:
    """Say what is wrong, in the order of the file."""
    found = sorted(problems, key=lambda problem: problem.line)
    lines = [f"{count_things(len(found), 'error')} in {path}."]
    lines += [f"  {problem}" for problem in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"  ... and {len(found) - SHOWN} more.")
    return "\n".join(lines)
