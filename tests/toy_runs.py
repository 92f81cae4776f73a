"""Small tables of runs, and short ways to normalize them."""

import numpy as np
import pandas as pd

from capmap.normalization import apply_transforms
from capmap.normalization.bounds import normalize_scores, resolve_bounds


def make_runs(*rows, metric="accuracy"):
    """Make runs as a reader hands them over, from (model, dataset, score[, seed[, metric]])."""
    full = [(*row, *("1", metric)[len(row) - 3 :]) for row in rows]
    runs = pd.DataFrame(full, columns=["model", "dataset", "score", "seed", "metric"])
    return runs[["model", "dataset", "metric", "seed", "score"]].assign(
        score=runs["score"].astype(float),
        raw=runs["score"].astype(str),
        source="runs.csv",
        line=np.arange(len(runs)) + 2,
        column="score",
    )


def resolve(runs, *, metrics=None, datasets=None, normalization=None, references=None):
    """Resolve bounds of runs, transforms applied."""
    return resolve_bounds(
        apply_transforms(runs, datasets or {}),
        metrics=metrics or {},
        datasets=datasets or {},
        normalization=normalization or {},
        references=references or {},
    )


def find_bounds(runs, **rules):
    """Resolve the bounds of one dataset and return direction, low, high and their origins."""
    bounds, problems = resolve(runs, **rules)
    assert problems == []
    return tuple(bounds.drop(columns=["dataset", "metric"]).iloc[0])


def find_problem(runs, **rules):
    """Resolve bounds and return the one problem that they have."""
    _, (problem,) = resolve(runs, **rules)
    return problem


def normalize(runs, **rules):
    """Normalize runs and return the mean score of each model and dataset."""
    bounds, problems = resolve(runs, **rules)
    assert [problem for problem in problems if problem.severity == "error"] == []
    normalized = normalize_scores(apply_transforms(runs, rules.get("datasets") or {}), bounds)
    return normalized.pivot_table(index="model", columns="dataset", values="score")


def draw_benchmark(seed, *, models=5, datasets=4, seeds=1, metric="accuracy"):
    """Draw a benchmark without empty cells."""
    rng = np.random.default_rng(seed)
    cells = [
        (f"M{model}", f"D{dataset}", float(rng.normal()), str(repetition))
        for model in range(models)
        for dataset in range(datasets)
        for repetition in range(seeds)
    ]
    return make_runs(*cells, metric=metric)
