"""Time and memory of every analysis as the number of models grows: 100 datasets × 5 seeds.

Figures are those that Snakemake's own benchmark files hold, of the jobs that compare and draw. The
analyses of a study share these, so each has a study of its own, which draws the rankings as well;
quote growth, not seconds.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from workflow import PROJECT, RESULTS

MODELS = [50, 100, 200]
DATASETS, SEEDS = 100, 5
ANALYSES = [
    *("pairwise", "ranks", "profiles", "ratings", "improvability"),
    *("robustness", "groups", "conditions", "sample_size"),
]
RULES = ["compare_models", "plot_figures"]


def write_export(path: Path, models: int, purpose: str) -> None:
    """Write an export of so many models."""
    rng = make_stream(0, "benchmarks", "growth", purpose, str(models))
    means = 0.5 + 0.1 * rng.normal(size=(models, 1)) + 0.1 * rng.normal(size=(models, DATASETS))
    scores = (means[:, :, None] + 0.02 * rng.normal(size=(models, DATASETS, SEEDS))).clip(0, 1)
    rows = np.indices(scores.shape).reshape(3, -1)
    table = pd.DataFrame(
        {
            "model": [f"model {number:03d}" for number in rows[0]],
            "dataset": [f"dataset {number:03d}" for number in rows[1]],
            "metric": "accuracy",
            "seed": rows[2],
            "score": scores.ravel(),
        }
    )
    table.to_csv(path, index=False)


def run_workflow(folder: Path, models: int) -> None:
    """Run a study for every analysis, and another one as their second condition."""
    for name in ("full", "frozen"):
        write_export(folder / f"{name}.csv", models, name)
    datasets = [f"dataset {number:03d}" for number in range(DATASETS)]
    groups = {f"group {k}": {"datasets": datasets[10 * k : 10 * k + 10]} for k in range(10)}
    full = {"exports": "full.csv", "groups": groups, "conditions": ["frozen"]}
    studies = {name: full | {"analyses": [name]} for name in ANALYSES}
    studies["frozen"] = {"exports": "frozen.csv", "analyses": []}
    (folder / "studies.yaml").write_text(yaml.safe_dump({"studies": studies, "run": ANALYSES}))
    program = [sys.executable, "-m", "snakemake", "--cores", "2", "-s", str(PROJECT / "Snakefile")]
    command = [*program, "--configfile", "studies.yaml"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def read_benchmarks(folder: Path, models: int) -> pd.DataFrame:
    """Seconds and peak memory of each analysis."""
    rows = []
    for analysis in ANALYSES:
        jobs = []
        for rule in RULES:
            path = folder / f"results/benchmarks/{rule}/{analysis}.tsv"
            with path.open(encoding="utf-8") as lines:
                jobs.append(next(csv.DictReader(lines, delimiter="\t")))
        rows.append(
            {
                "analysis": analysis,
                "models": models,
                "seconds": sum(float(job["s"]) for job in jobs),
                "MiB": max(float(job["max_rss"]) for job in jobs),
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Measure and write benchmarks/results/comparison_growth.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, nargs="+", default=MODELS)
    arguments = parser.parse_args()
    tables = []
    for models in arguments.models:
        with tempfile.TemporaryDirectory() as folder:
            run_workflow(Path(folder), models)
            tables.append(read_benchmarks(Path(folder), models))
    table = pd.concat(tables, ignore_index=True)
    previous = table.groupby("analysis")["seconds"].shift()
    ratio = table["models"] / table.groupby("analysis")["models"].shift()
    table["exponent"] = (np.log(table["seconds"] / previous) / np.log(ratio)).round(2)
    table = table.sort_values(["analysis", "models"], ignore_index=True).round(
        {"seconds": 1, "MiB": 0}
    )
    write_table(table, [RESULTS / "comparison_growth.csv", RESULTS / "comparison_growth.md"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
