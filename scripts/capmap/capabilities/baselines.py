"""Predictions without an embedding, for it to be measured against."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from capmap.capabilities.gaps import Results
from capmap.ranking.aggregation import FloatArray, IntArray

SWEEPS = 200
TOLERANCE = 1e-12
NEIGHBORS, SHARED = 5, 2.0


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


def predict_neighbors(train: Results, rows: IntArray, columns: IntArray) -> FloatArray:
    """Predict gaps by the nearest models.

    Parameters
    ----------
    train : Results
        At least one.
    rows, columns : ndarray of int, shape (pairs,)
        Places of models and datasets.

    Returns
    -------
    ndarray, shape (pairs,)
        The mean gap on the dataset of the 5 models with a result there whose gaps differ least from
        those of the model, on the datasets that both have; of equally near ones the first by name.
        The mean gap of the dataset if no model shares a dataset with it.

    Notes
    -----
    The difference of two models is the mean squared difference of their gaps, as if two further
    datasets had that of two random results. That is the k nearest neighbors of collaborative
    filtering (Resnick et al. 1994, doi:10.1145/192844.192905).
    """
    filled = np.full((len(train.models), len(train.datasets)), np.nan)
    filled[train.rows, train.columns] = train.gaps
    usual = 2 * float(train.gaps.var())
    found = fit_dataset_mean(train).predict(rows, columns)
    for row in np.unique(rows):
        squares = (filled - filled[row]) ** 2
        shared = np.count_nonzero(~np.isnan(squares), axis=1)
        apart = (np.nansum(squares, axis=1) + SHARED * usual) / (shared + SHARED)
        apart[(shared == 0) | (np.arange(len(filled)) == row)] = np.inf
        order = np.argsort(apart, kind="stable")[: np.count_nonzero(np.isfinite(apart))]
        for place in np.flatnonzero(rows == row):
            near = filled[order, columns[place]]
            near = near[~np.isnan(near)][:NEIGHBORS]
            if len(near):
                found[place] = near.mean()
    return found


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
