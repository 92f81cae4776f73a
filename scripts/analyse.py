"""Run steps of a study's analyses."""

import logging
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from job import load_function

# isort: split
import pandas as pd

from capmap.artifacts import read_parquet, read_shards, write_parquet
from capmap.catalog import ANALYSES, COMPARISONS, STEPS, Step, find_owner
from capmap.catalog.declarations import MOST_MODELS, TOO_MANY
from capmap.tables import read_declared, write_declared, write_paragraphs

NONE_RANKED = "No model has results on enough datasets to be ranked."

logger = logging.getLogger(__name__)


def analyse(
    *,
    study: str,
    folder: str,
    steps: list[str],
    options: Mapping[str, Mapping[str, Any]],
    **inputs: str | list[str],
) -> None:
    """Write the tables, files and paragraphs of steps."""
    reads = {name for step in steps for name in STEPS[step].reads}
    content = {name: _read_input(name, inputs[name]) for name in sorted(reads)}
    for name in steps:
        step = STEPS[name]
        known: dict[str, Any] = {"study": study, **options[name]}
        known |= {read: content[read] for read in step.reads}
        known |= {path: inputs[path] for path in step.paths}
        if find_owner(name, "steps") in COMPARISONS.values() and "runs" in known:
            known["runs"] = known["runs"][known["runs"]["ranked"]]
            if reason := _find_obstacle(step, known["runs"]):
                logger.warning("%s: %s", name, reason)
                _leave_out(name, reason, options[name], folder)
                continue
        _run_step(name, known, folder)


def _find_obstacle(step: Step, runs: pd.DataFrame) -> str:
    """Say why the runs of ranked models cannot be compared; empty if they can."""
    if runs.empty:
        return NONE_RANKED
    return TOO_MANY if step.pairs and runs["model"].nunique() > MOST_MODELS else ""


def _leave_out(name: str, reason: str, options: Mapping[str, Any], folder: str) -> None:
    """Write what a step makes without a row, and say why."""
    step, owner = STEPS[name], find_owner(name, "steps")
    for table in step.tables:
        columns = owner.tables[table].columns.split()
        write_declared(pd.DataFrame(columns=columns), f"{owner.folder}/{table}", folder)
    for path in _place_files(step, options, folder).values():
        write_parquet(path, pd.DataFrame())
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
