"""Scores of all models under other aggregations and bounds, and with each dataset left out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from capmap.aggregation import (
    AGGREGATIONS,
    Aggregation,
    FloatArray,
    IntArray,
    group_values,
    round_significant,
    summarize_cells,
)
from capmap.bootstrap.resampling import Weights, repeat_datasets, stratify_runs
from capmap.bootstrap.statistics import Statistic, evaluate_statistic

Bounds = Literal["configured", "observed", "ranks"]

ALL_BOUNDS: tuple[Bounds, ...] = ("configured", "observed", "ranks")
IQM: Statistic = "iqm"
ALL_METHODS = (*AGGREGATIONS, IQM)


@dataclass(frozen=True)
class Variation:
    """Scores under one way to bound and aggregate.

    Parameters
    ----------
    aggregation : {"mean", "trimmed_mean", "median", "iqm"}
        Across datasets.
    bounds : {"configured", "observed", "ranks"}
        How scores of a dataset are made comparable to those of others.
    scores : numpy.ndarray, shape (1 + datasets, models)
        Scores of all models by name, 1 is best: first with all datasets, then without each, by
        name. NaN for a model without a dataset that is left.
    """

    aggregation: str
    bounds: Bounds
    scores: FloatArray


def iterate_variations(runs: pd.DataFrame, *, weights: Weights) -> Iterator[Variation]:
    """Aggregate the models in all ways.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, 1 is best), at least one row.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.

    Yields
    ------
    Variation
        Mean, trimmed mean, median and interquartile mean, each under configured bounds, observed
        bounds and ranks.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    ``configured``: scores as they are. ``observed``: the lowest run of a dataset becomes 0 and the
    highest 1; a dataset on which all runs are equal is left out. ``ranks``: the best of a dataset
    becomes 1, the worst 0 and the others lie between in equal steps, ties in the middle of theirs;
    cell means are ranked for means and medians, all runs for interquartile means. A dataset that
    only one model has is left out then.

    Mean, trimmed mean and median are those of `capmap.aggregation.aggregate_models`; the
    interquartile mean is that of the study.
    """
    datasets = sorted(runs["dataset"].unique())
    models = sorted(runs["model"].unique())
    bounded = [(bounds, *_bound_scores(runs, bounds)) for bounds in ALL_BOUNDS]
    tables = {
        bounds: _aggregate_cells(cells, models=models, datasets=datasets)
        for bounds, cells, _ in bounded
    }
    for aggregation in AGGREGATIONS:
        for bounds in ALL_BOUNDS:
            yield Variation(aggregation, bounds, tables[bounds][aggregation])
    for bounds, _, own in bounded:
        scores = _average_runs(own, models=models, datasets=datasets, weights=weights)
        yield Variation(IQM, bounds, scores)


def _bound_scores(runs: pd.DataFrame, bounds: Bounds) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells with their ``mean`` and runs with their ``score``, bounded within each dataset."""
    if bounds == "configured":
        return summarize_cells(runs), runs
    if bounds == "observed":
        scaled = _scale_scores(runs)
        return summarize_cells(scaled), scaled
    rivals = runs.groupby("dataset")["model"].transform("nunique")
    contested = runs[rivals > 1]
    cells = summarize_cells(contested)
    return _rank_column(cells, "mean"), _rank_column(contested, "score")


def _scale_scores(runs: pd.DataFrame) -> pd.DataFrame:
    """Min–max scores over all runs of each dataset, without datasets that do not vary."""
    scores = runs.assign(score=round_significant(runs["score"])).groupby("dataset")["score"]
    low, high = scores.transform("min"), scores.transform("max")
    varies = high > low
    own = runs[varies]
    share = (own["score"] - low[varies]) / (high - low)[varies]
    return own.assign(score=share)


def _rank_column(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Turn a column into ranks within its dataset, from 0 (worst) to 1 (best)."""
    values = pd.Series(round_significant(table[column]), index=table.index)
    groups = values.groupby(table["dataset"])
    shares = (groups.rank(method="average") - 1) / (groups.transform("size") - 1)
    return table.assign(**{column: shares})


def _aggregate_cells(
    cells: pd.DataFrame, *, models: list[str], datasets: list[str]
) -> dict[Aggregation, FloatArray]:
    """Scores by each aggregation, with all datasets and without each in turn."""
    rows, columns = _find_places(models, cells["model"]), _find_places(datasets, cells["dataset"])
    means = cells["mean"].to_numpy(dtype=np.float64)
    shape = (1 + len(datasets), len(models))
    scores = {name: np.full(shape, np.nan) for name in AGGREGATIONS}
    for line in range(shape[0]):
        is_left = columns != line - 1
        present, codes = np.unique(rows[is_left], return_inverse=True)
        if len(present):
            groups = group_values(means[is_left], codes)
            for name, aggregate in AGGREGATIONS.items():
                scores[name][line, present] = aggregate(groups)
    return scores


def _find_places(names: list[str], some: Iterable[str]) -> IntArray:
    """Places of some names among sorted names."""
    return np.searchsorted(np.array(names, dtype=object), np.array(list(some), dtype=object))


def _average_runs(
    runs: pd.DataFrame, *, models: list[str], datasets: list[str], weights: Weights
) -> FloatArray:
    """Interquartile means with all datasets and without each in turn."""
    scores = np.full((1 + len(datasets), len(models)), np.nan)
    for model, own in runs.groupby("model", sort=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist(), weights=weights)
        names = sorted(own["dataset"].unique())
        times = np.ones((len(names), 1 + len(names)), dtype=np.intp)
        times[np.arange(len(names)), 1 + np.arange(len(names))] = 0
        is_left = times.any(axis=0)
        values = np.full(times.shape[1], np.nan)
        values[is_left] = evaluate_statistic(
            IQM, strata, repeat_datasets(strata, times[:, is_left])
        )
        column = scores[:, models.index(str(model))]
        column[:] = values[0]
        column[1 + _find_places(datasets, names)] = values[1:]
    return scores
