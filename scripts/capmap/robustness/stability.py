"""How sure ranks are if the datasets had been others of the same kind."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.bootstrap.datasets import DatasetPool, draw_datasets
from capmap.bootstrap.ranks import Ranks, rank_replicates
from capmap.bootstrap.resampling import Weights, iterate_blocks, stratify_runs
from capmap.robustness.variations import average_drawn

CONFIDENCE_LEVEL = 0.95
ROUNDING = 1e-9
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
    make_rng : callable
        Makes a random generator: ``make_rng()`` of the study, ``make_rng(model)`` of a model.

    Returns
    -------
    Stability
        ``stability``: a row per model, by reported rank, then name: ``rank`` (reported),
        ``p_best``, ``p_top``, ``top``, ``rank_mean``, and ``rank_low`` and ``rank_high``, between
        which 95% of the resamples lie, rounded outwards.

        ``distribution``: ``model``, ``rank`` and ``share`` of the resamples, in the same order,
        then by rank; shares of 0 are left out.

    Notes
    -----
    Datasets are drawn as in `capmap.bootstrap.datasets.draw_datasets`, the same for all models,
    each with all its runs: those are not resampled. Models that tie share their ranks equally: two
    best models have rank 1 and 2 half the time each. So ``p_best`` sums to 1 over all models and
    ``p_top`` to `top`, unless there are fewer models.
    """
    models = sorted(reported)
    ranks = _rank_resamples(runs, weights=weights, n_resamples=n_resamples, make_rng=make_rng)
    shares = distribute_ranks(ranks)
    reached = np.cumsum(shares, axis=1)
    low, high = bound_shares(shares, n_resamples=n_resamples)
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
    places = ranks.astype(np.intp) - 1
    cells = places * resamples + np.arange(resamples)
    tied = np.bincount(cells.ravel(), minlength=n * resamples)[cells]
    targets = places + n * np.arange(n)[:, None]
    total = np.zeros(n * n)
    for further in range(int(tied.max())):
        is_sharing = tied > further
        total += np.bincount(targets[is_sharing] + further, 1 / tied[is_sharing], minlength=n * n)
    return np.asarray(total.reshape(n, n) / resamples)


def bound_shares(shares: FloatArray, *, n_resamples: int) -> tuple[IntArray, IntArray]:
    """Ranks between which 95% of the resamples lie.

    Parameters
    ----------
    shares : numpy.ndarray, shape (models, models)
        From `distribute_ranks`.
    n_resamples : int
        Of how many resamples.

    Returns
    -------
    low, high : numpy.ndarray of int, shape (models,)
        Best and worst rank of each model. Without ties they are those of
        `capmap.bootstrap.ranks.bound_ranks`.
    """
    reached = np.cumsum(shares, axis=1)
    tail = math.floor((n_resamples - 1) * (1 - CONFIDENCE_LEVEL) / 2 + ROUNDING) / n_resamples
    low = 1 + (reached <= tail + ROUNDING).sum(axis=1)
    high = 1 + (reached < 1 - tail - ROUNDING).sum(axis=1)
    return low, high


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
            row[block] = average_drawn(strata, times)
        replicates.append(row)
    return rank_replicates(replicates, np.zeros(len(replicates)))
