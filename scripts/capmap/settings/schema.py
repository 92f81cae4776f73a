"""The JSON schema of settings, as messages and the documentation read it."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from capmap.settings.sections import Section
from capmap.settings.words import Schema


@cache
def read_schema(section: type[Section]) -> Schema:
    """The JSON schema of a section, in which each section stands where it is used."""
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
