"""Memory and time of every step of an analysis against what the catalog states of it.

Each step runs in a process of its own on what a simulated study has left on disk, so its peak is
not that of others; it has what every process takes in it. Time is that of the processor, after
imports. The ratio is the estimate over what was measured.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scale import Study as Shape
from scale import simulate_runs

from analyse import analyse
from capmap.catalog import ANALYSES, STEPS, list_analyses
from capmap.inputs.analyses import (
    find_factors,
    list_folds,
    place_step_inputs,
    read_fold_options,
    read_step_options,
)
from capmap.inputs.studies import Study, check_config
from capmap.rng import make_stream
from capmap.sizes import MIB, estimate_need, read_size
from capmap.tables import render_markdown, write_table
from job import load_function
from workflow import PROJECT, RESULTS

COMPARISONS = [
    *("pairwise", "ranks", "strengths", "profiles", "ratings", "improvability"),
    *("robustness", "reliability", "groups", "conditions", "sample_size"),
]
MANY_MODELS = [name for name in COMPARISONS if name not in ("pairwise", "ratings")]
FURTHER = ["publications", "frontier", "leaderboard", "releases", "published"]
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
    ((100, 20, 3), FURTHER),
    ((20, 1000, 3), FURTHER),
    ((300, 50, 20), FURTHER),
    ((2000, 50, 1), FURTHER),
    ((50, 20, 1), ["drift"]),
    ((150, 30, 1), ["drift"]),
    ((300, 80, 1), ["drift"]),
    ((20, 4, 3), ["checkpoints"]),
    ((300, 4, 3), ["checkpoints"]),
    ((100, 10, 10), ["checkpoints"]),
    ((10, 2, 1), ["multilabel"]),
    ((40, 2, 2), ["multilabel"]),
    ((100, 2, 1), ["multilabel"]),
]
NAME, FOLDS = "size", "crossvalidate_embedding"
KEY = ["step", "models", "datasets", "seeds"]
PUBLICATIONS, RELEASES, CHECKPOINTS = 3, 3, 10
IMAGES, CLASSES, MOST_LABELS = 10_000, 20, 5


def write_runs(folder: Path, shape: tuple[int, int, int], analyses: list[str]) -> dict[str, Any]:
    """Write runs, attributes of models, and what is published of them; returns their settings."""
    models, datasets, seeds = shape
    runs = pd.concat(simulate_runs(Shape(models, datasets, seeds)), ignore_index=True)
    runs = runs.assign(paper=runs["seed"] % PUBLICATIONS)
    runs.to_csv(folder / "export.csv", index=False)
    names = runs["model"].unique()
    days = pd.date_range("2020-01-01", periods=len(names)).strftime("%Y-%m-%d")
    about = pd.DataFrame({"model": names, "date": days, "parameters": range(1, len(names) + 1)})
    about.to_csv(folder / "models.csv", index=False)
    printed = runs.pivot_table(index="model", columns="dataset", values="score")
    printed.round(3).to_csv(folder / "printed.csv")
    groups = {
        f"group {part}": {
            "datasets": [f"dataset {number:04d}" for number in range(part, datasets, 2)]
        }
        for part in range(2)
    }
    settings: dict[str, Any] = {"exports": "export.csv", "groups": groups, "conditions": ["other"]}
    if "publications" in analyses:
        settings["columns"] = {"publication": "paper"}
        settings["frontier"] = {"against": "parameters"}
        settings["leaderboard"] = {"releases": "releases/*.csv"}
        beside = {"file": "printed.csv", "table": "tables/scores", "keys": {"model": "model"}}
        settings["published"] = {"scores": beside}
    if {"frontier", "drift"} & {*analyses}:
        columns = {"name": "model", "date": "date", "parameters": "parameters"}
        settings["attributes"] = {"models": {"file": "models.csv", **columns}}
    return settings


def write_checkpoints(folder: Path, shape: tuple[int, int, int]) -> dict[str, Any]:
    """Write evaluations of the checkpoints of as many trainings as there are seeds."""
    models, datasets, seeds = shape
    rng = make_stream(0, "benchmarks", "sizes", "checkpoints")
    levels: dict[str, Any] = {
        "model": [f"model {number:04d}" for number in range(models)],
        "training": range(seeds),
        "checkpoint": [f"step={number}" for number in range(CHECKPOINTS)],
        "dataset": [f"dataset {number:04d}" for number in range(datasets)],
        "metric": ["accuracy", "ece"],
        "split": ["validation", "test"],
    }
    table = pd.MultiIndex.from_product([*levels.values()], names=[*levels]).to_frame(index=False)
    table["training"] = table["model"] + " / " + table["training"].astype(str)
    table["value"] = rng.random(len(table)).round(6)
    table.to_csv(folder / "export.csv", index=False)
    rankings = [{"name": "best", "method": "best"}]
    chosen = {"select": {"metric": "accuracy", "split": "validation"}, "rankings": rankings}
    return {"exports": "export.csv", "format": "checkpoints", "checkpoints": chosen}


def write_predictions(folder: Path, shape: tuple[int, int, int]) -> dict[str, Any]:
    """Write scores of images with one to five labels."""
    models, datasets, seeds = shape
    rng = make_stream(0, "benchmarks", "sizes", "predictions")
    (folder / "classes.txt").write_text("\n".join(f"class {n}" for n in range(CLASSES)))
    single = rng.integers(CLASSES, size=IMAGES)
    counts = rng.integers(1, MOST_LABELS + 1, size=IMAGES)
    labels = [
        [(one + number) % CLASSES for number in range(count)]
        for one, count in zip(single.tolist(), counts.tolist(), strict=True)
    ]
    (folder / "labels.json").write_text(json.dumps(labels))
    (folder / "single.json").write_text(json.dumps(single.tolist()))
    for number in range(models * datasets * seeds):
        model, rest = divmod(number, datasets * seeds)
        scores = rng.normal(size=(IMAGES, CLASSES)).astype("float32")
        scores[range(IMAGES), single] += 2 * rng.random()
        path = folder / f"dumps/model {model:04d}/dataset {rest // seeds}/{rest % seeds}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, scores)
    files = {"labels": "labels.json", "single": "single.json"}
    names = {f"dataset {number}": files for number in range(datasets)}
    return {
        **{"exports": "dumps/{model}/{dataset}/{seed}.npy", "format": "predictions"},
        "predictions": {"classes": "classes.txt", "datasets": names},
        "multilabel": {"compare": [*names][:2]},
    }


def write_study(folder: Path, shape: tuple[int, int, int], analyses: list[str]) -> None:
    """Write exports, and a configuration that leaves nothing out."""
    if "checkpoints" in analyses:
        own = write_checkpoints(folder, shape)
    elif "multilabel" in analyses:
        own = write_predictions(folder, shape)
    else:
        own = write_runs(folder, shape, analyses)
    common = {
        "limits": {"memory": 1000, "hours": 0},
        "bootstrap": {"replicates": 500},
        "comparison": {"samples": 5000, "replicates": 500},
    }
    studies = {NAME: {**own, **common, "analyses": analyses}}
    if "conditions" in own:
        studies["other"] = {"exports": "export.csv", **common, "analyses": []}
    (folder / "study.yaml").write_text(yaml.safe_dump({"studies": studies, "run": NAME}))


def make(*targets: str) -> None:
    """Make files of the study in the current folder."""
    program = [sys.executable, "-m", "snakemake", "--cores", "2", "-s", str(PROJECT / "Snakefile")]
    command = [*program, "--configfile", "study.yaml", "--", *targets]
    subprocess.run(command, check=True, capture_output=True)


def prepare_study(study: Study, steps: list[str]) -> None:
    """Make what the steps read."""
    if "track_releases" in steps:
        Path("releases").mkdir()
        columns = "method,rank,model,name,backbone,size,submission,iqm\n"
        Path("releases/0.csv").write_text(columns)
        make(study.place("leaderboard/entries.csv"))
        for number in range(RELEASES):
            shutil.copy(study.place("leaderboard/entries.csv"), f"releases/{number}.csv")
    reads = [
        place
        for name in steps
        for place in place_step_inputs(name).values()
        if isinstance(place, str)
    ]
    reads += ["tables/scopes.csv", "tables/scores.csv"]
    folds = list_folds(study) if "summarize_crossvalidation" in steps else []
    others = ["results/other/normalized/bounds.csv"] * ("other" in study.settings["conditions"])
    make(*folds, *others, *map(study.place, reads))


def open_study() -> Study:
    """The study in the current folder as the rules see it."""
    settings = check_config(yaml.safe_load(Path("study.yaml").read_text()))["studies"]
    return Study(NAME, settings[NAME], str, lambda name: f"results/{name}/normalized/manifest.csv")


def list_steps(study: Study) -> Iterator[str]:
    """The steps of the study's analyses."""
    for analysis in list_analyses(study.settings):
        yield from ANALYSES[analysis].steps


def read_options(study: Study, name: str) -> dict[str, dict[str, Any]]:
    """What a step is told; folds are those of the ensemble, which takes most."""
    if name == FOLDS:
        return read_fold_options(study, method="ensemble", dimension=5)
    return read_step_options(study, name)


def run_step(name: str) -> None:
    """Run a step in the current folder."""
    study = open_study()
    places = {
        read: place(study) if callable(place) else study.place(place)
        for read, place in place_step_inputs(name).items()
    }
    if name == FOLDS:
        places["factor_fits"] = find_factors(study, method="ensemble")
    analyse(
        study=NAME,
        folder=f"results/{NAME}",
        steps=[name],
        options=read_options(study, name),
        code={name: ""},
        measured=f"results/{NAME}/normalized/size.json",
        excess={},
        limits=study.settings["limits"],
        threads=1,
        **places,
    )


def run_apart(function: Callable[..., None], *arguments: object) -> tuple[float, float]:
    """Peak MiB and seconds of processor time of a call, in a copy of this process."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function(*arguments)
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{function.__name__} failed.")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def measure_study(
    shape: tuple[int, int, int], analyses: list[str], *, only: list[str]
) -> list[dict[str, Any]]:
    """Measure each step of one study."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        # What this process holds would count as that of the steps.
        run_apart(write_study, Path(folder), shape, analyses)
        study = open_study()
        steps = [name for name in list_steps(study) if not only or name in only]
        prepare_study(study, steps)
        size = read_size(study.place("normalized/size.json"))
        for name in steps:
            load_function(STEPS[name].run)
            memory, seconds = run_apart(run_step, name)
            need = estimate_need(STEPS[name].cost, size, read_options(study, name)[name])
            rows.append(
                {"step": name, "models": shape[0], "datasets": shape[1], "seeds": shape[2]}
                | {"MiB": memory, "stated_MiB": need.memory / MIB}
                | {"seconds": seconds, "stated_seconds": need.seconds}
            )
            sys.stderr.write(json.dumps(rows[-1]) + "\n")
    return rows


def main() -> None:
    """Measure and write benchmarks/results/sizes.{csv,md}; rows not measured stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--studies", type=int, nargs="*", default=range(len(STUDIES)))
    arguments = parser.parse_args()
    os.nice(15)
    # What loads the package `coverage` would find the script of that name beside this one.
    sys.path.remove(str(Path(__file__).parent))
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
