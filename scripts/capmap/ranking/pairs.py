"""Differences between all pairs of models, with intervals and a signed-rank test."""

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import pandas as pd
import scipy

from capmap.ranking.aggregation import (
    BoolArray,
    FloatArray,
    IntArray,
    Pairs,
    ScoreMatrix,
    arrange_runs,
    list_pairs,
)
from capmap.ranking.dependence import INDEPENDENT, Dependence, vary_by_seed
from capmap.ranking.resampling import (
    Counts,
    DatasetPool,
    Resamples,
    Strata,
    draw_datasets,
    resample_models,
)
from capmap.ranking.signed_rank import compute_wilcoxon, correct_holm, subtract_means
from capmap.settings.choices import Unit

# The scores of a model's runs on a dataset, and how often each of them is drawn.
Cell = tuple[FloatArray, Counts]


def compare_pairs(
    matrix: ScoreMatrix,
    *,
    unit: Unit,
    confidence_level: float,
    dependence: Dependence = INDEPENDENT,
    ordered: ScoreMatrix | None = None,
) -> pd.DataFrame:
    """Compare every pair of models on the datasets that both have.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores.
    unit : {"runs", "seeds", "runs_and_datasets"}
        What the interval of the mean difference generalizes to: new runs or seeds on these
        datasets, or new datasets too. Seeds need `ScoreMatrix.seed_parts`.
    confidence_level : float
        Between 0 and 1.
    dependence : Dependence, optional
        What datasets, seeds and models have in common.
    ordered : ScoreMatrix, optional
        Cells of raw scores (`order_runs`), which tell differences near the bounds.

    Returns
    -------
    pandas.DataFrame
        A row per pair with ``model_a`` before ``model_b``, ordered by both: ``datasets`` (that both
        have), ``mean_difference`` (a less b, mean over datasets), ``ci_low``, ``ci_high``,
        ``wins``, ``ties``, ``losses`` (datasets where a is better, equal, worse), ``wilcoxon_p``,
        ``wilcoxon_p_holm`` (over all pairs, of the values from `allow_dependence`) and
        ``effect_size``, see `compute_wilcoxon`.

    Notes
    -----
    The interval over runs is Welch's: the variance of the mean difference is the sum of s²/n over
    the cells of both models, divided by the squared number of datasets, with Satterthwaite's
    degrees of freedom. A cell with a single run takes the pooled variance of its model's other
    cells. The interval is empty unless at least half of the shared cells of each model have two or
    more runs. The interval over seeds is that of the paired t test of their sums over datasets,
    with one degree of freedom less than the fewest runs of a shared cell; it is empty unless all
    shared cells have two or more runs. The interval over datasets is that of the paired t test with
    the variance of `vary_over_datasets`, and empty for a single dataset. Where the noise of a seed
    on a dataset is common to models, the interval over runs is of their differences seed by seed.
    Where nothing varies, the interval is the point.

    References
    ----------
    Welch, B. L. (1947). The generalization of "Student's" problem when several different
    population variances are involved. Biometrika 34, 28–35.
    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components.
    Biometrics Bulletin 2, 110–114.
    """
    pairs = list_pairs(len(matrix.models))
    names = np.array(matrix.models, dtype=object)
    mean, low, high = estimate_differences(
        matrix, pairs, unit=unit, confidence_level=confidence_level, dependence=dependence
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
    """Whether at least half of the shared cells of both models have two or more runs.

    Returns
    -------
    numpy.ndarray of bool, shape (pairs,)
        Never true for a pair without a shared dataset.
    """
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
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean difference of each pair over its shared datasets, with a closed-form interval.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores.
    pairs : Pairs
        Which models to compare.
    unit : {"runs", "seeds", "runs_and_datasets"}
        What the interval generalizes to.
    confidence_level, dependence
        As in `compare_pairs`.

    Returns
    -------
    mean, low, high : numpy.ndarray, shape (pairs,)
        First model less second; NaN for a pair without a shared dataset. The notes of
        `compare_pairs` say when the interval is empty.
    """
    rounded = subtract_means(matrix, pairs)
    shared = ~np.isnan(rounded)
    is_apart = shared & (rounded != 0)
    apart = np.where(is_apart, matrix.means[pairs.first] - matrix.means[pairs.second], 0)
    mean = _divide(_add_up(apart), shared.sum(axis=-1), empty=np.nan)
    if unit == "runs_and_datasets":
        variance, freedom = vary_over_datasets(matrix, pairs, dependence)
        error = np.sqrt(variance)
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

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores.
    pairs : Pairs
        Which models to compare.
    dependence : Dependence
        What datasets and seeds have in common; independent ones leave the variance of the paired
        t test.

    Returns
    -------
    variance, freedom : numpy.ndarray, shape (pairs,)
        NaN variance for fewer than two datasets.
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
    known, datasets = matrix.is_filled, np.array(matrix.datasets, dtype=object)
    drawn = resample_models(runs, n_resamples=n_resamples, make_rng=make_rng)
    cells = [
        _split_cells(datasets[own], *draw) for own, draw in zip(known, drawn.values(), strict=True)
    ]
    draw_shared = cache(partial(_draw_shared, n_resamples=n_resamples, make_rng=make_dataset_rng))
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
        found[:, place] = replicates[0], *np.quantile(replicates[1:], [tail, 1 - tail])
    estimate, low, high = found
    is_sure = (low != high) & _has_interval(matrix, pairs, unit)
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


def _has_interval(matrix: ScoreMatrix, pairs: Pairs, unit: Unit) -> BoolArray:
    least = 2 if unit == "runs_and_datasets" else 1
    shared = (matrix.is_filled[pairs.first] & matrix.is_filled[pairs.second]).sum(axis=-1)
    return np.asarray(has_enough_runs(matrix, pairs) & (shared >= least) & (unit != "seeds"))


def _split_cells(names: Sequence[str], strata: Strata, drawn: Resamples) -> dict[str, Cell]:
    """The runs of a model by dataset; they count once, and then as they are drawn."""
    counts = np.insert(drawn.counts, 0, 1, axis=1)
    rows = [strata.datasets == place for place in range(len(names))]
    return {name: (strata.scores[own], counts[own]) for name, own in zip(names, rows, strict=True)}


def _draw_shared(
    names: tuple[str, ...],
    *,
    n_resamples: int,
    make_rng: Callable[[Sequence[str]], np.random.Generator],
) -> IntArray:
    """How often datasets count that two models share: once in the estimate, then as drawn."""
    rng = make_rng(names)
    pool = DatasetPool(names, rng)
    times = draw_datasets(names, pool=pool, n_resamples=n_resamples, rng=rng)
    return np.insert(times, 0, 1, axis=1)


def _share_wins(one: Cell, other: Cell) -> FloatArray:
    """Share of pairs of runs that the first model wins on a dataset, in each resample.

    Numbers of wins are sums of small integers, so they are exact whatever the order of summation.
    """
    (scores, counts), (rivals, drawn) = one, other
    beaten = np.heaviside(scores[:, None] - rivals, 0.5)
    # Threads of a matrix product cost more than so small a product.
    wins = np.einsum("ok,kr->or", beaten, drawn.astype(np.float64))
    return np.asarray((wins * counts).sum(axis=0) / beaten.size)
