"""Small matrices of scores, for comparisons of models, and steps run on small studies."""

from pathlib import Path

import numpy as np
import pandas as pd

from capmap.artifacts import write_parquet
from capmap.catalog import ANALYSES, STEPS
from capmap.comparison.score_matrix import ScoreMatrix
from tests.steps import read_step, run_step

COMMON = {
    "alpha": 0.05,
    "n_resamples": 100,
    "confidence_level": 0.95,
    "seed": 0,
}


def arrange(scores: object, models: list[str] | None = None) -> ScoreMatrix:
    """Make a matrix from scores, a row per model, one run per filled cell."""
    means = np.array(scores, dtype=float)
    return ScoreMatrix(
        models=models or [f"m{i:03d}" for i in range(len(means))],
        datasets=[f"d{i:03d}" for i in range(means.shape[1])],
        means=means,
        counts=(~np.isnan(means)).astype(np.intp),
        variances=np.full(means.shape, np.nan),
    )


def draw(models: int, datasets: int, seed: int, ties: bool, empty: float = 0) -> np.ndarray:
    """Draw scores, rounded so much that many are equal if ties are wanted."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(models, datasets)) + rng.normal(size=(models, 1))
    scores[rng.random(scores.shape) < empty] = np.nan
    return scores.round(0) if ties else scores


def run_on_runs(
    name: str, folder: Path, runs: pd.DataFrame, **options: object
) -> dict[str, pd.DataFrame]:
    """Run a step on runs in two shards and on tables that stand in a folder; read what it makes."""
    shards = [folder / f"{shard}.parquet" for shard in (0, 1)]
    runs = runs.assign(ranked=True)
    is_first = runs["model"] == "b"
    write_parquet(shards[0], runs[is_first])
    write_parquet(shards[1], runs[~is_first])
    step = STEPS[name]
    inputs = {read: folder / f"{read}.csv" for read in step.reads} | {"runs": shards}
    given = {option: value for option, value in COMMON.items() if option in step.options}
    run_step(name, folder, inputs, **(given | options))
    owner = next(key for key, analysis in ANALYSES.items() if name in analysis.steps)
    assert all((folder / f"text/{owner}.{suffix}").read_text("utf-8") for suffix in ("txt", "tex"))
    return read_step(name, folder)
