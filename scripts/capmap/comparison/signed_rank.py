"""Bayesian signed-rank test with a region of practical equivalence, for many pairs at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from capmap.comparison.wilcoxon import find_decades
from capmap.ranking.aggregation import FloatArray, IntArray

PRIOR = 0.5
DECIMALS = 12
NEGLIGIBLE = 1e-12
# Weights that are held at once; more samples are drawn in blocks, one after the other.
BLOCK_CELLS = 1 << 23


class Staircase(NamedTuple):
    """For each of the ascending differences z_i, the first place j with z_i + z_j in a corner.

    Parameters
    ----------
    firsts : numpy.ndarray of int, shape (datasets,)
        From ``datasets`` (none) down to 0 (all).
    prior : int
        The same for the pseudo-difference 0.
    """

    firsts: IntArray
    prior: int


class Draws:
    """Dirichlet weights of n sorted differences and of the pseudo-difference, not normalized.

    Parameters
    ----------
    n : int
        Number of differences, at least one.
    n_samples : int
        Number of draws.
    rng : numpy.random.Generator
        Source of the draws.

    Notes
    -----
    The weights of the differences are exchangeable. So one set of draws, given out in ascending
    order of the differences, serves all pairs with the same number of them.
    """

    def __init__(self, n: int, *, n_samples: int, rng: np.random.Generator) -> None:
        weights = rng.standard_exponential((n, n_samples))
        self.prior = rng.standard_gamma(PRIOR, n_samples)
        self.below = np.zeros((n + 1, n_samples))
        np.cumsum(weights, axis=0, out=self.below[1:])
        self.above = self.below[-1] - self.below
        self.mass = self.below[-1] ** 2
        self.total = (self.below[-1] + self.prior) ** 2

    def weigh(self, corner: Staircase) -> FloatArray:
        """Sum the products of weights over all pairs of differences in an upper corner."""
        firsts = corner.firsts
        places = np.arange(len(firsts))
        pivot = int(np.count_nonzero(firsts > places))
        weight = self.above[pivot] ** 2
        steps = np.flatnonzero(np.diff(firsts[:pivot], prepend=-1, append=-1))
        product = np.empty_like(weight)
        for start, stop in zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True):
            first = int(firsts[start])
            if first < len(firsts):
                np.subtract(self.below[stop], self.below[start], out=product)
                product *= self.above[first]
                product *= 2
                weight += product
        if corner.prior < len(firsts):
            weight += 2 * self.prior * self.above[corner.prior]
        return np.asarray(weight)


def compare_signed_ranks(
    differences: npt.ArrayLike,
    *,
    rope: float,
    n_samples: int,
    make_rng: Callable[[int], np.random.Generator],
) -> FloatArray:
    """Posterior probabilities that the first model is better, equivalent, or worse.

    Parameters
    ----------
    differences : array_like, shape (pairs, datasets)
        Score of the first model less that of the second; NaN where one of them has no runs.
    rope : float
        Half-width of the region of practical equivalence, in units of the differences, 0 or more.
    n_samples : int
        Number of posterior samples.
    make_rng : callable
        The random generator for pairs with so many shared datasets.

    Returns
    -------
    numpy.ndarray, shape (pairs, 3)
        Better, equivalent, worse; they sum to 1. NaN for a pair without a shared dataset.

    Notes
    -----
    The posterior of the distribution of differences is a Dirichlet process: weights of the observed
    differences (1 each) and of a pseudo-difference 0 (0.5). Per sample, the probability that the
    mean of two differences lies above, within or below the region is found, and the largest of the
    three wins; a mean on the edge counts half to each side. With ``rope=0`` nothing is equivalent.
    Samples where better and worse are equally probable, as for identical models, count half to
    each (baycomp gives them to one). Datasets that one of the two lacks are left out. Exchanging
    the models exchanges the values, and no value depends on other pairs. Sums of differences are
    rounded to 12 decimals, counted from the size of the largest difference or the region where
    these are below 0.1.

    References
    ----------
    Benavoli, A. et al. (2014). A Bayesian Wilcoxon signed-rank test based on the Dirichlet process.
    ICML. Benavoli, A. et al. (2017). Time for a change: a tutorial for comparing multiple
    classifiers through Bayesian analysis. JMLR 18(77).

    Examples
    --------
    >>> compare_signed_ranks(
    ...     [[0.2, 0.3, 0.2, 0.4, 0.2]], rope=0.01, n_samples=1000, make_rng=np.random.default_rng
    ... ).round(2).tolist()
    [[1.0, 0.0, 0.0]]
    """
    apart: FloatArray = np.sort(np.asarray(differences, dtype=np.float64), axis=-1)
    sizes = np.count_nonzero(~np.isnan(apart), axis=-1)
    wins = np.full((len(apart), 3), np.nan)
    for size in np.unique(sizes[sizes > 0]).tolist():
        rng, rows = make_rng(size), np.flatnonzero(sizes == size)
        wins[rows] = 0
        width = max(BLOCK_CELLS // size, 1)
        for first in range(0, n_samples, width):
            draws = Draws(size, n_samples=min(width, n_samples - first), rng=rng)
            for row in rows:
                wins[row] += _compare_pair(*_rescale_differences(apart[row, :size], rope), draws)
    return wins / n_samples


def decide(chances: FloatArray, *, probability: float, words: tuple[str, str, str]) -> list[str]:
    """Put the probabilities of each pair into a decision.

    Parameters
    ----------
    chances : numpy.ndarray, shape (pairs, 3)
        From `compare_signed_ranks`.
    probability : float
        What it takes at least, more than 0.5.
    words : tuple of str
        What to say where the first, the second or the third is that probable.

    Returns
    -------
    list of str
        One of `words` or ``undecided``.

    Examples
    --------
    >>> decide(np.array([[0.0, 0.04, 0.96]]), probability=0.95, words=("a", "same", "b"))
    ['b']
    """
    reached = chances >= probability
    return [words[row.argmax()] if row.any() else "undecided" for row in reached]


def _rescale_differences(ascending: FloatArray, rope: float) -> tuple[FloatArray, float]:
    """Bring small differences and the region to the size of 1, and round them."""
    largest = np.array([max(float(np.abs(ascending).max()), rope)])
    decade = min(int(find_decades(largest)[0]), 0)
    return np.round(ascending * 10.0**-decade, DECIMALS), rope * 10.0**-decade


def _compare_pair(ascending: FloatArray, rope: float, draws: Draws) -> FloatArray:
    """In how many draws the first model is better, equivalent and worse."""
    # Of a pair and its mirror image only one is computed, so that the two agree exactly.
    lean = ascending + ascending[::-1]
    first = np.flatnonzero(lean)[:1]
    is_mirrored = bool(len(first) and lean[first[0]] < 0)
    values = -ascending[::-1] if is_mirrored else ascending
    upper = _weigh_corner(values, 2 * rope, draws)
    lower = draws.total - (_weigh_corner(values, -2 * rope, draws) if rope else upper)
    chances = _count_winners(upper, lower, draws.total, has_middle=rope > 0)
    return np.flip(chances) if is_mirrored else chances


def _weigh_corner(values: FloatArray, threshold: float, draws: Draws) -> FloatArray:
    """Weight of the pairs of differences with a sum above the threshold, half of those at it."""
    edge = round(threshold, DECIMALS)
    strict = Staircase(
        _count_below(values, np.nextafter(edge, np.inf)), int((values <= edge).sum())
    )
    wide = Staircase(_count_below(values, edge), int((values < edge).sum()))
    weight = draws.weigh(strict)
    if strict.prior != wide.prior or not np.array_equal(strict.firsts, wide.firsts):
        weight = (weight + draws.weigh(wide)) / 2
    return np.asarray(weight + draws.prior**2 * np.heaviside(-edge, 0.5))


def _count_below(values: FloatArray, edge: float) -> IntArray:
    """How many sums of each of some ascending values with all of them are below an edge."""
    low, high = np.zeros(len(values), dtype=np.intp), np.full(len(values), len(values))
    while (open_ := low < high).any():
        middle = (low + high) // 2
        sums = np.round(values + values[np.minimum(middle, len(values) - 1)], DECIMALS)
        is_below = open_ & (sums < edge)
        low, high = np.where(is_below, middle + 1, low), np.where(open_ & ~is_below, middle, high)
    return low


def _count_winners(
    upper: FloatArray, lower: FloatArray, total: FloatArray, *, has_middle: bool
) -> FloatArray:
    is_middle = np.zeros(len(total), dtype=bool)
    if has_middle:
        is_middle = total - upper - lower > np.maximum(upper, lower)
    lead = np.where(is_middle, 0, upper - lower)
    better = np.count_nonzero(lead > NEGLIGIBLE * total)
    worse = np.count_nonzero(lead < -NEGLIGIBLE * total)
    middle = np.count_nonzero(is_middle)
    even = len(total) - better - middle - worse
    return np.array([better + even / 2, middle, worse + even / 2])
