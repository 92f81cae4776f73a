"""Write ``docs/results.md``, and the index of analyses that the rules read."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from capmap.analyses import load_analysis
from capmap.analyses.columns import COLUMNS
from capmap.analyses.declarations import Analysis, Table

INDEX = Path(__file__).parents[1] / "scripts/capmap/analyses/index.json"
PAGE = Path(__file__).parent / "results.md"
HEAD = """\
# Tables and figures

<!-- Generated from scripts/capmap/analyses/ by docs/make_results.py. -->

What each analysis writes below `results/<study>/`. Every table is there as CSV, those that papers
print as LaTeX too, those of `leaderboard/` as JSON; every figure as PDF and SVG. `snakemake` makes
a table by its path, such as `results/toy/tables/ranking.csv`; those of `comparisons/` and
`figures/` are made together, and the `index.csv` there lists them.

`claims.csv` lists what the page claims of models, a row per claim with its scope, level, test and
the family that the test allows for.

`paper/` holds what a paper prints, in LaTeX. `main.tex` is an article of three pages with the tables, the
intervals and one comparison; figures keep the size that `figures.width` asks for:

| file | what it holds |
|---|---|
| `results_table.tex` | mean scores in the units of their metrics ± standard deviation over runs |
| `ranking_table.tex` | the ranking, with each interval in one cell, sets of ranks and letters |
| `appendix.tex` | a second article: the other methods, answers and figures, and tables of several floats |
| `methods.tex`, `results.tex` | what was done, and the answers of the page: of the ranking and that comparison |
| `references.bib` | the publications that the paragraphs cite |

Models stand in the order of the ranking, and the numbers of the results in the tables. The best
score of a dataset is bold, the next underlined. Where a table is wide, the deviation stands below
its mean, then headers are turned, then the table is several floats.

`capmap pack STUDY` makes `STUDY.zip`, for those who check the paper: all results of the study and
its settings (without the secrets of addresses). The exports themselves are not in it: add them, an
author and a license before you publish.
"""


# No analyses.
HELPERS = {"__init__", "columns", "declarations", "rendering"}


def load_analyses() -> dict[str, Analysis]:
    """Load the declarations of all analyses in the order of the page."""
    names = sorted(path.stem for path in INDEX.parent.glob("*.py") if path.stem not in HELPERS)
    loaded = {name: load_analysis(name) for name in names}
    return dict(sorted(loaded.items(), key=lambda item: item[1].position))


def render_index() -> str:
    """Render what the rules need of the declarations."""
    index = {name: _list_declared(analysis) for name, analysis in load_analyses().items()}
    return json.dumps(index, indent=1) + "\n"


def _list_declared(analysis: Analysis) -> dict[str, Any]:
    steps = analysis.steps.items()
    options = dict(item for _, step in steps for item in step.options.items())
    return {
        "folder": analysis.folder,
        "default": analysis.default,
        "needs": analysis.needs,
        "tables": list(analysis.tables),
        "figures": {name: dict(figure.options) for name, figure in analysis.figures.items()},
        "drawn": {name: figure.draw.partition(":")[0] for name, figure in analysis.figures.items()},
        "steps": {name: dict(step.options) for name, step in steps},
        "files": dict(item for _, step in steps for item in step.files.items()),
        "options": options | dict(analysis.options),
    }


def render_page() -> str:
    """Render the page: a section per analysis, with its tables, their columns, and its figures."""
    return (
        HEAD
        + "".join(
            "".join(_render_analysis(name, analysis)) for name, analysis in load_analyses().items()
        )
        + "".join(_render_meanings())
    )


def _render_analysis(name: str, analysis: Analysis) -> Iterator[str]:
    title = "The ranking of every study" if name == "main" else f"`{name}`"
    yield f"\n## {title}\n\n{analysis.question}\n"
    yield "\n| table | columns | what it shows |\n|---|---|---|\n"
    for table, declared in analysis.tables.items():
        yield (
            f"| `{analysis.folder}/{table}` | {_list_columns(declared)} | "
            f"{declared.caption.replace('``', '`')} |\n"
        )
    if analysis.figures:
        yield "\n| figure | drawn from | what it shows |\n|---|---|---|\n"
    for figure, drawn in analysis.figures.items():
        reads = ", ".join(f"`{read}`" for read in drawn.reads) or "images"
        yield f"| `figures/{figure}` | {reads} | {drawn.caption} |\n"


def _render_meanings() -> Iterator[str]:
    yield "\n## What columns hold\n\nWhere tables differ, the table is named before the column.\n"
    yield "\n| column | what it holds |\n|---|---|\n"
    meanings = {name: column.meaning for name, column in COLUMNS.items()}
    for analysis in load_analyses().values():
        meanings |= analysis.meanings
    for name, meaning in sorted(meanings.items()):
        yield f"| `{name}` | {meaning} |\n"


def _list_columns(table: Table) -> str:
    names = ", ".join(f"`{name}`" for name in table.columns.split())
    return f"{names}, …" if table.more else names


if __name__ == "__main__":
    INDEX.write_text(render_index(), encoding="utf-8")
    PAGE.write_text(render_page(), encoding="utf-8")
