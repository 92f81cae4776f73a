"""Whole runs of the real study with every analysis, beside a bare workflow of as many jobs.

The bare workflow has as many jobs as a run of the study, each a `script:` that touches its output;
a second one imports pandas as well, which no job on tables can do without. Fresh, nothing changed
and one new seed follow one another in each round; medians. Processor time is user and system of all
processes. Quote the ratios, not the seconds. Parsing is `Workflow.include` within one process, so
Snakemake's own import is left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import yaml

from capmap.tables import render_markdown, write_table
from workflow import EXPORT, PROJECT, RESULTS, STUDY, add_seed

ANALYSES = [
    *("pairwise", "ranks", "profiles", "ratings", "improvability", "robustness"),
    *("groups", "sample_size", "leaderboard"),
]
GROUP = {"datasets": ["benv2", "biomassters", "burn_scars", "caffe"]}
CORES = 2
BARE = """
rule all:
    input: expand("{{number}}.done", number=range({jobs}))
rule job:
    output: "{{number}}.done"
    script: "job.py"
"""
PARSING = """
import time
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings
with SnakemakeApi(OutputSettings()) as api:
    made = api.workflow(
        resource_settings=ResourceSettings(cores=1),
        config_settings=ConfigSettings(),
        snakefile=Path("Snakefile"),
    )
    workflow = made._get_workflow() if hasattr(made, "_get_workflow") else made._workflow
    start = time.process_time()
    workflow.include(made.snakefile, overwrite_default_target=True)
    print(time.process_time() - start)
"""


def run_command(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of wall time and of processor time of a command that has to succeed."""
    start, before = time.perf_counter(), os.times()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = os.times()
    used = after.children_user + after.children_system
    return time.perf_counter() - start, used - before.children_user - before.children_system


def parse_workflow(folder: Path) -> tuple[float, float]:
    """Seconds that reading a folder's Snakefile takes, twice: it is processor time alone."""
    command = [sys.executable, "-c", PARSING]
    made = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    seconds = float(made.stdout.split()[-1])
    return seconds, seconds


def prepare_study(folder: Path) -> None:
    """Lay out the study with every analysis that suits one table of runs."""
    folder.mkdir()
    shutil.copy(EXPORT, folder / "export.csv")
    study = yaml.safe_load(STUDY.read_text("utf-8"))["studies"]["geobench"]
    study |= {
        "exports": "export.csv",
        "published": {},
        "incomplete": "keep",
        "analyses": ANALYSES,
        "groups": {"first": GROUP},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump({"studies": {"geobench": study}}), "utf-8")


def prepare_bare(folder: Path, jobs: int, imports: str) -> None:
    """Lay out a workflow of so many jobs that do nothing."""
    folder.mkdir()
    (folder / "Snakefile").write_text(BARE.format(jobs=jobs), "utf-8")
    script = f"{imports}\nfrom pathlib import Path\nPath(snakemake.output[0]).touch()\n"
    (folder / "job.py").write_text(script, "utf-8")


def count_jobs(folder: Path, since: float) -> int:
    """How many jobs have run since a time."""
    found = (folder / "results/benchmarks").rglob("*.tsv")
    return sum(path.stat().st_mtime >= since for path in found)


def measure_rounds(root: Path, repeats: int) -> tuple[pd.DataFrame, dict[str, int]]:
    """Seconds of every run of each kind, and how many jobs each of ours has."""
    snakemake = [sys.executable, "-m", "snakemake", "--cores", str(CORES), "--quiet"]
    ours = [*snakemake, "-s", str(PROJECT / "Snakefile"), "--configfile", "study.yaml"]
    study = root / "study"
    rows: list[tuple[str, float, float]] = []
    jobs: dict[str, int] = {}

    def note(kind: str, used: tuple[float, float]) -> None:
        rows.append((kind, *used))

    prepare_study(study)
    for _ in range(repeats):
        shutil.rmtree(study / "results", ignore_errors=True)
        shutil.rmtree(study / ".snakemake", ignore_errors=True)
        for kind in ("fresh", "nothing changed", "one new seed"):
            if kind == "one new seed":
                add_seed(study)
            start = time.time()
            note(f"capmap, {kind}", run_command(ours, study))
            jobs[kind] = count_jobs(study, start)
        for name, imports in (("bare", ""), ("bare with pandas", "import pandas")):
            for kind in ("fresh", "one new seed"):
                folder = root / "bare"
                prepare_bare(folder, jobs[kind], imports)
                note(f"{name}, {kind}", run_command(snakemake, folder))
                if kind == "fresh":
                    note(f"{name}, nothing changed", run_command(snakemake, folder))
                    note(f"{name}, parsing", parse_workflow(folder))
                shutil.rmtree(folder)
        note("capmap, parsing", parse_workflow(PROJECT))
    return pd.DataFrame(rows, columns=["run", "seconds", "processor"]), jobs


def compare_runs(rounds: pd.DataFrame, jobs: dict[str, int]) -> pd.DataFrame:
    """Medians of each kind of run, and their ratios to the bare workflows."""
    units = ("seconds", "processor")
    medians = {
        (str(run), unit): float(found[unit].median())
        for run, found in rounds.groupby("run")
        for unit in units
    }
    rows = []
    for kind in ("fresh", "one new seed", "nothing changed", "parsing"):
        row: dict[str, object] = {"run": kind, "jobs": jobs.get(kind, 0)}
        row |= {unit: round(medians[f"capmap, {kind}", unit], 2) for unit in units}
        for bare in ("bare", "bare with pandas"):
            for unit in units:
                ratio = medians[f"capmap, {kind}", unit] / medians[f"{bare}, {kind}", unit]
                row[f"{unit} / {bare}"] = round(ratio, 2)
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    """Measure and write benchmarks/results/floor.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if not EXPORT.is_file():
        sys.stdout.write(f"The real export is not at {EXPORT}; nothing measured.\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        table = compare_runs(*measure_rounds(Path(folder), arguments.repeats))
    write_table(table, [RESULTS / "floor.csv", RESULTS / "floor.md"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
