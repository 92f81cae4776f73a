"""Memory and time of every step of an analysis against what the catalog states of it.

Each step runs in a process of its own on what a simulated study has left on disk, so its peak is
not that of others; it has what every process takes in it. Time is that of the processor, after
imports. The ratio is the estimate over what was measured.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from scale import Study as Shape
from scale import write_export

from analyse import analyse
from capmap.catalog import ANALYSES, STEPS, list_analyses
from capmap.inputs.analyses import place_step_inputs, read_step_options
from capmap.inputs.studies import Study, check_config
from capmap.sizes import MIB, estimate_need, read_size
from capmap.tables import render_markdown, write_table
from job import load_function
from workflow import PROJECT, RESULTS

COMPARISONS = [
    *("pairwise", "ranks", "strengths", "profiles", "ratings", "improvability"),
    *("robustness", "reliability", "groups", "conditions", "sample_size"),
]
MANY_MODELS = [name for name in COMPARISONS if name not in ("pairwise", "ratings")]
CAPABILITIES = ["capabilities", "placements", "next_results", "transfer"]
# Models, datasets and seeds, and what is asked of the study.
STUDIES = [
    ((100, 20, 3), COMPARISONS),
    ((600, 10, 1), COMPARISONS),
    ((20, 1000, 3), COMPARISONS),
    ((5, 10_000, 3), COMPARISONS),
    ((300, 50, 100), COMPARISONS),
    ((2000, 50, 1), MANY_MODELS),
    ((20, 5000, 1), ["reliability"]),
    ((50, 20, 1), CAPABILITIES),
    ((150, 30, 1), CAPABILITIES),
    ((300, 80, 1), CAPABILITIES),
]
NAME = "size"
KEY = ["step", "models", "datasets", "seeds"]


def write_study(folder: Path, shape: tuple[int, int, int], analyses: list[str]) -> None:
    """Write an export, and a configuration that leaves nothing out."""
    models, datasets, seeds = shape
    write_export(Shape(models, datasets, seeds), folder / "export.csv")
    groups = {
        f"group {part}": {
            "datasets": [f"dataset {number:04d}" for number in range(part, datasets, 2)]
        }
        for part in range(2)
    }
    study = {"exports": "export.csv", "limits": {"memory": 1000, "hours": 0}}
    study |= {"bootstrap": {"replicates": 500}, "comparison": {"samples": 5000, "replicates": 500}}
    asked = {"analyses": analyses, "groups": groups, "conditions": ["other"]}
    studies = {NAME: study | asked, "other": study | {"analyses": []}}
    (folder / "study.yaml").write_text(yaml.safe_dump({"studies": studies, "run": NAME}))


def prepare_study(folder: Path, analyses: list[str]) -> None:
    """Make what the steps read: for the comparisons the ranking, for the others everything."""
    ranked = [f"results/{NAME}/tables/scopes.csv", "results/other/normalized/bounds.csv"]
    targets = [] if "capabilities" in analyses else ranked
    program = [sys.executable, "-m", "snakemake", "--cores", "2", "-s", str(PROJECT / "Snakefile")]
    command = [*program, "--configfile", "study.yaml", "--", *targets]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def open_study() -> Study:
    """The study in the current folder as the rules see it."""
    settings = check_config(yaml.safe_load(Path("study.yaml").read_text()))["studies"]
    return Study(NAME, settings[NAME], str, lambda name: f"results/{name}/normalized/manifest.csv")


def list_steps(study: Study) -> Iterator[str]:
    """The steps of the study's analyses."""
    for analysis in list_analyses(study.settings):
        yield from ANALYSES[analysis].steps


def run_step(name: str) -> None:
    """Run a step in the current folder."""
    study = open_study()
    places = {
        read: place(study) if callable(place) else study.place(place)
        for read, place in place_step_inputs(name).items()
    }
    analyse(
        study=NAME,
        folder=f"results/{NAME}",
        steps=[name],
        options=read_step_options(study, name),
        code={name: ""},
        measured=f"results/{NAME}/normalized/size.json",
        limits=study.settings["limits"],
        threads=1,
        **places,
    )


def measure_step(name: str) -> tuple[float, float]:
    """Peak MiB and seconds of processor time of a step, in a copy of this process."""
    load_function(STEPS[name].run)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run_step(name)
            status = 0
        finally:
            os._exit(status)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{name} failed.")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def measure_study(
    shape: tuple[int, int, int], analyses: list[str], *, only: list[str]
) -> list[dict[str, Any]]:
    """Measure each step of one study."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_study(folder, shape, analyses)
        prepare_study(folder, analyses)
        before = Path.cwd()
        os.chdir(folder)
        study, size = open_study(), read_size(f"results/{NAME}/normalized/size.json")
        for name in list_steps(study):
            if only and name not in only:
                continue
            memory, seconds = measure_step(name)
            need = estimate_need(STEPS[name].cost, size, read_step_options(study, name)[name])
            rows.append(
                {"step": name, "models": shape[0], "datasets": shape[1], "seeds": shape[2]}
                | {"MiB": memory, "stated_MiB": need.memory / MIB}
                | {"seconds": seconds, "stated_seconds": need.seconds}
            )
            sys.stderr.write(json.dumps(rows[-1]) + "\n")
        os.chdir(before)
    return rows


def main() -> None:
    """Measure and write benchmarks/results/sizes.{csv,md}; rows not measured stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--studies", type=int, nargs="*", default=range(len(STUDIES)))
    arguments = parser.parse_args()
    os.nice(15)
    rows = [
        row
        for number in arguments.studies
        for row in measure_study(*STUDIES[number], only=arguments.only)
    ]
    table = pd.DataFrame(rows)
    table["memory_ratio"] = table["stated_MiB"] / table["MiB"]
    table["time_ratio"] = table["stated_seconds"] / table["seconds"]
    known = pd.read_csv(RESULTS / "sizes.csv")
    table = pd.concat([known, table]).drop_duplicates(KEY, keep="last")
    table = table.sort_values(KEY, ignore_index=True)
    table = table.round({"MiB": 0, "stated_MiB": 0, "seconds": 1, "stated_seconds": 1})
    table = table.round({"memory_ratio": 2, "time_ratio": 2})
    write_table(table, [RESULTS / "sizes.csv", RESULTS / "sizes.md"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
