"""JSON lines, JSON and YAML as plain values that keep their lines."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeAlias

import yaml

from capmap.exports.files import LONGEST
from capmap.problems import Problem
from capmap.wording import quote_name

DEEPEST = 100
LONGEST_VALUE = 200
REMEDY = "Write the file with a library for its format."


class Numeral(str):
    """The text of a number, as it stands in the file."""

    __slots__ = ()


class Object(dict[str, Any]):
    """An object, and the lines where its values begin."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []

    def add(self, key: str, value: Any, line: int) -> None:
        """Add a value under a key that is not there yet."""
        self[key] = value
        self.lines.append(line)


class Array(list[Any]):
    """A list, and the lines where its entries begin."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []

    def add(self, _key: str, value: Any, line: int) -> None:
        """Add an entry, whatever the key."""
        self.append(value)
        self.lines.append(line)


class FaultError(ValueError):
    """What is wrong with a value, and what to do about it; line 0 is where the value begins."""

    def __init__(
        self, code: str, reason: str, remedy: str = REMEDY, *, line: int = 0, value: str = ""
    ) -> None:
        super().__init__(reason)
        self.code, self.reason, self.remedy = code, reason, remedy
        self.line, self.value = line, value

    def explain(self, path: str, line: int = 0) -> Problem:
        """Make a problem of it, at a line unless it has one itself."""
        return Problem(
            code=self.code,
            source=path,
            reason=self.reason,
            remedy=self.remedy,
            line=self.line or line,
            value=self.value[:LONGEST_VALUE],
        )


# A line of JSON lines, an entry of the list that a document is, or a document: the line where it
# begins; the position of an entry in its list, from "0", empty for others; and its value, which is
# text, `Numeral`, True, False, None, or a list or an object of such.
Part: TypeAlias = tuple[int, str, Any]
Parts: TypeAlias = Iterator[Part | FaultError]


def refuse_depth(line: int = 0, *, code: str = "deep_nesting") -> FaultError:
    """Make the fault of a value that is nested too deeply."""
    return FaultError(code, "The value is nested too deeply.", "Write flatter objects.", line=line)


def refuse_twice(key: str, line: int) -> FaultError:
    """Make the fault of a key that stands twice."""
    reason = f"The key {quote_name(key)} stands twice in one object."
    return FaultError("duplicated_key", reason, "Rename or remove one of them.", line=line)


def check_length(text: str) -> None:
    """Check that a document does not take too much memory as a whole.

    Raises
    ------
    FaultError
        When it has more than 64 Mi characters.
    """
    if len(text) > LONGEST:
        reason = f"The document has more than {LONGEST} characters, and it is read as a whole."
        raise FaultError("too_large", reason, "Write JSON lines, or a list of objects as JSON.")


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


NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
NOT_FINITE = re.compile(r"([+-]?)\.(inf|Inf|INF|nan|NaN|NAN)")
WORDS: dict[str, bool | None] = dict.fromkeys(["", "~", "null", "Null", "NULL"])
WORDS |= dict.fromkeys(["true", "True", "TRUE"], True)
WORDS |= dict.fromkeys(["false", "False", "FALSE"], False)

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def list_yaml(text: str, *, needs_objects: bool = True) -> Parts:
    """Read YAML part by part, as far as it can be read.

    Parameters
    ----------
    text : str
        Documents, each an object or a list.
    needs_objects : bool, optional
        Whether each entry of a list has to be an object.

    Yields
    ------
    Part or FaultError
        All objects and lists are `Object` and `Array`. Empty documents are left out.

    Raises
    ------
    FaultError
        When the rest cannot be read.

    Notes
    -----
    Only ``true`` and ``false`` are truth values, not ``yes``. Numbers are decimal; ``0x1F``,
    ``1_000`` and ``1:30`` are text, and so are dates.
    """
    check_length(text)
    try:
        for node in yaml.compose_all(text, Loader=_Loader):
            if node is not None:
                value = _build(node, 0)
                yield from _split(node.start_mark.line + 1, value, needs_objects)
    except FaultError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _explain_syntax(error) from error


def _split(line: int, value: Any, needs_objects: bool) -> Parts:
    """List the entries of a document that is a list, or give it as a whole."""
    if isinstance(value, Object):
        yield line, "", value
    elif isinstance(value, Array):
        for position, (place, entry) in enumerate(zip(value.lines, value, strict=True)):
            if needs_objects and not isinstance(entry, Object):
                yield _refuse("The entry is not an object.", place, str(entry))
            else:
                yield place, str(position), entry
    elif value is not None:
        yield _refuse("The document is neither an object nor a list.", line, str(value))


def _refuse(reason: str, line: int, value: str = "") -> FaultError:
    return FaultError("invalid_yaml", reason, line=line, value=value)


def _explain_syntax(error: Exception) -> FaultError:
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
    if mark is None:
        return _refuse(f"The file is not YAML: {reason}.", 0)
    return _refuse(f"The file is not YAML: {reason} (column {mark.column + 1}).", mark.line + 1)


def _build(node: Any, depth: int) -> Any:
    """Make plain values of a node of a document."""
    line = node.start_mark.line + 1
    if depth > DEEPEST:
        raise refuse_depth(line)
    if node.tag not in yaml.SafeLoader.yaml_constructors:
        raise _refuse(f"The value has the tag {node.tag}, which is no plain data.", line)
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.style else _resolve(node.value)
    if isinstance(node, yaml.SequenceNode):
        array = Array()
        for child in node.value:
            array.add("", _build(child, depth + 1), child.start_mark.line + 1)
        return array
    found = Object()
    for key_node, child in node.value:
        key_line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refuse("The key is not text.", key_line)
        if key_node.value in found:
            raise refuse_twice(key_node.value, key_line)
        found.add(key_node.value, _build(child, depth + 1), child.start_mark.line + 1)
    return found


def _resolve(text: str) -> str | bool | None:
    """What a text without quotes stands for."""
    if text in WORDS:
        return WORDS[text]
    if NUMBER.fullmatch(text):
        return Numeral(text)
    if found := NOT_FINITE.fullmatch(text):
        return Numeral("".join(found.groups()).lower())
    return text
