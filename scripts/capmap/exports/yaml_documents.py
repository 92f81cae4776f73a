"""YAML as plain values with their lines; nothing in it makes an object of Python."""

import re
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
