"""Where ratings have no maximum of the likelihood, so that they hang on the ridge."""

import numpy as np
from scipy import sparse

from capmap.aggregation import FloatArray, IntArray
from capmap.cells import BoolArray

NEGLIGIBLE = 1e-10


def find_separated(points: FloatArray, meetings: FloatArray, strengths: FloatArray) -> BoolArray:
    """Find resamples in which some models lose all their battles with all others.

    Parameters
    ----------
    points : numpy.ndarray, shape (resamples, models)
        Weight of the battles that each model won, ties as half of theirs.
    meetings : numpy.ndarray, shape (resamples, models, models)
        Weight of the battles of each pair; symmetric, 0 on the diagonal.
    strengths : numpy.ndarray, shape (resamples, models)
        From `capmap.ratings.strengths.fit_strengths`.

    Returns
    -------
    numpy.ndarray of bool, shape (resamples,)
        Whether the graph of wins (ties are wins of both) is not strongly connected among the models
        that have battles. The strengths of maximum likelihood are infinite then, and those with the
        ridge as large as the ridge lets them be.

    Notes
    -----
    Models that lose to all others are weaker than these. So every set of the weakest is looked at:
    it is separated if its points are no more than its battles among themselves, or if it meets no
    other model. Where all pairs meet, this finds every separation. Where cells are empty, so do
    single models that win or lose all, and parts of the pool that never meet; larger sets are then
    missed if the strengths of models that never meet lie between theirs.

    References
    ----------
    Ford, L. R. (1957). Solution of a ranking problem from binary comparisons. American Mathematical
    Monthly 64(8), 28–33.

    Examples
    --------
    >>> meetings = np.array([[[0.0, 2.0], [2.0, 0.0]]])
    >>> find_separated(np.array([[2.0, 0.0]]), meetings, np.array([[1.0, -1.0]])).tolist()
    [True]
    >>> find_separated(np.array([[1.5, 0.5]]), meetings, np.array([[0.3, -0.3]])).tolist()
    [False]
    """
    battles = meetings.sum(axis=2)
    is_active = battles > 0
    extreme = (points <= NEGLIGIBLE) | (points >= battles - NEGLIGIBLE)
    order = np.argsort(np.where(is_active, strengths, np.inf), axis=1, kind="stable")
    won = np.cumsum(np.take_along_axis(points, order, axis=1), axis=1)
    ordered = np.take_along_axis(meetings, order[:, :, None], axis=1)
    ordered = np.take_along_axis(ordered, order[:, None, :], axis=2)
    within = np.cumsum(np.tril(ordered).sum(axis=2), axis=1)
    n_active = is_active.sum(axis=1)
    is_subset = np.arange(1, points.shape[1] + 1) < n_active[:, None]
    found = (is_active & extreme).any(axis=1)
    found |= (is_subset & (won <= within + NEGLIGIBLE)).any(axis=1)
    is_complete = np.count_nonzero(meetings, axis=(1, 2)) == n_active * (n_active - 1)
    for place in np.flatnonzero(~found & ~is_complete):
        parts = find_components(meetings[place] > 0)[is_active[place]]
        found[place] = len(np.unique(parts)) > 1
    return np.asarray(found)


def depends_on_ridge(separated: float, *, confidence_level: float) -> bool:
    """Whether separated resamples are so many that ends of percentile intervals hang on the ridge.

    Parameters
    ----------
    separated : float
        Share of resamples that `find_separated` finds, 0 to 1.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    bool
        Whether the share exceeds half of what lies beyond an end of the intervals; close to that
        share, chance decides where the end is.
    """
    return separated > (1 - confidence_level) / 4


def find_components(met: BoolArray) -> IntArray:
    """Number the parts of a pool whose models never meet those of another part, shape (models,)."""
    return np.asarray(sparse.csgraph.connected_components(met, directed=False)[1], dtype=np.intp)
