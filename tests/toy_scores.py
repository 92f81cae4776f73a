"""Small matrices of scores, for comparisons of models, and scripts run on small studies."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from capmap.artifacts import read_table, write_parquet
from capmap.comparison.score_matrix import ScoreMatrix


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


def run_script(
    script: Callable[..., None],
    folder: Path,
    runs: pd.DataFrame,
    *,
    tables: Sequence[str],
    **options: object,
) -> dict[str, pd.DataFrame]:
    """Run a script on two shards and the bounds in a folder, and read the tables that it writes."""
    shards = [str(folder / f"{shard}.parquet") for shard in (0, 1)]
    is_first = runs["model"] == "b"
    write_parquet(shards[0], runs[is_first])
    write_parquet(shards[1], runs[~is_first])
    text = [str(folder / "text.txt"), str(folder / "text.tex")]
    given: dict[str, object] = {
        "study": "toy",
        "missing": "pairwise",
        "n_resamples": 100,
        "confidence_level": 0.95,
        "seed": 0,
    }
    given |= {
        name: [str(folder / f"{name}.{suffix}") for suffix in ("csv", "md", "tex")]
        for name in tables
    }
    bounds = str(folder / "bounds.csv")
    script(shards=shards, bounds=bounds, text=text, **(given | options))
    assert all(Path(path).is_file() for path in text)
    return {name: read_table(folder / f"{name}.csv") for name in tables}
