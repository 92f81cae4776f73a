"""Steps of a study's analyses: read what they name, compute, write what they declare."""

import logging
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import pandas as pd

from capmap.analyses import FOLDER, MOST_MODELS, STEPS, TOO_MANY, Step, load_analysis, place_read
from capmap.artifacts import read_parquet, write_parquet
from capmap.tables import read_declared, write_declared

NONE_RANKED = "No model has results on enough datasets to be ranked."

logger = logging.getLogger("analyse")


def run_steps(
    study: str, folder: str, steps: Mapping[str, Mapping[str, Any]], inputs: Mapping[str, Any]
) -> dict[str, str]:
    """Run steps by their names and options; `inputs` are the paths that steps read themselves.

    Returns
    -------
    dict of str to str
        Why tables have no rows, by their file.
    """
    content: dict[str, pd.DataFrame] = {}
    reasons: dict[str, str] = {}
    for name, options in steps.items():
        step, owner = load_analysis(STEPS[name]).steps[name], STEPS[name]
        known: dict[str, Any] = {"study": study, "folder": folder, **options}
        known |= {path: inputs[path] for path in step.paths}
        for read in step.reads:
            place = f"{folder}/{place_read(read, owner)}"
            if place not in content:
                content[place] = read_place(place)
            known[read] = content[place]
        if load_analysis(owner).folder == FOLDER and "ranked" in known.get("runs", ()):
            known["runs"] = known["runs"][known["runs"]["ranked"]]
            if reason := _find_obstacle(step, known["runs"]):
                logger.warning("%s: %s", name, reason)
                _write(name, _make_empty(name), folder)
                reasons |= {f"{table}.csv": reason for table in step.tables}
                continue
        made = call_with(step.run, known)
        if isinstance(made, pd.DataFrame):
            made = dict.fromkeys([*step.tables, *step.files], made)
        _write(name, made, folder)
        parts = [*step.tables, *step.files]
        counts = ", ".join(f"{len(made[part])} rows of {part}" for part in parts)
        logger.info("%s: %s", name, counts)
    logger.info("%d steps done", len(steps))
    return reasons


def call_with(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Call a function with what its parameters are called after."""
    names = [name for name in signature(function).parameters if name in known]
    return function(**{name: known[name] for name in names})


def read_place(place: str) -> pd.DataFrame:
    """Read a table, or a file of one, where its analysis has it."""
    if not place.endswith(".parquet"):
        return read_declared(place)
    return read_parquet(place, packed="/normalized/" in place)


def _find_obstacle(step: Step, runs: pd.DataFrame) -> str:
    """Say why the runs of ranked models cannot be compared; empty if they can."""
    if runs.empty:
        return NONE_RANKED
    return TOO_MANY if step.pairs and runs["model"].nunique() > MOST_MODELS else ""


def _make_empty(name: str) -> dict[str, pd.DataFrame]:
    """What a step makes, without a row."""
    owner = load_analysis(STEPS[name])
    step = owner.steps[name]
    tables = {
        table: pd.DataFrame(columns=owner.tables[table].columns.split()) for table in step.tables
    }
    return tables | {file: pd.DataFrame() for file in step.files}


def _write(name: str, made: Mapping[str, pd.DataFrame], folder: str) -> None:
    """Write what a step makes."""
    owner = load_analysis(STEPS[name])
    for table in owner.steps[name].tables:
        write_declared(made[table], f"{owner.folder}/{table}", folder)
    for file, place in owner.steps[name].files.items():
        write_parquet(f"{folder}/{place}", made[file])
