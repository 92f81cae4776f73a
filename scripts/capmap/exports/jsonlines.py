"""JSON lines: one object per line."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from capmap.exports.cells import Cells, make_texts
from capmap.exports.columns import clean_header
from capmap.exports.faults import UnreadableExportError
from capmap.exports.files import check_text, read_bounded
from capmap.problems import Problem


class _Numeral(str):
    """The text of a JSON number, as it stands in the file."""


BLANKS = " \t\r"
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
    is one, only the first is told. Numbers keep their text; true and false are these words; arrays
    and objects within a cell are their JSON, and listed as nested.
    """
    content = read_bounded(path)
    check_text(content, path)
    columns: dict[str, list[str]] = {}
    words: set[str] = set()
    nested: dict[str, list[int]] = {}
    lines: list[int] = []
    problems: list[Problem] = []
    for line, text in enumerate(content.decode("utf-8-sig").split("\n"), start=1):
        text = text.strip(BLANKS)
        if not text:
            continue
        record = _parse_line(text)
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


def _parse_line(text: str) -> dict[str, Any] | str:
    """Parse a line into an object, or into what is wrong with it."""
    try:
        record = DECODER.decode(text)
        if "\\u" in text:
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "The line holds half of a surrogate pair."
    except json.JSONDecodeError as error:
        return f"The line is not JSON ({error.msg}, character {error.pos + 1})."
    except RecursionError:
        return "The line is nested too deeply."
    return record if isinstance(record, dict) else "The line is not a JSON object."


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
