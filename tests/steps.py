"""Steps of analyses, run as their rule runs them: from files to files."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from analyse import analyse
from capmap.artifacts import render_csv
from capmap.catalog import STEPS, find_owner
from capmap.tables import read_declared


def run_step(name: str, folder: Path, inputs: dict[str, Any], **options: Any) -> None:
    """Run a step of the catalog.

    Parameters
    ----------
    name : str
        Name of the step, such as ``rate_models``.
    folder : pathlib.Path
        The study's folder, where the results are written.
    inputs : dict
        The files that the step reads, by name: a path, or a list of paths for what is kept in
        parts and for what the step reads itself.
    **options
        Its options by parameter; of these ``study`` is the name of the study ("toy" by default).
    """
    study = options.pop("study", "toy")
    places = {
        key: [str(path) for path in value] if isinstance(value, list) else str(value)
        for key, value in inputs.items()
    }
    analyse(
        study=study,
        folder=str(folder),
        steps=[name],
        options={name: options},
        **places,
    )


def write_bounds(folder: Path, datasets: Collection[str], *, origin: str = "references") -> Path:
    """Write bounds 0 and 1 of datasets, all of one origin."""
    names = sorted({*datasets})
    bounds: dict[str, Any] = {"dataset": names, "metric": "accuracy", "direction": "max"}
    bounds |= {"low": 0.0, "high": 1.0, "low_origin": origin, "high_origin": origin}
    path = folder / "bounds.csv"
    path.write_text(render_csv(pd.DataFrame(bounds)), "utf-8")
    return path


def read_step(name: str, folder: Path) -> dict[str, pd.DataFrame]:
    """Read the tables that a step wrote, by name."""
    owner = find_owner(name, "steps").folder
    return {table: read_declared(folder / owner / f"{table}.csv") for table in STEPS[name].tables}
