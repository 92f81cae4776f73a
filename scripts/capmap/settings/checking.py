"""Settings against their declaration: every fault at once, every default filled in."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from pydantic import ValidationError

from capmap.errors import ConfigError
from capmap.settings import words
from capmap.settings.sections import Section
from capmap.settings.words import Place, find_part, list_known, read_schema

KEY = "[key]"
# Errors that say that a value is of another kind, so that another alternative is meant.
KINDS = {f"{kind}_type" for kind in ("string", "int", "float", "bool", "list", "dict", "model")}
KINDS |= {"literal_error"}
EMPTY = {"array": "the list must not be empty. Name one at least.", "string": "must not be empty."}


class Fault(NamedTuple):
    """What is wrong at a place of settings."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{words.render_place(self.place)}: {self.text}"


class Found(NamedTuple):
    """An error of pydantic: where it is in the settings, and the alternatives that it is of."""

    place: Place
    tags: tuple[str | int, ...]
    error: Mapping[str, Any]


def check_settings(settings: Any, section: type[Section]) -> dict[str, Any]:
    """Check nested settings and fill in every default.

    Notes
    -----
    - A section without a value (``select:`` and nothing below) counts as not given.
    - A whole number may be written ``1.0e+4``; it becomes an `int`. Numbers are finite.
    - Booleans are never numbers and numbers are never text: a name that YAML reads as something
      else (``no``, ``2019``) has to be quoted, because its spelling is lost.

    Examples
    --------
    >>> from capmap.settings.study import Bootstrap
    >>> check_settings({"seed": 1.0}, Bootstrap)["seed"]
    1
    >>> check_settings({"sed": 0}, Bootstrap)
    Traceback (most recent call last):
        ...
    capmap.errors.ConfigError: sed: unknown key. Did you mean "seed"?
    """
    checked, faults = find_faults(settings, section)
    if faults:
        raise ConfigError("\n".join(map(str, faults)))
    return checked


def find_faults(settings: Any, section: type[Section]) -> tuple[dict[str, Any], list[Fault]]:
    """Fill in every default, and find what is wrong; there are no settings where something is."""
    try:
        checked = section.model_validate(settings)
    except ValidationError as error:
        schema, given = read_schema(section), settings if isinstance(settings, Mapping) else {}
        errors = [((), error["loc"], error) for error in error.errors(include_url=False)]
        found = [*_explain_all([_locate(*one, given) for one in errors], given, schema)]
        told = {Fault(place, text.rstrip()): None for place, text in found}
        return {}, sorted(told, key=lambda one: _rank(one.place, given))
    return checked.model_dump(exclude_none=True, warnings=False), []


def drop_faulty(settings: Mapping[str, Any], section: type[Section]) -> dict[str, Any]:
    """Leave out what is wrong, so that the rest can be looked at.

    Examples
    --------
    >>> from capmap.settings.study import Bootstrap
    >>> drop_faulty({"seed": 1, "shard": 2}, Bootstrap)
    {'seed': 1}
    """
    left: dict[str, Any] = deepcopy(dict(settings))
    while faults := find_faults(left, section)[1]:
        if any({*fault.place[:1]}.isdisjoint(left) for fault in faults):
            return {}
        for holder, key in [_find_holder(left, fault.place) for fault in faults]:
            holder.pop(key, None)
    return left


def _find_holder(settings: dict[str, Any], place: Place) -> tuple[dict[str, Any], Any]:
    """The innermost section and key around a place that are there."""
    inner: Any = settings
    for key in place:
        if not isinstance(inner, dict) or key not in inner:
            break
        settings, last, inner = inner, key, inner[key]
    return settings, last


def _locate(before: Place, loc: Place, error: Mapping[str, Any], given: Any) -> Found:
    """Split the path of an error into keys of the settings and alternatives, which come first."""
    if loc[-1:] == (KEY,):
        loc = (*loc[:-2], error["input"], KEY)
    place, value = before, read_place(given, before)
    for depth, key in enumerate(loc):
        # The last key, or a name and the mark of names, which are not looked up.
        is_last = depth >= len(loc) - 1 - (loc[-1] == KEY)
        is_absent = error["type"] in ("missing", "extra_forbidden") or loc[-1] == KEY
        if not ((is_last and is_absent) or _has(value, key)):
            return Found(place, loc[depth:], error)
        place = (*place, key)
        value = value[key] if _has(value, key) else None
    return Found(place, (), error)


def _has(value: Any, key: Any) -> bool:
    if isinstance(value, list):
        return isinstance(key, int) and key < len(value)
    return isinstance(value, Mapping) and key in value


def read_place(given: Any, place: Place) -> Any:
    """What is at a place of settings; None where nothing is."""
    for key in place:
        given = given[key] if _has(given, key) else None
    return given


def _explain_all(
    errors: list[Found], given: Any, schema: words.Schema
) -> Iterator[tuple[Place, str]]:
    """Explain errors; of alternatives, those of the one that is of the value's kind."""
    groups: dict[Place, list[Found]] = {}
    levels: set[Place] = set()
    for found in errors:
        if found.tags:
            groups.setdefault(found.place, []).append(found)
            continue
        around = found.place[:-1]
        if found.error["type"] == "model_type" and _is_level_missing(found.place, schema):
            if around not in levels:
                right = words.render_place((*around, words.NAME, found.place[-1]))
                text = f"a level is missing above this key. It belongs at {right}."
                yield found.place, text
            levels.add(around)
            continue
        yield _explain(found.place, found.error, schema)
    for place, alternatives in groups.items():
        yield from _explain_alternatives(place, alternatives, given, schema)


def _explain_alternatives(
    place: Place, alternatives: list[Found], given: Any, schema: words.Schema
) -> Iterator[tuple[Place, str]]:
    other = {
        one.tags[0] for one in alternatives if len(one.tags) == 1 and one.error["type"] in KINDS
    }
    near = [one for one in alternatives if one.tags[0] not in other]
    if len({one.tags[0] for one in near}) == 1:
        inner = [_locate(place, one.tags[1:], one.error, given) for one in near]
        yield from _explain_all(inner, given, schema)
    else:
        yield place, words.explain_value(read_place(given, place), find_part(schema, place))


def _is_level_missing(place: Place, schema: words.Schema) -> bool:
    """Whether the name of a section is missing around its keys, as in ``metrics: {low: 0}``."""
    is_named = bool(place) and not list_known(schema, place[:-1])
    return is_named and place[-1] in list_known(schema, place)


def _explain(place: Place, error: Mapping[str, Any], schema: words.Schema) -> tuple[Place, str]:
    """Say what is wrong at a place."""
    kind, value = error["type"], error["input"]
    if place[-1:] == (KEY,) or kind == "invalid_key":
        return _explain_name(place[:-1], value, schema)
    part = find_part(schema, place)
    description = part.get("description", "")
    if kind == "extra_forbidden":
        known = list_known(schema, place[:-1])
        return place, words.explain_key(str(place[-1]), known, place[:-1], schema)
    if kind == "missing":
        return place, f"is missing. {description}"
    if kind == "value_error":
        return place, str(error["ctx"]["error"])
    if kind == "string_pattern_mismatch":
        return place, f"found {words.show_value(value)}. {description}"
    if kind in ("too_short", "string_too_short"):
        return place, EMPTY.get(
            part.get("type", "array" if isinstance(value, list) else ""),
            f"must not be empty. Expected {words.describe_values(part)}.",
        )
    if kind == "too_long":
        return place, f"at most {error['ctx']['max_length']} may be listed here."
    return place, words.explain_value(value, part)


def _explain_name(place: Place, name: Any, schema: words.Schema) -> tuple[Place, str]:
    """Say why a key cannot be used."""
    if isinstance(name, str):
        rule = find_part(schema, place[:-1]).get("propertyNames", {})
        return place, f"this name cannot be used. {rule.get('description', '')}"
    shown = str(name).lower() if isinstance(name, bool) else str(name)
    return place[:-1], f"the key {shown} is not text. {words.explain_quotes(name)}"


def _rank(place: Place, settings: Any) -> list[int]:
    """Where a place stands in the settings; what is missing comes last in its section."""
    ranks = []
    for key in place:
        keys = list(settings) if isinstance(settings, Mapping) else list(range(len(settings or ())))
        ranks.append(keys.index(key) if key in keys else len(keys))
        settings = settings[key] if key in keys else ()
    return ranks
