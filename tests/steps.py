"""Steps of analyses, run as their rule runs them: from files to files."""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analyse import analyse
from capmap.analyses import FIGURES, STEPS, load_analysis, place_read
from capmap.artifacts import render_csv, write_parquet, write_text
from capmap.normalization.bounds import NO_ITEMS
from capmap.tables import read_declared


def find_step(name: str) -> Any:
    """The declaration of a step."""
    return load_analysis(STEPS[name]).steps[name]


def run_step(name: str, folder: Path, inputs: Mapping[str, Any], **options: Any) -> None:
    """Run a step of an analysis.

    Parameters
    ----------
    name : str
        Name of the step, such as ``rate_models``.
    folder : pathlib.Path
        The study's folder, where the inputs are put and the results are written.
    inputs : mapping
        What the step reads, by name: tables or paths of them, put where analyses keep
        them, and lists of paths of what the step reads itself.
    **options
        Its options by parameter; of these ``study`` is the name of the study ("toy" by default).
    """
    study = options.pop("study", "toy")
    step, owner = find_step(name), STEPS[name]
    for read in inputs.keys() & {*step.reads}:
        put(inputs[read], folder / place_read(read, owner))
    if "dependence" in step.reads and not (folder / "tables/dependence.csv").is_file():
        put(INDEPENDENT, folder / "tables/dependence.csv")
    if "items" in step.reads and not (folder / "normalized/items.parquet").is_file():
        put(NO_ITEMS, folder / "normalized/items.parquet")
    paths: dict[str, Any] = {path: list(map(str, inputs.get(path, ()))) for path in step.paths}
    analyse(study=study, folder=str(folder), steps={name: options}, **paths)


# Nothing that datasets, seeds or models have in common.
INDEPENDENT = pd.DataFrame(
    {
        "datasets": [1],
        "effective": 1.0,
        "expected": 1.0,
        "seed_variance": 0.0,
        "seed_freedom": 1.0,
        "paired": False,
        "correlation": float("nan"),
        "p": 1.0,
        "models": 0,
    }
)


def make_scope(
    unit: str = "runs", rank_by: str = "iqm", limits: Sequence[float | None] = (None, None)
) -> dict[str, Any]:
    """What all models of a study have in common, where nothing but these is."""
    dependence = INDEPENDENT.iloc[0].to_dict() | {"correlation": None, "paired": False}
    known = {"unit": unit, "rank_by": rank_by, "iqm": "exact", "effects": None}
    return known | {"dependence": dependence, "limits": [*limits]}


def put(content: pd.DataFrame | str | Path, path: Path) -> None:
    """Write a table to a file, or copy that of another one there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, pd.DataFrame):
        if Path(content) != path:
            shutil.copyfile(content, path)
    elif path.suffix == ".parquet":
        write_parquet(path, content)
    else:
        write_text(path, render_csv(content))


def make_bounds(datasets: Collection[str], *, origin: str = "references") -> pd.DataFrame:
    """Make bounds 0 and 1 of datasets, all of one origin."""
    names = sorted({*datasets})
    bounds: dict[str, Any] = {"dataset": names, "metric": "accuracy", "direction": "max"}
    bounds |= {"low": 0.0, "high": 1.0, "low_origin": origin, "high_origin": origin}
    return pd.DataFrame(bounds)


def read_step(name: str, folder: Path) -> dict[str, pd.DataFrame]:
    """Read the tables that a step wrote, by name."""
    place = folder / load_analysis(STEPS[name]).folder
    return {table: read_declared(place / f"{table}.csv") for table in find_step(name).tables}


def find_draw(name: str) -> Callable[..., Any]:
    """The function that draws a figure."""
    return load_analysis(FIGURES[name]).figures[name].load()


def make_figure(name: str, /, *tables: Any, **options: Any) -> Any:
    """Draw a figure from its tables and options."""
    return find_draw(name)(*tables, **options)
