"""YAML as plain values with their lines; nothing in it makes an object of Python."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from capmap.exports.documents import (
    DEEPEST,
    Array,
    FaultError,
    Numeral,
    Object,
    Parts,
    check_length,
    refuse_depth,
    refuse_twice,
)
from capmap.wording import quote_name

MOST_REPEATS = 1_000_000
TEXT = 64
NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
NOT_FINITE = re.compile(r"([+-]?)\.(inf|Inf|INF|nan|NaN|NAN)")
WORDS: dict[str, bool | None] = dict.fromkeys(["", "~", "null", "Null", "NULL"])
WORDS |= dict.fromkeys(["true", "True", "TRUE"], True)
WORDS |= dict.fromkeys(["false", "False", "FALSE"], False)
RESOLVED = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool", "null"))
KEPT = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map", "timestamp"))
PLAIN = RESOLVED | KEPT | {None, "!"}
MERGE = "<<"

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
    ``1_000`` and ``1:30`` are text, and so are dates. An object takes what it lacks from the one
    under the key ``<<``.
    """
    check_length(text)
    events = yaml.parse(text, Loader=_Loader)
    try:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                yield from _split(*_Reader(events).read_document(), needs_objects)
    except FaultError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:
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


class _Reader:
    """A document that is made of events."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._size = 0
        self._repeats = 0

    def read_document(self) -> tuple[int, Any]:
        """Read the document that has just begun, and its line."""
        event = next(self.events)
        return event.start_mark.line + 1, self._read(event, 0)

    def _read(self, event: Any, depth: int) -> Any:
        line = event.start_mark.line + 1
        if depth > DEEPEST:
            raise refuse_depth(line)
        if isinstance(event, yaml.AliasEvent):
            return self._repeat(event.anchor, line)
        if event.tag not in PLAIN:
            raise _refuse(f"The tag {quote_name(event.tag)} is not one of plain data.", line)
        size = self._size
        # A long text counts as many values.
        self._size += 1 + len(getattr(event, "value", "")) // TEXT
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = _resolve(event, line)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._read_array(depth + 1)
        else:
            value = self._read_object(depth + 1)
        if event.anchor:
            self._anchors[event.anchor] = (value, self._size - size)
        return value

    def _repeat(self, anchor: Any, line: int) -> Any:
        """Give back the value of an anchor, and count how many values all aliases stand for."""
        if anchor not in self._anchors:
            raise _refuse(f"The alias {quote_name(anchor)} stands for no value above it.", line)
        value, size = self._anchors[anchor]
        self._size += size
        self._repeats += size
        if self._repeats > MOST_REPEATS:
            reason = f"The aliases stand for more than {MOST_REPEATS} values."
            raise FaultError("too_many_aliases", reason, "Write out the values.", line=line)
        return value

    def _read_array(self, depth: int) -> Array:
        array = Array()
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            array.add("", self._read(event, depth), event.start_mark.line + 1)
        return array

    def _read_object(self, depth: int) -> Object:
        found, merged = Object(), []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            is_merge = getattr(event, "value", "") == MERGE and event.implicit[0]
            key, line = self._read_key(event, depth), event.start_mark.line + 1
            event = next(self.events)
            value = self._read(event, depth)
            if is_merge:
                sources = value if isinstance(value, Array) else [value]
                merged += [(source, line) for source in sources]
            elif key in found:
                raise refuse_twice(key, line)
            else:
                found.add(key, value, event.start_mark.line + 1)
        for source, line in merged:
            if not isinstance(source, Object):
                raise _refuse(f"What stands under {MERGE} is not an object.", line)
            for key in [key for key in source if key not in found]:
                found.add(key, source[key], line)
        return found

    def _read_key(self, event: Any, depth: int) -> str:
        key, line = self._read(event, depth), event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            return _mend(event.value, line)
        if not isinstance(key, str):
            raise _refuse("The key is not text.", line)
        return str(key)


def _resolve(event: yaml.ScalarEvent, line: int) -> str | bool | None:
    """What a text without quotes, or of a tag for such, stands for."""
    text: str = event.value
    is_bare = event.tag is None and event.implicit[0]
    if not is_bare and event.tag not in RESOLVED:
        return _mend(text, line)
    if text in WORDS:
        return WORDS[text]
    if NUMBER.fullmatch(text):
        return Numeral(text)
    if found := NOT_FINITE.fullmatch(text):
        return Numeral("".join(found.groups()).lower())
    return _mend(text, line)


def _mend(text: str, line: int) -> str:
    """Join the halves of characters, which the parser that is written in Python leaves apart."""
    try:
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise _refuse("The value holds half of a surrogate pair.", line) from error
