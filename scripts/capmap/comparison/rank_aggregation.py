"""Rankings by votes of the datasets, and how many datasets keep the leader in its place."""

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse import csgraph

from capmap.comparison.score_matrix import BoolArray, ScoreMatrix
from capmap.ranking.aggregation import FloatArray, rank_competitors, round_significant

MOST_EXACT = 14
NEGLIGIBLE = 1e-12
VOTES = [
    *("model", "borda", "copeland", "condorcet"),
    *("rank_borda", "rank_copeland", "rank_kemeny"),
]
DETHRONING = ["leader", "model", "datasets", "removed", "left_out"]


def count_votes(means: FloatArray) -> FloatArray:
    """Count on how many datasets each model is better than each other one; ties count half.

    Parameters
    ----------
    means : numpy.ndarray, shape (models, datasets)
        NaN where a cell is empty.

    Returns
    -------
    numpy.ndarray, shape (models, models)
        Row before column.
    """
    votes = np.zeros((len(means),) * 2)
    for column in round_significant(means).T:
        above = column[:, None] - column
        votes += np.where(np.isnan(above), 0, (np.sign(above) + 1) / 2)
    np.fill_diagonal(votes, 0)
    return votes


def aggregate_votes(matrix: ScoreMatrix) -> pd.DataFrame:
    """Rank models by what each dataset says of their order.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores; a dataset orders the models that it has.

    Returns
    -------
    pandas.DataFrame
        A row per model, by Borda rank and name: ``borda`` (mean share of rivals that a model is
        better than, over its datasets, ties half), ``copeland`` (number of rivals that it beats on
        more datasets than they it, ties half), ``condorcet`` (whether that is all of them),
        ``rank_borda``, ``rank_copeland`` and ``rank_kemeny`` (missing where more than 14 models
        beat each other in a circle).

    References
    ----------
    Rofin, M. et al. (2023). Vote'n'Rank: Revision of benchmarking with social choice theory. EACL.
    """
    filled, n = matrix.is_filled, len(matrix.models)
    rivals = np.maximum(filled.sum(axis=0) - 1, 1)
    shares = np.array([_share_beaten(column) for column in matrix.means.T]).reshape(-1, n).T
    counted = filled & (filled.sum(axis=0) > 1)
    sums = np.where(counted, shares / rivals, 0).sum(axis=1)
    borda = sums / np.maximum(counted.sum(axis=1), 1)
    votes = count_votes(matrix.means)
    lead = np.sign(votes - votes.T)
    copeland = (lead > 0).sum(axis=1) + ((lead == 0).sum(axis=1) - 1) / 2
    table = pd.DataFrame(
        {
            "model": matrix.models,
            "borda": borda,
            "copeland": copeland,
            "condorcet": (lead > 0).sum(axis=1) == n - 1,
            "rank_borda": rank_competitors(borda),
            "rank_copeland": rank_competitors(copeland),
            "rank_kemeny": order_kemeny(votes),
        }
    )
    return table[VOTES].sort_values(["rank_borda", "model"], ignore_index=True)


def order_kemeny(votes: FloatArray) -> "pd.Series[int]":
    """Places of models in an order that contradicts the fewest votes.

    Parameters
    ----------
    votes : numpy.ndarray, shape (models, models)
        From `count_votes`.

    Returns
    -------
    pandas.Series of Int64
        Places from 1 on; missing for models of a circle of more than 14. Of several best orders the
        one with the first models first.

    Notes
    -----
    Models that beat each other in circles (strong components of the majority relation) stand
    together in some best order, and exact dynamic programming over subsets orders each of them.

    References
    ----------
    Kemeny, J. G. (1959). Mathematics without numbers. Daedalus 88, 577–591.
    Truchon, M. (1998). An extension of the Condorcet criterion and Kemeny orders. Université Laval.
    """
    lead = votes - votes.T
    rows, columns = np.nonzero(lead >= 0)
    beats = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=lead.shape)
    _, part = csgraph.connected_components(beats, connection="strong")
    groups = [np.flatnonzero(part == number) for number in np.unique(part)]
    groups.sort(key=lambda group: (-int((lead[group[0]] > 0).sum()), int(group[0])))
    places = pd.Series(pd.array([pd.NA] * len(lead), dtype="Int64"))
    first = 1
    for group in groups:
        if len(group) <= MOST_EXACT:
            order = group[_order_exactly(lead[np.ix_(group, group)])]
            places.iloc[order] = np.arange(first, first + len(group))
        first += len(group)
    return places


def dethrone(matrix: ScoreMatrix, leader: str) -> pd.DataFrame:
    """Count how many datasets must go for each other model to reach the leader's mean score.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores.
    leader : str
        The model to pass.

    Returns
    -------
    pandas.DataFrame
        A row per rival that shares a dataset with the leader and can pass it, fewest first:
        ``leader``, ``model``, ``datasets`` (that both have), ``removed`` (fewest to remove, 0 where
        the rival is ahead already) and ``left_out`` (their names, by how much they count).

    Notes
    -----
    Removing the datasets on which the leader is furthest ahead is best, so the number is exact. A
    rival that is behind on every dataset cannot pass.
    """
    place = matrix.models.index(leader)
    rows = []
    for rival, model in enumerate(matrix.models):
        apart = matrix.means[place] - matrix.means[rival]
        shared = np.flatnonzero(~np.isnan(apart))
        if rival == place or not len(shared):
            continue
        order = shared[np.argsort(-apart[shared], kind="stable")]
        left = apart[order][::-1].cumsum()[::-1]
        reached = np.flatnonzero(left <= NEGLIGIBLE * np.abs(apart[order]).sum())
        if len(reached):
            gone = order[: reached[0]]
            names = " ".join(repr(matrix.datasets[column]) for column in gone)
            rows.append((leader, model, len(shared), len(gone), names))
    table = pd.DataFrame(rows, columns=DETHRONING)
    return table.sort_values(["removed", "model"], ignore_index=True)


def _share_beaten(column: FloatArray) -> FloatArray:
    """How many models of a dataset each is better than, ties half; NaN counts as no model."""
    above = round_significant(column)[:, None] - round_significant(column)
    beaten = np.where(np.isnan(above), 0, (np.sign(above) + 1) / 2)
    np.fill_diagonal(beaten, 0)
    return np.asarray(beaten.sum(axis=1))


def _order_exactly(lead: FloatArray) -> list[int]:
    """The order of few models with the largest sum of leads of earlier over later ones."""
    n = len(lead)
    subsets = np.arange(1 << n)
    members: BoolArray = (subsets[:, None] >> np.arange(n)) & 1 == 1
    # What placing a model before all others of a subset adds.
    gains = members @ lead.T
    best, choice = np.zeros(1 << n), np.zeros(1 << n, dtype=np.intp)
    for subset in range(1, 1 << n):
        candidates = np.flatnonzero(members[subset])
        values = gains[subset, candidates] + best[subset ^ (1 << candidates)]
        top = int(np.argmax(values >= values.max() - 1e-9))
        best[subset], choice[subset] = values[top], candidates[top]
    order, rest = [], (1 << n) - 1
    while rest:
        order.append(int(choice[rest]))
        rest ^= 1 << order[-1]
    return order
