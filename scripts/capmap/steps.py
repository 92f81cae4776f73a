"""Steps of a study's analyses: read what the catalog names, compute, write what it declares."""

import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any

import pandas as pd

from capmap.artifacts import read_parquet, write_parquet
from capmap.catalog import ANALYSES, COMPARISONS, STEPS, Step, find_owner, place_read
from capmap.catalog.declarations import MOST_MODELS, TOO_MANY
from capmap.tables import read_declared, write_declared, write_paragraphs

NONE_RANKED = "No model has results on enough datasets to be ranked."

logger = logging.getLogger("analyse")


def run_steps(
    study: str, folder: str, steps: Mapping[str, Mapping[str, Any]], inputs: Mapping[str, Any]
) -> None:
    """Run steps by their names and options; `inputs` are the paths that steps read themselves."""
    content: dict[str, pd.DataFrame] = {}
    for name, options in steps.items():
        step, owner = STEPS[name], find_owner(name, "steps")
        known: dict[str, Any] = {"study": study, "folder": folder, **options}
        known |= {path: inputs[path] for path in step.paths}
        for read in step.reads:
            place = f"{folder}/{place_read(read, owner)}"
            if place not in content:
                content[place] = read_place(place)
            known[read] = content[place]
        if owner in COMPARISONS.values() and "runs" in known:
            known["runs"] = known["runs"][known["runs"]["ranked"]]
            if reason := _find_obstacle(step, known["runs"]):
                logger.warning("%s: %s", name, reason)
                _leave_out(name, reason, folder)
                continue
        _run_step(name, known, folder)


def load_function(reference: str) -> Callable[..., Any]:
    """The function that a declaration calls ``module:function``."""
    module, _, name = reference.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def read_place(place: str) -> pd.DataFrame:
    """Read a table, or a file of one, where the catalog has it."""
    if not place.endswith(".parquet"):
        return read_declared(place)
    return read_parquet(place, packed=place.endswith("normalized/runs.parquet"))


def _find_obstacle(step: Step, runs: pd.DataFrame) -> str:
    """Say why the runs of ranked models cannot be compared; empty if they can."""
    if runs.empty:
        return NONE_RANKED
    return TOO_MANY if step.pairs and runs["model"].nunique() > MOST_MODELS else ""


def _leave_out(name: str, reason: str, folder: str) -> None:
    """Write what a step makes without a row, and say why."""
    step, owner = STEPS[name], find_owner(name, "steps")
    for table in step.tables:
        columns = owner.tables[table].columns.split()
        write_declared(pd.DataFrame(columns=columns), f"{owner.folder}/{table}", folder)
    for place in step.files.values():
        write_parquet(f"{folder}/{place}", pd.DataFrame())
    write_paragraphs([reason], _list_texts(folder, name))


def _run_step(name: str, known: Mapping[str, Any], folder: str) -> None:
    """Compute what a step makes, and write it."""
    step, owner = STEPS[name], find_owner(name, "steps")
    made: Mapping[str, Any] = _call(load_function(step.run), known)
    if isinstance(made, pd.DataFrame):
        made = dict.fromkeys([*step.tables, *step.files], made)
    for table in step.tables:
        write_declared(made[table], f"{owner.folder}/{table}", folder)
    for file, place in step.files.items():
        write_parquet(f"{folder}/{place}", made[file])
    if step.describe:
        paragraphs = _call(load_function(step.describe), {**known, **made})
        write_paragraphs(paragraphs, _list_texts(folder, name))
    counts = ", ".join(f"{len(made[part])} rows of {part}" for part in [*step.tables, *step.files])
    logger.info("%s: %s", name, counts)


def _call(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Call a function with what its parameters are called after."""
    names = [name for name in signature(function).parameters if name in known]
    return function(**{name: known[name] for name in names})


def _list_texts(folder: str, name: str) -> list[str]:
    """The files of the paragraphs of a step's analysis."""
    owner = next(key for key, made in ANALYSES.items() if name in made.steps)
    # Some analyses are called as one of their tables, which has the name with .tex.
    return [f"{folder}/{ANALYSES[owner].folder}/{owner}{end}" for end in (".txt", "_text.tex")]
