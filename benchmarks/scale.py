"""Whole runs of simulated studies larger than real ones, with all default analyses, to their page.

Exports are Parquet files of up to a million runs. Seconds are those of the processor for
`snakemake --cores 2` and all its jobs, so that other work on the machine counts little; memory is
the most that one job held with its processes.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from capmap.rng import make_stream
from capmap.tables import write_table
from workflow import PROJECT, RESULTS

NAME = "scale"


class Study(NamedTuple):
    """The size of a simulated study."""

    models: int
    datasets: int
    seeds: int

    @property
    def runs(self) -> int:
        """How many runs the export has."""
        return self.models * self.datasets * self.seeds


STUDIES = [
    Study(20_000, 10, 1),
    Study(5, 20_000, 1),
    Study(2000, 200, 3),
    Study(500, 50, 400),
    Study(1000, 500, 200),
]
# Runs of a file, and of a shard of the bootstrap where there are more than of four shards.
FILE_RUNS, SHARD_RUNS = 1_000_000, 2_500_000


def simulate_runs(study: Study) -> Iterator[pd.DataFrame]:
    """Simulate the runs of some models after the other, as many as a file has."""
    rng = make_stream(0, "benchmarks", "scale", "x".join(map(str, study)))
    seeds = np.tile(np.arange(study.seeds), study.datasets)
    datasets = np.repeat([f"dataset {place:04d}" for place in range(study.datasets)], study.seeds)
    step = max(FILE_RUNS // len(seeds), 1)
    for first in range(0, study.models, step):
        models = range(first, min(first + step, study.models))
        scores = [0.5 + 0.1 * rng.normal() + 0.02 * rng.normal(size=len(seeds)) for _ in models]
        yield pd.DataFrame(
            {
                "model": np.repeat([f"model {place:05d}" for place in models], len(seeds)),
                "dataset": np.tile(datasets, len(models)),
                "metric": "accuracy",
                "seed": np.tile(seeds, len(models)),
                "score": np.concatenate(scores).clip(0, 1).round(6),
            }
        )


def run_study(study: Study, folder: Path) -> dict[str, Any]:
    """Run a study and measure it."""
    exports = folder / "exports"
    exports.mkdir()
    for number, runs in enumerate(simulate_runs(study)):
        runs.to_parquet(exports / f"{number:05d}.parquet", index=False)
    shards = max(4, study.runs // SHARD_RUNS)
    options = {
        "exports": "exports/*.parquet",
        "bootstrap": {"shards": shards},
    }
    settings = {"studies": {NAME: options}, "run": NAME}
    (folder / "study.yaml").write_text(yaml.safe_dump(settings))
    program = [sys.executable, "-m", "snakemake", "--cores", "2", "-s", str(PROJECT / "Snakefile")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*program, "--configfile", "study.yaml"], cwd=folder, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    results = folder / "results"
    jobs = pd.concat(
        pd.read_csv(path, sep="\t").assign(rule=path.parent.name)
        for path in (results / "benchmarks").glob("*/*.tsv")
    )
    used = jobs.groupby("rule")["cpu_time"].sum()
    return {
        **{**study._asdict(), "runs": study.runs},
        "seconds": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime,
        "slowest": used.idxmax(),
        "seconds_of_it": used.max(),
        "MiB": jobs["max_rss"].max(),
        "page_MB": (results / NAME / "report.html").stat().st_size / 1e6,
    }


def main() -> None:
    """Measure and write benchmarks/results/scale.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, nargs="*", default=range(len(STUDIES)))
    arguments = parser.parse_args()
    os.nice(10)
    rows = []
    for place in arguments.studies:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(run_study(STUDIES[place], Path(folder)))
        sys.stderr.write(f"{rows[-1]}\n")
    table = pd.DataFrame(rows).round({"seconds": 0, "seconds_of_it": 0, "MiB": 0, "page_MB": 1})
    write_table(table, [RESULTS / "scale.csv"])
    sys.stdout.write(table.to_string(index=False))


if __name__ == "__main__":
    main()
