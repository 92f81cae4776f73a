"""Small matrices of scores, for comparisons of models."""

import numpy as np

from capmap.cells import ScoreMatrix


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
