"""Files of settings: YAML whose keys stand once, no larger than settings are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from capmap.errors import ConfigError

# More than any study has settings, and less than it takes a second to read.
LARGEST = 4 << 20
DEEPEST = 100
MOST_REPEATS = MOST_VALUES = 100_000
TEXT = 64
# Up to here a text with a fault is read again by the parser whose messages are plainer.
SHORT = 1 << 16
OCTAL = re.compile(r"[+-]?0[0-7_]+")
INT, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
# Python refuses to read numbers of several thousand digits.
WHOLE = re.compile(r"[+-]?(?:0b[01_]{1,999}|0x[0-9a-fA-F_]{1,999}|[0-9][0-9_:]{0,999})")
DECIMAL = re.compile(
    r"[+-]?(?:\.inf|\.nan|[0-9][0-9_:]*\.?[0-9_]*(?:e[+-]?[0-9]+)?|\.[0-9][0-9_]*(?:e[+-]?[0-9]+)?)",
    re.IGNORECASE,
)

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document(NamedTuple):
    """A file of settings, and a line for each of its faults that leave it readable."""

    content: Any
    faults: list[str]


def read_yaml(path: str) -> Any:
    """Read YAML, of which JSON is a part.

    Raises
    ------
    ConfigError
        When it cannot be read, is no YAML, has more than `LARGEST` bytes, `DEEPEST` levels or
        `MOST_VALUES` keys and values, aliases for more than `MOST_REPEATS` values, keys twice, or
        numbers that are not what they look like, such as ``012``; with line and column.
    """
    content, faults = open_yaml(path)
    if faults:
        raise ConfigError("\n".join(faults))
    return content


def open_yaml(path: str) -> Document:
    """Read YAML as `read_yaml` does, and list the faults of keys and numbers."""
    text = _read_text(path)
    try:
        _check_extent(text, path)
        loader = _Loader(text)
        node = loader.get_single_node()
        # Before sections are merged (<<), which puts keys beside those that win over them.
        faults = sorted(_find_faults(node)) if node else []
        content = loader.construct_document(node) if node and not faults else None
    except yaml.MarkedYAMLError as error:
        return Document(_read_json(text, _explain(path, _parse_again(text) or error)), [])
    except (ValueError, LookupError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: it is no YAML ({' '.join(str(error).split())}).") from error
    return Document(
        content,
        [f"{path}, line {line}, column {column}: {fault}" for line, column, fault in faults],
    )


def _read_text(path: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(LARGEST + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"{path}: it cannot be read ({error.strerror}). Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: it is not UTF-8. Save it as UTF-8.") from error
    if len(data) > LARGEST:
        raise ConfigError(f"{path}: it has more than {LARGEST} bytes, which settings never need.")
    return text


def _check_extent(text: str, path: str) -> None:
    """Refuse a document that is small only as long as its aliases are not written out."""
    extent = _Extent()
    event: Any
    for event in yaml.parse(text, Loader=_Loader):
        if fault := extent.add(event):
            raise ConfigError(f"{path}, line {event.start_mark.line + 1}: {fault}")


class _Extent:
    """How many values the aliases of a document stand for, and how deep it is."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._within: list[tuple[str | None, int]] = []
        self._size = self._repeats = self._values = 0

    def add(self, event: Any) -> str:
        """Take the next event, and say what is wrong with it."""
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, start = self._within.pop()
            self._sizes[anchor or ""] = self._size - start
        elif isinstance(event, yaml.AliasEvent):
            size = self._sizes.get(event.anchor or "", 0)
            if event.anchor in [anchor for anchor, _ in self._within]:
                return "an alias (*name) stands within what it is an alias of. Write it out."
            self._size += size
            self._repeats += size
            if self._repeats > MOST_REPEATS:
                return f"the aliases stand for more than {MOST_REPEATS} values. Write them out."
        elif isinstance(event, yaml.CollectionStartEvent):
            self._within.append((event.anchor, self._size))
            self._size += 1
            if len(self._within) > DEEPEST:
                return f"it is nested more than {DEEPEST} levels deep."
        elif isinstance(event, yaml.ScalarEvent):
            # A long text counts as many values.
            size = 1 + len(event.value) // TEXT
            self._size += size
            self._sizes[event.anchor or ""] = size
            self._values += 1
            if self._values > MOST_VALUES:
                return f"it has more than {MOST_VALUES} keys and values, which settings never need."
        return ""


def _find_faults(root: yaml.Node) -> Iterator[tuple[int, int, str]]:
    """Find keys that stand twice, and numbers that are not in base ten."""
    seen, open_nodes = set(), [root]
    while open_nodes:
        node = open_nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        mark = node.start_mark
        if isinstance(node, yaml.ScalarNode):
            if fault := _doubt_number(node):
                yield mark.line + 1, mark.column + 1, fault
        elif isinstance(node, yaml.SequenceNode):
            open_nodes += node.value
        elif isinstance(node, yaml.MappingNode):
            open_nodes += [child for pair in node.value for child in pair]
            yield from _find_twice(node)


def _find_twice(node: yaml.MappingNode) -> Iterator[tuple[int, int, str]]:
    firsts: dict[str, int] = {}
    for key, _ in node.value:
        name, mark = key.value, key.start_mark
        if isinstance(name, str) and name != "<<":
            if name in firsts:
                fault = f"the key {name!r} stands twice, first at line {firsts[name]}. "
                yield mark.line + 1, mark.column + 1, f"{fault}Keep one of them."
            firsts.setdefault(name, mark.line + 1)


def _doubt_number(node: yaml.ScalarNode) -> str:
    """Say why a text is no number, or not the one that people read: ``012`` is 10 to YAML 1.1."""
    text = node.value
    plain = text.replace("_", "").lstrip("+-0") or "0"
    if node.tag == INT and not WHOLE.fullmatch(text):
        return f"{text[:40]} is no whole number."
    if node.tag == FLOAT and not DECIMAL.fullmatch(text):
        return f"{text[:40]} is no number."
    if node.tag in (INT, FLOAT) and ":" in text:
        return f"{text} is no number in base ten. Write '{text}' in quotes if it is a text."
    if node.tag == INT and OCTAL.fullmatch(text):
        return f"{text} is no number in base ten. Write {plain}, or '{text}' if it is a text."
    return ""


def _read_json(text: str, fault: str) -> Any:
    """Read JSON that is no YAML, as it is indented by tabs."""
    try:
        return json.loads(text, object_pairs_hook=_pair)
    except (ValueError, RecursionError) as error:
        raise ConfigError(fault) from error


def _pair(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def read_config(path: str) -> dict[str, Any]:
    """Read a file of settings, of which it is checked elsewhere whether they make sense.

    Raises
    ------
    ConfigError
        As `read_yaml` does, and when there are no studies.
    """
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("studies"), dict):
        raise ConfigError(
            f"{path}: it has no section `studies:` with a study below it. Name a file of settings, "
            "which `capmap draft` writes for files of results."
        )
    return content


def _parse_again(text: str) -> yaml.MarkedYAMLError | None:
    """The fault of a short text as the parser that is written in Python words it."""
    if len(text) > SHORT:
        return None
    try:
        yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        return error
    except (ValueError, LookupError, yaml.YAMLError):
        pass
    return None


def _explain(path: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    reason = error.problem or error.context or "it is no YAML"
    hint = ""
    if "'\\t'" in reason:
        hint = " YAML is indented by blanks, not by tabs."
    elif "mapping values" in reason or "expected <block end>" in reason:
        hint = " Check the indentation here, and quotes around texts with a colon."
    elif "flow" in f"{error.context} {reason}":
        hint = " Check that every bracket and brace is closed."
    return f"{path}{place}: {reason}.{hint}"
