"""Standard errors of a model's statistics from the influence of its runs, and their t intervals.

A run moves a statistic by its influence: for an interquartile mean its winsorized score, for a mean
its score, each times its share of the weight. The variance of a statistic is that of the sums of
influences over what is drawn independently: runs within each dataset, or datasets.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from capmap.ranking.aggregation import FloatArray, bound_variance
from capmap.ranking.dependence import FEWEST_EFFECTIVE, INDEPENDENT, Dependence, has_enough_runs
from capmap.ranking.resampling import OPTIMUM, Strata, stratify_runs
from capmap.rng import make_stream
from capmap.settings.choices import FEWEST_DATASETS, Statistic, Unit

Interval = tuple[float, float]
# `capmap.ranking.clusters.ItemErrors.weigh` of a model on its datasets.
WeighItems = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray, FloatArray]]

NEGLIGIBLE = 1e-12
N_MIDDLE_DRAWS = 1000
# Third moments of few runs are noisy; half of the shift they call for covers best (simulated).
SKEWNESS_SHARE = 0.5


@dataclass(frozen=True)
class StandardError:
    """How far an estimate may be off.

    Parameters
    ----------
    value : float
        The standard error, 0 or more.
    freedom : float
        Its degrees of freedom, above 0.
    third : float
        Third central moment of the estimate.
    parts : numpy.ndarray, optional
        What each dataset, seed, or run of a dataset and seed adds to the error, where models have
        these in common. What the squared error has beyond the sum of their squares is the model's
        own, such as that of expected scores.
    parts_freedom, own_freedom : float
        Degrees of freedom of what is common, and of what is the model's own.
    """

    value: float
    freedom: float
    third: float = 0.0
    parts: FloatArray | None = None
    parts_freedom: float = np.inf
    own_freedom: float = np.inf

    def add(self, variance: float, freedom: float) -> "StandardError":
        """Add a variance of the model's own, with its degrees of freedom."""
        if variance == 0:
            return self
        common = 0.0 if self.parts is None else float((self.parts**2).sum())
        own = max(self.value**2 - common, 0.0)
        own_freedom = freedom if self.parts is None else self.own_freedom
        return StandardError(
            value=float(np.sqrt(self.value**2 + variance)),
            freedom=satterthwaite_freedom([self.value**2, variance], [self.freedom, freedom]),
            third=self.third,
            parts=self.parts,
            parts_freedom=self.parts_freedom,
            own_freedom=satterthwaite_freedom([own, variance], [own_freedom, freedom]),
        )


@dataclass(frozen=True)
class Filling:
    """Datasets on which a model has expected scores, and no runs.

    Parameters
    ----------
    datasets : numpy.ndarray of bool, shape (datasets,)
        Which of those of `Strata`.
    variance, freedom : float
        Variance of a cell about its expected score but for the model's level, and its degrees of
        freedom.
    """

    datasets: npt.NDArray[np.bool_]
    variance: float
    freedom: float


@dataclass(frozen=True)
class Influences:
    """What runs add to a statistic.

    Parameters
    ----------
    values, slopes : numpy.ndarray, shape (runs,)
        What each run adds, up to a constant of its dataset, and at what slope; in the order of
        `Strata.scores`.
    lost : numpy.ndarray, shape (datasets,)
        Degrees of freedom that the variance of each dataset's runs loses as some stand at a
        quartile.
    """

    values: FloatArray
    slopes: FloatArray
    lost: FloatArray


def measure_influences(statistic: Statistic, strata: Strata) -> Influences:
    """Influence of each run on a statistic, up to a constant of its dataset.

    Of the interquartile mean (Tukey and McLaughlin 1963): scores beyond the quartiles stand at
    them. They say nothing of the spread where a single dataset decides what the quartiles are (Yuen
    1974), and as much as others where many do; so each dataset with runs on both sides loses its
    share of those that stand there. Of the median: each dataset weighs as often as its mean is the
    median when noise of its own size is added to all means, scaled to the variance of these
    medians.
    """
    scores, lost = strata.scores, np.zeros(len(strata.draws))
    shares = strata.run_weights / strata.run_weights.sum()
    if statistic == "iqm":
        return _winsorize(strata)
    if statistic == "optimality_gap":
        short = np.maximum(OPTIMUM - scores, 0)
        return Influences(short * shares, -shares * (short > 0), lost)
    if statistic == "median":
        shares = (_share_of_middle(strata) / strata.draws)[strata.datasets]
    return Influences(scores * shares, shares, lost)


def _winsorize(strata: Strata) -> Influences:
    """Influences on the interquartile mean."""
    scores, weights = strata.scores, strata.run_weights
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order])
    ends = strata.trimmed * reached[-1], (1 - strata.trimmed) * reached[-1]
    tolerance = NEGLIGIBLE * reached[-1]
    first = int(np.searchsorted(reached, ends[0] + tolerance))
    last = int(np.searchsorted(reached, ends[1] - tolerance))
    low, high = scores[order[first]], scores[order[last]]
    shares = weights / (reached[-1] * (1 - 2 * strata.trimmed))
    is_kept = (scores >= low) & (scores <= high)
    kept = np.bincount(strata.datasets, is_kept)
    beyond = np.where(kept > 0, strata.draws - kept, 0)
    lost = beyond**2 / max(beyond.sum(), 1)
    return Influences(np.clip(scores, low, high) * shares, shares * is_kept, lost)


def measure_error(
    statistic: Statistic,
    strata: Strata,
    *,
    unit: Unit,
    filling: Filling | None = None,
    dependence: Dependence = INDEPENDENT,
    items: WeighItems | None = None,
) -> StandardError | None:
    """Standard error of a statistic with its degrees of freedom, over new draws of `unit`.

    "runs" are new ones on the same datasets; "seeds" have their runs on all of these; "items" are
    of these datasets, with new runs; "runs_and_datasets" are new datasets like these, with new
    runs.

    There is none of a trimmed mean of datasets, and where the runs do not say it: fewer than half
    of the datasets have two runs or more ("runs", "seeds"), or there are fewer than four datasets,
    or those that there are count as fewer than three ("runs_and_datasets"); or the variance about
    expected scores is not known.

    Runs: the variance of each dataset's part comes from its own runs, and the degrees of freedom
    follow Satterthwaite (1946). A run that is alone on its dataset has the pooled variance of the
    others. Where runs vary beyond the quartiles only, as they may in a tiny study, the error is
    that of the mean: no variance there is no certainty.

    Seeds: the variance is that of the seeds' sums over datasets, S − 1 degrees of freedom for S
    seeds per dataset (their harmonic mean where they differ); runs of a seed may have anything in
    common.

    Items: the variances of the cells' means on other items, and that of runs, where it is known;
    the mean of an item over few runs has some of their variance as well, so that counts twice.

    Expected scores add their variance: that of each, and that of the model's level in all of them.

    Datasets: a trimmed mean of n datasets keeps h = n / 2 of them and has h − 1 degrees of freedom
    (Yuen 1974); other statistics have n − 1. The error of the median comes from the distance of two
    order statistics (McKean and Schrader 1984). Datasets that are alike count as fewer. New runs
    have new seeds: the variance of the seeds' sums over datasets is added, or that of all models
    pooled if this is larger. It is never negative, since noise within cells is not taken off.
    """
    if statistic == "trimmed_mean":
        return None
    if unit == "items":
        error = _over_items(statistic, strata, filling, items)
    elif unit == "runs_and_datasets":
        error = _over_new_datasets(statistic, strata, filling, dependence)
    else:
        influences, own = _choose_own(statistic, strata, filling)
        if not _center_runs(influences.values, own).any():
            influences, own = _choose_own("mean", strata, filling)
        if unit == "seeds":
            error = _over_seeds(influences, own)
        else:
            error = _over_runs(influences, own, paired=dependence.paired)
    if filling is None or error is None:
        return error
    slopes = _slopes_of_filled(measure_influences(statistic, strata), strata, filling)
    others = np.count_nonzero(~filling.datasets)
    added = filling.variance * float((slopes**2).sum() + slopes.sum() ** 2 / others)
    return None if np.isnan(added) else error.add(added, filling.freedom)


def _over_new_datasets(
    statistic: Statistic, strata: Strata, filling: Filling | None, dependence: Dependence
) -> StandardError | None:
    """The error over datasets, and over the seeds that new runs would have."""
    n = len(strata.draws)
    if n < FEWEST_DATASETS:
        return None
    effective = float(dependence.count_effective(n))
    if effective < FEWEST_EFFECTIVE:
        return None
    if statistic == "median":
        means = np.bincount(strata.datasets, strata.scores) / strata.draws
        error = _of_median(means, effective)
    else:
        values = measure_influences(statistic, strata).values
        trimmed = strata.trimmed if statistic == "iqm" else 0.0
        error = _over_datasets(center_datasets(values, strata), effective, trimmed=trimmed)
    if dependence.seed_variance == 0:
        return error
    influences, own = _choose_own(statistic, strata, filling)
    seeds = _over_seeds(influences, own)
    found = 0.0 if seeds is None else seeds.value**2
    return error.add(max(found, dependence.seed_variance), dependence.seed_freedom)


def _over_items(
    statistic: Statistic,
    strata: Strata,
    filling: Filling | None,
    items: WeighItems | None,
) -> StandardError | None:
    """The error over items of the same datasets, and over the runs that there are."""
    influences, own = _choose_own(statistic, strata, filling)
    slopes = np.bincount(own.datasets, influences.slopes).astype(np.float64)
    if items is None:
        return None
    parts, common, alone, freedom = items(slopes)
    if np.isnan(freedom).any():
        return None
    known = satterthwaite_freedom(common, freedom)
    value, third = float(np.sqrt(common.sum())), float((parts**3).sum())
    error = StandardError(value, known, third, parts=parts, parts_freedom=known)
    error = error.add(float(alone.sum()), satterthwaite_freedom(alone, freedom))
    runs = _over_runs(influences, own, paired=False), _over_seeds(influences, own)
    noise = max((found for found in runs if found), key=lambda found: found.value, default=None)
    if noise is not None:
        error = error.add(noise.value**2, noise.freedom)
    return error


def _choose_own(
    statistic: Statistic, strata: Strata, filling: Filling | None
) -> tuple[Influences, Strata]:
    """Influences of the runs on a statistic, also through the expected scores, and the runs."""
    influences = measure_influences(statistic, strata)
    if filling is None:
        return influences, strata
    is_own = ~filling.datasets[strata.datasets]
    own = stratify_runs(
        strata.scores[is_own],
        strata.datasets[is_own].tolist(),
        seeds=strata.seeds[is_own].tolist(),
        resolutions=dict(enumerate(strata.resolutions.tolist())),
    )
    total = _slopes_of_filled(influences, strata, filling).sum()
    shares = total / (len(own.draws) * own.draws[own.datasets])
    slopes = influences.slopes[is_own] + shares
    values = influences.values[is_own] + shares * own.scores
    return Influences(values, slopes, influences.lost[~filling.datasets]), own


def _slopes_of_filled(influences: Influences, strata: Strata, filling: Filling) -> FloatArray:
    sums = np.bincount(strata.datasets, influences.slopes)
    return sums[filling.datasets].astype(np.float64)


def center_datasets(influences: FloatArray, strata: Strata) -> FloatArray:
    """Influence of each dataset: the sum over its runs, less its share of the statistic."""
    sums = np.bincount(strata.datasets, influences)
    shares = np.bincount(strata.datasets, strata.run_weights)
    return np.asarray(sums - sums.sum() * shares / shares.sum())


def bound_estimate(estimate: float, error: StandardError, *, confidence_level: float) -> Interval:
    """Student's t interval of an estimate, moved for skewness.

    Skewed noise makes estimate and standard error move together; half of the shift of Johnson
    (1978), at most one standard error, puts the interval where the truth then is.
    """
    if error.value == 0:
        return estimate, estimate
    level = (1 + confidence_level) / 2
    lean = SKEWNESS_SHARE * (1 + 2 * scipy.special.ndtri(level) ** 2) / 6
    shift = np.clip(lean * error.third / error.value**2, -error.value, error.value)
    reach = error.value * scipy.special.stdtrit(error.freedom, level)
    return float(estimate + shift - reach), float(estimate + shift + reach)


def percentile_interval(replicates: FloatArray, *, confidence_level: float) -> Interval:
    """Percentile interval: the middle part of the replicates."""
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return float(low), float(high)


def satterthwaite_freedom(variances: npt.ArrayLike, freedom: npt.ArrayLike) -> float:
    """Degrees of freedom of a sum of variances (Satterthwaite 1946), no fewer than the fewest."""
    parts, known = np.asarray(variances), np.asarray(freedom)
    spread, fewest = (parts**2 / known).sum(), float(known.min())
    return max(float(parts.sum() ** 2 / spread), fewest) if spread > 0 else fewest


def _over_runs(influences: Influences, strata: Strata, *, paired: bool) -> StandardError | None:
    draws, owner = strata.draws, strata.datasets
    if not has_enough_runs(draws):
        return None
    apart = _center_runs(influences.values, strata)
    squares, cubes = (np.bincount(owner, apart**power) for power in (2, 3))
    # Single runs have the pooled variance, to which each other dataset contributes.
    borrowed = float((influences.slopes[(draws == 1)[owner]] ** 2).sum()) / (draws - 1).sum()
    noise = np.bincount(owner, _center_runs(strata.scores, strata) ** 2)
    variances = squares * draws / np.maximum(draws - 1, 1) + borrowed * noise
    variances = np.maximum(variances, _bound_by_rounding(influences, strata))
    third = np.where(draws > 2, cubes * draws**2 / np.maximum((draws - 1) * (draws - 2), 1), 0)
    freedom = satterthwaite_freedom(
        variances[draws > 1], np.maximum(draws - 1 - influences.lost, 1)[draws > 1]
    )
    parts = None
    if paired:
        scale = np.sqrt(draws / np.maximum(draws - 1, 1))[owner]
        parts = np.zeros((len(draws), int(strata.seeds.max()) + 1))
        parts[owner, strata.seeds] = scale * apart
    return StandardError(
        value=float(np.sqrt(variances.sum())),
        freedom=freedom,
        third=float(third.sum()),
        parts=None if parts is None else parts.ravel(),
        parts_freedom=freedom,
        own_freedom=freedom,
    )


def _over_seeds(influences: Influences, strata: Strata) -> StandardError | None:
    """The error of seeds; those of datasets with a single run add the pooled variance of runs."""
    if not has_enough_runs(strata.draws):
        return None
    apart = _center_runs(influences.values, strata)
    draws = strata.draws
    scale = np.sqrt(draws / np.maximum(draws - 1, 1))[strata.datasets]
    sums = np.bincount(strata.seeds, scale * apart).astype(np.float64)
    variance = float((sums**2).sum())
    is_single = (strata.draws == 1)[strata.datasets]
    total = variance + _pool_variance(strata) * float((influences.slopes[is_single] ** 2).sum())
    total = max(total, float(_bound_by_rounding(influences, strata).sum()))
    freedom = 1 / float(np.mean(1 / (draws[draws > 1] - 1)))
    return StandardError(
        float(np.sqrt(total)), freedom, parts=sums, parts_freedom=freedom, own_freedom=freedom
    )


def _bound_by_rounding(influences: Influences, strata: Strata) -> FloatArray:
    """The least variance that the runs of each dataset add where scores are rounded."""
    owner, draws = strata.datasets, strata.draws
    means = np.bincount(owner, strata.scores) / draws
    return np.bincount(owner, influences.slopes**2) * bound_variance(
        means, draws, strata.resolutions
    )


def _center_runs(values: FloatArray, strata: Strata) -> FloatArray:
    """Values of runs less the mean of their dataset, exactly zero where they are all the same."""
    owner = strata.datasets
    apart = values - (np.bincount(owner, values) / strata.draws)[owner]
    apart[np.abs(apart) <= NEGLIGIBLE * np.abs(values).max()] = 0
    return np.asarray(apart)


def _pool_variance(strata: Strata) -> float:
    """Variance of the runs within datasets, pooled."""
    noise = _center_runs(strata.scores, strata)
    return float(noise @ noise) / int((strata.draws - 1).sum())


def _over_datasets(influences: FloatArray, effective: float, *, trimmed: float) -> StandardError:
    kept = 1 - 2 * trimmed
    freedom = max(kept * effective - 1, 1.0)
    # Squared influences are about the mean of datasets, so the fewer count, the less they say.
    parts = np.sqrt(kept * len(influences) / freedom) * influences
    return StandardError(
        float(np.sqrt((parts**2).sum())), freedom, parts=parts, parts_freedom=freedom
    )


def _of_median(means: FloatArray, effective: float) -> StandardError:
    """Standard error of the median of datasets' means.

    It says nothing of what models share: parts by the sides of datasets made the differences of
    equal models nearly certain. So models are compared as if they were independent.
    """
    n, normal = len(means), scipy.special.ndtri(0.995)
    place = max(int((n + 1) / 2 - normal * np.sqrt(n) / 2), 1)
    ordered = np.sort(means)
    value = float((ordered[n - place] - ordered[place - 1]) / (2 * normal))
    freedom = max(effective - 1, 1.0)
    return StandardError(value * np.sqrt(n / effective), freedom, own_freedom=freedom)


def _share_of_middle(strata: Strata) -> FloatArray:
    """How much each dataset counts in the median of dataset means, over noise of its own size.

    The shares are scaled so that the datasets' variances give that of the drawn medians: where
    several datasets are near the middle, the median varies more than a mean with these weights.
    """
    n = len(strata.draws)
    means = np.bincount(strata.datasets, strata.scores) / strata.draws
    squares = np.bincount(strata.datasets, (strata.scores - means[strata.datasets]) ** 2)
    errors = np.sqrt(squares / (np.maximum(strata.draws - 1, 1) * strata.draws))
    noise = make_stream(0, "middle", str(n)).standard_normal((N_MIDDLE_DRAWS, n))
    drawn = means + errors * noise
    places = np.argsort(drawn, axis=1, kind="stable")
    middle = places[:, [(n - 1) // 2, n // 2]]
    shares = np.bincount(middle.ravel(), minlength=n) / middle.size
    variance = float((shares**2 * errors**2).sum())
    scale = np.sqrt(np.median(drawn, axis=1).var(ddof=1) / variance) if variance > 0 else 1.0
    return np.asarray(shares * scale)
