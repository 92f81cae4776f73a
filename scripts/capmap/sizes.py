"""How large a study is, what an analysis of it needs, and whether that is allowed.

What is left out for its size is noted in the study's folder, so that figures and what builds on it
say so too.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from capmap.catalog.declarations import Cost
from capmap.wording import format_count

if TYPE_CHECKING:
    import pandas as pd

GIB, MIB = 1 << 30, 1 << 20
# What a process has once it has loaded what most analyses use.
BASE_MEMORY, BASE_SECONDS = 200 * MIB, 2.0
# Where the memory of the machine on which Snakemake was started is handed to its jobs, in bytes.
MEMORY_VARIABLE = "CAPMAP_MEMORY"
LEFT_OUT = ".left_out"


class Size(NamedTuple):
    """How large a study is.

    Parameters
    ----------
    models, datasets, cells, runs : int
        How many there are; cells have one run or more.
    seeds : int
        The most runs of a cell.
    evaluations : int
        Of checkpoints, of which the runs are chosen; 0 in other studies.
    """

    models: int
    datasets: int
    cells: int
    runs: int
    seeds: int
    evaluations: int = 0


class Need(NamedTuple):
    """Memory in bytes and seconds of processor time."""

    memory: float
    seconds: float


def measure_size(runs: "pd.DataFrame", *, evaluations: int = 0) -> Size:
    """Measure a study by its runs, columns ``model`` and ``dataset``.

    Examples
    --------
    >>> import pandas as pd
    >>> measure_size(pd.DataFrame({"model": ["a", "a", "b"], "dataset": ["x", "x", "y"]}))
    Size(models=2, datasets=2, cells=2, runs=3, seeds=2, evaluations=0)
    """
    counts = runs.groupby(["model", "dataset"], observed=True).size()
    models, datasets = (runs[name].nunique() for name in ("model", "dataset"))
    return Size(models, datasets, len(counts), len(runs), int(counts.max()), evaluations)


def read_size(path: str | Path) -> Size:
    """Read what `normalize_runs` wrote of a study's size."""
    return Size(**json.loads(Path(path).read_bytes()))


def estimate_need(cost: Cost, size: Size, options: Mapping[str, object]) -> Need:
    """Estimate what a step needs.

    Parameters
    ----------
    cost : Cost
        Of the step.
    size : Size
        Of the study.
    options : mapping
        What the step is given; those that are numbers may stand in terms.

    Returns
    -------
    Need
        With what every process takes.

    Examples
    --------
    >>> cost = Cost(memory={"pairs * n": 1000}, seconds={"pairs": 0.1})
    >>> need = estimate_need(cost, Size(100, 2, 200, 400, 2), {"n": 1000})
    >>> round(need.memory / 1e9, 2), need.seconds
    (5.16, 497.0)
    """
    pairs = size.models * (size.models - 1) // 2
    numbers = {name: value for name, value in options.items() if isinstance(value, int | float)}
    repeated = min(size.cells, size.runs - size.cells)
    known = {**numbers, **size._asdict(), "pairs": pairs, "repeated": repeated, "1": 1}
    memory, seconds = (
        sum(
            factor * math.prod(known[name] for name in term.split(" * "))
            for term, factor in terms.items()
        )
        for terms in (cost.memory, cost.seconds)
    )
    return Need(BASE_MEMORY + memory, BASE_SECONDS + seconds)


def find_memory() -> int:
    """Bytes that the machine has, or the container; as the run was started with, if it was."""
    if stated := os.environ.get(MEMORY_VARIABLE):
        return int(stated)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    container = Path("/sys/fs/cgroup/memory.max")
    if container.is_file() and (limit := container.read_text().strip()).isdigit():
        memory = min(memory, int(limit))
    return memory


def find_limits(limits: Mapping[str, float]) -> Need:
    """What a step may need, by the setting `limits`."""
    memory = limits["memory"] * GIB or find_memory() / 2
    return Need(memory, limits["hours"] * 3600 or math.inf)


def fits(need: Need, most: Need) -> bool:
    """Whether a step needs no more than is allowed, of both."""
    return need.memory <= most.memory and need.seconds <= most.seconds


def explain_excess(need: Need, limits: Mapping[str, float], size: Size) -> str:
    """Say why a step is left out, or "" where it needs no more than is allowed.

    Examples
    --------
    >>> size = Size(20_000, 10, 200_000, 200_000, 1)
    >>> explain_excess(Need(38 << 30, 60), {"memory": 8, "hours": 0}, size).partition(".00 GiB")[0]
    'Left out: 20,000 models and 10 datasets need about 38'
    >>> explain_excess(Need(1 << 30, 60), {"memory": 8, "hours": 0}, size)
    ''
    """
    allowed = find_limits(limits)
    kinds = (
        ("memory", "GiB of memory", need.memory / GIB, allowed.memory / GIB),
        ("hours", "hours of a processor", need.seconds / 3600, allowed.seconds / 3600),
    )
    for option, unit, much, most in kinds:
        if much > most:
            models = format_count(size.models, "model")
            datasets = format_count(size.datasets, "dataset")
            return (
                f"Left out: {models} and {datasets} need about {much:,.2f} {unit}, and {most:,.2f} "
                f"are allowed. Raise limits.{option}, or choose models with select."
            )
    return ""


def count_processes(memory: Sequence[float], most: float, threads: int) -> int:
    """How many of some jobs may run at once, whichever these are.

    Examples
    --------
    >>> count_processes([5, 1, 4, 1], 9, threads=4), count_processes([5, 1, 4, 1], 10, threads=4)
    (2, 3)
    """
    largest = sorted(memory, reverse=True)
    return max(1, *(n for n in range(threads + 1) if sum(largest[:n]) <= most))


def note_left_out(folder: str | Path, step: str, reason: str) -> None:
    """Keep why a step is left out, or that it is not."""
    path = Path(folder, LEFT_OUT, f"{step}.txt")
    if reason:
        path.parent.mkdir(exist_ok=True)
        path.write_text(reason, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def read_left_out(folder: str | Path, step: str) -> str:
    """Why a step is left out; "" where it is not."""
    path = Path(folder, LEFT_OUT, f"{step}.txt")
    return path.read_text(encoding="utf-8") if path.is_file() else ""
