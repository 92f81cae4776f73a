"""Sections of settings, kinds of values, and every fault at once in plain words."""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import takewhile
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    WrapValidator,
    model_validator,
)

from capmap.errors import ConfigError

Schema: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[str | int, ...]

NAME = "<name>"
TYPES = {
    "string": ("text", "texts"),
    "integer": ("a whole number", "whole numbers"),
    "number": ("a number", "numbers"),
    "boolean": ("true or false", "truth values"),
    "array": ("a list", "lists"),
    "object": ("a section", "sections"),
}
LIMITS = {
    "minimum": "of at least",
    "exclusiveMinimum": "above",
    "maximum": "of at most",
    "exclusiveMaximum": "below",
}
KEY = "[key]"
# Errors that say that a value is of another kind, so that another alternative is meant.
KINDS = {f"{kind}_type" for kind in ("string", "int", "float", "bool", "list", "dict", "model")}
KINDS |= {"literal_error"}
QUOTED = "YAML reads yes, no, on and off as truth values and 2019 as a number: put it in quotes."
NUMBERED = "A number has no quotes, a point as decimal mark, and a point before e: 1.0e-3."
Item = TypeVar("Item")
# The default of a key whose absence says something: it is not among the checked settings.
ABSENT: Any = None


def expand_home(path: str) -> str:
    """Expand `~` or `~user` at the beginning of a path.

    Examples
    --------
    >>> expand_home("runs/~.csv"), expand_home("~") == os.path.expanduser("~")
    ('runs/~.csv', True)
    """
    # Not Path.expanduser, which drops a trailing slash and fails where there is no such user.
    return os.path.expanduser(path)  # noqa: PTH111


class Section(BaseModel):
    """A section of settings. A key without a value counts as not given.

    Declare a key as ``name: type = Field(default, description=...)``, with limits in `Field`.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, regex_engine="python-re")

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, given: Any) -> Any:
        if given is None and not any(key.is_required() for key in cls.model_fields.values()):
            return {}
        if not isinstance(given, dict):
            return given
        known = cls.model_fields
        return {key: value for key, value in given.items() if value is not None or key not in known}


class Rule(Section):
    """A section that states at least one key, and leaves out the rest."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _refuse_nothing(self) -> "Rule":
        if not self.model_fields_set:
            keys = list_choices(type(self).model_fields)
            raise ValueError(f"must not be empty. Expected a section with {keys}.")
        return self


def keep_spelling(value: Any, check: Callable[[Any], float]) -> Any:
    """Check a number, and let 1 be the whole number that it is."""
    check(value)
    return value


def _refuse_twice(items: list[Item]) -> list[Item]:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise ValueError(f"{show_value(item)} is listed twice. Keep one of them.")
    return items


Number = Annotated[float, Strict(), WrapValidator(keep_spelling)]
Name = Annotated[str, Field(min_length=1, description="A name has a letter at least.")]
Unique = Annotated[
    list[Item], AfterValidator(_refuse_twice), Field(json_schema_extra={"uniqueItems": True})
]


class RmseScale(Section):
    """How an error becomes a score."""

    std: Number = Field(gt=0, description="Factor, in 1 / unit of the score.")


class Transform(Rule):
    """A conversion of scores, by its name."""

    scale_rmse: RmseScale = Field(ABSENT, description="Maps an error r to 1 - r * std.")


@cache
def read_schema(section: Any) -> Schema:
    """The JSON schema of a class of sections, in which each section stands where it is used."""
    written = section.model_json_schema()
    whole: Schema = _inline(written, written.get("$defs", {}))
    return whole


def _inline(part: Any, sections: Schema) -> Any:
    """Put sections in place of references, and what a key of a pattern holds where others do."""
    if isinstance(part, list):
        return [_inline(item, sections) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**sections[part["$ref"].rpartition("/")[2]], **part}
    if "patternProperties" in part:
        part = {**part, "additionalProperties": next(iter(part["patternProperties"].values()))}
    dropped = {"$ref", "$defs", "patternProperties"}
    if part.get("default") is None or "properties" in part:
        dropped |= {"default"}
    if isinstance(part.get("description"), str):
        part = {**part, "description": " ".join(part["description"].split())}
    return {key: _inline(value, sections) for key, value in part.items() if key not in dropped}


def find_part(schema: Schema, place: tuple[Any, ...]) -> Schema:
    """What a schema says of a place; nothing where it says nothing."""
    for key in place:
        schema = next((found for part in list_branches(schema) if (found := _step(part, key))), {})
    return schema


def list_branches(part: Schema) -> Iterator[Schema]:
    """The alternatives of a part of a schema, or itself."""
    yield from part.get("anyOf", (part,))


def list_known(schema: Schema, place: tuple[Any, ...]) -> list[str]:
    """The keys that a section at a place has; none where keys are names."""
    branches = list_branches(find_part(schema, place))
    return [key for part in branches for key in part.get("properties", ())]


def _step(part: Schema, key: Any) -> Schema:
    if isinstance(key, int) and "items" in part:
        found: Schema = part["items"]
        return found
    return part.get("properties", {}).get(key) or part.get("additionalProperties") or {}


def list_keys(part: Schema, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """List every key that a schema knows, with its path and its own schema.

    In a path, ``<name>`` stands for any key of a section whose keys are free.
    """
    for key, child in part.get("properties", {}).items():
        yield (*path, key), child
        yield from list_keys(child, (*path, key))
    if free := part.get("additionalProperties"):
        yield from list_keys(free, (*path, NAME))
    for branch in part.get("anyOf", ()):
        yield from list_keys(branch, path)


def describe_values(part: Schema) -> str:
    """Say which values a part of a schema accepts.

    Examples
    --------
    >>> describe_values({"anyOf": [{"type": "number"}, {"enum": ["observed", "natural"]}]})
    'a number, "observed" or "natural"'
    >>> describe_values({"type": "array", "items": {"type": "string"}})
    'a list of texts'
    >>> describe_values({"type": "number", "minimum": 0, "exclusiveMaximum": 1})
    'a number of at least 0 and below 1'
    """
    return _join(_list_descriptions(part), "or")


def show_value(value: Any) -> str:
    r"""Show what stands in the settings, on one line, without control characters.

    Examples
    --------
    >>> show_value("a\nb"), show_value(True), show_value({"low": 0})
    ('"a\\nb"', 'true', 'a section with "low"')
    """
    if isinstance(value, dict):
        keys = _join([_quote(key) for key in value], "and")
        return f"a section with {keys}" if value else "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"the number {value!r}" if is_number else _quote(value)


def explain_value(value: Any, part: Schema) -> str:
    """Say what is expected, what was found, and what may have been meant."""
    sentences = (
        f"expected {describe_values(part)}, found {show_value(value)}.",
        _suggest_value(value, part),
        part.get("description", "") if "anyOf" in part else "",
    )
    return " ".join(filter(None, sentences))


def explain_key(key: str, known: list[str], place: Place, root: Schema) -> str:
    """Say that a key is unknown, and where it belongs, or which key was probably meant."""
    places = [path for path, _ in list_keys(root) if path[-1] == key]
    here = _find_near(key, known)
    texts = _nearest_places(places, place) or ([_quote(here)] if here else [])
    if texts:
        return f"unknown key. Did you mean {_join(texts, 'or')}?"
    return f"unknown key. Known here: {', '.join(known)}."


def render_place(place: Place) -> str:
    """Write a path with dots; list items are counted from 1, odd names are quoted.

    Examples
    --------
    >>> render_place(("studies", "toy", "datasets", "a b", "low"))
    'studies.toy.datasets."a b".low'
    >>> render_place(("studies", "toy", "aggregate", 1))
    'studies.toy.aggregate item 2'
    """
    text = ""
    for key in place:
        if isinstance(key, int):
            text += f" item {key + 1}"
        else:
            text += f".{key}" if key == NAME or re.fullmatch(r"[\w-]+", key) else f".{_quote(key)}"
    return text.removeprefix(".") or "config"


def _list_types(part: Schema) -> list[str]:
    kinds = part.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _list_options(part: Schema) -> list[str]:
    return [part["const"]] if "const" in part else list(part.get("enum", ()))


def _list_descriptions(part: Schema) -> list[str]:
    if "anyOf" in part:
        return [text for branch in part["anyOf"] for text in _list_descriptions(branch)]
    if options := _list_options(part):
        return [_quote(option) for option in options]
    texts = [_describe_type(kind, part) for kind in _list_types(part)]
    limits = [f"{word} {part[name]}" for name, word in LIMITS.items() if name in part]
    return [f"{texts[0]} {_join(limits, 'and')}"] if limits else texts or ["anything"]


def _describe_type(kind: str, part: Schema) -> str:
    if kind == "array" and "items" in part:
        is_choice = bool(_list_options(part["items"]))
        plurals = [TYPES[inner][1] for inner in _list_types(part["items"]) if not is_choice]
        return f"a list of {_join(plurals, 'or') or describe_values(part['items'])}"
    if kind == "object" and part.get("properties"):
        return f"a section with {list_choices(part['properties'])}"
    return TYPES[kind][0]


def _suggest_value(value: Any, part: Schema) -> str:
    branches = part.get("anyOf", (part,))
    kinds = {kind for branch in branches for kind in _list_types(branch)}
    options = [option for branch in branches for option in _list_options(branch)]
    if isinstance(value, str):
        if near := _find_near(value, options):
            return f"Did you mean {_quote(near)}?"
        return NUMBERED if kinds & {"integer", "number"} and re.match(r"[-+\d.]", value) else ""
    if isinstance(value, float) and not math.isfinite(value):
        return "It has to be finite."
    is_text_meant = bool(options) or "string" in kinds
    return QUOTED if is_text_meant and not isinstance(value, dict | list) else ""


def _find_near(text: str, options: Iterable[str]) -> str:
    plain = {option.casefold(): option for option in options}
    near = get_close_matches(re.sub(r"[\s-]", "_", text.casefold()), plain, 1)
    return plain[near[0]] if near else ""


def _nearest_places(paths: list[tuple[str, ...]], place: Place) -> list[str]:
    """Put the real names into the paths, as far as they agree with the place; nearest first."""
    ranked = []
    for path in dict.fromkeys(paths):
        pairs = zip(path, place, strict=False)
        shared = len(list(takewhile(lambda pair: pair[0] in (NAME, pair[1]), pairs)))
        ranked.append((-shared, len(path), (*place[:shared], *path[shared:])))
    return [render_place(path) for *_, path in sorted(ranked)[:3]]


def list_choices(names: Iterable[str]) -> str:
    """List names of which one is meant.

    Examples
    --------
    >>> list_choices(["low", "high"])
    '"low" or "high"'
    """
    return _join([_quote(name) for name in names], "or")


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _join(texts: list[str], word: str) -> str:
    return f" {word} ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


class Found(NamedTuple):
    """An error of pydantic: where it is in the settings, and the alternatives that it is of."""

    place: Place
    tags: tuple[str | int, ...]
    error: Mapping[str, Any]


def check_settings(settings: Any, section: type[Section]) -> dict[str, Any]:
    """Check nested settings and fill in every default.

    Notes
    -----
    - A key without a value (``select:`` and nothing below) counts as not given.
    - A whole number may be written ``1.0e+4``; it becomes an `int`. Numbers are finite.
    - Booleans are never numbers and numbers are never text: a name that YAML reads as something
      else (``no``, ``2019``) has to be quoted, because its spelling is lost.

    Examples
    --------
    >>> from capmap.settings.sections import Bootstrap
    >>> check_settings({"seed": 1.0}, Bootstrap)["seed"]
    1
    >>> check_settings({"sed": 0}, Bootstrap)
    Traceback (most recent call last):
        ...
    capmap.errors.ConfigError: sed: unknown key. Did you mean "seed"?
    """
    checked, faults = find_faults(settings, section)
    if faults:
        raise ConfigError("\n".join(faults))
    return checked


def find_faults(settings: Any, section: type[Section]) -> tuple[dict[str, Any], list[str]]:
    """Fill in every default, and find what is wrong; there are no settings where something is."""
    try:
        checked = section.model_validate(settings)
    except ValidationError as error:
        schema, given = read_schema(section), settings if isinstance(settings, Mapping) else {}
        errors = [((), error["loc"], error) for error in error.errors(include_url=False)]
        found = _explain_all([_locate(*one, given) for one in errors], given, schema)
        told = [f"{render_place(place)}: {text}".rstrip() for place, text in found]
        return {}, [*dict.fromkeys(told)]
    return checked.model_dump(exclude_none=True, warnings=False), []


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


def read_place(given: Any, place: Iterable[Any]) -> Any:
    """What is at a place of settings; None where nothing is."""
    for key in place:
        given = given[key] if _has(given, key) else None
    return given


def _explain_all(errors: list[Found], given: Any, schema: Schema) -> Iterator[tuple[Place, str]]:
    """Explain errors; of alternatives, those of the one that is of the value's kind."""
    groups: dict[Place, list[Found]] = {}
    for found in errors:
        if found.tags:
            groups.setdefault(found.place, []).append(found)
            continue
        yield _explain(found.place, found.error, schema)
    for place, alternatives in groups.items():
        yield from _explain_alternatives(place, alternatives, given, schema)


def _explain_alternatives(
    place: Place, alternatives: list[Found], given: Any, schema: Schema
) -> Iterator[tuple[Place, str]]:
    other = {
        one.tags[0] for one in alternatives if len(one.tags) == 1 and one.error["type"] in KINDS
    }
    near = [one for one in alternatives if one.tags[0] not in other]
    if len({one.tags[0] for one in near}) == 1:
        inner = [_locate(place, one.tags[1:], one.error, given) for one in near]
        yield from _explain_all(inner, given, schema)
    else:
        yield place, explain_value(read_place(given, place), find_part(schema, place))


def _explain(place: Place, error: Mapping[str, Any], schema: Schema) -> tuple[Place, str]:
    """Say what is wrong at a place."""
    kind, value = error["type"], error["input"]
    if place[-1:] == (KEY,) or kind == "invalid_key":
        return _explain_name(place[:-1], value, schema)
    part = find_part(schema, place)
    description = part.get("description", "")
    if kind == "extra_forbidden":
        known = list_known(schema, place[:-1])
        return place, explain_key(str(place[-1]), known, place[:-1], schema)
    if kind == "missing":
        return place, f"is missing. {description}"
    if kind == "value_error":
        return place, str(error["ctx"]["error"])
    if kind == "string_pattern_mismatch":
        return place, f"found {show_value(value)}. {description}"
    if kind in ("too_short", "string_too_short"):
        return place, f"must not be empty. Expected {describe_values(part)}."
    if kind == "too_long":
        return place, f"at most {error['ctx']['max_length']} may be listed here."
    return place, explain_value(value, part)


def _explain_name(place: Place, name: Any, schema: Schema) -> tuple[Place, str]:
    """Say why a key cannot be used."""
    if isinstance(name, str):
        rule = find_part(schema, place[:-1]).get("propertyNames", {})
        return place, f"this name cannot be used. {rule.get('description', '')}"
    shown = str(name).lower() if isinstance(name, bool) else str(name)
    return place[:-1], f"the key {shown} is not text. {QUOTED} Decimal marks are points."
