"""Plain words for what a schema expects, what was found, and what was probably meant."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

Schema = Mapping[str, Any]
Place = tuple[str | int, ...]

NAME = "<name>"
TYPES: dict[str, tuple[type, str, str]] = {
    "string": (str, "text", "texts"),
    "integer": (int, "a whole number", "whole numbers"),
    "number": (float, "a number", "numbers"),
    "boolean": (bool, "true or false", "truth values"),
    "array": (list, "a list", "lists"),
    "object": (Mapping, "a section", "sections"),
}
LIMITS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "minimum": ("of at least", lambda value, limit: value >= limit),
    "exclusiveMinimum": ("above", lambda value, limit: value > limit),
    "maximum": ("of at most", lambda value, limit: value <= limit),
    "exclusiveMaximum": ("below", lambda value, limit: value < limit),
}


def list_keys(part: Schema, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """List every key that an expanded schema knows, with its path and its own schema.

    In a path, ``<name>`` stands for any key of a section whose keys are free.
    """
    for key, child in part.get("properties", {}).items():
        yield (*path, key), child
        yield from list_keys(child, (*path, key))
    if isinstance(part.get("additionalProperties"), Mapping):
        yield from list_keys(part["additionalProperties"], (*path, NAME))
    for branch in part.get("anyOf", ()):
        yield from list_keys(branch, path)


def describe_values(part: Schema) -> str:
    """Say which values a part of an expanded schema accepts.

    Examples
    --------
    >>> describe_values({"anyOf": [{"type": "number"}, {"enum": ["observed", "natural"]}]})
    'a number, "observed" or "natural"'
    >>> describe_values({"type": "array", "items": {"type": "string"}})
    'a list of texts'
    >>> describe_values({"type": "number", "minimum": 0, "exclusiveMaximum": 1})
    'a number of at least 0 and below 1'
    """
    return _join_or(_list_descriptions(part))


def has_type(value: Any, part: Schema) -> bool:
    """Tell whether a value is of a type that the schema accepts; booleans are not numbers."""
    kinds = _list_types(part)
    return not kinds or any(_is_of_type(value, kind) for kind in kinds)


def is_allowed(value: Any, part: Schema) -> bool:
    """Tell whether a value is among the schema's choices and within its limits."""
    options = _list_options(part)
    if options and not (isinstance(value, str) and value in options):
        return False
    return all(holds(value, part[name]) for name, (_, holds) in LIMITS.items() if name in part)


def show_value(value: Any) -> str:
    r"""Show what stands in the settings, on one line, without control characters.

    Examples
    --------
    >>> show_value("a\nb"), show_value(True), show_value({"low": 0})
    ('"a\\nb"', 'true', 'a section with "low"')
    """
    if isinstance(value, Mapping):
        return f"a section with {_join_and(_quote(key) for key in value)}" if value else "nothing"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, str | bool):
        return _quote(value)
    return f"the number {value!r}" if isinstance(value, int | float) else _quote(str(value))


def explain_value(value: Any, part: Schema) -> str:
    """Say why a value does not fit: what is expected, what was found, what may have been meant."""
    expected = describe_values(part)
    if value is None:
        default = (
            f" Without the line it is {show_value(part['default'])}." if "default" in part else ""
        )
        return f"has no value. Expected {expected}.{default}"
    sentences = (
        f"expected {expected}, found {show_value(value)}.",
        _suggest_value(value, part),
        part.get("description", "") if "anyOf" in part else "",
    )
    return " ".join(filter(None, sentences))


def explain_key(key: str, part: Schema, place: Place, root: Schema) -> str:
    """Say that a key is unknown, and which key or which place was probably meant."""
    places = [path for path, _ in list_keys(root)]
    known = list(part.get("properties", ()))
    keys = (*known, *(path[-1] for path in places))
    sure = _find_near(key, keys, cutoff=0.85)
    here = _find_near(key, known, cutoff=0.85 if sure else 0.6)
    best = sure or here or _find_near(key, keys, cutoff=0.7)
    guesses = [] if best in known else [path for path in places if path[-1] == best]
    texts = [*_nearest_places(guesses, place), *([_quote(here)] if here else [])]
    if texts:
        return f"unknown key. Did you mean {_join_or(texts)}?"
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
    >>> render_place(("studies", "toy", "aggregate", 2))
    'studies.toy.aggregate item 2'
    >>> render_place(("studies", "toy", "datasets", "a b", "low"))
    'studies.toy.datasets."a b".low'
    """
    text = "".join(
        f" item {part}" if isinstance(part, int) else f".{_quote_if_odd(part)}" for part in place
    )
    return text.removeprefix(".") or "config"


def _list_types(part: Schema) -> list[str]:
    kinds = part.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _list_options(part: Schema) -> list[str]:
    return [part["const"]] if "const" in part else list(part.get("enum", ()))


def _list_branches(part: Schema) -> list[Schema]:
    return list(part.get("anyOf", (part,)))


def _is_of_type(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        is_finite = isinstance(value, int) or math.isfinite(value)
        return is_finite and (kind == "number" or value == int(value))
    if kind == "array":
        return isinstance(value, list | tuple)
    return isinstance(value, TYPES[kind][0])


def _list_descriptions(part: Schema) -> list[str]:
    if "anyOf" in part:
        return [text for branch in part["anyOf"] for text in _list_descriptions(branch)]
    if options := _list_options(part):
        return [_quote(option) for option in options]
    texts = [_describe_type(kind, part) for kind in _list_types(part)]
    limits = [f"{word} {part[name]}" for name, (word, _) in LIMITS.items() if name in part]
    return [f"{texts[0]} {_join_and(limits)}"] if limits else texts or ["anything"]


def _describe_type(kind: str, part: Schema) -> str:
    if kind == "array" and "items" in part:
        plurals = [TYPES[inner][2] for inner in _list_types(part["items"])]
        return f"a list of {_join_or(plurals) or describe_values(part['items'])}"
    if kind == "object" and part.get("properties"):
        return f"a section with {_join_or(_quote(key) for key in part['properties'])}"
    return TYPES[kind][1]


def _suggest_value(value: Any, part: Schema) -> str:
    branches = _list_branches(part)
    kinds = {kind for branch in branches for kind in _list_types(branch)}
    options = [option for branch in branches for option in _list_options(branch)]
    if isinstance(value, str):
        number = _read_number(value)
        if number and kinds & {"integer", "number"}:
            return f"Write {number}."
        if near := _find_near(value, options):
            return f"Did you mean {_quote(near)}?"
        return f"Write [{value}]." if kinds == {"array"} and re.fullmatch(r"\w+", value) else ""
    is_scalar = not isinstance(value, Mapping | list | tuple)
    return explain_quotes(value) if is_scalar and (options or "string" in kinds) else ""


def _read_number(text: str) -> str:
    """Write as YAML reads it a number that YAML took for text, such as ``1e-3`` or ``0,95``."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return ""
    if not math.isfinite(number):
        return ""
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    mantissa, mark, exponent = repr(number).partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}e{exponent}" if mark else mantissa


def _find_near(text: str, options: Iterable[str], *, cutoff: float = 0.6) -> str:
    plain = {option.casefold(): option for option in options}
    near = get_close_matches(re.sub(r"[\s-]", "_", text.casefold()), plain, 1, cutoff)
    return plain[near[0]] if near else ""


def _nearest_places(paths: list[tuple[str, ...]], place: Place) -> list[str]:
    """Put the real names into the paths, as far as they agree with the place; nearest first."""
    ranked = []
    for path in dict.fromkeys(paths):
        shared = 0
        for known, actual in zip(path, place, strict=False):
            if known not in (NAME, actual):
                break
            shared += 1
        ranked.append((-shared, len(path), (*place[:shared], *path[shared:])))
    return [render_place(path) for *_, path in sorted(ranked)[:3]]


def _quote_if_odd(name: str) -> str:
    return name if name == NAME or re.fullmatch(r"[\w-]+", name) else _quote(name)


def _quote(value: object) -> str:
    return json.dumps(value if isinstance(value, str | bool) else str(value), ensure_ascii=False)


def _join_or(texts: Iterable[str]) -> str:
    return _join(list(texts), "or")


def _join_and(texts: Iterable[str]) -> str:
    return _join(list(texts), "and")


def _join(texts: list[str], word: str) -> str:
    return " ".join((", ".join(texts[:-1]), word, texts[-1])) if len(texts) > 1 else "".join(texts)
