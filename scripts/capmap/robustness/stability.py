"""How sure ranks are if the datasets had been others of the same kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.bootstrap.datasets import DatasetPool, draw_datasets
from capmap.bootstrap.ranks import Ranks, bound_ranks, rank_replicates
from capmap.bootstrap.resampling import (
    Weights,
    iterate_blocks,
    repeat_datasets,
    stratify_runs,
)
from capmap.bootstrap.statistics import evaluate_statistic

STABILITY = ["model", "rank", "p_best", "p_top", "top", "rank_mean", "rank_low", "rank_high"]


@dataclass(frozen=True)
class Stability:
    """What `resample_ranks` finds.

    Parameters
    ----------
    stability, distribution : pandas.DataFrame
        The tables that it describes.
    """

    stability: pd.DataFrame
    distribution: pd.DataFrame


def resample_ranks(
    runs: pd.DataFrame,
    *,
    reported: Mapping[str, int],
    top: int,
    weights: Weights,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> Stability:
    """Rank the models by interquartile mean on resampled datasets.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, higher is better), at least one
        row.
    reported : mapping of str to int
        The reported rank of each model.
    top : int
        How many ranks ``p_top`` takes in, at least 1.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.
    n_resamples : int
        Number of resamples, at least 1.
    confidence_level : float
        Share of the resamples between the ends of the interval of ranks, between 0 and 1.
    make_rng : callable
        Makes a random generator: ``make_rng()`` of the study, ``make_rng(model)`` of a model.

    Returns
    -------
    Stability
        ``stability``: a row per model, by reported rank, then name: ``rank`` (reported),
        ``p_best``, ``p_top``, ``top``, ``rank_mean``, and the ends ``rank_low`` and ``rank_high``
        of the interval of ranks, rounded outwards.

        ``distribution``: ``model``, ``rank`` and ``share`` of the resamples, in the same order,
        then by rank; shares of 0 are left out.

    Notes
    -----
    Datasets are drawn as in `capmap.bootstrap.datasets.draw_datasets`, the same for all models,
    each with all its runs: those are not resampled. Models that tie share their ranks equally: two
    best models have rank 1 and 2 half the time each. So ``p_best`` sums to 1 over all models and
    ``p_top`` to `top`, unless there are fewer models. The interval of ranks reaches from the best
    to the worst of the ranks that are shared.
    """
    models = sorted(reported)
    ranks = _rank_resamples(runs, weights=weights, n_resamples=n_resamples, make_rng=make_rng)
    shares = distribute_ranks(ranks)
    reached = np.cumsum(shares, axis=1)
    low, _ = bound_ranks(ranks, confidence_level=confidence_level)
    _, high = bound_ranks(ranks + count_tied(ranks) - 1, confidence_level=confidence_level)
    places = np.arange(1, len(models) + 1)
    table = pd.DataFrame(
        {
            "model": models,
            "rank": [reported[model] for model in models],
            "p_best": shares[:, 0],
            "p_top": np.minimum(reached[:, min(top, len(models)) - 1], 1),
            "top": top,
            "rank_mean": shares @ places,
            "rank_low": low,
            "rank_high": high,
        }
    )
    order = np.lexsort((np.arange(len(models)), table["rank"]))
    rows, columns = np.nonzero(shares[order])
    names = np.array(models, dtype=object)[order]
    distribution = {"model": names[rows], "rank": places[columns]}
    return Stability(
        stability=table.iloc[order].reset_index(drop=True)[STABILITY],
        distribution=pd.DataFrame(distribution | {"share": shares[order][rows, columns]}),
    )


def distribute_ranks(ranks: Ranks) -> FloatArray:
    """Share of resamples in which each model has each rank.

    Parameters
    ----------
    ranks : numpy.ndarray of int, shape (models, resamples)
        Competition ranks.

    Returns
    -------
    numpy.ndarray, shape (models, models)
        Models by rank; rows and columns sum to 1, because ties share their ranks equally.

    Examples
    --------
    >>> distribute_ranks(np.array([[1, 1], [1, 2]])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    n, resamples = ranks.shape
    tied = count_tied(ranks)
    targets = ranks.astype(np.intp) - 1 + n * np.arange(n)[:, None]
    total = np.zeros(n * n)
    for further in range(int(tied.max())):
        is_sharing = tied > further
        total += np.bincount(targets[is_sharing] + further, 1 / tied[is_sharing], minlength=n * n)
    return np.asarray(total.reshape(n, n) / resamples)


def count_tied(ranks: Ranks) -> IntArray:
    """How many models share each model's rank in each resample, itself among them.

    Examples
    --------
    >>> count_tied(np.array([[1, 1], [1, 2]])).tolist()
    [[2, 1], [2, 1]]
    """
    n, resamples = ranks.shape
    cells = (ranks.astype(np.intp) - 1) * resamples + np.arange(resamples)
    tied: IntArray = np.bincount(cells.ravel(), minlength=n * resamples)[cells]
    return tied


def _rank_resamples(
    runs: pd.DataFrame,
    *,
    weights: Weights,
    n_resamples: int,
    make_rng: Callable[..., np.random.Generator],
) -> Ranks:
    """Ranks of all models by name in each resample of datasets, shape (models, n_resamples)."""
    datasets = sorted(runs["dataset"].unique())
    replicates = []
    for model, own in runs.groupby("model", sort=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist(), weights=weights)
        names = sorted(own["dataset"].unique())
        pool, rng = DatasetPool(datasets, make_rng()), make_rng(str(model))
        row = np.empty(n_resamples)
        for block in iterate_blocks(n_resamples, runs=len(own)):
            width = block.stop - block.start
            times = draw_datasets(names, pool=pool, n_resamples=width, rng=rng)
            row[block] = evaluate_statistic("iqm", strata, repeat_datasets(strata, times))
        replicates.append(row)
    return rank_replicates(replicates, np.zeros(len(replicates)))
