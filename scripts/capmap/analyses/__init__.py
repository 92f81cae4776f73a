"""The analyses of a study, in files of a name or a family, with their words in templates.

The rules read ``index.json``, which needs no NumPy; ``make docs`` writes it from the declarations.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, Literal

# Of analyses without a rule of their own: one job makes them all.
FOLDER = "comparisons"
# What the page says first, in the study's folder.
HEADLINE = "headline.txt"
# Figures of all models, which leaderboards that rank within methods do not show.
TOGETHER = ("intervals", "rank_shift")

# What the index leaves out.
USUAL: dict[str, Any] = {"folder": FOLDER, "default": False, "needs": "", "tables": []}
USUAL |= {key: {} for key in ["figures", "drawn", "steps", "files", "options"]}
INDEX: dict[str, dict[str, Any]] = {
    name: USUAL | {"module": name} | own
    for name, own in json.loads(Path(__file__).with_name("index.json").read_text("utf-8")).items()
}
# In the order of the page.
ANALYSES = [name for name in INDEX if name != "main"]
# The analysis of each table (by its place in the study's folder, without suffix), figure and step.
TABLES = {f"{made['folder']}/{name}": key for key, made in INDEX.items() for name in made["tables"]}
FIGURES = {name: key for key, made in INDEX.items() for name in made["figures"]}
STEPS = {name: key for key, made in INDEX.items() for name in made["steps"]}
# What is kept in files that are no tables, by name.
FILES = {
    "runs": "normalized/runs.parquet",
    "items": "normalized/items.parquet",
    "bounds": "normalized/bounds.csv",
    "exported": "runs.parquet",
    "evaluations": "evaluations.parquet",
    **{name: place for made in INDEX.values() for name, place in made["files"].items()},
}

Best = Mapping[str, Literal["max", "min"]]
# Of more models, pairs are not compared; tables, figures and the page then say so.
MOST_MODELS = 500
TOO_MANY = (
    f"Pairs are compared of at most {MOST_MODELS} models, and this study has more. Choose models "
    "with the setting select."
)
# The settings that functions take behind the star, by parameter.
SETTINGS = {
    "against": "frontier/against",
    "alpha": "bootstrap/alpha",
    "comparison": "comparison",
    "confidence_level": "bootstrap/confidence",
    "cut": "iqm",
    "datasets": "datasets",
    "model_attributes": "attributes/models",
    "n_resamples": "bootstrap/of_comparisons",
    "reference": "comparison/reference",
    "renamed": "figures/names",
    "resampling": "bootstrap/resampling",
    "seed": "bootstrap/seed",
}


def list_parameters(function: Callable[..., Any], *, behind_star: bool) -> list[str]:
    """List what a function takes before the star, which is tables, or behind it: settings."""
    taken = signature(function).parameters.values()
    return [one.name for one in taken if (one.kind is one.KEYWORD_ONLY) == behind_star]


def list_settings(function: Callable[..., Any]) -> dict[str, str]:
    """The paths of the settings that a function takes, by parameter."""
    taken = list_parameters(function, behind_star=True)
    return {name: SETTINGS[name] for name in taken if name in SETTINGS}


@dataclass(frozen=True)
class Table:
    """A table that the workflow writes.

    Parameters
    ----------
    caption : str
        What it shows, as plain text.
    columns : str
        Names of its columns in order. Where another statistic ranks the models, that takes the
        place of ``iqm``.
    best : mapping of {"max", "min"}, optional
        Columns whose best value is set in bold, and what is best in them.
    more : bool
        Whether further columns follow, called after datasets, aggregations or attributes.
    text : str
        Names of columns that hold text here, where others of that name hold numbers.
    formats : str
        Suffixes of the files that hold it.
    """

    caption: str
    columns: str = ""
    best: Best = field(default_factory=dict)
    more: bool = False
    text: str = ""
    formats: str = "csv"


@dataclass(frozen=True)
class Figure:
    """A figure of finished tables.

    Parameters
    ----------
    caption : str
        What it shows, as plain text.
    draw : str
        The function that draws it, ``module:function``. What it takes before the star is called as
        the tables that it reads, what it takes behind it as in `SETTINGS` and `options`, or
        ``order``, the models in the order of the ranking.
    options : mapping of str to str
        Settings that the function takes, as parameter and path, beside those of `SETTINGS`.
    """

    caption: str
    draw: str
    options: Mapping[str, str] = field(default_factory=dict)

    def load(self) -> Callable[..., Any]:
        """Import the function that draws it."""
        module, _, name = self.draw.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function


@dataclass
class Step:
    """A job, or part of one, that turns tables into tables.

    Parameters
    ----------
    run : callable
        The function that computes. What it takes before the star is called as what it reads, what
        it takes behind it as in `SETTINGS` and `options`, or ``study``, the name of the study. It
        returns a mapping of the tables and `files`, or its only table.
    tables : sequence of str
        Names of the tables that it makes; by default all of its analysis.
    paths : sequence of str
        Names of what `run` reads itself; it gets lists of paths.
    options : mapping of str to str
        Settings that it takes, as parameter and path, beside those of `SETTINGS`.
    files : mapping of str to str
        Further files that it makes, by name, in the study's folder.
    pairs : bool
        Whether it compares all pairs of models, which more than `MOST_MODELS` are too many for.
    """

    run: Callable[..., Any]
    tables: Sequence[str] = ()
    paths: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    pairs: bool = False

    def __post_init__(self) -> None:
        self.options = {**list_settings(self.run), **self.options}

    @property
    def reads(self) -> list[str]:
        """Names of what it reads, tables or other artifacts; `run` gets their content."""
        taken = list_parameters(self.run, behind_star=False)
        return [name for name in taken if name not in {"folder", *self.paths}]


@dataclass
class Analysis:
    """An analysis that a study may ask for. A template has its words, in blocks of its name.

    Parameters
    ----------
    question : str
        The heading of its section.
    position : int
        Sections of the page are in this order.
    tables, figures : mapping
        What it makes, by name, in the order of the page.
    steps : mapping of str to Step
        What computes its tables, by name. Tables of no step are made by rules of the pipeline.
    find_facts : callable
        What its words need: a mapping of numbers and names. It takes tables of any analysis by
        name before the star, and settings behind it.
    options : mapping of str to str
        Settings that its words take, as parameter and path, beside those of `find_facts` and
        of its steps.
    folder : str
        Where its tables are, in the study's folder.
    needs : str
        The setting without which it has nothing to do, such as ``leaderboard/releases``; of
        several with blanks between them, one is enough.
    default : bool
        Whether studies that do not say have it.
    meanings : mapping of str to str
        What columns hold, by column, or table and column, where `capmap.analyses.columns` does
        not say.
    """

    question: str
    position: int
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    steps: Mapping[str, Step] = field(default_factory=dict)
    find_facts: Callable[..., Mapping[str, Any]] = lambda: {}
    options: Mapping[str, str] = field(default_factory=dict)
    folder: str = FOLDER
    needs: str = ""
    default: bool = False
    meanings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for step in self.steps.values():
            step.tables = step.tables or [*self.tables]
            self.options = {**step.options, **self.options}
        self.options = {**list_settings(self.find_facts), **self.options}


def list_analyses(study: Mapping[str, Any]) -> list[str]:
    """List a study's analyses in the order of the page, without those that have nothing to do."""
    return [name for name in ANALYSES if name in study["analyses"] and has_work(study, name)]


def has_work(study: Mapping[str, Any], name: str) -> bool:
    """Whether a study has one of the settings that an analysis needs, if it needs any."""
    needs = INDEX[name]["needs"].split()
    return not needs or any(read_setting(study, path) for path in needs)


def name_needs(name: str) -> str:
    """The settings of which an analysis needs one, in words."""
    return " or ".join(INDEX[name]["needs"].split()).replace("/", ".")


def list_tables(study: Mapping[str, Any]) -> list[str]:
    """List where all tables of a study are, in its folder and without suffix."""
    made = ["main", *list_analyses(study)]
    return [place for name in made for place, owner in TABLES.items() if owner == name]


def list_figures(study: Mapping[str, Any]) -> list[str]:
    """List the names of the figures of a study, of those that it chooses."""
    only = study.get("figures", {}).get("only", ())
    return [
        figure
        for name in ["main", *list_analyses(study)]
        for figure in INDEX[name]["figures"]
        if not only or figure in only
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

    The analysis's own tables come first, then those of the ranking, of the map and of the others;
    "" is where nothing has the name.
    """
    for folder in (INDEX[reader]["folder"], "tables", "capabilities", FOLDER):
        if f"{folder}/{name}" in TABLES:
            return f"{folder}/{name}.csv"
    return str(FILES.get(name, ""))


def load_analysis(name: str) -> Analysis:
    """The declaration of an analysis, from its module."""
    return read_declarations(name_module(name))[name]


def read_declarations(module: str) -> dict[str, Analysis]:
    """What a module declares: the analyses of a family, or the one that is called as it is."""
    loaded = import_module(module)
    several: dict[str, Analysis] = getattr(loaded, "ANALYSES", {})
    return several or {module.rpartition(".")[2]: loaded.ANALYSIS}


def name_module(name: str) -> str:
    """The module that declares an analysis."""
    return f"capmap.analyses.{INDEX[name]['module']}"


def find_table(place: str) -> Table | None:
    """The declaration of a table, such as ``comparisons/elo``; None of what is none."""
    if place not in TABLES:
        return None
    return load_analysis(TABLES[place]).tables[place.partition("/")[2]]
