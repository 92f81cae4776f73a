"""Sections of settings, declared as classes, and the JSON schema that follows from them."""

from collections.abc import Iterable
from itertools import chain
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

Default = TypeVar("Default")
REQUIRED: Any = ...
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
KEYWORDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "unique": "uniqueItems",
}
# A length is counted in another unit for each type, as in minItems.
LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


class Limits(TypedDict, total=False):
    """What a value keeps to; lengths are those of a text, a list or a section."""

    ge: float
    gt: float
    le: float
    lt: float
    min_length: int
    max_length: int
    unique: bool
    pattern: str
    excluded: tuple[str, ...]
    choices: tuple[str, ...]
    format: Literal["path"]


class Option(NamedTuple):
    """A key of a section: its default, what it means, and what its value keeps to."""

    default: Any
    description: str
    limits: Limits


class Section:
    """A section of settings, with an annotation per key.

    A key is declared by `option`. A key with the class of a section alone has that section's
    docstring as its description.
    """


def option(default: Default, description: str = "", **limits: Unpack[Limits]) -> Default:
    """Declare a key of a section.

    Parameters
    ----------
    default
        Its value where it is left out. None means that its absence says something, `REQUIRED`
        that it must be given.
    description : str
        What it means, in a sentence.
    **limits
        What its value keeps to, see `Limits`.
    """
    return cast(Default, Option(default, description, limits))


def section(description: str) -> Any:
    """Declare a key with a section whose docstring does not describe it."""
    return Option({}, description, {})


def limit(**limits: Unpack[Limits]) -> tuple[tuple[str, Any], ...]:
    """Limit a type, as in ``Annotated[int, limit(ge=1)]``."""
    return tuple(limits.items())


def name_key(description: str, **limits: Unpack[Limits]) -> tuple[tuple[str, Any], ...]:
    """Limit the names that stand as keys of a section, and say what such a name is."""
    return (("description", description), *limits.items())


Name = Annotated[str, limit(min_length=1)]
# Keys of this pattern may be written as numbers.
WHOLE_NUMBER = "^[1-9][0-9]{0,8}$"
Count = Annotated[int, limit(ge=1)]
# Of a file or folder, or a pattern of some; `~` is expanded.
FilePath = Annotated[str, limit(format="path")]
GivenPath = Annotated[Name, limit(format="path")]


def write_schema(model: type[Section]) -> dict[str, Any]:
    """Write the JSON schema of a section.

    Parameters
    ----------
    model : type of Section
        Sections stand in it as annotations of its keys.

    Returns
    -------
    dict
        JSON Schema (draft 2020-12), without ``$ref``: each section stands where it is used.

    Examples
    --------
    >>> class Ratings(Section):
    ...     tie_threshold: float = option(0, "Largest difference that is a tie.", ge=0)
    >>> write_schema(Ratings)["properties"]  # doctest: +NORMALIZE_WHITESPACE
    {'tie_threshold': {'type': 'number', 'minimum': 0,
                       'description': 'Largest difference that is a tie.', 'default': 0}}
    """
    hints = get_type_hints(model, include_extras=True)
    options = {
        key: getattr(model, key, None) or section(" ".join(str(hint.__doc__).split()))
        for key, hint in hints.items()
    }
    required = [key for key, declared in options.items() if declared.default is REQUIRED]
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": {key: _write_option(hints[key], options[key]) for key in hints},
    }


def _write_option(hint: Any, declared: Option) -> dict[str, Any]:
    part = _limit_part(_write_type(hint), declared.limits.items())
    if declared.description:
        part["description"] = declared.description
    if declared.default is not None and declared.default is not REQUIRED:
        part["default"] = declared.default
    return part


def _write_type(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in TYPES:
        return {"type": TYPES[hint]}
    if origin is Annotated:
        return _limit_part(_write_type(arguments[0]), chain(*arguments[1:]))
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return _write_union([_write_type(kind) for kind in arguments if kind is not type(None)])
    if origin is list:
        return {"type": "array", "items": _write_type(arguments[0])}
    if origin is dict:
        names = {key: rule for key, rule in _write_type(arguments[0]).items() if key != "type"}
        part = {"type": "object", "additionalProperties": _write_type(arguments[1])}
        return {**part, "propertyNames": names} if names else part
    return write_schema(hint)


def _write_union(branches: list[dict[str, Any]]) -> dict[str, Any]:
    """Write alternatives, in which types without limits stand together."""
    plain = [branch["type"] for branch in branches if branch.keys() == {"type"}]
    if len(plain) > 1:
        others = [branch for branch in branches if branch.keys() != {"type"}]
        branches = [{"type": plain}, *others]
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def _limit_part(part: dict[str, Any], limits: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    length = LENGTHS.get(part.get("type", ""), "")
    for name, bound in limits:
        if name == "excluded":
            part["not"] = {"enum": list(bound)}
        elif name == "choices":
            part = {"enum": list(bound)}
        else:
            part[KEYWORDS.get(name, name).replace("_length", length)] = bound
    return part
