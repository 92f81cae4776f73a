"""Ranks with their uncertainty, from the joint replicates of all models."""

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.aggregation import FloatArray, IntArray, rank_competitors

Best = Literal["max", "min"]
Ranks = npt.NDArray[np.signedinteger[Any]]

CHUNK_CELLS = 1 << 20


def rank_estimates(
    models: pd.DataFrame,
    replicates: Sequence[FloatArray],
    *,
    confidence_level: float,
    best: Best = "max",
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
    low, high = bound_ranks(joint[is_sure], confidence_level=confidence_level)
    table.loc[is_sure, "rank_low"] = np.minimum(low, ranks[order][is_sure])
    table.loc[is_sure, "rank_high"] = np.maximum(high, ranks[order][is_sure])
    groups = group_ties(joint[is_sure], confidence_level=confidence_level)
    table.loc[is_sure, "ties"] = name_groups(groups, n=int(is_sure.sum()))
    return table


def rank_replicates(
    replicates: Sequence[FloatArray], estimates: npt.ArrayLike, *, best: Best = "max"
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


def bound_ranks(ranks: Ranks, *, confidence_level: float) -> tuple[IntArray, IntArray]:
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


def group_ties(ranks: Ranks, *, confidence_level: float) -> list[range]:
    """Find the maximal groups of consecutive models in which no pair can be separated.

    Parameters
    ----------
    ranks : numpy.ndarray of int, shape (models, resamples)
        Ranks in each replicate, models in the order of their estimates.
    confidence_level : float
        Between 0 and 1.

    Returns
    -------
    list of range
        Places of the models of each group. Groups overlap where A and B, and B and C, cannot be
        separated, but A and C can.

    Notes
    -----
    Two models are separated when the percentile interval of the difference of their replicates,
    with ends that are attained, leaves out 0. Only signs of differences matter for that, and ranks
    keep them.
    """
    tail = _count_tail(ranks, confidence_level=confidence_level)
    groups: list[range] = []
    first = 0
    for place in range(1, len(ranks)):
        start = _find_start(ranks, place, first=first, tail=tail)
        if start > first:
            groups.append(range(first, place))
        first = start
    return [*groups, range(first, len(ranks))]


def name_groups(groups: Sequence[range], *, n: int) -> list[str]:
    """Letters of the groups that each of n models belongs to.

    Notes
    -----
    Groups are named a, b, …, z, aa, ab, …. A model's letters stand side by side (``"ab"``), or
    with spaces between them (``"z aa"``) where there are more than 26 groups.

    Examples
    --------
    >>> name_groups([range(0, 2), range(1, 3)], n=3)
    ['a', 'ab', 'b']
    """
    names: list[list[str]] = [[] for _ in range(n)]
    for number, group in enumerate(groups):
        for place in group:
            names[place].append(_name_number(number))
    separator = "" if len(groups) <= len(ascii_lowercase) else " "
    return [separator.join(letters) for letters in names]


def _find_start(ranks: Ranks, place: int, *, first: int, tail: int) -> int:
    """The first model from which on none is separated from the one at a place."""
    step = max(CHUNK_CELLS // ranks.shape[1], 1)
    for last in range(place, first, -step):
        start: int = max(last - step, first)
        others = ranks[start:last]
        not_better = np.count_nonzero(others >= ranks[place], axis=1)
        not_worse = np.count_nonzero(others <= ranks[place], axis=1)
        separated = np.flatnonzero((not_better <= tail) | (not_worse <= tail))
        if len(separated):
            return start + int(separated[-1]) + 1
    return first


def _count_tail(ranks: Ranks, *, confidence_level: float) -> int:
    """How many replicates lie beyond an end of a percentile interval."""
    place: float = (ranks.shape[1] - 1) * (1 - confidence_level) / 2
    return math.floor(round(place, ndigits=9))


def _name_number(number: int) -> str:
    name = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, len(ascii_lowercase))
        name = ascii_lowercase[letter] + name
    return name
