"""Small beliefs and fits."""

import numpy as np

from capmap.capabilities.beliefs import Belief
from capmap.capabilities.embedding import METHODS, Embedding, draw_starts, fit_starts
from capmap.capabilities.gaps import Results


def draw_belief(datasets: int = 7, rank: int = 3, *, seed: int = 0) -> Belief:
    """Draw a belief about some datasets."""
    rng = np.random.default_rng(seed)
    return Belief(
        mean=rng.random(datasets),
        loadings=rng.normal(size=(datasets, rank)),
        noise=rng.uniform(0.1, 1, datasets),
    )


def fit_all(results: Results, method: str = "ensemble", starts: int = 2) -> list[Embedding]:
    """Fit results in two dimensions."""
    drawn = draw_starts(results, dimension=2, starts=starts, seed=0, study="toy")
    return fit_starts(results, METHODS[method], starts=drawn)
