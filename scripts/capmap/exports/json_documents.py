"""JSON lines and JSON, read in such a way that values keep their lines."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from capmap.exports.documents import (
    LONGEST_VALUE,
    REMEDY,
    Array,
    FaultError,
    Numeral,
    Object,
    Part,
    Parts,
    check_length,
    refuse_depth,
    refuse_twice,
)

BLANKS = " \t\r"
SPACE = re.compile(r"[ \t\r\n]*")
MARK = re.compile(r"[ \t\r\n]*([,\]}])[ \t\r\n]*")
KEY = re.compile(r'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"[ \t\r\n]*:[ \t\r\n]*')
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
LINE_REMEDY = 'Write one object per line, such as {"model": "A", "dataset": "B", "score": 0.9}.'

Steps: TypeAlias = Sequence[Callable[[str], bool]]


def list_json(text: str, *, lines: bool, steps: Steps = (), needs_objects: bool = True) -> Parts:
    """Read JSON part by part, as far as it can be read.

    Parameters
    ----------
    text : str
        A list, whose entries are read one by one; one object; or JSON lines.
    lines : bool
        Whether it is JSON lines unless it is a list. Otherwise it is where its first line is not
        the beginning of an object that goes on below.
    steps : sequence of callable, optional
        Whether a key is on the way to the values whose lines are asked for, for each level from
        the top of the document. Objects and lists on these ways are `Object` and `Array`.
    needs_objects : bool, optional
        Whether each entry has to be an object; lines always have to be.

    Yields
    ------
    Part or FaultError
        Blank lines are left out.

    Raises
    ------
    FaultError
        When the rest cannot be read.
    """
    start = _skip(text, 0)
    if text.startswith("[", start):
        yield from _list_entries(text, start, steps, needs_objects)
    elif lines or not _goes_on(text, start):
        yield from _list_lines(text)
    else:
        yield _read_document(text, start, steps)


class _TwiceError(ValueError):
    """A key stands twice in an object."""


def _pair(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _TwiceError
    return record


DECODER = json.JSONDecoder(
    object_pairs_hook=_pair, parse_float=Numeral, parse_int=Numeral, parse_constant=Numeral
)


def _skip(text: str, position: int) -> int:
    """Skip white space."""
    found = SPACE.match(text, position)
    return found.end() if found else position


def _goes_on(text: str, start: int) -> bool:
    """Whether a line is the beginning of a value that goes on below it."""
    end = text.find("\n", start)
    if end < 0:
        return False
    line = text[start:end].rstrip(BLANKS)
    try:
        DECODER.raw_decode(line)
    except json.JSONDecodeError as error:
        return error.pos >= len(line)
    except (_TwiceError, RecursionError):
        pass
    return False


def _list_lines(text: str) -> Parts:
    for line, row in enumerate(text.split("\n"), start=1):
        stripped = row.strip(BLANKS)
        if not stripped:
            continue
        try:
            yield line, "", _read_line(stripped, line)
        except FaultError as fault:
            yield fault


def _read_line(text: str, line: int) -> Any:
    try:
        value, end = DECODER.raw_decode(text)
        if end == len(text) and type(value) is dict and "\\u" not in text:
            return value
    except (_TwiceError, json.JSONDecodeError, RecursionError):
        pass
    reader = _Reader(text, "The line is not JSON", LINE_REMEDY, first=line)
    value, end = reader.read(0, ())
    if end < len(text):
        raise reader.refuse("The line is not JSON: Extra data", end)
    reader.check(value, 0, end, name="line", needs_object=True)
    return value


def _list_entries(text: str, start: int, steps: Steps, needs_objects: bool) -> Parts:
    reader = _Reader(text, "The array is not JSON from here on", LINE_REMEDY)
    position, mark, count = start, ",", 0
    while mark == ",":
        start = _skip(text, position + 1)
        line, _ = reader.locate(start)
        below = steps[1:] if steps and steps[0](str(count)) else ()
        value, position = reader.read(start, below)
        try:
            reader.check(value, start, position, name="entry", needs_object=needs_objects)
            yield line, str(count), value
        except FaultError as fault:
            yield fault
        end = position
        position = _skip(text, end)
        mark, count = text[position : position + 1], count + 1
    if mark != "]" or _skip(text, position + 1) < len(text):
        raise reader.refuse("The array does not end here", end)


def _read_document(text: str, start: int, steps: Steps) -> Part:
    check_length(text)
    reader = _Reader(text, "The document is not JSON")
    line, _ = reader.locate(start)
    value, end = reader.read(start, steps)
    rest = _skip(text, end)
    if rest < len(text):
        raise reader.refuse("The document does not end here", rest)
    reader.check(value, start, end, name="document", needs_object=False)
    return line, "", value


class _Reader:
    """A text that is read from any position on; a fault begins with `complaint`."""

    def __init__(self, text: str, complaint: str, remedy: str = REMEDY, *, first: int = 1) -> None:
        self.text, self.complaint, self.remedy, self.first = text, complaint, remedy, first
        self._place = (0, 0, 0)

    def locate(self, position: int) -> tuple[int, int]:
        """Find the line of a position and where it begins, quickly behind the one before."""
        known, count, begin = self._place if self._place[0] <= position else (0, 0, 0)
        count += self.text.count("\n", known, position)
        begin = max(begin, self.text.rfind("\n", known, position) + 1)
        self._place = (position, count, begin)
        return self.first + count, begin

    def refuse(self, reason: str, position: int) -> FaultError:
        """Make the fault of what stands at a position."""
        line, begin = self.locate(position)
        start = max(begin, position - LONGEST_VALUE // 2)
        value = self.text[start : start + LONGEST_VALUE].partition("\n")[0].strip()
        reason = f"{reason} (character {position - begin + 1} of the line)."
        return FaultError("invalid_json", reason, self.remedy, line=line, value=value)

    def read(self, start: int, steps: Steps | None) -> tuple[Any, int]:
        """Read the value at a position, and find its end; None goes into every value."""
        try:
            return self._read(start, steps)
        except _TwiceError:
            return self.read(start, None)
        except json.JSONDecodeError as error:
            raise self.refuse(f"{self.complaint}: {error.msg}", error.pos) from error
        except RecursionError as error:
            raise refuse_depth(self.locate(start)[0], code="invalid_json") from error

    def check(self, value: Any, start: int, end: int, *, name: str, needs_object: bool) -> None:
        """Check that a value has whole characters, and is an object if it has to be one."""
        if needs_object and not isinstance(value, dict):
            raise self.refuse(f"The {name} is not a JSON object", start)
        if found := SURROGATE.search(self.text, start, end):
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError as error:
                reason = f"The {name} holds half of a surrogate pair"
                raise self.refuse(reason, found.start()) from error

    def _read(self, start: int, steps: Steps | None) -> tuple[Any, int]:
        mark = self.text[start : start + 1]
        if mark not in ("{", "[") or (steps is not None and not steps):
            return DECODER.raw_decode(self.text, start)
        end = "}" if mark == "{" else "]"
        container = Object() if mark == "{" else Array()
        position = _skip(self.text, start + 1)
        if self.text.startswith(end, position):
            return container, position + 1
        while True:
            key = str(len(container))
            if mark == "{":
                key, position = self._read_key(container, position)
            line, _ = self.locate(position)
            below = steps and (steps[1:] if steps[0](key) else ())
            value, position = self._read(position, below)
            container.add(key, value, line)
            found = MARK.match(self.text, position)
            if found is None or found[1] not in (",", end):
                raise json.JSONDecodeError(f"Expecting ',' or {end!r}", self.text, position)
            if found[1] == end:
                return container, found.end(1)
            position = found.end()

    def _read_key(self, known: Collection[str], start: int) -> tuple[str, int]:
        """Read a key and what divides it from its value."""
        found = KEY.match(self.text, start)
        if found is None:
            raise json.JSONDecodeError(
                "Expecting a key in double quotes and a colon", self.text, start
            )
        key = DECODER.raw_decode(self.text, start)[0] if "\\" in found[1] else found[1]
        if key in known:
            raise refuse_twice(key, self.locate(start)[0])
        return key, found.end()
