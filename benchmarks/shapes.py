"""Simulated studies with a known truth: how runs vary, and how datasets differ."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special, stats

FloatArray = npt.NDArray[np.float64]
Quantile = Callable[[FloatArray], FloatArray]

SD = 0.05
WIDEST = 30
LOGNORMAL_MEAN, LOGNORMAL_SD = np.exp(0.5), np.sqrt((np.e - 1) * np.e)

# Quantile functions of noise with mean 0 and variance 1.
NOISES: dict[str, Quantile] = {
    "normal": special.ndtri,
    "t3": lambda share: stats.t.ppf(share, 3) / np.sqrt(3),
    "exponential": lambda share: -np.log1p(-share) - 1,
    "lognormal": lambda share: (np.exp(special.ndtri(share)) - LOGNORMAL_MEAN) / LOGNORMAL_SD,
}
# Name of the shape: noise, spread of the runs, and how dataset means lie.
SHAPES: dict[str, tuple[str, str, str]] = {
    "normal": ("normal", "even", "uniform"),
    "t3": ("t3", "even", "uniform"),
    "small noise": ("normal", "small", "uniform"),
    "quantized": ("normal", "quantized", "uniform"),
    "near the ceiling": ("normal", "beta", "uniform"),
    "clustered": ("normal", "even", "clustered"),
    "outlier": ("normal", "even", "outlier"),
    "exponential": ("exponential", "even", "uniform"),
    "lognormal": ("lognormal", "even", "uniform"),
    "sd x 30": ("normal", "wide", "uniform"),
    "sd x 30, exponential": ("exponential", "wide", "uniform"),
}


class Shape:
    """A study's datasets: draws runs on them and knows what infinitely many would give."""

    def __init__(self, name: str, datasets: int, rng: np.random.Generator) -> None:
        noise, spread, layout = SHAPES[name]
        self.noise, self.spread, self.rng = NOISES[noise], spread, rng
        self.means = rng.random(datasets)
        if layout == "clustered":
            self.means = rng.choice([0.2, 0.8], datasets) + 0.02 * rng.standard_normal(datasets)
        if layout == "outlier":
            self.means = 0.5 + 0.1 * rng.standard_normal(datasets)
            self.means[:2] = -3, 4
        self.sds = np.full(datasets, {"small": 0.1 * SD, "quantized": 0.2 * SD}.get(spread, SD))
        if spread == "wide":
            self.sds = SD * np.exp(np.log(WIDEST) * (rng.random(datasets) - 0.5))

    def draw(self, seeds: int) -> FloatArray:
        """New runs, shape (datasets, seeds)."""
        return self._place(self.rng.random((len(self.means), seeds)))

    def average_middle(self) -> float:
        """Interquartile mean of infinitely many runs."""
        return float(stats.trim_mean(self._draw_evenly().ravel(), 0.25))

    def middle_dataset(self) -> float:
        """Median of the datasets' means of infinitely many runs."""
        return float(np.median(self._draw_evenly().mean(axis=1)))

    def _draw_evenly(self, grid: int = 200) -> FloatArray:
        shares = (np.arange(grid) + 0.5) / grid
        return self._place(np.broadcast_to(shares, (len(self.means), grid)))

    def _place(self, shares: FloatArray) -> FloatArray:
        means = self.means[:, None]
        if self.spread == "beta":
            low = (0.85 + 0.14 * means) * WIDEST
            return np.asarray(special.betaincinv(low, WIDEST - low, shares))
        runs = means + self.sds[:, None] * self.noise(shares)
        return np.round(runs, 2) if self.spread == "quantized" else runs
