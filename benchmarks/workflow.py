"""Time of whole runs on the real export: fresh, nothing changed, one new seed; beside a peer's.

Rankings only; what the comparisons add is measured by comparisons.py.

The peer is evaluma 0.3.0's command line, ``report`` on the means over seeds (it fails on an export
with seeds) and ``rank`` on the runs, on the same 14 complete models. All figures of the table come
from one call of this script; quote the ratios, not the seconds.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import yaml

from capmap.tables import render_markdown, write_table

PROJECT = Path(__file__).parents[1]
EXPORT = PROJECT.parent / "shared/data/geobench/results_and_parameters.csv"
STUDY = PROJECT / "papers/evaluma_tutorial.yaml"
RESULTS = PROJECT / "benchmarks/results"
COLUMNS = {"backbone": "model", "Metric": "metric", "test metric": "score", "Seed": "seed"}


def time_run(command: list[str], folder: Path) -> float:
    """Seconds of wall time of a command that has to succeed."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def prepare(folder: Path) -> None:
    """Lay out the study, the peer's inputs and an empty workflow."""
    runs = pd.read_csv(EXPORT).rename(columns=COLUMNS)
    runs.loc[runs["dataset"] == "biomassters", "metric"] = "acc"
    count = runs.groupby("model")["dataset"].transform("nunique")
    runs = runs.loc[count == count.max(), ["model", "dataset", "metric", "seed", "score"]]
    runs.to_csv(folder / "seeds.csv", index=False)
    cells = runs.groupby(["model", "dataset", "metric"], as_index=False)["score"].mean()
    cells.to_csv(folder / "means.csv", index=False)
    shutil.copy(EXPORT, folder / "export.csv")
    study = yaml.safe_load(STUDY.read_text())["studies"]["geobench"] | {
        "exports": "export.csv",
        "analyses": [],
        "published": {},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump({"studies": {"geobench": study}}))
    (folder / "empty").mkdir()
    (folder / "empty/Snakefile").touch()


def add_seed(folder: Path) -> None:
    """Append one more run of one model to the export."""
    export = folder / "export.csv"
    runs = pd.read_csv(export, dtype=str)
    new = runs.loc[runs["backbone"] == "resnet50"].iloc[[0]].assign(Seed=str(time.time_ns()))
    pd.concat([runs, new]).to_csv(export, index=False)


def measure(folder: Path, repeats: int) -> pd.DataFrame:
    """Median seconds of each kind of run, one after another in each round."""
    snakemake = [sys.executable, "-m", "snakemake", "--cores", "2"]
    ours = [*snakemake, "-s", str(PROJECT / "Snakefile"), "--configfile", "study.yaml"]
    peer = str(Path(sys.executable).with_name("evaluma"))

    def fresh() -> float:
        shutil.rmtree(folder / "results", ignore_errors=True)
        shutil.rmtree(folder / ".snakemake", ignore_errors=True)
        return time_run(ours, folder)

    def new_seed() -> float:
        add_seed(folder)
        return time_run(ours, folder)

    kinds: dict[str, Callable[[], float]] = {
        "evaluma report": lambda: time_run([peer, "report", "means.csv", "--output", "r"], folder),
        "evaluma rank": lambda: time_run(
            [peer, "rank", "seeds.csv", "--output", "r", "--seed", "seed"], folder
        ),
        "snakemake -n, empty Snakefile": lambda: time_run([*snakemake, "-n"], folder / "empty"),
        "capmap, fresh": fresh,
        "capmap, nothing changed": lambda: time_run(ours, folder),
        "capmap, one new seed": new_seed,
    }
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(repeats):
        for kind, run in kinds.items():
            seconds[kind].append(run())
    medians = {kind: statistics.median(values) for kind, values in seconds.items()}
    evaluma = medians["evaluma report"] + medians["evaluma rank"]
    empty = medians["snakemake -n, empty Snakefile"]
    return pd.DataFrame(
        {
            "run": list(medians),
            "seconds": [round(value, 2) for value in medians.values()],
            "of evaluma report + rank": [round(value / evaluma, 3) for value in medians.values()],
            "of an empty dry run": [round(value / empty, 2) for value in medians.values()],
        }
    )


def main() -> None:
    """Measure and write benchmarks/results/workflow.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if not EXPORT.is_file():
        sys.stdout.write(f"The real export is not at {EXPORT}; nothing measured.\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        table = measure(Path(folder), arguments.repeats)
    write_table(table, [RESULTS / "workflow.csv", RESULTS / "workflow.md"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
