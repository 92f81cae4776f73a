"""Ranks with their uncertainty, from the joint replicates of all models."""

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.ranking.aggregation import FloatArray, IntArray, rank_competitors
from capmap.ranking.statistics import STATISTICS
from capmap.settings.choices import Direction, Statistic

Ranks = npt.NDArray[np.signedinteger[Any]]

CHUNK_CELLS = 1 << 20


def rank_estimates(
    models: pd.DataFrame,
    replicates: Sequence[FloatArray],
    *,
    confidence_level: float,
    best: Direction = "max",
) -> pd.DataFrame:
    """Rank models, with rank intervals and groups of models that cannot be separated.

    Parameters
    ----------
    models : pandas.DataFrame
        Columns ``model`` and ``estimate`` and any others.
    replicates : sequence of numpy.ndarray, shape (resamples,) or (0,)
        Replicates of each model; the n-th of all models belong together. Empty for a model without
        an interval.
    confidence_level : float
        Between 0 and 1.
    best : {"max", "min"}, optional
        Which end has rank 1.

    Returns
    -------
    pandas.DataFrame
        The models by rank, then name, with the further columns ``rank`` (competition ranks),
        ``rank_low``, ``rank_high`` (missing without an interval) and ``ties`` (letters of the
        groups, empty without an interval).

    Raises
    ------
    ValueError
        If an estimate or replicate is NaN or infinite.

    Notes
    -----
    Models without an interval are held at their estimate in the replicates of the others' ranks.
    """
    ranks = rank_competitors(models["estimate"], best=best)
    order = np.lexsort((models["model"].astype(object), ranks))
    table = models.iloc[order].assign(rank=ranks[order]).reset_index(drop=True)
    missing = pd.array([pd.NA] * len(table), dtype="Int64")
    table = table.assign(rank_low=missing, rank_high=missing, ties="")
    is_sure = np.array([len(replicates[place]) > 0 for place in order])
    if not is_sure.any():
        return table
    joint = rank_replicates([replicates[place] for place in order], table["estimate"], best=best)
    low, high = rank_intervals(joint[is_sure], confidence_level=confidence_level)
    table.loc[is_sure, "rank_low"] = np.minimum(low, ranks[order][is_sure])
    table.loc[is_sure, "rank_high"] = np.maximum(high, ranks[order][is_sure])
    groups = group_ties(joint[is_sure], confidence_level=confidence_level)
    table.loc[is_sure, "ties"] = compact_letter_display(groups, n=int(is_sure.sum()))
    return table


def rank_statistic(
    estimates: pd.DataFrame, statistic: Statistic, *, confidence_level: float
) -> pd.DataFrame:
    """Rank models by one statistic, as `rank_estimates` does.

    Parameters
    ----------
    estimates : pandas.DataFrame
        As `bootstrap_models` returns them, of this statistic.
    statistic : {"iqm", "mean", "median", "optimality_gap"}
        Says which end has rank 1.
    confidence_level : float
        Between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        `estimates` without ``replicates``, with ``rank``, ``rank_low``, ``rank_high`` and ``ties``.
    """
    return rank_estimates(
        estimates.drop(columns="replicates"),
        estimates["replicates"].tolist(),
        confidence_level=confidence_level,
        best=STATISTICS[statistic].best,
    )


def rank_replicates(
    replicates: Sequence[FloatArray], estimates: npt.ArrayLike, *, best: Direction = "max"
) -> Ranks:
    """Competition ranks of all models in each replicate.

    Parameters
    ----------
    replicates : sequence of numpy.ndarray, shape (resamples,) or (0,)
        Replicates of each model, not all empty.
    estimates : array_like, shape (models,)
        Held in every replicate for models whose replicates are empty.
    best : {"max", "min"}, optional
        Which end has rank 1.

    Returns
    -------
    numpy.ndarray of int, shape (models, resamples)
        The ranks, as small integers.
    """
    points = np.asarray(estimates, dtype=np.float64)
    n_resamples = max(len(row) for row in replicates)
    ranks = np.empty((len(points), n_resamples), dtype=np.min_scalar_type(-len(points)))
    step = max(CHUNK_CELLS // len(points), 1)
    for first in range(0, n_resamples, step):
        width = min(step, n_resamples - first)
        chunk = np.empty((width, len(points)))
        for place, row in enumerate(replicates):
            chunk[:, place] = row[first : first + width] if len(row) else points[place]
        ranks[:, first : first + width] = rank_competitors(chunk, best=best).T
    return ranks


def rank_intervals(ranks: Ranks, *, confidence_level: float) -> tuple[IntArray, IntArray]:
    """Percentile intervals of ranks, with ends that some replicate attains.

    Parameters
    ----------
    ranks : numpy.ndarray of int, shape (models, resamples)
        From `rank_replicates`.
    confidence_level : float
        Between 0 and 1.

    Returns
    -------
    low, high : numpy.ndarray of int, shape (models,)
        Best and worst rank of each model; rounded outwards where a percentile falls between two.
    """
    last = ranks.shape[1] - 1
    tail = _count_tail(ranks, confidence_level=confidence_level)
    ends = np.partition(ranks, sorted({tail, last - tail}), axis=1)
    return ends[:, tail].astype(np.intp), ends[:, last - tail].astype(np.intp)


def group_ties(ranks: Ranks, *, confidence_level: float) -> list[list[int]]:
    """Find groups of models in which no pair can be separated, so that they tell all such pairs.

    Parameters
    ----------
    ranks : numpy.ndarray of int, shape (models, resamples)
        Ranks in each replicate, models in the order of their estimates.
    confidence_level : float
        Between 0 and 1.

    Returns
    -------
    list of list of int
        Places of the models of each group, by its first models. Two models share a group exactly
        if they cannot be separated.

    Notes
    -----
    Two models are separated when the percentile interval of the difference of their replicates,
    with ends that are attained, leaves out 0. Only signs of differences matter for that, and ranks
    keep them. A group need not be consecutive: a close rival that hardly varies can be separated
    from the best model while a weaker one that varies much cannot.
    """
    return list_groups(~separate_pairs(ranks, confidence_level=confidence_level))


def list_groups(tied: npt.NDArray[np.bool_]) -> list[list[int]]:
    """List groups of models in which all pairs are tied, so that they tell all such pairs.

    Parameters
    ----------
    tied : numpy.ndarray of bool, shape (models, models)
        Which models cannot be separated, symmetric, models from the best on.

    Returns
    -------
    list of list of int
        Places of the models of each group, by its first models. Two models share a group exactly
        if they are tied; a model that is tied with none is a group of its own.

    Notes
    -----
    Each pair that no group tells yet starts one, which then takes in every model, from the best on,
    that is tied with all members: a compact letter display.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise
    comparisons. Journal of Computational and Graphical Statistics 13, 456–466.

    Examples
    --------
    >>> list_groups(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool))
    [[0, 1], [1, 2]]
    """
    told = np.eye(len(tied), dtype=np.bool_)
    groups = []
    for first in range(len(tied)):
        while (untold := np.flatnonzero(tied[first] & ~told[first])).size:
            groups.append(_grow_group(tied, first, int(untold[0])))
            told[np.ix_(groups[-1], groups[-1])] = True
        if told[first].sum() == 1:
            groups.append([first])
    return sorted(groups)


def separate_pairs(ranks: Ranks, *, confidence_level: float) -> npt.NDArray[np.bool_]:
    """Which pairs of models can be separated, shape (models, models); see `group_ties`."""
    tail = _count_tail(ranks, confidence_level=confidence_level)
    separated = np.zeros((len(ranks), len(ranks)), dtype=np.bool_)
    best, worst = ranks.min(axis=1), ranks.max(axis=1)
    step = max(CHUNK_CELLS // ranks.shape[1], 1)
    for place in range(len(ranks) - 1):
        separated[place] |= (worst[place] < best) | (worst < best[place])
        near = place + 1 + np.flatnonzero(~separated[place, place + 1 :])
        for others in np.split(near, range(step, len(near), step)):
            not_better = np.count_nonzero(ranks[others] >= ranks[place], axis=1)
            not_worse = np.count_nonzero(ranks[others] <= ranks[place], axis=1)
            separated[place, others] = (not_better <= tail) | (not_worse <= tail)
    return separated | separated.T


def _grow_group(tied: npt.NDArray[np.bool_], first: int, second: int) -> list[int]:
    group = [first, second]
    allowed = tied[first] & tied[second]
    allowed[group] = False
    while allowed.any():
        member = int(allowed.argmax())
        group.append(member)
        allowed &= tied[member]
        allowed[member] = False
    return sorted(group)


def compact_letter_display(groups: Sequence[Sequence[int]], *, n: int) -> list[str]:
    """Compact letter display: the letters of the groups that each of n models belongs to.

    Notes
    -----
    Groups are named a, b, …, z, a2, b2, …, and a model's names stand side by side (``"ab"``).

    Examples
    --------
    >>> compact_letter_display([range(0, 2), range(1, 3)], n=3)
    ['a', 'ab', 'b']
    """
    names: list[list[str]] = [[] for _ in range(n)]
    for number, group in enumerate(groups):
        for place in group:
            names[place].append(_name_number(number))
    return ["".join(letters) for letters in names]


def _count_tail(ranks: Ranks, *, confidence_level: float) -> int:
    """How many replicates lie beyond an end of a percentile interval."""
    place: float = (ranks.shape[1] - 1) * (1 - confidence_level) / 2
    return math.floor(round(place, ndigits=9))


def _name_number(number: int) -> str:
    round_number, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(round_number + 1) if round_number else "")
