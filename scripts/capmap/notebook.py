"""capmap in a notebook: results as tables and figures, and a table of runs ranked."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

import pandas as pd

from capmap.analyses import HEADLINE
from capmap.artifacts import read_json
from capmap.errors import CapmapError, ConfigError, ValidationError
from capmap.inputs.studies import check_config
from capmap.ranking.estimates import estimate_models, list_parts, rank_study
from capmap.ranking.normalized import normalize_study
from capmap.ranking.table import choose
from capmap.tables import read_declared
from capmap.validation.study import Validation, check_exports, group_problems
from capmap.wording import find_nearest

FRAME = "frame.csv"

T = TypeVar("T")


class Results(Mapping[str, T], Generic[T]):
    """Results of one sort by name, each read when it is asked for.

    Parameters
    ----------
    folder : path-like
        Where they are.
    suffix : str
        Of their files, such as ``.csv``.
    read : callable
        Reads one.
    """

    def __init__(self, folder: Path, suffix: str, read: Callable[[Path], T]) -> None:
        self._paths = {path.stem: path for path in sorted(folder.glob(f"*{suffix}"))}
        self._read = read

    def __getitem__(self, name: str) -> T:
        if name not in self._paths:
            near = find_nearest(name, self._paths)
            hint = f"Did you mean {near!r}?" if near else f"There are {', '.join(self._paths)}."
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
        Its SVG; the PDF is beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def _repr_svg_(self) -> str:
        return self.path.read_text("utf-8")

    def __repr__(self) -> str:
        return f"Figure({str(self.path)!r})"


class Study:
    """The results of a study.

    Parameters
    ----------
    folder : path-like
        Such as ``results/mine``.

    Attributes
    ----------
    tables : Mapping[str, pandas.DataFrame]
        What stands in ``tables/``, such as ``tables["ranking"]``.
    figures : Mapping[str, Figure]
        What stands in ``figures/``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = Results(folder / "tables", ".csv", read_declared)
        self.figures = Results(folder / "figures", ".svg", Figure)

    @cached_property
    def headline(self) -> str:
        """What the page says first."""
        return (self.folder / HEADLINE).read_text("utf-8").strip()

    @cached_property
    def ranking(self) -> pd.DataFrame:
        """The ranking of the headline: the first rows of ``tables["ranking"]``."""
        return choose(self.tables["ranking"])

    @cached_property
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

    def __repr__(self) -> str:
        return (
            f"<{self.folder.name}: {self.headline} "
            f"{len(self.tables)} tables, {len(self.figures)} figures>"
        )


def load(folder: str | Path) -> Study:
    """Load the results of a finished study.

    Parameters
    ----------
    folder : path-like
        Such as ``results/mine``.

    Returns
    -------
    Study
        Its ``tables``, ``figures``, ``headline`` and ``validation``.

    Raises
    ------
    ConfigError
        When there are no results of a study.
    """
    path = Path(folder)
    if not (path / HEADLINE).is_file():
        studies = sorted(page.parent.name for page in path.glob("*/report.html"))
        hint = f"There are {', '.join(studies)} in it." if studies else "Run the study first."
        raise ConfigError(f"{path}: this is not the folder of a finished study. {hint}")
    return Study(path)


def rank(frame: pd.DataFrame, *, study: str = "study", **settings: Any) -> pd.DataFrame:
    """Rank the models of a table of runs, as the workflow does.

    Parameters
    ----------
    frame : pandas.DataFrame
        What an export would hold: a row per run with columns of names and a score, or a row per
        model with ``format="matrix"``. An index that has a name is a column.
    study : str, optional
        Name of the study, from which its random numbers are drawn.
    **settings
        What stands below the study in a YAML file, such as
        ``columns={"model": "backbone"}, metrics={"rmse": {"low": 0, "high": 10}}``.

    Returns
    -------
    pandas.DataFrame
        The first rows of ``tables/ranking`` of the workflow, those of the headline: a row per model
        with score, interval, ranks and ties.

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
    if {"exports", "fields"} & settings.keys():
        raise ConfigError("exports, fields: the runs are those of the table; leave these out.")
    checked = check_config({"studies": {study: {**settings, "exports": FRAME}}})
    options = checked["studies"][study]
    if options["format"] not in ("long", "matrix"):
        raise ConfigError(f"format: a table is long or matrix, not {options['format']!r}.")
    result = _check(frame, options)
    for text, _ in group_problems(result.warnings):
        warnings.warn(text, stacklevel=2)
    bootstrap = options["bootstrap"]
    normalized = normalize_study(result.runs, settings={**options, **bootstrap})
    scope = normalized.scope
    parts = list_parts(normalized.runs, scope, study=study, settings=bootstrap)
    read = partial(_select, estimate_models(parts))
    return choose(rank_study(read, scope, confidence_level=bootstrap["confidence"]))


def _check(frame: pd.DataFrame, settings: Mapping[str, Any]) -> Validation:
    """Read a table as if it were a file, which the messages call ``frame.csv``."""
    is_named = any(name is not None for name in frame.index.names)
    table = frame.reset_index() if is_named else frame
    with TemporaryDirectory() as folder:
        path = Path(folder, FRAME)
        table.to_csv(path, index=False)
        try:
            _, result = check_exports([str(path)], names=[FRAME], patterns=FRAME, settings=settings)
        except CapmapError as error:
            raise type(error)(str(error).replace(str(path), FRAME)) from None
    problems = [replace(problem, source=problem.source and FRAME) for problem in result.problems]
    if result.errors:
        errors = [problem for problem in problems if problem.severity == "error"]
        raise ValidationError("\n".join(text for text, _ in group_problems(errors)))
    return replace(result, problems=problems)


def _select(table: pd.DataFrame, where: Mapping[str, str]) -> pd.DataFrame:
    for column, value in where.items():
        table = table[table[column] == value]
    return table.reset_index(drop=True)
