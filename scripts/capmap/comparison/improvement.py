"""Probability of improvement: how often a run of one model beats a run of another."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.comparison.pairwise import has_enough_runs
from capmap.comparison.score_matrix import BoolArray, Pairs, ScoreMatrix, arrange_runs, list_pairs
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.ranking.resampling import (
    Counts,
    DatasetPool,
    draw_datasets,
    draw_resamples,
    stratify_runs,
)
from capmap.settings.choices import Unit

EXACT_PRODUCT = 1 << 24
BLOCK_RESAMPLES = 512


class RunTable(NamedTuple):
    """All runs by dataset, model and score, with their resamples.

    Parameters
    ----------
    scores : numpy.ndarray, shape (runs,)
        Normalized scores.
    starts, stops : numpy.ndarray of int, shape (datasets, models)
        Where the runs of each cell begin and end.
    counts : numpy.ndarray of unsigned int, shape (runs, 1 + n_resamples)
        How often each run is in the runs themselves (once), and in each resample.
    """

    scores: FloatArray
    starts: IntArray
    stops: IntArray
    counts: Counts


class SharedDraws(NamedTuple):
    """Draws of the datasets that a model shares with each later one.

    Parameters
    ----------
    owners : numpy.ndarray of int, shape (later models,)
        Which set of datasets each later model shares with this one.
    times : numpy.ndarray of unsigned int, shape (sets, datasets, 1 + n_resamples)
        How often each dataset counts: once in the estimate, then as drawn.
    """

    owners: IntArray
    times: Counts


def estimate_improvement(
    runs: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
    unit: Unit,
    make_rng: Callable[[str], np.random.Generator],
    make_dataset_rng: Callable[[Sequence[str]], np.random.Generator],
) -> pd.DataFrame:
    """Estimate for every pair of models how probably a run of the first beats one of the second.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per run.
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Between 0 and 1.
    unit : {"runs", "seeds", "runs_and_datasets"}
        What is resampled: runs within each dataset, or the shared datasets too. Over seeds there is
        no interval.
    make_rng : callable
        The random generator of a model, by its name, for drawing its runs.
    make_dataset_rng : callable
        The random generator for drawing datasets, by the names of those that a pair shares; not
        called unless datasets are resampled.

    Returns
    -------
    pandas.DataFrame
        A row per pair with ``model_a`` before ``model_b``, ordered by both: ``p_improvement``,
        ``p_improvement_low`` and ``p_improvement_high``. NaN for a pair without a shared dataset.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    Mean over the shared datasets, each with the same weight, of the share of pairs of runs in
    which the first model's run is better; equal runs count half. Runs are compared digit by digit,
    as rliable does: equal raw scores have equal normalized ones. Intervals are percentiles of a
    stratified bootstrap. Each model's runs are drawn by its own stream, the same against all
    others, and pairs with the same datasets draw the same ones, so a pair's values depend on no
    other model. A dataset drawn twice counts twice with the same runs. Intervals are empty unless
    at least half of the shared cells of each model have two or more runs; where datasets are drawn,
    two of them are needed as well. They are also empty where all resamples agree, as where the
    ranges of runs do not overlap on any dataset: that is no certainty.

    References
    ----------
    Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical
    precipice. NeurIPS 34.
    """
    matrix = arrange_runs(runs)
    pairs = list_pairs(len(matrix.models))
    table = _tabulate_runs(runs, matrix, n_resamples, make_rng)
    columns = np.full((3, len(pairs.first)), np.nan)
    tail = (1 - confidence_level) / 2
    end = 0
    for model in range(len(matrix.models) - 1):
        start, end = end, end + len(matrix.models) - model - 1
        times = None
        if unit == "runs_and_datasets":
            times = _draw_shared(matrix, model, n_resamples, make_dataset_rng)
        replicates = _replicate_model(table, matrix, model, times)
        columns[0, start:end] = replicates[:, 0]
        columns[1:, start:end] = np.quantile(replicates[:, 1:], [tail, 1 - tail], axis=-1)
    is_flat = columns[1] == columns[2]
    columns[1:, is_flat | ~_has_interval(matrix, pairs, unit)] = np.nan
    names = np.array(matrix.models, dtype=object)
    return pd.DataFrame(
        {
            "model_a": names[pairs.first],
            "model_b": names[pairs.second],
            "p_improvement": columns[0],
            "p_improvement_low": columns[1],
            "p_improvement_high": columns[2],
        }
    )


def _has_interval(matrix: ScoreMatrix, pairs: Pairs, unit: Unit) -> BoolArray:
    least = 2 if unit == "runs_and_datasets" else 1
    shared = (matrix.is_filled[pairs.first] & matrix.is_filled[pairs.second]).sum(axis=-1)
    return np.asarray(has_enough_runs(matrix, pairs) & (shared >= least) & (unit != "seeds"))


def _tabulate_runs(
    runs: pd.DataFrame,
    matrix: ScoreMatrix,
    n_resamples: int,
    make_rng: Callable[[str], np.random.Generator],
) -> RunTable:
    models = np.searchsorted(np.array(matrix.models, dtype=object), runs["model"].astype(object))
    datasets = np.searchsorted(
        np.array(matrix.datasets, dtype=object), runs["dataset"].astype(object)
    )
    scores = runs["score"].to_numpy(dtype=np.float64)
    order = np.lexsort((scores, models, datasets))
    owners = models[order]
    sizes = matrix.counts.T
    stops = np.cumsum(sizes).reshape(sizes.shape)
    counts = np.ones((len(runs), 1 + n_resamples), dtype=np.min_scalar_type(int(sizes.max())))
    for place, model in enumerate(matrix.models):
        own = np.flatnonzero(owners == place)
        strata = stratify_runs(scores[order[own]], datasets[order[own]].tolist())
        resamples = draw_resamples(strata, n_resamples=n_resamples, rng=make_rng(model))
        counts[own, 1:] = resamples.counts[np.argsort(strata.datasets, kind="stable")]
    return RunTable(scores[order], stops - sizes, stops, counts)


def _draw_shared(
    matrix: ScoreMatrix,
    model: int,
    n_resamples: int,
    make_rng: Callable[[Sequence[str]], np.random.Generator],
) -> SharedDraws:
    shared = matrix.is_filled[model] & matrix.is_filled[model + 1 :]
    sets, owners = np.unique(shared, axis=0, return_inverse=True)
    times = np.zeros((*sets.shape, 1 + n_resamples), dtype=np.uint8)
    for part, chosen in zip(times, sets, strict=True):
        names = [name for name, is_in in zip(matrix.datasets, chosen, strict=True) if is_in]
        part[chosen, 0] = 1
        if names:
            rng = make_rng(names)
            pool = DatasetPool(names, rng)
            part[chosen, 1:] = draw_datasets(names, pool=pool, n_resamples=n_resamples, rng=rng)
    return SharedDraws(owners.ravel(), times)


def _replicate_model(
    table: RunTable, matrix: ScoreMatrix, model: int, draws: SharedDraws | None
) -> FloatArray:
    """Estimate and replicates of a model against all later ones, shape (models, 1 + resamples)."""
    filled = matrix.is_filled
    replicates = np.zeros((len(filled) - model - 1, table.counts.shape[1]))
    for dataset in np.flatnonzero(filled[model]).tolist():
        rivals = np.flatnonzero(filled[model + 1 :, dataset])
        if len(rivals):
            shares = _share_wins(table, dataset, model, rivals + model + 1)
            if draws is not None:
                shares *= draws.times[draws.owners[rivals], dataset]
            replicates[rivals] += shares
    shared = (filled[model] & filled[model + 1 :]).sum(axis=-1)
    replicates[shared == 0] = np.nan
    replicates /= np.maximum(shared, 1)[:, None]
    return replicates


def _share_wins(table: RunTable, dataset: int, model: int, rivals: IntArray) -> FloatArray:
    """Share of pairs of runs that a model wins against each rival on a dataset.

    Numbers of wins are sums of small integers, so they are exact whatever the order of summation.
    """
    starts, sizes = table.starts[dataset], (table.stops - table.starts)[dataset]
    own = slice(int(starts[model]), int(table.stops[dataset, model]))
    most = max(sizes[model], sizes[rivals].max())
    kind = np.float32 if 2 * most**2 < EXACT_PRODUCT else np.float64
    above = np.zeros((sizes[model] + 1, table.counts.shape[1]), dtype=kind)
    np.cumsum(table.counts[own][::-1], axis=0, out=above[-2::-1])
    wins = np.empty((len(rivals), table.counts.shape[1]))
    for size in np.unique(sizes[rivals]).tolist():
        chosen = np.flatnonzero(sizes[rivals] == size)
        rows = starts[rivals[chosen], None] + np.arange(size)
        scores = table.scores[rows]
        better = np.searchsorted(table.scores[own], scores, side="right")
        equal = np.searchsorted(table.scores[own], scores, side="left")
        for first in range(0, wins.shape[1], BLOCK_RESAMPLES):
            block = slice(first, first + BLOCK_RESAMPLES)
            doubled: npt.NDArray[Any] = above[better, block] + above[equal, block]
            drawn: npt.NDArray[Any] = table.counts[rows, block].astype(kind)
            wins[chosen, block] = np.einsum("rsb,rsb->rb", doubled, drawn)
        wins[chosen] /= 2.0 * sizes[model] * size
    return wins
