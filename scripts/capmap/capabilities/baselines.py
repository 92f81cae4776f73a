"""Predictions without an embedding, for it to be measured against."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from capmap.capabilities.gaps import Results
from capmap.ranking.aggregation import FloatArray, IntArray

SWEEPS = 200
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Additive:
    """A level, and what each model and each dataset adds to it.

    Parameters
    ----------
    level : float
        Mean gap.
    models, datasets : ndarray
        Effects.
    """

    level: float
    models: FloatArray
    datasets: FloatArray

    def predict(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Predict the gaps of some pairs of model and dataset, by their places."""
        return np.asarray(self.level + self.models[rows] + self.datasets[columns])


def fit_mean(results: Results) -> Additive:
    """Predict the mean gap everywhere."""
    return Additive(
        float(results.gaps.mean()), np.zeros(len(results.models)), np.zeros(len(results.datasets))
    )


def fit_model_mean(results: Results) -> Additive:
    """Predict a model's mean gap; the mean of all for one without results."""
    mean = fit_mean(results)
    effects = _average(results.gaps - mean.level, results.rows, len(results.models), penalty=0)
    return Additive(mean.level, effects, mean.datasets)


def fit_dataset_mean(results: Results) -> Additive:
    """Predict a dataset's mean gap; the mean of all for one without results."""
    mean = fit_mean(results)
    effects = _average(results.gaps - mean.level, results.columns, len(results.datasets), penalty=0)
    return Additive(mean.level, mean.models, effects)


def fit_additive(results: Results, *, penalty: float = 2.0) -> Additive:
    """Fit the effects of models and of datasets together.

    Parameters
    ----------
    results : Results
        At least one.
    penalty : float
        Weight of a squared effect, in results: an effect of few results is drawn towards 0.

    Returns
    -------
    Additive
        The minimum of Σ (prediction − gap)² + penalty · Σ effect², found by backfitting.
    """
    level = float(results.gaps.mean())
    rows, columns, gaps = results.rows, results.columns, results.gaps - level
    models, datasets = np.zeros(len(results.models)), np.zeros(len(results.datasets))
    for _ in range(SWEEPS):
        before = datasets
        datasets = _average(gaps - models[rows], columns, len(datasets), penalty=penalty)
        models = _average(gaps - datasets[columns], rows, len(models), penalty=penalty)
        if np.abs(datasets - before).max() < TOLERANCE:
            break
    return Additive(level, models, datasets)


BASELINES: dict[str, Callable[[Results], Additive]] = {
    "mean": fit_mean,
    "model_mean": fit_model_mean,
    "dataset_mean": fit_dataset_mean,
    "additive": fit_additive,
}


def _average(values: FloatArray, places: IntArray, count: int, *, penalty: float) -> FloatArray:
    sums = np.bincount(places, values, minlength=count)
    weights = np.bincount(places, minlength=count) + penalty
    return np.asarray(sums / np.where(weights > 0, weights, 1))
