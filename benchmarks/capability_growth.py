"""Time and memory of an embedding as results grow, up to 5 000 models × 2 000 datasets.

Each size runs in a process of its own; quote growth, not seconds.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd

from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts
from capmap.capabilities.gaps import Results, bound_scores, measure_gaps
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from workflow import RESULTS

SIZES = [(500, 200, 10_000), (500, 200, 100_000), (5000, 2000, 100_000), (5000, 2000, 1_000_000)]
DIMENSION = 5
STARTS = 2


def simulate_results(models: int, datasets: int, count: int) -> Results:
    """Results of random cells, whose gaps follow from random positions and some noise."""
    rng = make_stream(0, "benchmarks", "capabilities", str(models), str(datasets), str(count))
    points = 0.25 * rng.normal(size=(models + datasets, DIMENSION))
    rows, columns = np.divmod(
        np.sort(rng.choice(models * datasets, size=count, replace=False)), datasets
    )
    apart = np.sqrt(((points[rows] - points[models + columns]) ** 2).sum(axis=1))
    scores = -apart + 0.02 * rng.normal(size=count)
    gaps = measure_gaps(scores, columns, *bound_scores(scores, columns, datasets))
    names = [f"model {number}" for number in range(models)]
    others = [f"dataset {number}" for number in range(datasets)]
    return Results(names, others, rows, columns, scores, gaps)


def measure_fit(method: str, models: int, datasets: int, count: int) -> dict[str, object]:
    """Seconds of all fits of a method, and the process's peak memory."""
    results = simulate_results(models, datasets, count)
    starts = draw_starts(results, dimension=DIMENSION, starts=STARTS, seed=0, study="growth")
    before = time.perf_counter()
    fits = fit_starts(results, METHODS[method], starts=starts)
    return {
        "method": method,
        "models": models,
        "datasets": datasets,
        "results": count,
        "fits": len(fits),
        "seconds": time.perf_counter() - before,
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Measure and write benchmarks/results/capability_growth.{csv,md}."""
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(measure_fit(sys.argv[1], *map(int, sys.argv[2:]))))
        return
    rows = []
    for method in ("l2", "ensemble"):
        for size in SIZES:
            command = [sys.executable, __file__, method, *map(str, size)]
            rows.append(json.loads(subprocess.check_output(command)))
    table = pd.DataFrame(rows).round({"seconds": 2, "MiB": 0})
    previous = table.groupby("method")[["seconds", "results"]].shift()
    more = (table["results"] / previous["results"]).where(lambda ratio: ratio > 1)
    table["exponent"] = np.log(table["seconds"] / previous["seconds"]) / np.log(more)
    write_table(table, [RESULTS / "capability_growth.csv", RESULTS / "capability_growth.md"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
