"""A study that takes minutes on a real Slurm: one node of one processor beside two of them.

The replicates of a simulated study are resampled in shards, as an array of jobs; everything before
is made once, without Slurm. Each round runs the array without Slurm (one and two processes), on one
node while the other is drained, and on both. Seconds are wall time from the start of snakemake to
its end, medians; both nodes are this machine, which needs two processors.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from capmap.rng import make_stream
from capmap.tables import write_table
from tests.cluster.clusters import Cluster, find_obstacle, run_cluster
from tests.cluster.runs import copy_with_profiles
from tests.workflow.checkouts import Checkout
from workflow import RESULTS

SHARDS = 12
MODELS, DATASETS, SEEDS = 300, 100, 20
TARGETS = [f"results/large/bootstrap/{shard}.parquet" for shard in range(SHARDS)]


def lay_out(folder: Path, replicates: int) -> Checkout:
    """A copy of the project with one simulated study, normalized."""
    checkout = copy_with_profiles(folder)
    shape = (MODELS, DATASETS, SEEDS)
    rng = make_stream(0, "benchmarks", "cluster")
    model, dataset, seed = np.indices(shape).reshape(3, -1)
    runs = {"model": model, "dataset": dataset, "metric": "accuracy", "seed": seed}
    runs |= {"score": rng.uniform(size=model.size)}
    pd.DataFrame(runs).to_csv(folder / "large.csv", index=False)
    # Calibrated intervals, the default, need no replicates.
    bootstrap = {"replicates": replicates, "shards": SHARDS, "interval": "percentile"}
    checkout.write_studies({"large": {"exports": "large.csv", "bootstrap": bootstrap}})
    run(checkout, "results/large/normalized/runs.parquet", "--cores", "2")
    return checkout


def run(checkout: Checkout, *arguments: str, cluster: Cluster | None = None) -> float:
    """Seconds of wall time of a run of snakemake, which has to succeed."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=checkout.folder,
        env=cluster.environment if cluster else None,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def resample(checkout: Checkout, *arguments: str, cluster: Cluster | None = None) -> float:
    """Seconds of all shards, made anew."""
    for path in TARGETS:
        (checkout.folder / path).unlink(missing_ok=True)
    return run(checkout, *TARGETS, *arguments, cluster=cluster)


def measure(checkout: Checkout, cluster: Cluster, repeats: int) -> pd.DataFrame:
    """Median seconds of each way to run the shards."""
    slurm = ["--workflow-profile", "profiles/slurm", "--cores", "1"]
    seconds: dict[str, list[float]] = {}
    for _ in range(repeats):
        for cores in (1, 2):
            used = resample(checkout, "--cores", str(cores))
            seconds.setdefault(f"no Slurm, {cores} at once", []).append(used)
        for state, name in (("DRAIN", "Slurm, one node"), ("RESUME", "Slurm, two nodes")):
            cluster.ask("scontrol", "update", "NodeName=n2", f"State={state}", "Reason=measured")
            used = resample(checkout, *slurm, cluster=cluster)
            seconds.setdefault(name, []).append(used)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    single = {"no Slurm": medians["no Slurm, 1 at once"], "Slurm": medians["Slurm, one node"]}
    return pd.DataFrame(
        {
            "run": list(medians),
            "shards": SHARDS,
            "seconds": [round(value, 1) for value in medians.values()],
            "speed-up": [
                round(single[name.partition(",")[0]] / value, 2) for name, value in medians.items()
            ],
        }
    )


def main() -> None:
    """Measure and write benchmarks/results/cluster.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--replicates", type=int, default=10_000)
    arguments = parser.parse_args()
    obstacle = find_obstacle()
    if obstacle:
        sys.stdout.write(f"{obstacle}; nothing measured.\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        checkout = lay_out(Path(folder) / "project", arguments.replicates)
        with run_cluster(Path(folder) / "cluster", processors=1) as cluster:
            table = measure(checkout, cluster, arguments.repeats)
    write_table(table, [RESULTS / "cluster.csv"])
    sys.stdout.write(table.to_string(index=False))


if __name__ == "__main__":
    main()
