"""Write ``docs/configuration.md`` from the settings: ``python docs/make_configuration.py``."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from capmap.settings.study import Config
from capmap.settings.words import NAME, Schema, describe_values, read_schema

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/configuration.md"
EXAMPLE = ROOT / "docs/configuration.yaml"

HEAD = """\
# Configuration

<!-- Generated from scripts/capmap/settings/ by docs/make_configuration.py. -->

`config.yaml` holds the shipped examples. A file of your own, given as `capmap run my.yaml` or with
Snakemake's `--configfile my.yaml`, replaces its studies. A key that you leave out has its default.

Before any job, all that is wrong is listed at once: keys and values that are not listed here,
with what was probably meant, keys that stand twice, studies and files that are not there, and
settings without effect. Names of models, datasets and metrics are looked for when the exports are
read, which is the first job, and are reported with what is wrong there. Where Snakemake itself says
that a file is no YAML, `capmap check my.yaml` says in which line.

Beside this page stands `configuration.schema.json`, a JSON schema of all this. An editor with a
YAML language server completes and checks a file by it whose first line is
`# yaml-language-server: $schema=ADDRESS`.

Paths are relative to the folder in which you call `snakemake`, and `~` is your home.

## Every key in one example

No study needs all of this, and what its format does not read is refused; most need `exports`,
`columns` and a rule or two.

```yaml
{example}```
"""
TABLE = """
| key | value | default | meaning |
|---|---|---|---|
"""


def render_page() -> str:
    """Render the page: an example, then a table per section."""
    schema = read_schema(Config)
    study = schema["properties"]["studies"]["additionalProperties"]
    page = HEAD.format(example=EXAMPLE.read_text(encoding="utf-8"))
    page += "\n## The file\n" + TABLE + "".join(_render_rows(schema))
    page += f"\n## A study\n\nThe keys of each `studies.{NAME}`.\n" + TABLE
    page += "".join(_render_rows(study))
    whole = {key: part for key, part in schema["properties"].items() if key != "studies"}
    for key, part in (whole | study["properties"]).items():
        if _has_own_table(part):
            free = part["additionalProperties"]
            entries = f" The keys of each `{key}.{NAME}`:" if free else ""
            page += f"\n### {key}\n\n{part['description']}{entries}\n" + TABLE
            page += "".join(_render_nested_rows(free or part))
    return page


def render_schema() -> str:
    """Render the JSON schema that editors complete and check settings by."""
    return json.dumps(Config.model_json_schema(), indent=1, ensure_ascii=False) + "\n"


def _render_rows(section: Schema) -> Iterator[str]:
    for key, part in section["properties"].items():
        link = f"[section](#{'a-study' if key == 'studies' else key})"
        values = link if _has_own_table(part) else describe_values(part)
        yield _render_row(key, values, part, section)


def _render_nested_rows(section: Schema, prefix: str = "") -> Iterator[str]:
    for key, part in section.get("properties", {}).items():
        yield _render_row(prefix + key, describe_values(part), part, section)
        for branch in part.get("anyOf", (part,)):
            yield from _render_nested_rows(branch, f"{prefix}{key}.")


def _render_row(path: str, values: str, part: Schema, section: Schema) -> str:
    is_required = path.rpartition(".")[2] in section.get("required", ())
    default = "required" if is_required else _render_default(part)
    cells = [f"`{path}`", values, default, part["description"].replace("|", r"\|")]
    return f"| {' | '.join(cells)} |\n"


def _render_default(part: Schema) -> str:
    default: Any = part.get("default")
    return "" if default is None or default == {} else f"`{json.dumps(default)}`"


def _has_own_table(part: Schema) -> bool:
    free = part.get("additionalProperties")
    return "properties" in part or (isinstance(free, dict) and "properties" in free)


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8", newline="\n")
