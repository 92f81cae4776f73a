"""The analyses of a study, each in a file of its name, with its words in a template beside it.

The rules read ``index.json``, which needs no NumPy; ``make docs`` writes it from the declarations.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from capmap.analyses.declarations import Analysis, Table

# Of analyses without a rule of their own: one job makes them all.
FOLDER = "comparisons"
# What the page says first, in the study's folder.
HEADLINE = "headline.txt"
# Figures of all models, which leaderboards that rank within methods do not show.
TOGETHER = ("intervals", "rank_shift")

INDEX: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("index.json").read_text(encoding="utf-8")
)
# In the order of the page.
ANALYSES = [name for name in INDEX if name != "main"]
# The analysis of each table (by its place in the study's folder, without suffix), figure and step.
TABLES = {f"{made['folder']}/{name}": key for key, made in INDEX.items() for name in made["tables"]}
FIGURES = {name: key for key, made in INDEX.items() for name in made["figures"]}
STEPS = {name: key for key, made in INDEX.items() for name in made["steps"]}
# What is kept in files that are no tables, by name.
FILES = {
    "runs": "normalized/runs.parquet",
    "bounds": "normalized/bounds.csv",
    "exported": "runs.parquet",
    "evaluations": "evaluations.parquet",
    **{name: place for made in INDEX.values() for name, place in made["files"].items()},
}


def list_analyses(study: Mapping[str, Any]) -> list[str]:
    """List a study's analyses in the order of the page, without those that have nothing to do.

    Parameters
    ----------
    study : mapping
        The study's settings, checked and with defaults.
    """
    return [
        name
        for name in ANALYSES
        if name in study["analyses"]
        and (not INDEX[name]["needs"] or read_setting(study, INDEX[name]["needs"]))
    ]


def list_tables(study: Mapping[str, Any]) -> list[str]:
    """List where all tables of a study are, in its folder and without suffix."""
    made = ["main", *list_analyses(study)]
    return [place for name in made for place, owner in TABLES.items() if owner == name]


def list_figures(study: Mapping[str, Any]) -> list[str]:
    """List the names of the figures of a study, of those that it does not skip."""
    chosen = study.get("figures", {})
    only, skip = chosen.get("only", ()), chosen.get("skip", ())
    return [
        figure
        for name in ["main", *list_analyses(study)]
        for figure in INDEX[name]["figures"]
        if (not only or figure in only) and figure not in skip
    ]


def list_compared(study: Mapping[str, Any]) -> list[str]:
    """List the steps of a study that share a job and a folder."""
    return [
        step
        for name in list_analyses(study)
        if INDEX[name]["folder"] == FOLDER
        for step in INDEX[name]["steps"]
    ]


def read_setting(study: Mapping[str, Any], path: str) -> Any:
    """A setting of a study by its path, such as ``bootstrap/replicates``."""
    value: Any = study
    for key in path.split("/"):
        value = value[key]
    return value


def place_read(name: str, reader: str) -> str:
    """Where a table or file is, in the study's folder, that an analysis calls by its name alone.

    Parameters
    ----------
    name : str
        Name of a table or of a file that a step makes.
    reader : str
        An analysis. Its own tables come first, then those of the ranking, of the map and of the
        others.

    Returns
    -------
    str
        The path; "" where nothing has the name.
    """
    for folder in (INDEX[reader]["folder"], "tables", "capabilities", FOLDER):
        if f"{folder}/{name}" in TABLES:
            return f"{folder}/{name}.csv"
    return str(FILES.get(name, ""))


def load_analysis(name: str) -> "Analysis":
    """The declaration of an analysis, from its module."""
    declared: Analysis = import_module(f"capmap.analyses.{name}").ANALYSIS
    return declared


def find_table(place: str) -> "Table | None":
    """The declaration of a table, such as ``comparisons/elo``; None of what is none."""
    if place not in TABLES:
        return None
    return load_analysis(TABLES[place]).tables[place.partition("/")[2]]
