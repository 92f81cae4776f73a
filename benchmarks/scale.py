"""Time and memory of each stage on simulated studies larger than real ones, and how both grow.

Each stage is the script of its rule with default settings, in processes of its own: one, or one per
shard. Times are processor time (user and system), so that other work on the machine counts little;
memory is the peak of the largest process. The exponent is that of time against the row before; 1 is
linear, and the half second that a process takes to start makes it smaller.
"""

import argparse
import importlib
import inspect
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from capmap.figures.look import COLUMN_WIDTH, PAGE_WIDTH
from capmap.figures.style import figure_style, model_colors, save_figure
from capmap.rng import make_stream
from capmap.settings.checking import check_settings
from capmap.settings.sections import write_schema
from capmap.settings.study import Config
from capmap.tables import render_markdown, write_table
from workflow import PROJECT, RESULTS

SHARDS = 4
STAGES = [
    *("write_export", "validate_exports", "normalize_runs"),
    *("aggregate_scores", "bootstrap_shard", "rank_models"),
]


class Study(NamedTuple):
    """The size of a simulated study."""

    series: str
    models: int
    datasets: int
    seeds: int
    replicates: int = 200

    @property
    def runs(self) -> int:
        """How many runs the export has."""
        return self.models * self.datasets * self.seeds


STUDIES = [
    *(Study("more models", models, 50, 5) for models in (2500, 5000)),
    *(Study("more datasets", 300, datasets, 3) for datasets in (500, 1000)),
    *(Study("more seeds", 50, 20, seeds) for seeds in (100, 200)),
    *(Study("more replicates", 300, 50, 5, count) for count in (5000, 10_000, 20_000)),
]


def write_export(study: Study, path: str | Path = "export.csv") -> None:
    """Write an export, by default in the current folder."""
    shape = (study.models, study.datasets, study.seeds)
    rng = make_stream(0, "benchmarks", "scale", "x".join(map(str, shape)))
    scores = 0.5 + 0.1 * rng.normal(size=(*shape[:1], 1, 1)) + 0.02 * rng.normal(size=shape)
    model, dataset, seed = np.indices(shape).reshape(3, -1)
    table = pd.DataFrame(
        {
            "model": np.array([f"model {number:04d}" for number in range(shape[0])])[model],
            "dataset": np.array([f"dataset {number:04d}" for number in range(shape[1])])[dataset],
            "metric": "accuracy",
            "seed": seed,
            "score": scores.clip(0, 1).ravel(),
        }
    )
    table.to_csv(path, index=False)


def call_stage(stage: str, study: Study, shard: int) -> None:
    """Call a stage's function on the files in the current folder, with default settings."""
    function = getattr(importlib.import_module(stage), stage)
    given = {"studies": {"scale": {"exports": "export.csv"}}}
    settings = check_settings(given, write_schema(Config))["studies"]["scale"]
    bootstrap = settings["bootstrap"]
    kept = "bootstrap" if stage == "rank_models" else "normalized"
    files = {
        **{name: f"{name}.file" for name in ("runs", "validation", "rejected")},
        **{name: f"normalized/{name}.csv" for name in ("bounds", "manifest", "dropped")},
        **{
            name: [f"{name}.csv", f"{name}.md", f"{name}.tex"]
            for name in (
                *("scores", "seeds", "shared_seeds", "aggregate"),
                *("iqm", "scopes", "intervals"),
            )
        },
        "exports": ["export.csv"],
        "folder": "normalized",
        "shard": f"normalized/{shard}.parquet",
        "scope": "normalized/scope.json",
        "replicates": f"bootstrap/{shard}.parquet",
        "shards": [f"{kept}/{number}.parquet" for number in range(SHARDS)],
    }
    options = {
        "names": ["export.csv"],
        "references": [],
        "benchmark": [],
        "aggregations": settings["aggregate"],
        "confidence_level": bootstrap["confidence"],
        "n_resamples": study.replicates,
        "study": "scale",
    }
    particular = {
        "normalize_runs": {"shards": SHARDS},
        "bootstrap_shard": {"dimensions": None},
    }
    known = settings | bootstrap | files | options | particular.get(stage, {})
    function(**{name: known[name] for name in inspect.signature(function).parameters})


def measure_process(stage: str, study: Study, shard: int, folder: Path) -> tuple[float, float]:
    """Seconds of processor time and peak MiB of a stage in a process of its own."""
    command = [sys.executable, __file__, "--stage", stage, str(shard), json.dumps(study)]
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts")}
    process = subprocess.Popen(command, cwd=folder, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{stage} failed on {study}.")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure_study(study: Study) -> list[dict[str, Any]]:
    """Measure each stage of one study."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for stage in STAGES:
            shards = range(SHARDS) if stage == "bootstrap_shard" else [0]
            used = [measure_process(stage, study, shard, Path(folder)) for shard in shards]
            seconds, memory = sum(time for time, _ in used), max(peak for _, peak in used)
            rows.append(
                {**study._asdict(), "runs": study.runs, "stage": stage}
                | {"seconds": seconds, "MiB": memory}
            )
    return rows[1:]


def add_exponents(table: pd.DataFrame) -> pd.DataFrame:
    """Add the exponent of time against the row before of the same series and stage."""
    groups = [table["series"], table["stage"]]
    size = (table["runs"] * table["replicates"]).map(math.log).groupby(groups).diff()
    time = table["seconds"].map(math.log).groupby(groups).diff()
    return table.assign(exponent=(time / size).round(2))


@figure_style()
def draw_growth(table: pd.DataFrame) -> Figure:
    """Time and memory of each stage as models grow, and of the bootstrap as replicates grow."""
    figure = Figure(figsize=(PAGE_WIDTH, 0.75 * COLUMN_WIDTH), layout="constrained")
    colors = model_colors(STAGES)
    panels = [
        ("more models", "runs", "seconds"),
        ("more models", "runs", "MiB"),
        ("more replicates", "replicates", "seconds"),
    ]
    for axes, (series, across, up) in zip(figure.subplots(1, 3), panels, strict=True):
        for stage, rows in table[table["series"] == series].groupby("stage", sort=False):
            look = {"color": colors[str(stage)], "marker": "o", "markersize": 3}
            axes.loglog(rows[across], rows[up], label=str(stage), **look)
        axes.set(xlabel=across, ylabel=up, title=series)
        places = sorted(set(table.loc[table["series"] == series, across]))
        axes.xaxis.set(major_locator=FixedLocator(places), minor_locator=NullLocator())
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), minor_locator=NullLocator())
        axes.yaxis.set_major_formatter("{x:g}")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def main() -> None:
    """Measure and write benchmarks/results/scale.{csv,md,svg}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", nargs=3, metavar=("STAGE", "SHARD", "STUDY"))
    arguments = parser.parse_args()
    if arguments.stage:
        stage, shard, study = arguments.stage
        size = Study(*json.loads(study))
        write_export(size) if stage == "write_export" else call_stage(stage, size, int(shard))
        return
    os.nice(10)
    rows = [row for study in STUDIES for row in measure_study(study)]
    table = add_exponents(pd.DataFrame(rows)).round({"seconds": 2, "MiB": 0})
    write_table(table, [RESULTS / "scale.csv", RESULTS / "scale.md"])
    save_figure(draw_growth(table), [RESULTS / "scale.svg"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
