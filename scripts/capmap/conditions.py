"""How alike two conditions of the same models, such as two studies, rank them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from capmap.aggregation import TRIMMED, FloatArray, IntArray, rank_competitors
from capmap.bootstrap.datasets import DatasetPool, draw_datasets
from capmap.bootstrap.intervals import take_percentiles
from capmap.bootstrap.resampling import Resamples, Strata, stratify_runs
from capmap.bootstrap.statistics import average_datasets, evaluate_statistic, take_once, trim_means
from capmap.normalization import count_runs

Method = Literal["iqm", "mean", "trimmed_mean", "median"]

AGREEMENT = {
    "condition": "str",
    "statistic": "str",
    "estimate": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "models": "int64",
    "datasets": "int64",
    "cells_unused": "int64",
}
RANKS = {
    "condition": "str",
    "model": "str",
    "score": "float64",
    "rank": "int64",
    "score_other": "float64",
    "rank_other": "int64",
    "change": "int64",
}


@dataclass(frozen=True)
class Options:
    """How to compare conditions.

    Parameters
    ----------
    aggregation : {"iqm", "mean", "trimmed_mean", "median"}
        What ranks the models: the interquartile mean of runs, datasets weighing the same, or an
        aggregate of the means of datasets.
    n_resamples : int
        Number of resamples of the datasets.
    confidence_level : float
        Between 0 and 1.
    """

    aggregation: Method = "iqm"
    n_resamples: int = 2000
    confidence_level: float = 0.95


@dataclass(frozen=True)
class _Common:
    """The runs of two conditions for the models and datasets that can be compared."""

    models: list[str]
    datasets: list[str]
    sides: tuple[pd.DataFrame, pd.DataFrame]
    cells_unused: int


def compare_condition(
    runs: pd.DataFrame,
    other: pd.DataFrame,
    *,
    condition: str,
    options: Options,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare how two conditions rank the models that both have.

    Parameters
    ----------
    runs, other : pandas.DataFrame
        Normalized runs of each condition: ``model``, ``dataset`` and ``score``.
    condition : str
        Name of the other condition.
    options : Options
        How to compare.
    rng : numpy.random.Generator
        Draws the datasets; both conditions share the draws.

    Returns
    -------
    agreement : pandas.DataFrame
        Two rows, ``kendall_tau`` and ``spearman_rho``, in the column ``statistic``, with
        ``condition``, ``estimate``, ``ci_low``, ``ci_high``, ``models``, ``datasets`` (compared)
        and ``cells_unused``.
    ranks : pandas.DataFrame
        A row per model, by rank, then name: ``condition``, ``model``, ``score``, ``rank``,
        ``score_other``, ``rank_other`` and ``change`` (``rank_other - rank``). Ranks are those of
        a competition among these models on these datasets.

    Notes
    -----
    Compared are the models that both conditions have, on the datasets that both have and on which
    each of these models has runs in both. ``cells_unused`` counts cells of common models and common
    datasets, of either condition, that have runs and are not used, because another cell is empty.

    Kendall's tau is tau-b and Spearman's rho rests on average ranks, so ties are allowed for. Both
    are NaN for fewer than two models or datasets, or if all models of a condition are equal.
    Intervals are percentiles over resamples of the datasets, with the runs as they are; resamples
    in which a coefficient is not defined are left out. Resampling makes both rankings noisier, so
    the coefficients of resamples tend to be lower than the estimate. An interval that would leave
    the estimate out is stretched to it.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239–251.
    """
    common = _choose_common(runs, other)
    n_models, n_datasets = len(common.models), len(common.datasets)
    coefficients = np.full((2, 3), np.nan)
    ranks = pd.DataFrame(columns=list(RANKS))
    if n_models and n_datasets:
        models = [_stratify_models(side) for side in common.sides]
        scores = [_score_models(side, options.aggregation)[:, 0] for side in models]
        ranks = _tabulate_ranks(common.models, scores[0], scores[1])
        if n_models > 1 and n_datasets > 1:
            times = draw_datasets(
                common.datasets,
                pool=DatasetPool(common.datasets, rng),
                n_resamples=options.n_resamples,
                rng=rng,
            )
            drawn = [_score_models(side, options.aggregation, times) for side in models]
            coefficients = _correlate(scores, drawn, confidence_level=options.confidence_level)
    agreement = pd.DataFrame(coefficients, columns=["estimate", "ci_low", "ci_high"]).assign(
        statistic=["kendall_tau", "spearman_rho"],
        models=n_models,
        datasets=n_datasets,
        cells_unused=common.cells_unused,
    )
    return (
        agreement.assign(condition=condition)[list(AGREEMENT)].astype(AGREEMENT),
        ranks.assign(condition=condition)[list(RANKS)].astype(RANKS),
    )


def compute_kendall_tau(ranks: IntArray, others: IntArray) -> FloatArray:
    """Kendall's tau-b of many pairs of rankings at once.

    Parameters
    ----------
    ranks, others : numpy.ndarray of int, shape (models, resamples)
        Competition ranks, or any numbers with their order.

    Returns
    -------
    numpy.ndarray, shape (resamples,)
        From -1 to 1; NaN where all models are equal in one of the rankings.

    Examples
    --------
    >>> compute_kendall_tau(np.array([[1], [2], [3]]), np.array([[1], [3], [2]])).round(3).tolist()
    [0.333]
    """
    agreed, apart, apart_other = np.zeros((3, ranks.shape[1]), dtype=np.int64)
    for place in range(len(ranks) - 1):
        order = _compare_signs(ranks, place)
        order_other = _compare_signs(others, place)
        agreed += (order * order_other).sum(axis=0, dtype=np.int64)
        apart += np.count_nonzero(order, axis=0)
        apart_other += np.count_nonzero(order_other, axis=0)
    return _divide(agreed, np.sqrt(apart * apart_other))


def compute_spearman_rho(ranks: IntArray, others: IntArray) -> FloatArray:
    """Spearman's rho of many pairs of rankings at once.

    Parameters
    ----------
    ranks, others : numpy.ndarray of int, shape (models, resamples)
        Competition ranks.

    Returns
    -------
    numpy.ndarray, shape (resamples,)
        From -1 to 1; NaN where all models are equal in one of the rankings.

    Examples
    --------
    >>> compute_spearman_rho(np.array([[1], [2], [3]]), np.array([[1], [3], [2]])).tolist()
    [0.5]
    """
    first, second = (_center_ranks(side) for side in (ranks, others))
    spread = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    return _divide((first * second).sum(axis=0), spread)


def _choose_common(runs: pd.DataFrame, other: pd.DataFrame) -> _Common:
    models, datasets = (sorted(set(runs[kind]) & set(other[kind])) for kind in ("model", "dataset"))
    sides = [
        side[side["model"].isin(models) & side["dataset"].isin(datasets)] for side in (runs, other)
    ]
    is_filled = np.array(
        [count_runs(side).reindex(models, columns=datasets, fill_value=0) > 0 for side in sides]
    )
    is_complete = np.asarray(is_filled.all(axis=(0, 1)))
    used = [dataset for dataset, kept in zip(datasets, is_complete, strict=True) if kept and models]
    first, second = (side[side["dataset"].isin(used)] for side in sides)
    cells_unused = int(is_filled.sum()) - 2 * len(models) * len(used)
    return _Common(models, used, (first, second), cells_unused)


def _stratify_models(runs: pd.DataFrame) -> list[Strata]:
    """The runs of each model, by name."""
    return [
        stratify_runs(own["score"], own["dataset"].tolist(), weights="datasets")
        for _, own in runs.groupby("model", sort=True)
    ]


def _score_models(
    models: Sequence[Strata], method: Method, times: IntArray | None = None
) -> FloatArray:
    """Aggregate score of each model in each resample of datasets, shape (models, resamples)."""
    if times is None:
        times = np.ones((len(models[0].draws), 1), dtype=np.intp)
    if method == "iqm":
        return np.array([_trim_runs(strata, times) for strata in models])
    cut = _count_cut(method, len(times))
    return np.array([_trim_datasets(strata, times, cut=cut) for strata in models])


def _count_cut(method: Method, n: int) -> int:
    """How many of n means of datasets a method cuts from either end."""
    if method == "trimmed_mean":
        return int(TRIMMED * n)
    return (n - 1) // 2 if method == "median" else 0


def _trim_runs(strata: Strata, times: IntArray) -> FloatArray:
    runs = strata.draws[:, None] * times
    resamples = Resamples(
        counts=times[strata.datasets],
        runs=runs.sum(axis=0).astype(np.float64),
        total=(runs * strata.dataset_weights[:, None]).sum(axis=0),
        times=times,
    )
    return evaluate_statistic("iqm", strata, resamples)


def _trim_datasets(strata: Strata, times: IntArray, *, cut: int) -> FloatArray:
    """Mean of the means of datasets without some of the lowest and as many of the highest."""
    means = average_datasets(strata, take_once(strata))[:, 0]
    order = np.argsort(means, kind="stable")
    n = len(means)
    return trim_means(
        means[order], times, order=order, weights=np.ones(n), cut=cut, kept=n - 2 * cut
    )


def _tabulate_ranks(models: list[str], scores: FloatArray, others: FloatArray) -> pd.DataFrame:
    ranks, ranks_other = rank_competitors(scores), rank_competitors(others)
    table = pd.DataFrame(
        {
            "model": models,
            "score": scores,
            "rank": ranks,
            "score_other": others,
            "rank_other": ranks_other,
            "change": ranks_other - ranks,
        }
    )
    return table.sort_values(["rank", "model"], ignore_index=True)


def _correlate(
    scores: Sequence[FloatArray], drawn: Sequence[FloatArray], *, confidence_level: float
) -> FloatArray:
    """Estimate and ends of the interval (columns) of tau and rho (rows)."""
    points = [_rank_models(side[:, None]) for side in scores]
    replicates = [_rank_models(side) for side in drawn]
    rows = []
    for correlate in (compute_kendall_tau, compute_spearman_rho):
        estimate = float(correlate(*points)[0])
        values = correlate(*replicates)
        values = values[np.isfinite(values)]
        low, high = np.nan, np.nan
        if np.isfinite(estimate) and len(values):
            low, high = take_percentiles(values, confidence_level=confidence_level)
            low, high = min(low, estimate), max(high, estimate)
        rows.append((estimate, low, high))
    return np.array(rows)


def _rank_models(scores: FloatArray) -> IntArray:
    ranks: IntArray = rank_competitors(scores.T).T.astype(np.min_scalar_type(-len(scores)))
    return ranks


def _compare_signs(ranks: IntArray, place: int) -> IntArray:
    """Order of one model and each later one: -1, 0 or 1."""
    return np.asarray(np.sign(ranks[place] - ranks[place + 1 :]))


def _center_ranks(ranks: IntArray) -> FloatArray:
    return pd.DataFrame(ranks).rank(axis=0).to_numpy(np.float64) - (len(ranks) + 1) / 2


def _divide(numbers: FloatArray | IntArray, by: FloatArray) -> FloatArray:
    quotients = np.full(len(by), np.nan)
    np.divide(numbers, by, out=quotients, where=by > 0)
    return quotients
