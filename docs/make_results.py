"""Write what is generated of ``docs/results.md``, and the index of analyses for the rules."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from capmap.analyses import USUAL, Analysis, Table, list_settings, read_declarations
from capmap.analyses.columns import MEANINGS

INDEX = Path(__file__).parents[1] / "scripts/capmap/analyses/index.json"
PAGE = Path(__file__).parent / "results.md"
MARK = "<!-- Below, generated from scripts/capmap/analyses/ by docs/make_results.py. -->\n"
# Words that add nothing to a name.
COMMON = {"the", "of", "number", "name", "this", "a", "its", "as", "with", "on", "that", "in", "by"}
COMMON |= {"was", "is", "to", "one", "two", "0", "1"}
NAMES = ("Bradley", "Kendall", "Pearson", "ReaL", "Spearman", "Top-1", "Wilcoxon", "ASMA")
# What follows after at least seven words and a comma.
ASIDE = r"^((?:\S+ ){6,}?\S+), (?:and|with|by|mean|also|over|which|where|among|as) .*"
EXPLAINED = ("_low", "_high", "_low_all", "_high_all", "_a", "_b")

# No analyses.
HELPERS = {"__init__", "columns", "rendering"}


def find_modules() -> dict[str, str]:
    """Find the module of each analysis."""
    modules = sorted(path.stem for path in INDEX.parent.glob("*.py") if path.stem not in HELPERS)
    return {
        name: module
        for module in modules
        for name in read_declarations(f"capmap.analyses.{module}")
    }


def load_analyses() -> dict[str, Analysis]:
    """Load the declarations of all analyses in the order of the page."""
    loaded: dict[str, Analysis] = {}
    for module in sorted({*find_modules().values()}):
        loaded |= read_declarations(f"capmap.analyses.{module}")
    return dict(sorted(loaded.items(), key=lambda item: item[1].position))


def render_index() -> str:
    """Render what the rules need of the declarations."""
    modules = find_modules()
    parts = [
        f" {json.dumps(name)}: {{\n  {_render_lines(name, modules[name], analysis)}\n }}"
        for name, analysis in load_analyses().items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _render_lines(name: str, module: str, analysis: Analysis) -> str:
    """Render a line per key whose value is not the usual one."""
    usual, declared = USUAL | {"module": name}, {"module": module} | _list_declared(analysis)
    lines = (f'"{key}": {json.dumps(own)}' for key, own in declared.items() if own != usual[key])
    return ",\n  ".join(lines)


def _list_declared(analysis: Analysis) -> dict[str, Any]:
    steps = analysis.steps.items()
    return {
        "folder": analysis.folder,
        "default": analysis.default,
        "needs": analysis.needs,
        "tables": list(analysis.tables),
        "figures": {
            name: {**list_settings(figure.load()), **figure.options}
            for name, figure in analysis.figures.items()
        },
        "drawn": {name: figure.draw.partition(":")[0] for name, figure in analysis.figures.items()},
        "steps": {name: dict(step.options) for name, step in steps},
        "files": dict(item for _, step in steps for item in step.files.items()),
        "options": dict(analysis.options),
    }


def render_page() -> str:
    """Render the page: a section per analysis, with its tables, their columns, and its figures."""
    sections = (_render_analysis(name, one) for name, one in load_analyses().items())
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return head + MARK + "".join(map("".join, [*sections, _render_meanings()]))


def _render_analysis(name: str, analysis: Analysis) -> Iterator[str]:
    title = "The ranking of every study" if name == "main" else f"`{name}`"
    yield f"\n## {title}\n\n{analysis.question}\n\n"
    meanings = dict(analysis.meanings)
    for table, declared in analysis.tables.items():
        columns = ", ".join(_list_columns(table, declared, meanings))
        yield f"- `{analysis.folder}/{table}`: {_shorten(declared.caption)} {columns}.\n"
    told = {_shorten(declared.caption) for declared in analysis.tables.values()}
    drawn = {name: _shorten(figure.caption) for name, figure in analysis.figures.items()}
    figures = (f"`{n}`" + ("" if c in told else f" ({_lower(c)})") for n, c in drawn.items())
    if drawn:
        yield f"- figures: {', '.join(figures)}.\n"


def _shorten(caption: str) -> str:
    """What a caption says first."""
    first = re.split(r"(?<=\.) |[:;] ", caption.replace("``", "`"))[0].rstrip(".")
    return re.sub(ASIDE, r"\1", first) + "."


def _lower(sentence: str) -> str:
    """A sentence as it stands in brackets."""
    is_name = sentence.startswith(NAMES)
    return (sentence[0] if is_name else sentence[0].lower()) + sentence[1:-1]


def _list_columns(table: str, declared: Table, meanings: dict[str, str]) -> Iterator[str]:
    """List the columns, each with its meaning where the analysis has its own, once."""
    names = declared.columns.split()
    for name in names:
        if name.replace("_high", "_low") in set(names) - {name}:
            continue
        found = meanings.pop(f"{table}.{name}", "") or meanings.pop(name, "")
        if not found or _says_no_more(f"{name} {_shorten(declared.caption)}", found):
            yield f"`{name}`"
        else:
            yield f"`{name}` ({_lower(found)})"
    if declared.more:
        yield "…"


def _says_no_more(told: str, meaning: str) -> bool:
    """Whether a meaning repeats the name and what else is told, or the name is explained."""
    name = told.split()[0]
    known = {*COMMON, *name.split("_"), *re.findall(r"\w[\w-]*", told.lower())}
    is_told = name.endswith(EXPLAINED) or name.startswith("normalized_")
    return is_told or {*re.findall(r"\w[\w-]*", meaning.lower())} <= known


def _render_meanings() -> Iterator[str]:
    yield "\n## Columns of several tables\n\n"
    tables = (table for one in load_analyses().values() for table in one.tables.values())
    used = {name for table in tables for name in table.columns.split()}
    for name in sorted(used & MEANINGS.keys()):
        yield f"- `{name}`: {MEANINGS[name]}\n"


if __name__ == "__main__":
    INDEX.write_text(render_index(), encoding="utf-8")
    PAGE.write_text(render_page(), encoding="utf-8")
