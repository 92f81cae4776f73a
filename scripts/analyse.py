"""Run steps of a study's analyses."""

import logging
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from job import load_function

# isort: split
import pandas as pd

from capmap.artifacts import read_parquet, read_shards, write_parquet
from capmap.catalog import ANALYSES, STEPS, Step, find_owner
from capmap.sizes import (
    note_left_out,
    read_left_out,
)
from capmap.tables import read_declared, write_declared, write_paragraphs

logger = logging.getLogger(__name__)


def analyse(
    *,
    study: str,
    folder: str,
    steps: list[str],
    options: Mapping[str, Mapping[str, Any]],
    excess: Mapping[str, str],
    **inputs: str | list[str],
) -> None:
    """Write the tables, files and paragraphs of steps.

    Parameters
    ----------
    study : str
        Name of the study.
    folder : str
        The study's folder.
    steps : list of str
        Names of the steps, see `capmap.catalog.STEPS`.
    options : mapping of str to mapping
        What each step is given, by parameter.
    excess : mapping of str to str
        Why steps are left out that would need more than is allowed. They, and what reads their
        tables, write empty ones and the reason.
    **inputs : str or list of str
        What the steps read, by name.
    """
    todo = []
    for name in steps:
        step = STEPS[name]
        reason = _find_left_out(step, folder) or excess.get(name, "")
        note_left_out(folder, name, reason)
        if reason:
            logger.warning("%s: %s", name, reason)
            _leave_out(name, reason, options[name], folder)
        else:
            todo.append(name)
    shared = {name for step in todo for name in STEPS[step].reads}
    content = {name: _read_input(name, inputs[name]) for name in sorted(shared)}
    for name in todo:
        step = STEPS[name]
        known: dict[str, Any] = {"study": study, **options[name]}
        known |= {read: content[read] for read in step.reads}
        known |= {path: inputs[path] for path in step.paths}
        _run_step(name, known, folder)


def _find_left_out(step: Step, folder: str) -> str:
    """Say which step is left out that makes what this one reads, if any is."""
    reads = {*step.reads, *step.paths}
    makers = (name for name, made in STEPS.items() if {*made.tables, *made.files} & reads)
    return next((reason for name in makers if (reason := read_left_out(folder, name))), "")


def _leave_out(name: str, reason: str, options: Mapping[str, Any], folder: str) -> None:
    """Write what a step makes without a row, and say why."""
    step, owner = STEPS[name], find_owner(name, "steps")
    for table in step.tables:
        columns = owner.tables[table].columns.split()
        write_declared(pd.DataFrame(columns=columns), f"{owner.folder}/{table}", folder)
    for path in _place_files(step, options, folder).values():
        write_parquet(path, pd.DataFrame())
    if step.describe:
        write_paragraphs([reason], _list_texts(folder, name))


def _read_input(name: str, place: str | list[str]) -> pd.DataFrame:
    """Read a table, or a table that is kept in parts."""
    if isinstance(place, list):
        return read_shards(place, packed=name == "runs")
    return read_parquet(place) if place.endswith(".parquet") else read_declared(place)


def _run_step(name: str, known: Mapping[str, Any], folder: str) -> None:
    """Compute what a step makes, and write it."""
    step, owner = STEPS[name], find_owner(name, "steps")
    made: Mapping[str, Any] = _call(load_function(step.run), known)
    if isinstance(made, pd.DataFrame):
        made = dict.fromkeys([*step.tables, *step.files], made)
    for table in step.tables:
        write_declared(made[table], f"{owner.folder}/{table}", folder)
    for file, path in _place_files(step, known, folder).items():
        write_parquet(path, made[file])
    if step.describe:
        paragraphs = _call(load_function(step.describe), {**known, **made})
        write_paragraphs(paragraphs, _list_texts(folder, name))
    counts = ", ".join(f"{len(made[part])} rows of {part}" for part in [*step.tables, *step.files])
    logger.info("%s: %s", name, counts)


def _call(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Call a function with what its parameters are called after."""
    return function(**{name: known[name] for name in signature(function).parameters})


def _list_texts(folder: str, name: str) -> list[str]:
    """The files of the paragraphs of a step's analysis."""
    owner = next(key for key, made in ANALYSES.items() if name in made.steps)
    return [f"{folder}/text/{owner}.{suffix}" for suffix in ("txt", "tex")]


def _place_files(step: Step, options: Mapping[str, Any], folder: str) -> dict[str, str]:
    """Where the files of a step are that are no tables, by name."""
    return {name: f"{folder}/{path.format(**options)}" for name, path in step.files.items()}


if __name__ == "__main__":
    from job import run_job

    run_job(analyse, snakemake)  # type: ignore[name-defined]
