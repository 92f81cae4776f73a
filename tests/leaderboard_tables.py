"""Small leaderboards: runs of entries, records of submissions, and their finished tables."""

import numpy as np
import pandas as pd

from bootstrap import bootstrap
from capmap.artifacts import write_json
from capmap.leaderboard.entries import describe_entries, rank_dimension
from capmap.ranking import aggregation
from capmap.ranking.estimates import estimate_models, list_parts
from capmap.wording import ALL
from tests.steps import make_bounds, make_scope, put, read_step, run_step

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
OPTIONS = {"replicates": 200, "confidence": 0.95, "interval": "percentile", "seed": 0}


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


def estimate(runs, dimensions=DIMENSIONS, *, unit="runs", **options):
    """Bootstrap the dimensions and cells of runs."""
    scope = make_scope(unit)
    settings = OPTIONS | options
    parts = list_parts(runs, scope, study="toy", settings=settings, dimensions=dimensions)
    found = estimate_models(parts)
    return found[(found["statistic"] == "iqm") & (found["unit"] == unit)]


def rank(runs, dimensions=DIMENSIONS, *, about=None):
    """Rank all dimensions of runs; the rankings by dimension."""
    estimates = estimate(runs, dimensions)
    about = describe_entries(runs, submissions=[], models={}) if about is None else about
    estimates = estimates[estimates["kind"].isin(["study", "dimension"])]
    return {
        name: rank_dimension(
            estimates[estimates["group"] == ("" if name == ALL else name)],
            aggregation.summarize_cells(runs[runs["dataset"].isin(members)]),
            about,
            expected=len(set(members)),
            confidence_level=0.95,
        )
        for name, members in {ALL: set(runs["dataset"]), **dimensions}.items()
    }


def make_leaderboard(runs, dimensions=DIMENSIONS):
    """Make the tables of entries and dimensions."""
    rankings = rank(runs, dimensions)
    table = pd.concat(own.assign(dimension=name) for name, own in rankings.items())
    dimensions = table.sort_values("method", kind="stable", ignore_index=True)
    return rankings[ALL].assign(dimension=ALL), dimensions


def write_board_inputs(
    folder, runs, normalized=None, *, records=(), rank_by="iqm", limits=(0, 1), iqm="exact"
):
    """Write what the leaderboard of runs reads; they are normalized already unless given."""
    datasets = sorted(set(runs["dataset"]))
    scope = make_scope("runs", rank_by, limits) | {"iqm": iqm}
    write_json(folder / "normalized/scope.json", scope)
    write_json(folder / "submissions.json", {"submissions": list(records)})
    kept = (runs if normalized is None else normalized)[["model", "dataset", "seed", "score"]]
    put(runs, folder / "runs.parquet")
    put(kept, folder / "normalized/runs.parquet")
    put(make_bounds(datasets), folder / "normalized/bounds.csv")
    put(pd.DataFrame({"unit": ["runs"], "statistic": rank_by}), folder / "tables/ranking.csv")


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
    about["replicates"] = sorted(folder.glob("bootstrap/*.parquet"))
    options = {"dimension_datasets": dimensions, "confidence_level": 0.95}
    run_step("rank_entries", folder, about, **options)
    run_step("summarize_entries", folder, about)
    return read_step("rank_entries", folder) | read_step("summarize_entries", folder)
