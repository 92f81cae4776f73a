"""All pairs of models: differences, signed-rank tests of them, and probability of improvement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from capmap.errors import ValidationError
from capmap.metrics import canonical_name
from capmap.ranking.aggregation import (
    BoolArray,
    FloatArray,
    IntArray,
    Pairs,
    ScoreMatrix,
    arrange_runs,
    list_pairs,
)
from capmap.ranking.clusters import ItemErrors
from capmap.ranking.dependence import INDEPENDENT, Dependence, vary_by_seed
from capmap.ranking.resampling import (
    Counts,
    DatasetPool,
    Resamples,
    Strata,
    draw_datasets,
    resample_models,
)
from capmap.settings.choices import Unit
from capmap.wording import quote_name

SMALLEST_DECADE, LARGEST_DECADE = -280, 300
POWERS = np.array([float(f"1e{power}") for power in range(309)])

LARGEST_TABLE = 50
LARGEST_ENUMERATION = 13
DECISIONS = ("a better", "equivalent", "b better")
PRIOR = 0.5
DECIMALS = 12
NEGLIGIBLE = 1e-12
# Samples that are weighed at once, few enough to stay in the processor's cache.
CACHED = 4096
# The scores of a model's runs on a dataset, and how often each of them is drawn.
Cell = tuple[FloatArray, Counts]


def find_decades(sizes: FloatArray) -> IntArray:
    """Smallest power of ten that each size does not exceed, from -280 (also of 0) to 300.

    Examples
    --------
    >>> find_decades(np.array([0.1, 0.5, 1.0, 20.0])).tolist()
    [-1, 0, 0, 2]
    """
    powers = np.full(sizes.shape, float(SMALLEST_DECADE))
    np.log10(sizes, out=powers, where=sizes > 0)
    clipped = np.clip(np.ceil(powers), SMALLEST_DECADE, LARGEST_DECADE)
    return np.asarray(clipped, dtype=np.intp)


def round_decimals(values: FloatArray, decimals: IntArray) -> FloatArray:
    """Round each value to its own number of decimals, from -288 to 292.

    Examples
    --------
    >>> round_decimals(np.array([0.126, 126.0]), np.array([2, -1])).tolist()
    [0.13, 130.0]
    """
    up, down = (POWERS[np.maximum(side, 0)] for side in (decimals, -decimals))
    return np.asarray(np.round(values / down * up) / up * down)


def compute_wilcoxon(differences: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two-sided signed-rank test of each row of differences (Wilcoxon 1945).

    Differences are of pairs (rows) on datasets, NaN where one of the two has no runs; noise must
    have been rounded off. Returned are p-values, and the matched-pairs rank-biserial correlation
    (Kerby 2014): the share of the rank sum in favor of the first model less the share against.
    Where all differences are zero these are 1 and 0, where there is none NaN.

    Zero differences are dropped (Wilcoxon's rule), and equal sizes share their average rank. Of
    those that are left, p is exact for up to 50 without ties, and exact over all signs for up to 13
    with them; otherwise it is the normal approximation, corrected for ties and not for continuity.
    `scipy.stats.wilcoxon` counts zeros too before it chooses, so that five wins among fifteen ties
    have p = 0.043 there, below the least possible one, 0.0625.

    Examples
    --------
    >>> p, effect_size = compute_wilcoxon([[0.1, 0.2, 0.3, -0.05]])
    >>> p.tolist(), effect_size.tolist()
    ([0.25], [0.8])
    """
    apart = np.asarray(differences, dtype=np.float64)
    if apart.size == 0:
        return np.full(len(apart), np.nan), np.full(len(apart), np.nan)
    is_shared = ~np.isnan(apart)
    is_used = is_shared & (apart != 0)
    sizes = np.where(is_used, np.abs(apart), np.inf)
    table = pd.DataFrame(sizes)
    first, last = table.rank(axis=1, method="min"), table.rank(axis=1, method="max")
    doubled = np.where(is_used, first + last, 0).astype(np.intp)
    ties = np.where(is_used, (last - first + 1.0) ** 2 - 1, 0).sum(axis=-1)
    n, used = is_shared.sum(axis=-1), is_used.sum(axis=-1)
    favor, total = np.where(apart > 0, doubled, 0).sum(axis=-1), doubled.sum(axis=-1)
    lower = np.minimum(favor, total - favor)

    p = np.where(n > 0, 1.0, np.nan)
    is_exact = used <= np.where(ties > 0, LARGEST_ENUMERATION, LARGEST_TABLE)
    for row in np.flatnonzero(is_exact & (used > 0)):
        ranks = tuple(np.sort(doubled[row, is_used[row]]).tolist())
        p[row] = 2 * _cumulate_sums(ranks)[lower[row]]
    p[~is_exact] = _approximate(lower[~is_exact] / 2, used[~is_exact], ties[~is_exact])
    effects = np.divide(2 * favor - total, total, out=np.zeros(len(n)), where=total > 0)
    return np.minimum(p, 1), np.where(n > 0, effects, np.nan)


def correct_holm(p: npt.ArrayLike) -> FloatArray:
    """Correct p-values for their number by Holm's step-down method (1979); NaN stays.

    Examples
    --------
    >>> correct_holm([0.04, 0.01, np.nan, 0.03]).tolist()
    [0.06, 0.03, nan, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(len(values), np.nan)
    tests = np.flatnonzero(~np.isnan(values))
    order = tests[np.argsort(values[tests], kind="stable")]
    scaled = values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected


@lru_cache(1024)
def _cumulate_sums(doubled: tuple[int, ...]) -> FloatArray:
    """Null distribution function of the sum of positive doubled ranks, all signs equally likely."""
    chances = np.ones(1)
    for rank in doubled:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return np.cumsum(chances)


def _approximate(rank_sum: FloatArray, used: IntArray, ties: FloatArray) -> FloatArray:
    mean = used * (used + 1) / 4
    spread = np.sqrt((used * (used + 1.0) * (2 * used + 1) - ties / 2) / 24)
    return np.asarray(2 * scipy.special.ndtr(-np.abs(rank_sum - mean) / spread))


def subtract_means(matrix: ScoreMatrix, pairs: Pairs) -> FloatArray:
    """Differences of cell means, pairs × datasets, rounded once so that equal ones are equal.

    Differences are rounded to 12 decimals, if scores are of the usual size. What counts is the size
    of a pair's scores, as root mean square of the runs of a cell: a dataset where one of the two is
    above 1 loses a decimal for each power of ten, and a pair whose scores are 0.1 or less on all
    datasets gains as many on all of them. So rounding noise is no difference, and no difference of
    small scores is taken for noise.
    """
    apart = matrix.means[pairs.first] - matrix.means[pairs.second]
    deviations = np.sqrt(np.where(matrix.counts > 1, matrix.variances, 0))
    sizes = np.hypot(np.where(matrix.is_filled, matrix.means, 0), deviations)
    larger = np.where(np.isnan(apart), 0, np.maximum(sizes[pairs.first], sizes[pairs.second]))
    decades = find_decades(larger)
    usual = np.minimum(decades.max(axis=-1, initial=SMALLEST_DECADE, keepdims=True), 0)
    return round_decimals(apart, DECIMALS - np.maximum(decades, usual))


def compare_signed_ranks(
    differences: npt.ArrayLike,
    *,
    rope: float,
    n_samples: int,
    make_rng: Callable[[int], np.random.Generator],
) -> FloatArray:
    """Posterior probabilities that the first model is better, equivalent, or worse, by pair.

    `rope` is the half-width of the region of practical equivalence, in units of the differences;
    `make_rng` gives the random generator for pairs with so many shared datasets.

    The posterior of the distribution of differences is a Dirichlet process: weights of the observed
    differences (1 each) and of a pseudo-difference 0 (0.5). Per sample, the probability that the
    mean of two differences lies above, within or below the region is found, and the largest of the
    three wins; a mean on the edge counts half to each side. With ``rope=0`` nothing is equivalent.
    Samples where better and worse are equally probable, as for identical models, count half to
    each (baycomp gives them to one). Datasets that one of the two lacks are left out. Exchanging
    the models exchanges the values, and no value depends on other pairs. Sums of differences are
    rounded to 12 decimals, counted from the size of the largest difference or the region where
    these are below 0.1.

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
        drawn = rng.standard_exponential((size, n_samples))
        weights = np.vstack([rng.standard_gamma(PRIOR, n_samples), drawn])
        for row in rows:
            wins[row] = _compare_pair(*_rescale_differences(apart[row, :size], rope), weights)
    return wins / n_samples


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

    A normalized score is multiplied by ``(high − low) / half-width``, so differences of lower-is-
    better metrics have their sign, and the region has a half-width of 1.
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
    """Compare all pairs of models by the Bayesian signed-rank test."""
    apart = subtract_means(matrix, list_pairs(len(matrix.models)))
    chances = compare_signed_ranks(apart, rope=rope, n_samples=n_samples, make_rng=make_rng)
    table = pd.DataFrame(chances, columns=["p_a_better", "p_equivalent", "p_b_better"])
    decided = chances >= probability
    names = [DECISIONS[row.argmax()] if row.any() else "undecided" for row in decided]
    return table.assign(decision=names)


def compare_pairs(
    matrix: ScoreMatrix,
    *,
    unit: Unit,
    confidence_level: float,
    dependence: Dependence = INDEPENDENT,
    ordered: ScoreMatrix | None = None,
    items: ItemErrors | None = None,
) -> pd.DataFrame:
    """Compare every pair of models on the datasets that both have.

    Raw scores (`ordered`) tell differences near the bounds.

    The interval over runs is Welch's: the variance of the mean difference is the sum of s²/n over
    the cells of both models, divided by the squared number of datasets, with Satterthwaite's
    degrees of freedom. A cell with a single run takes the pooled variance of its model's other
    cells. The interval is empty unless at least half of the shared cells of each model have two or
    more runs. The interval over seeds is that of the paired t test of their sums over datasets,
    with one degree of freedom less than the fewest runs of a shared cell; it is empty unless all
    shared cells have two or more runs. The interval over datasets is that of the paired t test with
    the variance of `vary_over_datasets`, and empty for a single dataset. Where the noise of a seed
    on a dataset is common to models, the interval over runs is of their differences seed by seed.
    The interval over items has the variance of the differences item by item, by cluster, and that
    over runs where it is known.
    Where nothing varies, the interval is the point.
    """
    pairs = list_pairs(len(matrix.models))
    names = np.array(matrix.models, dtype=object)
    mean, low, high = estimate_differences(
        matrix,
        pairs,
        unit=unit,
        confidence_level=confidence_level,
        dependence=dependence,
        items=items,
    )
    rounded = subtract_means(ordered or matrix, pairs)
    p, effect_size = compute_wilcoxon(rounded)
    columns = {
        "model_a": names[pairs.first],
        "model_b": names[pairs.second],
        "datasets": (~np.isnan(rounded)).sum(axis=-1),
        "mean_difference": mean,
        "ci_low": low,
        "ci_high": high,
        "wins": (rounded > 0).sum(axis=-1),
        "ties": (rounded == 0).sum(axis=-1),
        "losses": (rounded < 0).sum(axis=-1),
        "wilcoxon_p": p,
        "wilcoxon_p_holm": correct_holm(allow_dependence(p, matrix, pairs, dependence)),
        "effect_size": effect_size,
    }
    return pd.DataFrame(columns)


def has_enough_runs(matrix: ScoreMatrix, pairs: Pairs) -> BoolArray:
    """Whether at least half of the shared cells of both models of a pair have two or more runs."""
    shared = matrix.is_filled[pairs.first] & matrix.is_filled[pairs.second]
    n = shared.sum(axis=-1)
    enough = n > 0
    for side in pairs:
        enough &= 2 * (shared & (matrix.counts[side] > 1)).sum(axis=-1) >= n
    return np.asarray(enough)


def estimate_differences(
    matrix: ScoreMatrix,
    pairs: Pairs,
    *,
    unit: Unit,
    confidence_level: float,
    dependence: Dependence = INDEPENDENT,
    items: ItemErrors | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean difference of each pair over its shared datasets, with a closed-form interval."""
    rounded = subtract_means(matrix, pairs)
    shared = ~np.isnan(rounded)
    is_apart = shared & (rounded != 0)
    apart = np.where(is_apart, matrix.means[pairs.first] - matrix.means[pairs.second], 0)
    mean = _divide(_add_up(apart), shared.sum(axis=-1), empty=np.nan)
    if unit == "runs_and_datasets":
        variance, freedom = vary_over_datasets(matrix, pairs, dependence)
        error = np.sqrt(variance)
    elif items is not None and unit == "items":
        variance, freedom = _vary_over_items(matrix, pairs, shared, items)
        error = _divide(np.sqrt(variance), shared.sum(axis=-1), empty=np.nan)
    else:
        vary = _vary_over_seeds if unit == "seeds" else _vary_over_runs
        if unit == "runs" and dependence.paired:
            vary = _vary_over_paired_runs
        variance, freedom = vary(matrix, pairs, shared)
        error = _divide(np.sqrt(variance), shared.sum(axis=-1), empty=np.nan)
    reach = error * scipy.special.stdtrit(freedom, (1 + confidence_level) / 2)
    return mean, mean - reach, mean + reach


def vary_over_datasets(
    matrix: ScoreMatrix, pairs: Pairs, dependence: Dependence
) -> tuple[FloatArray, FloatArray]:
    """Variance of each pair's mean difference over datasets like these, with new runs.

    Independent datasets and seeds leave the variance of the paired t test; it is NaN for fewer than
    two datasets.
    """
    rounded = subtract_means(matrix, pairs)
    shared = ~np.isnan(rounded)
    n = shared.sum(axis=-1)
    first = np.take_along_axis(rounded, shared.argmax(axis=-1)[:, None], axis=-1)
    apart = np.where(shared, rounded - first, 0)
    mean = _divide(_add_up(apart), n, empty=0)
    squares = _add_up(np.where(shared, apart - mean[:, None], 0) ** 2)
    free = np.maximum(dependence.count_effective(n) - 1, 1)
    variance = np.where(n > 1, squares / (np.maximum(n, 1) * free), np.nan)
    if dependence.seed_variance == 0:
        return variance, free
    own, _ = vary_by_seed(matrix, every=True)
    one, other = (np.maximum(own[side], dependence.seed_variance) for side in pairs)
    total = variance + one + other
    spread = variance**2 / free + (one**2 + other**2) / dependence.seed_freedom
    return total, _divide(total**2, spread, empty=1)


def allow_dependence(
    p: FloatArray, matrix: ScoreMatrix, pairs: Pairs, dependence: Dependence
) -> FloatArray:
    """Enlarge p-values of tests over datasets by what datasets and seeds have in common.

    Each becomes that of the t statistic with the same p-value, times the square root of the
    variance of the paired t test over the one of `vary_over_datasets`.
    """
    plain, plain_freedom = vary_over_datasets(matrix, pairs, INDEPENDENT)
    variance, freedom = vary_over_datasets(matrix, pairs, dependence)
    share = np.sqrt(_divide(plain, variance, empty=1))
    found = 2 * scipy.special.stdtr(freedom, scipy.special.stdtrit(plain_freedom, p / 2) * share)
    return np.where(np.isnan(found), p, np.maximum(found, p))


def _vary_over_runs(
    matrix: ScoreMatrix, pairs: Pairs, shared: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Variance of the sum of differences and its degrees of freedom (Welch)."""
    sides = [_variance_of_sum(matrix, side, shared) for side in pairs]
    variance, fourth = (one + other for one, other in zip(*sides, strict=True))
    freedom = _divide(variance**2, fourth, empty=1)
    return np.where(has_enough_runs(matrix, pairs), variance, np.nan), freedom


def _variance_of_sum(
    matrix: ScoreMatrix, model: IntArray, shared: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Variance of the sum of a model's shared cell means, and Satterthwaite's sum of squares.

    The variance is a weighted sum of the sample variances of the model's repeated cells: each
    counts for its own mean, and through the pooled variance for those of single runs.
    """
    counts = matrix.counts[model]
    freedom = np.maximum(counts - 1, 0)
    variances = np.where(counts > 1, matrix.variances[model], 0)
    singles = (shared & (counts == 1)).sum(axis=-1, keepdims=True)
    weights = _divide(shared, counts, empty=0)
    weights = weights + _divide(singles * freedom, freedom.sum(axis=-1, keepdims=True), empty=0)
    parts = weights * variances
    return _add_up(parts), _add_up(_divide(parts**2, freedom, empty=0))


def _vary_over_seeds(
    matrix: ScoreMatrix, pairs: Pairs, shared: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """The same over seeds, by their sums over datasets."""
    if matrix.seed_parts is None:
        raise ValueError("Intervals over seeds need what each seed adds.")
    first, second = (
        np.einsum("pds,pd->ps", matrix.seed_parts[side], shared, optimize=True) for side in pairs
    )
    variance = ((first - second) ** 2).sum(axis=-1)
    fewest = np.minimum(matrix.counts[pairs.first], matrix.counts[pairs.second])
    freedom = np.maximum(np.where(shared, fewest, np.inf).min(axis=-1) - 1, 1)
    return np.where((shared & (fewest < 2)).any(axis=-1), np.nan, variance), freedom


def _vary_over_items(
    matrix: ScoreMatrix, pairs: Pairs, shared: BoolArray, items: ItemErrors
) -> tuple[FloatArray, FloatArray]:
    """The same over items, with the larger variance of runs and seeds, where it is known."""
    variance, freedom = items.vary_pairs(pairs, shared)
    runs, known = _vary_over_runs(matrix, pairs, shared)
    seeds, seed_freedom = _vary_over_seeds(matrix, pairs, shared)
    known = np.where(np.nan_to_num(seeds) > np.nan_to_num(runs), seed_freedom, known)
    noise = np.maximum(np.nan_to_num(seeds), np.nan_to_num(runs))
    spread = variance**2 / freedom + _divide(noise**2, known, empty=0)
    return variance + noise, _divide((variance + noise) ** 2, spread, empty=1)


def _vary_over_paired_runs(
    matrix: ScoreMatrix, pairs: Pairs, shared: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """The same over runs that are paired seed by seed."""
    if matrix.seed_parts is None:
        raise ValueError("Pairs of runs need what each seed adds.")
    apart = matrix.seed_parts[pairs.first] - matrix.seed_parts[pairs.second]
    parts = np.where(shared, (apart**2).sum(axis=-1), 0)
    fewest = np.minimum(matrix.counts[pairs.first], matrix.counts[pairs.second])
    variance = _add_up(parts)
    freedom = _divide(
        variance**2, _add_up(_divide(parts**2, np.maximum(fewest - 1, 0), empty=0)), empty=1
    )
    return np.where((shared & (fewest < 2)).any(axis=-1), np.nan, variance), freedom


def _add_up(values: FloatArray) -> FloatArray:
    """Sum rows from left to right, so that zeros in between, as of a new dataset, change no bit."""
    return np.asarray(np.cumsum(values, axis=-1)[..., -1])


def _divide(
    numerator: FloatArray | IntArray | BoolArray,
    denominator: FloatArray | IntArray,
    *,
    empty: float,
) -> FloatArray:
    """Divide; `empty` where the denominator is zero."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    quotient = np.full(shape, float(empty))
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient


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

    `make_rng` gives the generator that draws a model's runs, `make_dataset_rng` that of datasets by
    the names of those that a pair shares.

    Mean over the shared datasets, each with the same weight, of the share of pairs of runs in
    which the first model's run is better; equal runs count half. Runs are compared digit by digit,
    as rliable does: equal raw scores have equal normalized ones. Intervals are percentiles of a
    stratified bootstrap. Each model's runs are drawn by its own stream, the same against all
    others, and pairs with the same datasets draw the same ones, so a pair's values depend on no
    other model. A dataset drawn twice counts twice with the same runs. Intervals are empty unless
    at least half of the shared cells of each model have two or more runs; where datasets are drawn,
    two of them are needed as well. They are also empty where all resamples agree, as where the
    ranges of runs do not overlap on any dataset: that is no certainty.
    """
    matrix = arrange_runs(runs)
    pairs = list_pairs(len(matrix.models))
    known, datasets = matrix.is_filled, np.array(matrix.datasets, dtype=object)
    drawn = resample_models(runs, n_resamples=n_resamples, make_rng=make_rng)
    cells = [_split_cells(*draw) for draw in drawn.values()]

    @cache
    def draw_shared(names: tuple[str, ...]) -> IntArray:
        """How often datasets count that two models share: once in the estimate, then as drawn."""
        rng = make_dataset_rng(names)
        pool = DatasetPool(names, rng)
        times = draw_datasets(names, pool=pool, n_resamples=n_resamples, rng=rng)
        return np.insert(times, 0, 1, axis=1)

    tail = (1 - confidence_level) / 2
    found = np.full((3, len(pairs.first)), np.nan)
    for place, (first, second) in enumerate(zip(*pairs, strict=True)):
        one, other = cells[first], cells[second]
        names = tuple(datasets[known[first] & known[second]])
        if not names:
            continue
        times = draw_shared(names) if unit == "runs_and_datasets" else [1] * len(names)
        shares = [_share_wins(one[name], other[name]) for name in names]
        replicates = np.asarray(sum(map(np.multiply, shares, times)) / len(names))
        found[0, place] = replicates[0]
        if len(names) > 1 or unit != "runs_and_datasets":
            found[1:, place] = np.quantile(replicates[1:], [tail, 1 - tail])
    estimate, low, high = found
    is_sure = (low != high) & has_enough_runs(matrix, pairs) & (unit != "seeds")
    models = np.array(matrix.models, dtype=object)
    return pd.DataFrame(
        {
            "model_a": models[pairs.first],
            "model_b": models[pairs.second],
            "p_improvement": estimate,
            "p_improvement_low": np.where(is_sure, low, np.nan),
            "p_improvement_high": np.where(is_sure, high, np.nan),
        }
    )


def _split_cells(strata: Strata, drawn: Resamples) -> dict[str, Cell]:
    """The runs of a model by dataset; they count once, and then as they are drawn."""
    counts = np.insert(drawn.counts, 0, 1, axis=1)
    rows = {name: strata.datasets == place for place, name in enumerate(strata.names)}
    return {name: (strata.scores[own], counts[own]) for name, own in rows.items()}


def _share_wins(one: Cell, other: Cell) -> FloatArray:
    """Share of pairs of runs that the first model wins on a dataset, in each resample.

    Numbers of wins are sums of small integers, so they are exact whatever the order of summation.
    """
    (scores, counts), (rivals, drawn) = one, other
    beaten = np.heaviside(scores[:, None] - rivals, 0.5)
    # Threads of a matrix product cost more than so small a product.
    wins = np.einsum("ok,kr->or", beaten, drawn.astype(np.float64))
    return np.asarray((wins * counts).sum(axis=0) / beaten.size)
