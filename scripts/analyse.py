"""Run steps of a study's analyses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from job import run_job

# isort: split
from capmap.artifacts import write_index
from capmap.tables import run_steps


def analyse(
    *,
    study: str,
    folder: str,
    steps: Mapping[str, Mapping[str, Any]],
    comparisons: str = "",
    **inputs: str | list[str],
) -> None:
    """Write the tables and files of steps, and the index of a folder of comparisons."""
    if comparisons:
        Path(comparisons).mkdir(parents=True, exist_ok=True)
    reasons = run_steps(study, folder, steps, inputs)
    if comparisons:
        write_index(comparisons, reasons)


if __name__ == "__main__":
    run_job(analyse, snakemake)  # type: ignore[name-defined]
