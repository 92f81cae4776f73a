"""Bayesian signed-rank test with a region of practical equivalence, for many pairs at once."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.comparison.pairwise import subtract_means
from capmap.comparison.wilcoxon import find_decades
from capmap.errors import ValidationError
from capmap.metrics import canonical_name
from capmap.ranking.aggregation import FloatArray
from capmap.ranking.score_matrix import ScoreMatrix, list_pairs
from capmap.wording import quote_name

DECISIONS = ("a better", "equivalent", "b better")
PRIOR = 0.5
DECIMALS = 12
NEGLIGIBLE = 1e-12
# Weights that are held at once; more samples are drawn in blocks, one after the other.
BLOCK_CELLS = 1 << 23
# Samples that are weighed at once, few enough to stay in the processor's cache.
CACHED = 4096


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
            n = min(width, n_samples - first)
            drawn = rng.standard_exponential((size, n))
            weights = np.vstack([rng.standard_gamma(PRIOR, n), drawn])
            for row in rows:
                wins[row] += _compare_pair(*_rescale_differences(apart[row, :size], rope), weights)
    return wins / n_samples


def decide(chances: FloatArray, *, probability: float) -> list[str]:
    """Put the probabilities of each pair into a decision.

    Parameters
    ----------
    chances : numpy.ndarray, shape (pairs, 3)
        From `compare_signed_ranks`.
    probability : float
        What it takes at least, more than 0.5.

    Returns
    -------
    list of str
        One of `DECISIONS` or ``undecided``.

    Examples
    --------
    >>> decide(np.array([[0.0, 0.04, 0.96]]), probability=0.95)
    ['b better']
    """
    reached = chances >= probability
    return [DECISIONS[row.argmax()] if row.any() else "undecided" for row in reached]


def _rescale_differences(ascending: FloatArray, rope: float) -> tuple[FloatArray, float]:
    """Bring small differences and the region to the size of 1, and round them."""
    largest = np.array([max(float(np.abs(ascending).max()), rope)])
    decade = min(int(find_decades(largest)[0]), 0)
    return np.round(ascending * 10.0**-decade, DECIMALS), rope * 10.0**-decade


def _compare_pair(ascending: FloatArray, rope: float, weights: FloatArray) -> FloatArray:
    """In how many draws the first model is better, equivalent and worse.

    The weights, not normalized, are those of the pseudo-difference 0 and of the differences.
    """
    # Of a pair and its mirror image only one is computed, so that the two agree exactly.
    lean = ascending + ascending[::-1]
    first = np.flatnonzero(lean)[:1]
    is_mirrored = bool(len(first) and lean[first[0]] < 0)
    values = np.concatenate([[0.0], -ascending[::-1] if is_mirrored else ascending])
    sums = np.round(values[:, None] + values, DECIMALS)
    total = weights.sum(axis=0) ** 2
    upper = _weigh_above(sums, 2 * rope, weights)
    lower = total - (_weigh_above(sums, -2 * rope, weights) if rope else upper)
    chances = _count_winners(upper, lower, total, has_middle=rope > 0)
    return np.flip(chances) if is_mirrored else chances


def _weigh_above(sums: FloatArray, threshold: float, weights: FloatArray) -> FloatArray:
    """Weight of the pairs of differences with a sum above the threshold, half of those at it."""
    shares = np.heaviside(sums - round(threshold, DECIMALS), 0.5)
    parts = np.split(weights, range(CACHED, weights.shape[1], CACHED), axis=1)
    return np.concatenate([np.einsum("ns,ns->s", shares @ part, part) for part in parts])


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


def scale_means(
    matrix: ScoreMatrix, *, bounds: pd.DataFrame, widths: Mapping[str, float]
) -> ScoreMatrix:
    """Measure cell means in half-widths of the region that is configured for their metric.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores.
    bounds : pandas.DataFrame
        Columns ``dataset``, ``metric``, ``low`` and ``high``, a row per dataset.
    widths : mapping of float
        Half-width of the region in the raw units of each metric, above 0. Names are matched by
        `capmap.metrics.canonical_name`.

    Returns
    -------
    ScoreMatrix
        Means and variances for a region with a half-width of 1: a normalized score is multiplied by
        ``(high − low) / half-width``, so differences of lower-is-better metrics have their sign.

    Raises
    ------
    ValidationError
        If a metric of the study has no half-width.
    """
    known = {canonical_name(metric): width for metric, width in widths.items()}
    for metric in sorted(bounds["metric"].unique()):
        if canonical_name(metric) not in known:
            raise ValidationError(
                f"comparison.rope: the metric {quote_name(metric)} has no half-width. Give each "
                "metric of the study one in its own units, or one number for normalized scores."
            )
    rows = bounds.set_index("dataset").loc[matrix.datasets]
    reach = np.array([known[canonical_name(metric)] for metric in rows["metric"]])
    scales = (rows["high"] - rows["low"]).to_numpy(dtype=np.float64) / reach
    return replace(matrix, means=matrix.means * scales, variances=matrix.variances * scales**2)


def compare_posteriors(
    matrix: ScoreMatrix,
    *,
    rope: float,
    probability: float,
    n_samples: int,
    make_rng: Callable[[int], np.random.Generator],
) -> pd.DataFrame:
    """Compare all pairs of models by the Bayesian signed-rank test.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells in units of `rope`.
    rope : float
        Half-width of the region, 0 or more.
    probability, n_samples, make_rng : float, int, callable
        As in `decide` and `compare_signed_ranks`.

    Returns
    -------
    pandas.DataFrame
        A row per pair in the order of `list_pairs`: ``p_a_better``, ``p_equivalent``,
        ``p_b_better`` and ``decision``.
    """
    apart = subtract_means(matrix, list_pairs(len(matrix.models)))
    chances = compare_signed_ranks(apart, rope=rope, n_samples=n_samples, make_rng=make_rng)
    table = pd.DataFrame(chances, columns=["p_a_better", "p_equivalent", "p_b_better"])
    return table.assign(decision=decide(chances, probability=probability))
