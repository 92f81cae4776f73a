"""JSON lines, one object per line, or one array of objects."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from capmap.exports.cells import Cells, clean_header, make_texts
from capmap.exports.files import check_text, read_bounded
from capmap.problems import Problem, UnreadableExportError


class _Numeral(str):
    """The text of a JSON number, as it stands in the file."""


BLANKS = " \t\r"
SPACE = re.compile(r"[ \t\r\n]*")
LONGEST_VALUE = 200
DECODER = json.JSONDecoder(parse_float=_Numeral, parse_int=_Numeral, parse_constant=_Numeral)


@dataclass(frozen=True)
class JsonSheet:
    """JSON lines that have been parsed.

    Parameters
    ----------
    columns : list of str
        Every key of any line, in order of appearance.
    cells : Cells
        All of them; a key that a line lacks, or that is null there, is an empty cell.
    """

    columns: list[str]
    cells: Cells

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Pick the cells of some columns."""
        columns = {name: self.cells.columns[name] for name in names}
        return replace(self.cells, columns=columns)


def open_jsonlines(path: str) -> JsonSheet:
    """Read JSON lines.

    Parameters
    ----------
    path : str
        The file.

    Raises
    ------
    UnreadableExportError
        When the file is not text, has more than 1 GiB, or has no line with an object.

    Notes
    -----
    Blank lines are skipped. A line that is not an object is a problem and left out; where no line
    is one, only the first is told. A file that begins with ``[`` is one array of objects, each of
    which has the line where it begins; what follows a fault of the array is not read. Numbers keep
    their text; true and false are these words; arrays and objects within a cell are their JSON, and
    listed as nested.
    """
    content = read_bounded(path)
    check_text(content, path)
    columns: dict[str, list[str]] = {}
    words: set[str] = set()
    nested: dict[str, list[int]] = {}
    lines: list[int] = []
    problems: list[Problem] = []
    for line, text, record in _list_records(content.decode("utf-8-sig")):
        if isinstance(record, str):
            problems.append(_explain_line(path, line, text, record))
            continue
        for name, value in record.items():
            if name not in columns:
                columns[name] = []
            column = columns[name]
            column += [""] * (len(lines) - len(column))
            column.append(_write_cell(value))
            if value is not None and not isinstance(value, _Numeral):
                words.add(name)
            if isinstance(value, (list, dict)):
                nested.setdefault(name, []).append(len(lines))
        lines.append(line)
    if not lines:
        raise UnreadableExportError(*problems[:1])
    return _make_sheet(columns, words, nested, np.array(lines, dtype=np.int64), problems)


def _make_sheet(
    columns: dict[str, list[str]],
    words: set[str],
    nested: dict[str, list[int]],
    lines: npt.NDArray[np.int64],
    problems: list[Problem],
) -> JsonSheet:
    names = clean_header(list(columns))
    texts = {}
    for name, column in zip(names, columns.values(), strict=True):
        column += [""] * (len(lines) - len(column))
        texts[name] = make_texts(column)
    numeric = frozenset(name for name, key in zip(names, columns, strict=True) if key not in words)
    places = {name: nested.get(key, []) for name, key in zip(names, columns, strict=True)}
    return JsonSheet(names, Cells(texts, lines, numeric, problems, places))


def _list_records(text: str) -> Iterator[tuple[int, str, dict[str, Any] | str]]:
    """List the line of each object, its text where it is at fault, and the object or the fault."""
    if text.lstrip().startswith("["):
        yield from _list_entries(text)
        return
    for line, row in enumerate(text.split("\n"), start=1):
        if row.strip(BLANKS):
            yield line, row.strip(BLANKS), _parse_line(row.strip(BLANKS))


def _list_entries(text: str) -> Iterator[tuple[int, str, dict[str, Any] | str]]:
    """List the entries of an array, as far as it can be read."""
    line, counted, position, divider = 1, 0, text.index("["), ","
    while divider == ",":
        start = _skip_space(text, position + 1)
        line, counted = line + text.count("\n", counted, start), start
        here = text[start : start + LONGEST_VALUE].split("\n")[0]
        try:
            record, position = DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            yield line, here, f"The array is not JSON from here on ({error.msg})."
            return
        except RecursionError:
            yield line, here, "The entry is nested too deeply."
            return
        yield line, here, _check_record(record, text[start:position], "entry")
        position = _skip_space(text, position)
        divider = text[position : position + 1]
    if divider != "]" or text[position + 1 :].strip():
        yield line, text[position : position + LONGEST_VALUE], "The array does not end here."


def _skip_space(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position


def _parse_line(text: str) -> dict[str, Any] | str:
    """Parse a line into an object, or into what is wrong with it."""
    try:
        record = DECODER.decode(text)
    except json.JSONDecodeError as error:
        return f"The line is not JSON ({error.msg}, character {error.pos + 1})."
    except RecursionError:
        return "The line is nested too deeply."
    return _check_record(record, text, "line")


def _check_record(record: Any, text: str, kind: str) -> dict[str, Any] | str:
    """Give a record back if it is an object of whole characters, or what is wrong with it."""
    try:
        if "\\u" in text:
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return f"The {kind} holds half of a surrogate pair."
    return record if isinstance(record, dict) else f"The {kind} is not a JSON object."


def _write_cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _explain_line(path: str, line: int, text: str, reason: str) -> Problem:
    remedy = 'Write one object per line, such as {"model": "A", "dataset": "B", "score": 0.9}.'
    return Problem(
        code="invalid_json",
        source=path,
        reason=reason,
        remedy=remedy,
        line=line,
        value=text[:LONGEST_VALUE],
    )
