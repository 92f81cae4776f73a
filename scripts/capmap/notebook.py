"""capmap in a notebook: tables, figures and words of runs in memory, or of a finished study."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Generic, TypeVar
from weakref import finalize

import pandas as pd

from capmap import inputs as given
from capmap.analyses import (
    ANALYSES,
    HEADLINE,
    INDEX,
    STEPS,
    TABLES,
    list_analyses,
    list_parameters,
    load_analysis,
    name_needs,
    place_read,
)
from capmap.artifacts import read_json, render_csv, write_json, write_parquet, write_text
from capmap.errors import CapmapError, ConfigError, ValidationError
from capmap.inputs.studies import check_config, find_references, find_study
from capmap.ranking import choose
from capmap.ranking.clusters import measure_items
from capmap.ranking.estimates import choose_groups, estimate_models, list_parts, rank_study
from capmap.ranking.normalized import normalize_study, summarize_study
from capmap.tables import read_declared, read_place, run_steps, write_declared
from capmap.validation.findings import Validation, check_exports, describe_exports, group_problems
from capmap.wording import list_names, suggest

FRAME = "frame.csv"
WORDS = "words.json"
MAIN = ("scores", "seeds", "dependence", "ranking")
# Analyses of more than the runs of one table.
OF_FILES = ("conditions", "multilabel", "leaderboard", "releases", "checkpoints", "published")
# What steps read by themselves that a table in memory has too, in the study's folder.
OWN_PATHS = {"estimates": "bootstrap/0.parquet", "scope": "normalized/scope.json"}
ATTRIBUTES = {"model_file": "attributes/models/file", "dataset_file": "attributes/datasets/file"}

T = TypeVar("T")


class Results(Mapping[str, T], Generic[T]):
    """Results of one sort by name, each read when it is asked for.

    Parameters
    ----------
    paths : mapping of str to pathlib.Path
        Where each is.
    read : callable
        Reads one.
    """

    def __init__(self, paths: Mapping[str, Path], read: Callable[[Path], T]) -> None:
        self._paths = dict(paths)
        self._read = read

    def __getitem__(self, name: str) -> T:
        if name not in self._paths:
            hint = suggest(name, self._paths, f"There are {', '.join(self._paths)}.")
            raise KeyError(f"There is no {name!r}. {hint}")
        return self._read(self._paths[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<{', '.join(self._paths)}>"


class Figure:
    """A figure that a notebook shows.

    Parameters
    ----------
    path : pathlib.Path
        Its SVG. Of a finished run, the PDF is beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._svg = path.read_text("utf-8")

    def _repr_svg_(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return f"Figure({str(self.path)!r})"


@dataclass(frozen=True)
class Result:
    """What an analysis found.

    Parameters
    ----------
    tables : Mapping[str, pandas.DataFrame]
        All of its tables by name.
    figures : Mapping[str, Figure]
        All of its figures by name; those with nothing to show are missing.
    text, methods : str
        What the page says, and what the methods of a paper say.
    """

    tables: Mapping[str, pd.DataFrame]
    figures: Mapping[str, Figure]
    text: str
    methods: str

    @property
    def table(self) -> pd.DataFrame:
        """The first table."""
        return self.tables[next(iter(self.tables))]

    def plot(self, name: str = "") -> Figure:
        """Give a figure by its name, or the first one.

        Raises
        ------
        ValueError
            When nothing was to be drawn.
        """
        if not self.figures:
            raise ValueError("This analysis has no figure: it has nothing to show.")
        return self.figures[name or next(iter(self.figures))]

    def _repr_html_(self) -> str:
        shown = [f"<p>{self.text}</p>", self.table.to_html(index=False, max_rows=20)]
        return "".join([*shown, *(own._repr_svg_() for own in [*self.figures.values()][:1])])

    def __repr__(self) -> str:
        return f"{self.text}\n{self.table.to_string(index=False, max_rows=20)}"


class Finished:
    """The results of a finished run, as `load` gives them.

    Parameters
    ----------
    folder : pathlib.Path
        Such as ``results/mine``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def tables(self) -> Results[pd.DataFrame]:
        """What stands in ``tables/``, such as ``tables["ranking"]``."""
        return Results(self._list("tables", ".csv"), self._read_table)

    @property
    def figures(self) -> Results[Figure]:
        """What stands in ``figures/``."""
        return Results(self._list("figures", ".svg"), self._read_figure)

    @property
    def headline(self) -> str:
        """What the page says first."""
        return (self.folder / HEADLINE).read_text("utf-8").strip()

    @property
    def validation(self) -> dict[str, Any]:
        """What was read: counts, files, warnings.

        Raises
        ------
        ConfigError
            When the exports were refused since.
        """
        path = self.folder / "validation.json"
        if not path.is_file():
            raise ConfigError(
                f"{path} is not there: the exports were refused since; see rejected.csv."
            )
        return read_json(path)

    def ranking(self) -> Result:
        """Who is best; its first table has the rows of the headline."""
        found = self.analysis("main")
        return replace(found, tables={**found.tables, "ranking": choose(found.table)})

    def pairs(self) -> Result:
        """All pairs of models compared."""
        return self.analysis("pairwise")

    def map(self) -> Result:
        """The map of models and datasets."""
        return self.analysis("capabilities")

    def analysis(self, name: str) -> Result:
        """Give what an analysis found.

        Parameters
        ----------
        name : str
            As the setting ``analyses`` calls it, such as ``profiles``.

        Raises
        ------
        ConfigError
            When the study does not have it.
        """
        self._require(name)
        declared = load_analysis(name)
        # That of groups of datasets stands in the ranking.
        paths = {own: self.folder / declared.folder / f"{own}.csv" for own in declared.tables}
        paths = paths or {"ranking": self.folder / "tables/ranking.csv"}
        tables = Results(
            {own: path for own, path in paths.items() if path.is_file()}, self._read_table
        )
        if not tables:
            remedy = "Ask for it under analyses, and run the study again."
            raise ConfigError(f"{self.folder} has no analysis {name!r}. {remedy}")
        drawn = self.figures
        figures = {own: drawn[own] for own in declared.figures if own in drawn}
        return Result(tables, figures, **self._tell(name))

    def _require(self, name: str) -> None:
        if name not in INDEX:
            hint = suggest(name, ANALYSES, f"There are {', '.join(ANALYSES)}.")
            raise ConfigError(f"There is no analysis {name!r}. {hint}")

    def _tell(self, name: str) -> dict[str, str]:
        told: dict[str, str] = read_json(self.folder / WORDS)[name]
        return told

    # Methods, so that the files of a `Study` stay as long as something reads them.
    def _read_table(self, path: Path) -> pd.DataFrame:
        return read_declared(path)

    def _read_figure(self, path: Path) -> Figure:
        return Figure(path)

    def _place(self, figure: str) -> Path:
        return self.folder / f"figures/{figure}.svg"

    def _list(self, folder: str, suffix: str) -> dict[str, Path]:
        return {path.stem: path for path in sorted((self.folder / folder).glob(f"*{suffix}"))}

    def __repr__(self) -> str:
        return (
            f"<{self.folder.name}: {self.headline} "
            f"{len(self.tables)} tables, {len(self.figures)} figures>"
        )


class Study(Finished):
    """A table of runs, ranked as the workflow does; analyses are made when they are asked for.

    Parameters
    ----------
    frame : pandas.DataFrame
        What an export would hold: a row per run with columns of names and a score, or a row per
        model with ``format="matrix"``. An index that has a name is a column.
    name : str, optional
        Name of the study, from which its random numbers are drawn.
    **settings
        What stands below the study in a YAML file, such as
        ``columns={"model": "backbone"}, metrics={"rmse": {"low": 0, "high": 10}}``.

    Raises
    ------
    ConfigError
        When a setting is wrong.
    ValidationError
        When the table is.

    Warns
    -----
    UserWarning
        For each cause that validation warns of.
    """

    def __init__(self, frame: pd.DataFrame, *, name: str = "study", **settings: Any) -> None:
        if not isinstance(frame, pd.DataFrame):
            text = "Study: give a data frame, as pd.read_csv(…) returns. `capmap run` reads files."
            raise ConfigError(text)
        if {"exports", "fields"} & settings.keys():
            raise ConfigError("exports, fields: the runs are those of the table; leave these out.")
        possible = [own for own in ANALYSES if own not in OF_FILES]
        settings = {"analyses": possible, **settings, "exports": FRAME}
        checked = check_config({"studies": {name: settings}})["studies"]
        if checked[name]["format"] not in ("long", "matrix"):
            text = f"format: a table is long or matrix, not {checked[name]['format']!r}."
            raise ConfigError(text)
        folder = mkdtemp(prefix="capmap-")
        finalize(self, rmtree, folder, ignore_errors=True)
        self._study = find_study(checked, name, f"{folder}/")
        self._reasons: dict[str, str] = {}
        super().__init__(self._study.folder)
        self._rank(_check(frame, checked[name], self.folder))

    def _rank(self, checked: Validation) -> None:
        """Do what the stages from `normalize` to `rank` do."""
        study, settings, runs = self._study, self._study.settings, checked.runs
        bootstrap = settings["bootstrap"]
        renamed = settings["figures"]["names"]
        normalized = normalize_study(
            runs,
            settings={**settings, **bootstrap, "renamed": renamed},
            references=find_references(study),
            items=checked.items,
        )
        write_parquet(self.folder / "normalized/runs.parquet", normalized.runs)
        write_parquet(self.folder / "normalized/items.parquet", normalized.items)
        write_text(self.folder / "normalized/bounds.csv", render_csv(normalized.bounds))
        write_text(self.folder / "normalized/scope.json", json.dumps(normalized.scope))
        packed = read_place(f"{self.folder}/normalized/runs.parquet")
        made = summarize_study(runs, packed, normalized.scope, settings["datasets"])
        groups = given.read_groups(study)
        chosen = choose_groups(packed[packed["ranked"]], **groups) if groups else []
        parts = list_parts(
            normalized.runs,
            normalized.scope,
            study=study.name,
            settings=bootstrap,
            groups=chosen,
            items=measure_items(normalized.items, normalized.runs),
        )
        estimates = estimate_models(parts)
        write_parquet(self.folder / OWN_PATHS["estimates"], estimates)
        made["ranking"] = rank_study(
            partial(_select, estimates),
            normalized.scope,
            groups=given.list_groups(study),
            confidence_level=bootstrap["confidence"],
        )
        for name in MAIN:
            write_declared(made[name], f"tables/{name}", str(self.folder))

    @property
    def headline(self) -> str:
        """What the page says first."""
        return self._tell("main")["text"]

    def _require(self, name: str) -> None:
        super()._require(name)
        if name in OF_FILES:
            text = f"The analysis {name!r} needs more than a table: run the workflow, and load it."
            raise ConfigError(text)
        if name not in ["main", *list_analyses(self._study.settings)]:
            raise ConfigError(f"The analysis {name!r} needs {name_needs(name)}.")
        declared = load_analysis(name)
        for own in [*declared.tables, *list_parameters(declared.find_facts, behind_star=False)]:
            self._make(place_read(own, name))
        for figure in declared.figures:
            for own in list_parameters(declared.figures[figure].load(), behind_star=False):
                self._make(place_read(own, name))
            self._draw(figure)

    def _make(self, place: str) -> None:
        """Make a table or file, after what it is made of, unless it is there."""
        name = _find_step(place)
        if not name or (self.folder / place).is_file():
            return
        step = load_analysis(STEPS[name]).steps[name]
        for own in step.reads:
            self._make(place_read(own, STEPS[name]))
        paths = {own: [str(self.folder / path)] for own, path in OWN_PATHS.items()}
        for own, setting in ATTRIBUTES.items():
            paths[own] = [path for path in [self._study.read(setting)] if path]
        options = given.read_steps(self._study, name)
        self._reasons |= run_steps(self._study.name, str(self.folder), options, paths)

    def _draw(self, name: str) -> None:
        # Not above: it loads Matplotlib.
        from capmap.figures.canvas import NothingToDraw, draw_figure
        from capmap.figures.style import figure_style, read_look, save_figure, wear_look

        chosen = given.read_figures(self._study).get(name)
        if not chosen or self._place(name).is_file():
            return
        with figure_style(), wear_look(read_look(chosen["look"])):
            try:
                figure = draw_figure(
                    name, chosen["options"], str(self.folder), read_place, self._reasons
                )
            except NothingToDraw:
                return
            save_figure(figure, [self._place(name)])

    def _tell(self, name: str) -> dict[str, str]:
        from capmap.analyses.rendering import describe_analysis, tell_words

        folders = {"normalized", *(made["folder"] for made in INDEX.values())}
        paths = sorted(path for own in folders for path in (self.folder / own).glob("*.csv"))
        places = {path.relative_to(self.folder).with_suffix("").as_posix(): path for path in paths}
        options = given.read_facts(self._study)[name]
        reasons = [self._reasons.get(f"{own}.csv", "") for own in load_analysis(name).tables]
        words = describe_analysis(
            name, Results(places, read_declared), options, next(filter(None, reasons), "")
        )
        return tell_words(words)


def load(folder: str | Path) -> Finished:
    """Load the results of a finished study.

    Parameters
    ----------
    folder : path-like
        Such as ``results/mine``.

    Returns
    -------
    Finished
        Its ``tables``, ``figures``, ``headline`` and ``validation``, and its analyses as of a
        `Study`.

    Raises
    ------
    ConfigError
        When there are no results of a study.
    """
    path = Path(folder)
    if not (path / HEADLINE).is_file():
        studies = sorted(page.parent.name for page in path.glob("*/report.html"))
        hint = f"Name one in it: {list_names(studies)}." if studies else "Run the study first."
        raise ConfigError(f"{path}: this is not the folder of a finished study. {hint}")
    return Finished(path)


def _check(frame: pd.DataFrame, settings: Mapping[str, Any], folder: Path) -> Validation:
    """Read a table as if it were a file, which the messages call ``frame.csv``."""
    is_named = any(name is not None for name in frame.index.names)
    table = frame.reset_index() if is_named else frame
    path = folder / FRAME
    path.parent.mkdir(parents=True)
    table.to_csv(path, index=False)
    try:
        read, result = check_exports([str(path)], names=[FRAME], patterns=FRAME, settings=settings)
    except CapmapError as error:
        raise type(error)(str(error).replace(str(path), FRAME)) from None
    problems = [replace(problem, source=problem.source and FRAME) for problem in result.problems]
    if result.errors:
        errors = [problem for problem in problems if problem.severity == "error"]
        raise ValidationError("\n".join(text for text, _ in group_problems(errors)))
    result = replace(result, problems=problems)
    for text, _ in group_problems(result.warnings):
        warnings.warn(text, stacklevel=3)
    write_json(folder / "validation.json", describe_exports(read, result))
    return result


def _find_step(place: str) -> str:
    """The step that makes a table or file of an analysis; "" where none does."""
    makers = [TABLES.get(place.removesuffix(".csv"))]
    makers += [owner for owner, made in INDEX.items() if place in made["files"].values()]
    for owner in filter(None, makers):
        for name, step in load_analysis(owner).steps.items():
            if Path(place).stem in step.tables or place in step.files.values():
                return name
    return ""


def _select(table: pd.DataFrame, where: Mapping[str, str]) -> pd.DataFrame:
    for column, value in where.items():
        table = table[table[column] == value]
    return table.reset_index(drop=True)
