"""Settings against their schema: every fault at once, every default filled in."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from capmap import schema_words as words
from capmap.errors import ConfigError
from capmap.schema_words import Place, Schema

ANNOTATIONS = {"$schema", "$defs", "title", "description", "default"}
CONSTRAINTS = {
    *("type", "enum", "const", "anyOf", "minLength"),
    *("properties", "required", "additionalProperties", "propertyNames"),
    *("minProperties", "maxProperties", "items", "minItems", "uniqueItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}


def check_settings(settings: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Validate nested settings and fill in every default.

    Parameters
    ----------
    settings : mapping
        What the user wrote, as YAML reads it. It is not changed.
    schema : mapping
        JSON Schema (draft 2020-12) of the settings, as `expand_references` takes it. A pattern
        of names applies to the whole name.

    Returns
    -------
    dict
        A deep copy of the settings, in which each absent key has its default, at every depth.

    Raises
    ------
    ConfigError
        When anything is wrong. The message has one line per fault: its path, what is wrong and,
        where it can be guessed, what was meant.

    Notes
    -----
    - A section without a value (``select:`` and nothing below) counts as not given.
    - A whole number may be written ``1.0e+4``; it becomes an `int`. Numbers are finite.
    - Booleans are never numbers and numbers are never text: a name that YAML reads as something
      else (``no``, ``2019``) has to be quoted, because its spelling is lost.
    - Where alternatives are allowed, the first one that fits gives the defaults.

    Importing jsonschema takes 0.1 to 0.2 s on every parse of the Snakefile, this module a few
    milliseconds. The tests hold it against jsonschema.

    Examples
    --------
    >>> schema = {"type": "object", "additionalProperties": False,
    ...           "properties": {"seeds": {"type": "integer", "minimum": 1, "default": 3}}}
    >>> check_settings({}, schema)
    {'seeds': 3}
    >>> check_settings({"seed": 0}, schema)
    Traceback (most recent call last):
        ...
    capmap.errors.ConfigError: seed: unknown key. Did you mean "seeds"?
    """
    root = expand_references(schema)
    faults = _Faults(root)
    checked: dict[str, Any] = _check_value(settings, root, (), faults)
    if faults.lines:
        raise ConfigError("\n".join(faults.lines))
    return checked


def expand_references(schema: Schema) -> dict[str, Any]:
    """Replace each local ``$ref`` of a schema by what it stands for.

    Parameters
    ----------
    schema : mapping
        JSON Schema whose references are local and do not form circles. Only annotations
        (description, default) stand beside a ``$ref``, and they win over those it refers to.

    Returns
    -------
    dict
        The schema without ``$ref`` and without ``$defs``.

    Raises
    ------
    ValueError
        When the schema uses a keyword that `check_settings` does not know, so that no rule is
        passed over in silence.
    """
    return _expand(schema, schema)


def _expand(part: Schema, schema: Schema) -> dict[str, Any]:
    known = ANNOTATIONS | ({"$ref"} if "$ref" in part else CONSTRAINTS)
    if unknown := part.keys() - known:
        raise ValueError(f"The schema uses {sorted(unknown)} where it cannot be checked.")
    target: Any = {}
    if "$ref" in part:
        target = schema
        for key in part["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        target = _expand(target, schema)
    whole = {**target, **{key: part[key] for key in part if key not in ("$ref", "$defs")}}
    if "$ref" in part:
        return whole
    if "properties" in whole:
        whole["properties"] = {
            key: _expand(child, schema) for key, child in whole["properties"].items()
        }
    for keyword in ("additionalProperties", "items"):
        if isinstance(whole.get(keyword), Mapping):
            whole[keyword] = _expand(whole[keyword], schema)
    if "anyOf" in whole:
        whole["anyOf"] = [_expand(branch, schema) for branch in whole["anyOf"]]
    return whole


@dataclass
class _Faults:
    """The faults found so far, and the schema in which remedies are looked up."""

    root: Schema
    lines: list[str] = field(default_factory=list)

    def add(self, place: Place, *sentences: str) -> None:
        self.lines.append(f"{words.render_place(place)}: {' '.join(filter(None, sentences))}")


def _check_value(value: Any, part: Schema, place: Place, faults: _Faults) -> Any:
    if value is None and part.get("type") == "object":
        value = part.get("default", {})
    if "anyOf" in part:
        return _check_alternatives(value, part, place, faults)
    if not words.has_type(value, part) or not words.is_allowed(value, part):
        faults.add(place, words.explain_value(value, part))
    elif isinstance(value, Mapping):
        return _check_section(value, part, place, faults)
    elif isinstance(value, list | tuple):
        return _check_list(value, part, place, faults)
    elif isinstance(value, str) and len(value) < part.get("minLength", 0):
        faults.add(place, "must not be empty.")
    elif part.get("type") == "integer":
        return int(value)
    return value


def _check_alternatives(value: Any, part: Schema, place: Place, faults: _Faults) -> Any:
    near_misses = []
    for branch in part["anyOf"]:
        trial = _Faults(faults.root)
        checked = _check_value(value, branch, place, trial)
        if not trial.lines:
            return checked
        if "type" in branch and words.has_type(value, branch):
            near_misses.append(trial)
    if len(near_misses) == 1 and not _is_number(value):
        faults.lines.extend(near_misses[0].lines)
    else:
        faults.add(place, words.explain_value(value, part))
    return value


def _check_list(values: Sequence[Any], part: Schema, place: Place, faults: _Faults) -> list[Any]:
    if len(values) < part.get("minItems", 0):
        faults.add(place, "the list must not be empty.")
    if part.get("uniqueItems"):
        for position, value in enumerate(values):
            if value in values[:position]:
                faults.add(place, f"{words.show_value(value)} is listed twice.")
    return [
        _check_value(value, part.get("items", {}), (*place, position), faults)
        for position, value in enumerate(values, start=1)
    ]


def _check_section(
    section: Mapping[str, Any], part: Schema, place: Place, faults: _Faults
) -> dict[str, Any]:
    known, free = part.get("properties", {}), part.get("additionalProperties", {})
    checked: dict[str, Any] = {}
    _check_size(section, part, place, faults)
    skipped = _check_levels(section, free, place, faults)
    for key, value in section.items():
        if not isinstance(key, str):
            faults.add(place, f"the key {key!r} is not text.", words.explain_quotes(key))
        elif key in known:
            if value is not None or key not in part.get("required", ()):
                checked[key] = _check_value(value, known[key], (*place, key), faults)
        elif free is False:
            faults.add((*place, key), words.explain_key(key, part, place, faults.root))
        elif key not in skipped:
            _check_name(key, part, place, faults)
            checked[key] = _check_value(value, free, (*place, key), faults)
    for key, child in known.items():
        if key in part.get("required", ()) and section.get(key) is None:
            faults.add((*place, key), "is missing.", child.get("description", ""))
        elif key not in section and "default" in child:
            checked[key] = _check_value(child["default"], child, (*place, key), faults)
    return checked


def _check_size(section: Mapping[str, Any], part: Schema, place: Place, faults: _Faults) -> None:
    if len(section) < part.get("minProperties", 0):
        faults.add(place, f"must not be empty. Expected {words.describe_values(part)}.")
    if len(section) > part.get("maxProperties", math.inf):
        faults.add(place, f"at most {part['maxProperties']} key may stand here.")


def _check_levels(
    section: Mapping[str, Any], free: Schema | bool, place: Place, faults: _Faults
) -> set[str]:
    """Find keys that stand a level too high, such as ``metrics: {direction: min}``."""
    inner = free.get("properties", {}) if isinstance(free, Mapping) else {}
    found = [key for key in section if key in inner]
    if all(section[key] is None or isinstance(section[key], Mapping) for key in found):
        return set()
    right = words.render_place((*place, words.NAME, found[0]))
    faults.add((*place, found[0]), f"a level is missing above this key. It belongs at {right}.")
    return set(found)


def _check_name(key: str, part: Schema, place: Place, faults: _Faults) -> None:
    pattern = part.get("propertyNames", {}).get("pattern", "")
    if pattern and not re.fullmatch(pattern, key):
        faults.add((*place, key), "this name cannot be used.", part.get("description", pattern))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
