"""How often intervals hold the truth, by simulation of benchmarks with a known truth.

A simulated model has dataset means spread evenly over [0, 1], drawn anew for each simulation, and
runs with independent noise about them. The truth is the interquartile mean of infinitely many runs
per dataset, and comes from the mixture of the datasets' distributions, weighted as the study is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from capmap.ranking.aggregation import TRIMMED, FloatArray, IntArray
from capmap.ranking.intervals import calibrate_intervals, degrees_of_freedom
from capmap.ranking.models import Options, bootstrap_model, has_interval
from capmap.ranking.resampling import draw_counts, stratify_runs
from capmap.ranking.statistics import trim_means
from capmap.rng import make_stream
from capmap.settings.choices import IntervalMethod, Weights

Noise = Literal["normal", "exponential"]

INTERVALS: tuple[IntervalMethod, ...] = ("percentile", "calibrated")

N_RESAMPLES = 399
N_SIMULATIONS = 2000
N_RAGGED_SIMULATIONS = 1000
NOISE_SD = 0.05
MOST_DATASETS = 100
MOST_SEEDS = 20
CELLS = 1 << 28
RAGGED_CELLS = 1 << 26
CHUNK_COLUMNS = 8192
BISECTIONS = 60


@dataclass(frozen=True)
class Coverage:
    """Share of simulated intervals that held the truth, between 0 and 1."""

    percentile: float
    calibrated: float


def tabulate_coverage(
    shape: pd.DataFrame, *, confidence_level: float, weights: Weights
) -> pd.DataFrame:
    """Expected coverage of percentile and calibrated intervals for a study's shape.

    Parameters
    ----------
    shape : pandas.DataFrame
        On how many ``datasets`` a model has how many runs, ``seeds``; all are at least 1.
    confidence_level : float
        Nominal coverage, between 0 and 1.
    weights : {"datasets", "runs"}
        Whether each dataset weighs the same or each run.

    Returns
    -------
    pandas.DataFrame
        A row per kind of interval: ``interval``, ``datasets`` (their number in all), ``seeds``
        (median number of runs on a dataset, halves rounded up), ``seeds_min``, ``seeds_max``,
        ``nominal``, ``expected`` and ``simulations``. Where such a model has no interval,
        ``expected`` is NaN and no simulation is run.

    Notes
    -----
    More than 20 runs on a dataset are simulated as 20, and of more than 100 datasets, ordered by
    number of runs, 100 at equal distances, beyond which coverage hardly moves; the table says what
    was simulated. The number of simulations is 2000, or 1000 where numbers of runs differ, or, in
    large shapes, as many as fit a fixed amount of work.
    """
    seeds = np.sort(np.repeat(shape["seeds"].to_numpy(), shape["datasets"].to_numpy()))
    seeds = np.minimum(seeds, MOST_SEEDS)
    is_simulated = _has_interval(seeds)
    seeds = _thin_datasets(seeds)
    simulations, coverage = 0, Coverage(percentile=np.nan, calibrated=np.nan)
    if is_simulated:
        simulations, coverage = _simulate_shape(
            seeds, confidence_level=confidence_level, weights=weights
        )
    return pd.DataFrame(
        {
            "interval": INTERVALS,
            "datasets": len(seeds),
            "seeds": int(np.median(seeds) + 0.5),
            "seeds_min": seeds[0],
            "seeds_max": seeds[-1],
            "nominal": confidence_level,
            "expected": [coverage.percentile, coverage.calibrated],
            "simulations": simulations,
        }
    )


def simulate_coverage(
    *,
    datasets: int,
    seeds: int,
    confidence_level: float = 0.95,
    noise: Noise = "normal",
    noise_sd: float = NOISE_SD,
    n_simulations: int = N_SIMULATIONS,
    n_resamples: int = N_RESAMPLES,
) -> Coverage:
    """Simulate how often bootstrap intervals of the interquartile mean hold the truth.

    Parameters
    ----------
    datasets, seeds : int
        Number of datasets and of runs on each, the latter at least 2.
    confidence_level : float, optional
        Nominal coverage, between 0 and 1.
    noise : {"normal", "exponential"}, optional
        Distribution of a run about its dataset's mean.
    noise_sd : float, optional
        Its standard deviation, in units of the range of dataset means.
    n_simulations, n_resamples : int, optional
        Number of simulated models, and of bootstrap replicates for each.

    Returns
    -------
    Coverage
        Shares of percentile and of calibrated intervals that held the truth.

    Notes
    -----
    The same settings give the same result. The standard error of a share p is
    sqrt(p (1 − p) / n_simulations), 0.005 for 2000 simulations near 0.95. Percentiles of the few
    replicates are taken so that a level's expected share is right.

    The amount of noise hardly matters, because error and interval grow with it alike. The exception
    is a noise that is small beside the gaps between datasets: the estimate cuts a whole number of
    runs, the truth exactly a quarter, and where a quarter of the runs is no whole number the
    difference then shifts percentile intervals off the truth. Calibrated ones allow for it
    (``benchmarks/coverage.py`` measures both).
    """
    rng = make_stream(0, "coverage", noise, str(datasets), str(seeds))
    step = max(CHUNK_COLUMNS // n_resamples, 1)
    held = np.zeros(2, dtype=np.intp)
    freedom = degrees_of_freedom(np.full(datasets, seeds), unit="runs")
    tail = (1 - confidence_level) / 2
    runs = datasets * seeds
    whole = np.floor(TRIMMED * runs)
    for first in range(0, n_simulations, step):
        width = min(step, n_simulations - first)
        means = rng.random((datasets, width))
        scores = means + noise_sd * _draw_noise(noise, (seeds, datasets, width), rng=rng)
        truth = average_middle(means, noise=noise, noise_sd=noise_sd)
        draws = np.empty((seeds, datasets * width * n_resamples), dtype=np.min_scalar_type(seeds))
        draw_counts(seeds, seeds, rng=rng, out=draws)
        counts = draws.reshape(runs, width, n_resamples)
        replicates = _trim_simulations(scores, counts, cut=whole)
        low, high = np.quantile(replicates, [tail, 1 - tail], axis=-1, method="weibull")
        held[0] += np.count_nonzero((low <= truth) & (truth <= high))
        center = scores.mean(axis=0)
        inflated = center + (scores - center) * np.sqrt(seeds / (seeds - 1))
        estimate = _trim_simulations(scores, np.ones((runs, width, 1)), cut=TRIMMED * runs)
        low, high = calibrate_intervals(
            _trim_simulations(inflated, counts, cut=whole),
            estimate=estimate[:, 0],
            freedom=freedom,
            confidence_level=confidence_level,
        )
        held[1] += np.count_nonzero((low <= truth) & (truth <= high))
    percentile, calibrated = (held / n_simulations).tolist()
    return Coverage(percentile=percentile, calibrated=calibrated)


def simulate_ragged_coverage(
    seeds: IntArray,
    *,
    weights: Weights,
    confidence_level: float = 0.95,
    n_simulations: int = N_RAGGED_SIMULATIONS,
) -> Coverage:
    """Simulate coverage where numbers of runs differ from dataset to dataset.

    Parameters
    ----------
    seeds : numpy.ndarray of int, shape (datasets,)
        Number of runs on each dataset, two or more on at least half of them.
    weights : {"datasets", "runs"}
        Whether each dataset weighs the same or each run, in the estimate and in the truth.
    confidence_level : float, optional
        Nominal coverage, between 0 and 1.
    n_simulations : int, optional
        Number of simulated models.

    Returns
    -------
    Coverage
        Shares of percentile and of calibrated intervals that held the truth.

    Notes
    -----
    Each simulated model, with normal noise, goes through `bootstrap_model`. The same settings give
    the same result. The standard error is 0.007 for 1000 simulations near 0.95. Percentile
    intervals of 399 replicates hold the truth about 0.005 less often than those of very many.
    """
    rng = make_stream(0, "coverage", "ragged", weights, *map(str, seeds.tolist()))
    means = rng.random((len(seeds), n_simulations))
    shares = seeds if weights == "runs" else None
    truths = average_middle(means, noise="normal", noise_sd=NOISE_SD, weights=shares)
    places = np.repeat(np.arange(len(seeds)), seeds)
    names = [str(place) for place in places]
    held = dict.fromkeys(INTERVALS, 0)
    for model, truth in zip(means.T, truths, strict=True):
        scores = model[places] + NOISE_SD * rng.standard_normal(len(places))
        for interval in INTERVALS:
            options = Options(N_RESAMPLES, confidence_level, interval, weights=weights)
            [iqm] = bootstrap_model(scores, names, statistics=["iqm"], options=options, rng=rng)
            held[interval] += bool(iqm.low <= truth <= iqm.high)
    return Coverage(**{interval: count / n_simulations for interval, count in held.items()})


def average_middle(
    means: FloatArray, *, noise: Noise, noise_sd: float, weights: IntArray | None = None
) -> FloatArray:
    """Interquartile mean of infinitely many runs on each dataset.

    Parameters
    ----------
    means : numpy.ndarray, shape (datasets, simulations)
        Mean of each dataset.
    noise : {"normal", "exponential"}
        Distribution of the runs about it.
    noise_sd : float
        Its standard deviation, above 0.
    weights : numpy.ndarray of int, shape (datasets,), optional
        Weight of each dataset in the mixture; None means that all weigh the same.

    Returns
    -------
    numpy.ndarray, shape (simulations,)
        Mean of the middle half of the mixture of all datasets.

    Notes
    -----
    The mixture's quartiles are found by bisection to full precision; the mean between them is known
    in closed form.
    """
    share, moment = NOISES[noise]

    def share_below(end: FloatArray) -> FloatArray:
        return np.asarray(np.average(share((end - means) / noise_sd), axis=0, weights=weights))

    def average_below(end: FloatArray) -> FloatArray:
        places = (end - means) / noise_sd
        below = means * share(places) + noise_sd * moment(places)
        return np.asarray(np.average(below, axis=0, weights=weights))

    ends = means.min(axis=0) - 10 * noise_sd, means.max(axis=0) + 10 * noise_sd
    low, high = (_find_quantile(level, share_below, ends) for level in (TRIMMED, 1 - TRIMMED))
    return np.asarray((average_below(high) - average_below(low)) / (1 - 2 * TRIMMED))


def _has_interval(seeds: IntArray) -> bool:
    names = np.repeat(np.arange(len(seeds)), seeds).astype(str).tolist()
    return has_interval(stratify_runs(np.zeros(len(names)), names), unit="runs")


def _thin_datasets(seeds: IntArray) -> IntArray:
    n = len(seeds)
    if n <= MOST_DATASETS:
        return seeds
    return seeds[(2 * np.arange(MOST_DATASETS) + 1) * n // (2 * MOST_DATASETS)]


def _simulate_shape(
    seeds: IntArray, *, confidence_level: float, weights: Weights
) -> tuple[int, Coverage]:
    """Simulate as often as a job has time for."""
    replicates = int(seeds.sum()) * N_RESAMPLES
    if seeds[0] < seeds[-1]:
        simulations = min(RAGGED_CELLS // replicates, N_RAGGED_SIMULATIONS)
        return simulations, simulate_ragged_coverage(
            seeds, confidence_level=confidence_level, weights=weights, n_simulations=simulations
        )
    simulations = min(CELLS // replicates, N_SIMULATIONS)
    return simulations, simulate_coverage(
        datasets=len(seeds),
        seeds=int(seeds[0]),
        confidence_level=confidence_level,
        n_simulations=simulations,
    )


def _find_quantile(
    level: float,
    share_below: Callable[[FloatArray], FloatArray],
    ends: tuple[FloatArray, FloatArray],
) -> FloatArray:
    low, high = ends
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_below = share_below(middle) < level
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return np.asarray((low + high) / 2)


def _trim_simulations(scores: FloatArray, counts: npt.NDArray[Any], *, cut: float) -> FloatArray:
    """Trimmed means of each simulation's resamples, shape (simulations, resamples)."""
    runs = len(counts)
    values = scores.reshape(runs, -1)
    order = np.argsort(values, axis=0)
    ordered = np.empty_like(counts)
    for simulation, rows in enumerate(order.T):
        ordered[:, simulation] = counts[rows, simulation]
    return trim_means(
        np.take_along_axis(values, order, axis=0),
        ordered,
        order=np.arange(runs),
        weights=np.ones(runs),
        cut=cut,
        kept=runs - 2 * cut,
    )


def _draw_noise(noise: Noise, shape: tuple[int, ...], *, rng: np.random.Generator) -> FloatArray:
    if noise == "normal":
        return rng.standard_normal(shape)
    return rng.standard_exponential(shape) - 1


def _share_normal(places: FloatArray) -> FloatArray:
    return np.asarray(special.ndtr(places))


def _moment_normal(places: FloatArray) -> FloatArray:
    """Integral of x times the density up to each place."""
    return np.asarray(-np.exp(-(places**2) / 2) / np.sqrt(2 * np.pi))


def _share_exponential(places: FloatArray) -> FloatArray:
    return np.asarray(-np.expm1(-np.maximum(places + 1, 0)))


def _moment_exponential(places: FloatArray) -> FloatArray:
    """Integral of x times the density up to each place, for the density moved to mean 0."""
    waits = np.maximum(places + 1, 0)
    return np.asarray(-waits * np.exp(-waits))


NOISES = {
    "normal": (_share_normal, _moment_normal),
    "exponential": (_share_exponential, _moment_exponential),
}
