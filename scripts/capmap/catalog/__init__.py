"""The one place that says what belongs to each analysis; reading it imports no numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

from capmap.catalog import capabilities, comparisons, leaderboard, multilabel, published
from capmap.catalog.columns import TEXT_COLUMNS, spell_column
from capmap.catalog.declarations import Analysis, Figure, Step, Table
from capmap.catalog.main import HEADLINE, MAIN, TOGETHER

__all__ = [
    "ANALYSES",
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
    | published.ANALYSES
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


def list_captions() -> dict[str, str]:
    """What every table and figure shows, by its place in the study's folder, without suffix."""
    figures = {f"figures/{name}": figure.caption for name, figure in FIGURES.items()}
    tables = {name: table.caption for name, table in TABLES.items()}
    return dict(sorted((tables | figures).items()))


def read_setting(study: Mapping[str, Any], path: str) -> Any:
    """A setting of a study by its path, such as ``bootstrap/replicates``."""
    value: Any = study
    for key in path.split("/"):
        value = value[key]
    return value


def find_owner(name: str, kind: str) -> Analysis:
    """The analysis that has a figure or a step of a name; `kind` is "figures" or "steps"."""
    return next(made for made in EVERYTHING.values() if name in getattr(made, kind))


def place_table(name: str, reader: Analysis) -> str:
    """Where a table is that an analysis calls by its name alone.

    Parameters
    ----------
    name : str
        Name of a table.
    reader : Analysis
        Its folder comes before that of the ranking.

    Returns
    -------
    str
        Its place in the study's folder, without suffix; "" where no table has the name.
    """
    return next(
        (place for place in (f"{reader.folder}/{name}", f"tables/{name}") if place in TABLES), ""
    )


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
