"""Time of whole runs on the real export: fresh, one new seed, nothing changed; beside a peer's.

The study is GEO-Bench-2's export with nine analyses. The peer is evaluma 0.3.0's ``report`` on the
means over seeds of the same cells (it fails on an export with seeds). The same rules with ``touch``
and without a library tell what Snakemake itself takes. All figures of the table come from one call
of this script; quote the ratios, not the seconds.
"""

import argparse
import resource
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

from capmap.tables import write_table

PROJECT = Path(__file__).parents[1]
EXPORT = PROJECT.parent / "shared/data/geobench/results_and_parameters.csv"
STUDY = PROJECT / "papers/evaluma_tutorial.yaml"
RESULTS = PROJECT / "benchmarks/results"
COLUMNS = {"backbone": "model", "Metric": "metric", "test metric": "score", "Seed": "seed"}
ANALYSES = ["pairwise", "ranks", "strengths", "profiles", "ratings", "improvability"]
ANALYSES += ["robustness", "reliability", "sample_size"]
# The stages with what they read; each writes one file.
STAGES = {
    "validate": ["export.csv"],
    "normalize": ["validate"],
    "aggregate": ["validate", "normalize"],
    "bootstrap": ["normalize"],
    "rank": ["bootstrap", "normalize"],
    "compare": ["rank", "normalize"],
    "plot": ["aggregate", "rank", "compare"],
    "report": ["validate", "normalize", "aggregate", "rank", "compare", "plot"],
    "index": ["report"],
}


def time_run(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of wall time and of processor time of a command that has to succeed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(folder: Path) -> None:
    """Lay out the study, the peer's input, and the rules with ``touch``."""
    runs = pd.read_csv(EXPORT).rename(columns=COLUMNS)
    runs.loc[runs["dataset"] == "biomassters", "metric"] = "acc"
    count = runs.groupby("model")["dataset"].transform("nunique")
    runs = runs.loc[count == count.max(), ["model", "dataset", "metric", "seed", "score"]]
    cells = runs.groupby(["model", "dataset", "metric"], as_index=False)["score"].mean()
    cells.to_csv(folder / "means.csv", index=False)
    shutil.copy(EXPORT, folder / "export.csv")
    study = yaml.safe_load(STUDY.read_text())["studies"]["geobench"] | {
        "exports": "export.csv",
        "analyses": ANALYSES,
        "published": {},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump({"studies": {"geobench": study}}))
    touched = folder / "touched"
    touched.mkdir()
    shutil.copy(EXPORT, touched / "export.csv")
    rules = ['rule all:\n    input: "index"\n']
    for name, reads in STAGES.items():
        rules.append(
            f'rule {name}:\n    input: {", ".join(map(repr, reads))}\n    output: "{name}"\n'
            '    shell: "touch {output}"\n'
        )
    (touched / "Snakefile").write_text("\n".join(rules))


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

    def fresh() -> tuple[float, float]:
        shutil.rmtree(folder / "results", ignore_errors=True)
        shutil.rmtree(folder / ".snakemake", ignore_errors=True)
        return time_run(ours, folder)

    def new_seed() -> tuple[float, float]:
        add_seed(folder)
        return time_run(ours, folder)

    kinds: dict[str, Callable[[], tuple[float, float]]] = {
        "evaluma report": lambda: time_run([peer, "report", "means.csv", "--output", "r"], folder),
        "capmap, fresh": fresh,
        "capmap, one new seed": new_seed,
        "capmap, nothing changed": lambda: time_run(ours, folder),
        "rules with touch, nothing changed": lambda: time_run(snakemake, folder / "touched"),
    }
    time_run(snakemake, folder / "touched")
    seconds: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for _ in range(repeats):
        for kind, run in kinds.items():
            seconds[kind].append(run())
    medians = {
        kind: [*map(statistics.median, zip(*own, strict=True))] for kind, own in seconds.items()
    }
    walls, processors = zip(*medians.values(), strict=True)
    touch = medians["rules with touch, nothing changed"][1]
    return pd.DataFrame(
        {
            "run": list(medians),
            "wall s": [round(value, 2) for value in walls],
            "processor s": [round(value, 2) for value in processors],
            "wall of evaluma": [round(value / walls[0], 3) for value in walls],
            "processor of evaluma": [round(value / processors[0], 3) for value in processors],
            "processor of touch": [round(value / touch, 2) for value in processors],
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
    write_table(table, [RESULTS / "workflow.csv"])
    sys.stdout.write(table.to_string(index=False))


if __name__ == "__main__":
    main()
