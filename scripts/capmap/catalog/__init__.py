"""The one place that says what belongs to each analysis; reading it imports no numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

from capmap.catalog import capabilities, comparisons, leaderboard, multilabel
from capmap.catalog.columns import TEXT_COLUMNS, spell_column
from capmap.catalog.declarations import FOLDER, Analysis, Figure, Step, Table
from capmap.catalog.main import HEADLINE, MAIN, PUBLISHED, TOGETHER

__all__ = [
    "ANALYSES",
    "COMPARED",
    "COMPARISONS",
    "EVERYTHING",
    "FIGURES",
    "HEADLINE",
    "MAIN",
    "STEPS",
    "TABLES",
    "TOGETHER",
    "Analysis",
    "Figure",
    "Step",
    "Table",
]

# In the order of the page.
ANALYSES: dict[str, Analysis] = (
    comparisons.ANALYSES
    | capabilities.ANALYSES
    | multilabel.ANALYSES
    | leaderboard.ANALYSES
    | {"published": PUBLISHED}
)
EVERYTHING = {"main": MAIN, **ANALYSES}
# Those that compare ranked models; models with too few datasets take no part.
COMPARISONS = comparisons.ANALYSES
# Tables by their place in the study's folder, without suffix, and figures and steps by name.
TABLES: dict[str, Table] = {
    f"{analysis.folder}/{name}": table
    for analysis in EVERYTHING.values()
    for name, table in analysis.tables.items()
}
FIGURES: dict[str, Figure] = {
    name: figure for analysis in EVERYTHING.values() for name, figure in analysis.figures.items()
}
STEPS: dict[str, Step] = {
    name: step for analysis in EVERYTHING.values() for name, step in analysis.steps.items()
}
# Those of all analyses that share a job and a folder.
COMPARED = [
    step for analysis in ANALYSES.values() if analysis.folder == FOLDER for step in analysis.steps
]
# What is kept in files that are no tables, by name.
FILES = {
    "runs": "normalized/runs.parquet",
    "bounds": "normalized/bounds.csv",
    "exported": "runs.parquet",
    "evaluations": "evaluations.parquet",
    **{name: path for step in STEPS.values() for name, path in step.files.items()},
}


def list_analyses(study: Mapping[str, Any]) -> list[str]:
    """List a study's analyses, without those whose own settings are empty.

    Parameters
    ----------
    study : mapping
        The study's settings, checked and with defaults.

    Returns
    -------
    list of str
        In the order of the catalog, which is that of the report.
    """
    return [
        name
        for name, analysis in ANALYSES.items()
        if name in study["analyses"] and (not analysis.needs or read_setting(study, analysis.needs))
    ]


def list_tables(study: Mapping[str, Any]) -> list[str]:
    """List where all tables of a study are, in its folder and without suffix."""
    return [f"{made.folder}/{name}" for made in _list_made(study) for name in made.tables]


def list_figures(study: Mapping[str, Any]) -> list[str]:
    """List the names of the figures of a study, of those that it does not skip."""
    chosen = study.get("figures", {})
    only, skip = chosen.get("only", ()), chosen.get("skip", ())
    return [
        name
        for made in _list_made(study)
        for name in made.figures
        if (not only or name in only) and name not in skip
    ]


def read_setting(study: Mapping[str, Any], path: str) -> Any:
    """A setting of a study by its path, such as ``bootstrap/replicates``."""
    value: Any = study
    for key in path.split("/"):
        value = value[key]
    return value


def find_owner(name: str, kind: str) -> Analysis:
    """The analysis that has a figure or a step of a name; `kind` is "figures" or "steps"."""
    return next(made for made in EVERYTHING.values() if name in getattr(made, kind))


def list_compared(study: Mapping[str, Any]) -> list[str]:
    """List the steps of a study that share a job and a folder."""
    made = [step for name in list_analyses(study) for step in ANALYSES[name].steps]
    return [step for step in made if step in COMPARED]


def list_modules(*names: str) -> list[str]:
    """List the modules of the functions of steps and figures."""
    steps = [STEPS[name] for name in names if name in STEPS]
    functions = [function for step in steps for function in (step.run, step.describe)]
    functions += [FIGURES[name].draw for name in names if name in FIGURES]
    return [function.partition(":")[0] for function in functions if function]


def place_read(name: str, reader: Analysis) -> str:
    """Where a table or file is, in the study's folder, that an analysis calls by its name alone.

    Parameters
    ----------
    name : str
        Name of a table or of a file that a step makes.
    reader : Analysis
        Its own tables come first, then those of the ranking, of the map and of the others.

    Returns
    -------
    str
        The path; "" where nothing has the name.
    """
    for folder in (reader.folder, "tables", "capabilities", FOLDER):
        if f"{folder}/{name}" in TABLES:
            return f"{folder}/{name}.csv"
    return FILES.get(name, "")


def label_columns(place: str, columns: Iterator[str] | list[str]) -> dict[str, str]:
    """What a page calls the columns of a table; those called after datasets keep their names."""
    table = TABLES.get(place, Table(""))
    return {name: table.labels.get(name) or spell_column(name) for name in columns}


def list_text_columns(place: str) -> list[str]:
    """The columns of a table that hold names; of a table that is not declared, all that could."""
    if place not in TABLES:
        return TEXT_COLUMNS
    table = TABLES[place]
    declared = set(table.columns.split())
    return [*(name for name in TEXT_COLUMNS if name in declared), *table.text.split()]


def _list_made(study: Mapping[str, Any]) -> list[Analysis]:
    return [MAIN, *(ANALYSES[name] for name in list_analyses(study))]
