"""Small leaderboards: runs of entries, records of submissions, and their finished tables."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from bootstrap import bootstrap
from capmap.artifacts import write_json
from tests.steps import make_scope, put, read_step, run_step

DATASETS = ["w", "x", "y", "z"]
DIMENSIONS = {"Core": ["w", "x"], "Rest": ["y", "z"]}
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://x")',
    "../../etc\n$x_1$",
    "a" * 300,
    "\u202eevil",
    "model",
]
OPTIONS = {
    "study": "toy",
    "replicates": 100,
    "confidence": 0.95,
    "interval": "percentile",
    "seed": 0,
}


def name_model(backbone, method="frozen", submission="s1"):
    """Name a model as studies of submissions do by default."""
    return " / ".join([backbone, method, submission])


def make_entry_runs(entries, *, seeds=3, missing=(), spread=0.05, seed=0):
    """Draw runs of entries, given as (backbone, method, submission), the first ones the best.

    Cells in `missing`, given as (backbone, dataset), have none.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for place, (backbone, method, submission) in enumerate(entries):
        for dataset in DATASETS:
            scores = 0.8 - 0.2 * place + spread * rng.normal(size=seeds)
            if (backbone, dataset) in missing:
                continue
            model = name_model(backbone, method, submission)
            about = (model, dataset, "accuracy")
            rows += [
                (*about, str(number), score, submission, backbone, method)
                for number, score in enumerate(scores)
            ]
    columns = ["model", "dataset", "metric", "seed", "score", "submission", "backbone", "method"]
    return pd.DataFrame(rows, columns=columns)


def make_record(name, **changes):
    """Make the record of a submission."""
    texts = ("paper", "code", "license", "hpo_trials", "information", "comments")
    return {"name": name, "models": [], **dict.fromkeys(texts, ""), **changes}


def make_leaderboard(runs, dimensions=DIMENSIONS, **options):
    """Make the tables of a leaderboard of runs, which are normalized already."""
    with TemporaryDirectory() as folder:
        return write_leaderboard(Path(folder), runs, dimensions, **options)


def write_leaderboard(folder, runs, dimensions=DIMENSIONS, *, benchmark=(), **inputs):
    """Run the steps of a leaderboard in a folder; its tables."""
    write_board_inputs(folder, runs, **inputs)
    estimate_shard(folder, dimensions=dimensions, **OPTIONS)
    return rank_study(folder, dimensions=dimensions, benchmark=benchmark)


def write_board_inputs(folder, runs, *, records=(), rank_by="iqm"):
    """Write what the leaderboard of runs reads."""
    write_json(folder / "normalized/scope.json", make_scope("runs", rank_by, (0, 1)))
    write_json(folder / "submissions.json", {"submissions": list(records)})
    put(runs, folder / "runs.parquet")
    put(runs[["model", "dataset", "seed", "score"]], folder / "normalized/runs.parquet")


def estimate_shard(folder, shard=0, *, shards=1, **settings):
    """Bootstrap one of the shards of runs in a folder; the file of its estimates."""
    path = folder / f"bootstrap/{shard}.parquet"
    bootstrap(
        runs=str(folder / "normalized/runs.parquet"),
        scope=str(folder / "normalized/scope.json"),
        estimates=str(path),
        shard=str(shard),
        shards=shards,
        groups={},
        **settings,
    )
    return path


def rank_study(folder, *, dimensions=DIMENSIONS, benchmark=()):
    """Run the leaderboard's steps on a folder of runs, records and bootstraps; its tables."""
    about = {"descriptions": [folder / "submissions.json"], "benchmark": benchmark}
    about["scope"] = [folder / "normalized/scope.json"]
    about["replicates"] = sorted(folder.glob("bootstrap/*.parquet"))
    options = {"dimension_datasets": dimensions, "confidence_level": 0.95}
    run_step("rank_entries", folder, about, **options)
    run_step("summarize_entries", folder, about)
    return read_step("rank_entries", folder) | read_step("summarize_entries", folder)
