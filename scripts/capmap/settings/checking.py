"""Settings against their schema: every fault at once, every default filled in."""

import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import groupby
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import create

from capmap.errors import ConfigError
from capmap.settings import words
from capmap.settings.removed import REMOVED
from capmap.settings.sections import WHOLE_NUMBER
from capmap.settings.words import Place, Schema

RULES = Draft202012Validator.VALIDATORS
# Unknown keys that are reported one by one.
MOST_KEYS = 50
TYPE_CHECKER = Draft202012Validator.TYPE_CHECKER
KINDS = ("type", "enum", "const")
SENTENCES = {
    "minLength": "must not be empty.",
    "minItems": "the list must not be empty. Name one at least.",
    "minProperties": "must not be empty. Expected {expected}.",
    "maxProperties": "at most {limit} key may stand here.",
}


class Fault(NamedTuple):
    """What is wrong at a place of settings."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{words.render_place(self.place)}: {self.text}"


def check_settings(settings: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Validate nested settings and fill in every default.

    Notes
    -----
    - A section without a value (``select:`` and nothing below) counts as not given.
    - A whole number may be written ``1.0e+4``; it becomes an `int`. Numbers are finite.
    - Booleans are never numbers and numbers are never text: a name that YAML reads as something
      else (``no``, ``2019``) has to be quoted, because its spelling is lost. Only where all keys of
      a section are whole numbers, they may be written as such.
    - Alternatives (``anyOf``) have no defaults inside.

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
    checked, faults = find_faults(settings, schema)
    if faults:
        raise ConfigError("\n".join(map(str, faults)))
    return checked


def find_faults(settings: Mapping[str, Any], schema: Schema) -> tuple[dict[str, Any], list[Fault]]:
    """Fill in every default, and find what is wrong; of use are the settings where nothing is."""
    checked: dict[str, Any] = _complete(settings, schema)
    errors = _SettingsValidator(schema).iter_errors(checked)
    found = [fault for error in errors for fault in _explain_error(error, schema)]
    found.sort(key=lambda fault: _rank_place(fault[0], checked))
    faults = list(
        dict.fromkeys(
            Fault(place, _explain_removed(place, checked) or text.rstrip()) for place, text in found
        )
    )
    return (checked if faults else _arrange(checked, schema)), faults


def drop_faulty(settings: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Leave out what is wrong, so that the rest can be looked at.

    Examples
    --------
    >>> drop_faulty({"low": 0, "hihg": 1}, {"type": "object", "additionalProperties": False,
    ...                                     "properties": {"low": {"type": "integer"}}})
    {'low': 0}
    """
    left: dict[str, Any] = deepcopy(dict(settings))
    while faults := find_faults(left, schema)[1]:
        places = {_find_present(left, fault.place) for fault in faults}
        if () in places:
            return {}
        for place in places:
            _remove(left, place)
    return left


def _find_present(settings: dict[str, Any], place: Place) -> Place:
    """The place, or that of the innermost section or list around it that is there."""
    inner: Any = settings
    for depth, key in enumerate(place):
        if not isinstance(inner, dict) or key not in inner:
            return place[:depth]
        inner = inner[key]
    return place


def _remove(settings: dict[str, Any], place: Place) -> None:
    """Remove what is at a place, if what is around it is there still."""
    section: Any = settings
    for key in place[:-1]:
        section = section.get(key, {})
    section.pop(place[-1], None)


def _complete(value: Any, part: Schema) -> Any:
    """Copy settings, fill in defaults, also of empty sections, and make whole numbers integers."""
    if isinstance(value, Mapping) and _has_numbers(part):
        value = {str(key) if type(key) is int else key: child for key, child in value.items()}
    if value is None and part.get("type") == "object":
        value = part.get("default", {})
    if part.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if part.get("type") == "array" and isinstance(value, list):
        return [_complete(item, part.get("items", {})) for item in value]
    if part.get("type") != "object" or not isinstance(value, Mapping):
        return deepcopy(value)
    known, required = part.get("properties", {}), part.get("required", ())
    free = part.get("additionalProperties") or {}
    given = {key: child for key, child in value.items() if child is not None or key not in required}
    absent = {
        key: child["default"]
        for key, child in known.items()
        if "default" in child and key not in given
    }
    return {key: _complete(child, known.get(key, free)) for key, child in (given | absent).items()}


def _has_numbers(part: Schema) -> bool:
    """Whether the keys of a section are whole numbers, which YAML reads as such."""
    names = [branch.get("propertyNames", {}) for branch in part.get("anyOf", [part])]
    return any(rule.get("pattern") == WHOLE_NUMBER for rule in names)


def _arrange(value: Any, part: Schema) -> Any:
    """Order keys as the schema has them: another order in the file is no other setting."""
    if isinstance(value, list):
        return [_arrange(item, part.get("items", {})) for item in value]
    if not isinstance(value, Mapping):
        return value
    known, free = part.get("properties", {}), part.get("additionalProperties") or {}
    order = [key for key in (*known, *value) if key in value]
    return {key: _arrange(value[key], known.get(key, free)) for key in dict.fromkeys(order)}


def _check_free_keys(
    validator: Any, free: Any, section: Any, part: Schema
) -> Iterator[ValidationError]:
    """Check free keys, but report once that some are a level too high: ``metrics: {low: 0}``."""
    if validator.is_type(section, "object") and isinstance(free, Mapping):
        found = [key for key in section if key in free.get("properties", {})]
        if not all(isinstance(section[key], Mapping) for key in found):
            yield ValidationError("a level is missing", validator="level", path=found[:1])
            section = {key: section[key] for key in section if key not in found}
    yield from RULES["additionalProperties"](validator, free, section, part)


def _is_finite(_: Any, value: Any) -> bool:
    return bool(TYPE_CHECKER.is_type(value, "number") and abs(value) < math.inf)


def _is_section(_: Any, value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


_SettingsValidator = create(
    meta_schema=Draft202012Validator.META_SCHEMA,
    validators={**RULES, "additionalProperties": _check_free_keys},
    type_checker=TYPE_CHECKER.redefine_many({"number": _is_finite, "object": _is_section}),
)


def _explain_removed(place: Place, settings: Any) -> str:
    """Say what to use instead of a setting or value that is no longer known; "" of others."""
    value = settings
    for key in place:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int):
            value = value[key]
        else:
            return ""
    names = [str(key) for key in place if not isinstance(key, int)]
    names = names[2:] if names[:1] == ["studies"] else names
    for entry, instead in REMOVED.items():
        path, _, old = entry.partition("=")
        keys = path.split(".")
        is_named = len(keys) == len(names) and all(
            key in (words.NAME, name) for key, name in zip(keys, names, strict=True)
        )
        if is_named and (not old or str(value).casefold() == old.casefold()):
            return f"was removed. Instead: {instead}"
    return ""


def _explain_error(error: Any, root: Schema) -> Iterator[tuple[Place, str]]:
    """List the places that an error of jsonschema concerns, each with what is wrong there."""
    place, value, part = tuple(error.absolute_path), error.instance, error.schema
    known = part.get("properties", {})
    if meant := _list_meant(error):
        for fault in meant:
            yield from _explain_error(fault, root)
    elif error.validator == "additionalProperties":
        strange = [key for key in value if key not in known]
        for key in strange[:MOST_KEYS]:
            yield (*place, key), words.explain_key(key, list(known), place, root)
        if len(strange) > MOST_KEYS:
            yield place, f"{len(strange) - MOST_KEYS} more keys are unknown here."
    elif error.validator == "required":
        for key in error.validator_value:
            if key not in value:
                yield (*place, key), f"is missing. {known[key].get('description', '')}"
    elif "propertyNames" in error.relative_schema_path:
        yield (*place, value), f"this name cannot be used. {part.get('description', '')}"
    else:
        yield place, _explain_rule(error, place)


def _list_meant(error: Any) -> list[Any]:
    """List the faults within the only alternative that is of the value's kind."""
    branches = groupby(error.context, lambda fault: fault.schema_path[0])
    near = [
        faults
        for faults in (list(branch) for _, branch in branches)
        if not any(fault.validator in KINDS and not fault.path for fault in faults)
    ]
    return near[0] if len(near) == 1 else []


def _explain_rule(error: Any, place: Place) -> str:
    """Say which rule a value breaks."""
    value, limit, part = error.instance, error.validator_value, error.schema
    if error.validator == "level":
        right = words.render_place((*place[:-1], words.NAME, place[-1]))
        return f"a level is missing above this key. It belongs at {right}."
    if error.validator == "uniqueItems":
        twice = next(item for index, item in enumerate(value) if item in value[:index])
        return f"{words.show_value(twice)} is listed twice. Keep one of them."
    if error.validator == "pattern":
        return f"found {words.show_value(value)}. {part.get('description', '')}"
    if limit == "object" and isinstance(value, dict):
        odd = next(key for key in value if not isinstance(key, str))
        shown = str(odd).lower() if isinstance(odd, bool) else str(odd)
        return f"the key {shown} is not text. {words.explain_quotes(odd)}"
    if sentence := SENTENCES.get(error.validator):
        return sentence.format(expected=words.describe_values(part), limit=limit)
    return words.explain_value(value, part)


def _rank_place(place: Place, settings: Any) -> list[int]:
    """Where a place stands in the settings; what is missing comes last in its section."""
    ranks = []
    for key in place:
        keys = list(settings) if isinstance(settings, dict) else list(range(len(settings)))
        ranks.append(keys.index(key) if key in keys else len(keys))
        settings = settings[key] if key in keys else ()
    return ranks
