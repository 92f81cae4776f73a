"""Plain words for what a schema expects, what was found, and what was probably meant."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import takewhile
from typing import Any, TypeAlias

import yaml

Schema: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[str | int, ...]

NAME = "<name>"
TRUTH = {
    **dict.fromkeys(["yes", "on", "true", "1"], "true"),
    **dict.fromkeys(["no", "off", "false", "0"], "false"),
}
# What people write for directions.
SYNONYMS = {
    **dict.fromkeys(["higher", "highest", "high", "maximize", "increasing", "up"], "max"),
    **dict.fromkeys(["lower", "lowest", "low", "minimize", "decreasing", "down"], "min"),
}
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
    expected = describe_values(part)
    if value is None:
        default = show_value(part["default"]) if "default" in part else ""
        without = f"Without the line it is {default}." if default else ""
        return f"has no value. Expected {expected}. {without}"
    suggestion = _suggest_value(value, part)
    sentences = (
        f"expected {expected}, found {show_value(value)}.",
        suggestion,
        part.get("description", "") if "anyOf" in part else "",
    )
    return " ".join(filter(None, sentences))


def explain_key(key: str, known: list[str], place: Place, root: Schema) -> str:
    """Say that a key is unknown, and which key or which place was probably meant."""
    places = [path for path, _ in list_keys(root)]
    keys = (*known, *(path[-1] for path in places))
    sure = _find_near(key, keys, cutoff=0.85)
    here = _find_near(key, known, cutoff=0.85 if sure else 0.6)
    best = sure or here or _find_near(key, keys, cutoff=0.7)
    guesses = [] if best in known else [path for path in places if path[-1] == best]
    texts = [*_nearest_places(guesses, place), *([_quote(here)] if here else [])]
    if texts:
        return f"unknown key. Did you mean {_join(texts, 'or')}?"
    return f"unknown key. Known here: {', '.join(known)}."


def explain_quotes(value: Any) -> str:
    """Say how to write as text what YAML reads as something else."""
    if isinstance(value, bool):
        spellings = "yes, on and true" if value else "no, off and false"
        return f"YAML reads {spellings} as a truth value; put a name in quotes."
    return "Put it in quotes."


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
        if kinds & {"integer", "number"} and (number := _respell_number(value)):
            return f"Write {number}."
        meant = SYNONYMS.get(value.casefold(), "")
        if near := meant if meant in options else _find_near(value, options):
            return f"Did you mean {_quote(near)}?"
        if kinds == {"boolean"} and value.casefold() in TRUTH:
            return f"Write {TRUTH[value.casefold()]}, without quotes."
        return f"Write [{value}]." if kinds == {"array"} and re.fullmatch(r"\w+", value) else ""
    if isinstance(value, float) and not math.isfinite(value):
        return "It has to be finite."
    is_text_meant = bool(options) or "string" in kinds
    return explain_quotes(value) if is_text_meant and not isinstance(value, dict | list) else ""


def _respell_number(text: str) -> str:
    """Write as YAML reads it a number that YAML took for text, such as ``1e-3`` or ``0,95``."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return ""
    return yaml.safe_dump(number).split()[0].removesuffix(".0") if math.isfinite(number) else ""


def _find_near(text: str, options: Iterable[str], *, cutoff: float = 0.6) -> str:
    plain = {option.casefold(): option for option in options}
    near = get_close_matches(re.sub(r"[\s-]", "_", text.casefold()), plain, 1, cutoff)
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
