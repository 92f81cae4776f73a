"""Write the tables of ``docs/configuration.md``: ``python docs/make_configuration.py``."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from capmap.settings.checking import NAME, Schema, describe_values, list_branches, read_schema
from capmap.settings.sections import Config

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/configuration.md"

MARK = "<!-- Below, generated from scripts/capmap/settings/ by docs/make_configuration.py. -->\n"
TABLE = "\nkey | default or kind | meaning\n---|---|---\n"


def render_page() -> str:
    """Render the page: a table per section."""
    schema = read_schema(Config)
    study = schema["properties"]["studies"]["additionalProperties"]
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    page = f"{head}{MARK}\n## The file\n{TABLE}" + "".join(_render_rows(schema))
    page += f"\nStudies: {schema['properties']['studies']['description']}\n"
    page += f"\n## A study\n\nThe keys of each `studies.{NAME}`.\n" + TABLE
    page += "".join(_render_rows(study))
    whole = {key: part for key, part in schema["properties"].items() if key != "studies"}
    told: dict[str, str] = {}
    for key, part in (whole | study["properties"]).items():
        if _has_own_table(part):
            page += _render_section(key, part, told)
    return page


def render_schema() -> str:
    """Render the JSON schema that editors complete and check settings by."""
    return json.dumps(Config.model_json_schema(), indent=1, ensure_ascii=False) + "\n"


def _render_section(key: str, part: Schema, told: dict[str, str]) -> str:
    """Render a section, or refer to the one that has the same keys."""
    free = part["additionalProperties"]
    rows = "".join(_render_nested_rows(free or part))
    same = told.setdefault(rows, key)
    page = f"\n### {key}\n\n{part['description']}"
    if same != key:
        return f"{page} The keys are those of `{same}.{NAME}`.\n"
    return f"{page}{f' The keys of each `{key}.{NAME}`:' if free else ''}\n{TABLE}{rows}"


def _render_rows(section: Schema) -> Iterator[str]:
    """A row per key, and below the table links to the sections."""
    links = []
    for key, part in section["properties"].items():
        if _has_own_table(part):
            links.append(f"[`{key}`](#{'a-study' if key == 'studies' else key})")
        else:
            yield _render_row(key, part, section)
    yield f"\nSections: {', '.join(links)}.\n"


def _render_nested_rows(section: Schema, prefix: str = "") -> Iterator[str]:
    for key, part in section.get("properties", {}).items():
        if "properties" in part:
            yield from _render_nested_rows(part, f"{prefix}{key}.")
        else:
            yield _render_row(prefix + key, part, section)


def _render_row(path: str, part: Schema, section: Schema) -> str:
    is_required = path.rpartition(".")[2] in section.get("required", ())
    kind = f"required {_say_kind(part)}" if is_required else _say_kind(part)
    return f"`{path}` | {kind} | {part['description']}\n".replace(r"\|", "|")


def _say_kind(part: Schema) -> str:
    """The default and the other choices, or the kind of value."""
    default: Any = part.get("default")
    branches = list(list_branches(part))
    listed = [one.get("items", {}) if one.get("type") == "array" else one for one in branches]
    choices = [name for one in listed for name in one.get("enum", [one.get("const")]) if name]
    if default not in (None, "", [], {}) and not _holds_sections(default):
        shown = default if isinstance(default, str) else json.dumps(default)
        return "/".join(f"`{name}`" for name in dict.fromkeys([shown, *choices]))
    kinds = ["map" if one.get("type") == "object" else describe_values(one) for one in branches]
    return " or ".join(dict.fromkeys(re.split(r" of | above ", kind)[0] for kind in kinds))


def _holds_sections(default: Any) -> bool:
    return isinstance(default, list) and isinstance(default[0], dict)


def _has_own_table(part: Schema) -> bool:
    free = part.get("additionalProperties")
    return "properties" in part or (isinstance(free, dict) and "properties" in free)


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8", newline="\n")
