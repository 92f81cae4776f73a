"""Small matrices of scores, for comparisons of models, and steps run on small studies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from capmap.ranking.aggregation import ScoreMatrix
from capmap.ranking.rank_sets import rank_models
from tests.steps import find_step, read_step, run_step

COMMON = {
    "resampling": {"n_resamples": 50, "confidence_level": 0.95, "seed": 0},
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
    name: str,
    folder: Path,
    runs: pd.DataFrame,
    *,
    tables: Mapping[str, pd.DataFrame] = MappingProxyType({}),
    **options: object,
) -> dict[str, pd.DataFrame]:
    """Run a step on runs of ranked models and on other tables; read what it makes."""
    step = find_step(name)
    given = {option: value for option, value in COMMON.items() if option in step.options}
    run_step(name, folder, {"runs": runs.assign(ranked=True), **tables}, **(given | options))
    return read_step(name, folder)


def rank_estimates(
    models: Sequence[str], estimates: Sequence[float], errors: object, *, freedom: float = 1000.0
) -> pd.DataFrame:
    """Rank models by estimates with independent errors, NaN for one without an interval."""
    table = pd.DataFrame({"model": models, "estimate": estimates, "standard_error": errors})
    table = table.assign(freedom=freedom, own_freedom=freedom, parts_freedom=freedom, ranked=True)
    table["parts"] = [np.empty(0)] * len(table)
    return rank_models(table, "mean", confidence_level=0.95)
