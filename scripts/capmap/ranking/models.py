"""Estimates, intervals and replicates of models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.ranking.aggregation import FloatArray
from capmap.ranking.intervals import (
    Interval,
    acceleration_over_datasets,
    acceleration_over_runs,
    basic_interval,
    bca_interval,
    calibrate_intervals,
    degrees_of_freedom,
    match_replicates,
    percentile_interval,
)
from capmap.ranking.resampling import (
    DatasetPool,
    Strata,
    draw_datasets,
    draw_resamples,
    inflate_residuals,
    iterate_blocks,
    stratify_runs,
)
from capmap.ranking.statistics import estimate_population, evaluate_runs, evaluate_statistic
from capmap.settings.choices import IntervalMethod, Statistic, Unit, Weights

NEGLIGIBLE = 1e-12
ESTIMATES = {
    "model": "str",
    "statistic": "str",
    "estimate": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "runs": "int64",
    "datasets": "int64",
}


@dataclass(frozen=True)
class Options:
    """How to bootstrap.

    Parameters
    ----------
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Between 0 and 1.
    interval : {"percentile", "basic", "bca", "calibrated"}
        Kind of interval.
    unit : {"runs", "runs_and_datasets"}
        What is resampled: runs within each dataset, or datasets and runs within each drawn one.
    weights : {"datasets", "runs"}
        Whether each dataset weighs the same or each run.
    """

    n_resamples: int = 10_000
    confidence_level: float = 0.95
    interval: IntervalMethod = "percentile"
    unit: Unit = "runs"
    weights: Weights = "datasets"

    @property
    def resamples_datasets(self) -> bool:
        """Whether datasets are resampled as well."""
        return self.unit == "runs_and_datasets"


@dataclass(frozen=True)
class Estimate:
    """A statistic of a model and how sure it is.

    Parameters
    ----------
    statistic : {"iqm", "mean", "median", "optimality_gap"}
        Which one.
    estimate : float
        Its value for the runs themselves.
    low, high : float
        Ends of the interval; NaN when there is none.
    replicates : numpy.ndarray, shape (n_resamples,)
        Replicates; empty when there is no interval. Those of a calibrated interval are stretched to
        agree with it.
    """

    statistic: Statistic
    estimate: float
    low: float
    high: float
    replicates: FloatArray


def bootstrap_model(
    scores: npt.ArrayLike,
    datasets: Sequence[str],
    *,
    statistics: Sequence[Statistic],
    options: Options,
    rng: np.random.Generator,
    pool: DatasetPool | None = None,
) -> list[Estimate]:
    """Estimate statistics of one model with stratified bootstrap intervals.

    Parameters
    ----------
    scores : array_like, shape (runs,)
        Finite normalized scores.
    datasets : sequence of str, shape (runs,)
        The dataset of each run.
    statistics : sequence of {"iqm", "mean", "median", "optimality_gap"}
        What to estimate, all from the same resamples.
    options : Options
        How to bootstrap.
    rng : numpy.random.Generator
        The model's own stream.
    pool : DatasetPool, optional
        The study's datasets; needed for ``unit="runs_and_datasets"`` and only then.

    Returns
    -------
    list of Estimate
        One per statistic, in the order given.

    Raises
    ------
    ValueError
        If there is no run, a score is NaN or infinite, or datasets are to be resampled and `pool`
        is missing.

    Notes
    -----
    A model has an interval only if at least half of its datasets have two or more runs: a single
    run says nothing about the spread of runs. Where datasets are resampled, it needs two or more of
    them as well. Datasets with a single run otherwise contribute nothing to the spread, except to a
    calibrated interval (`inflate_residuals`).

    References
    ----------
    Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical
    precipice. NeurIPS 34.

    Examples
    --------
    >>> from capmap.rng import make_stream
    >>> [iqm] = bootstrap_model(
    ...     [0.8, 0.9, 0.4, 0.4], ["A", "A", "B", "B"],
    ...     statistics=["iqm"], options=Options(n_resamples=100), rng=make_stream(0, "docs"),
    ... )
    >>> round(iqm.estimate, 3), round(iqm.low, 3), round(iqm.high, 3)
    (0.6, 0.6, 0.65)
    """
    if pool is None and options.resamples_datasets:
        raise ValueError("Resampling datasets needs the list of the study's datasets.")
    strata = stratify_runs(scores, datasets, weights=options.weights)
    if not has_interval(strata, unit=options.unit):
        return [
            Estimate(statistic, evaluate_runs(statistic, strata), np.nan, np.nan, np.empty(0))
            for statistic in statistics
        ]
    is_calibrated_on_runs = options.interval == "calibrated" and options.unit == "runs"
    source = inflate_residuals(strata) if is_calibrated_on_runs else strata
    names = sorted(set(datasets))
    replicates = np.empty((len(statistics), options.n_resamples))
    for block in iterate_blocks(options.n_resamples, runs=len(source.scores)):
        width = block.stop - block.start
        times = None
        if pool is not None and options.resamples_datasets:
            times = draw_datasets(names, pool=pool, n_resamples=width, rng=rng)
        resamples = draw_resamples(source, n_resamples=width, rng=rng, times=times)
        for row, statistic in zip(replicates, statistics, strict=True):
            row[block] = evaluate_statistic(statistic, source, resamples)
    return [
        _estimate_interval(statistic, strata, row, options=options)
        for statistic, row in zip(statistics, replicates, strict=True)
    ]


def bootstrap_models(
    runs: pd.DataFrame,
    *,
    statistics: Sequence[Statistic],
    options: Options,
    make_rng: Callable[..., np.random.Generator],
    datasets: Sequence[str] = (),
) -> pd.DataFrame:
    """Estimate statistics of each model of a table of runs.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, finite), a row per run.
    statistics, options
        As in `bootstrap_model`.
    make_rng : callable
        Makes a random generator: ``make_rng()`` draws datasets, ``make_rng(model)`` a model's runs.
    datasets : sequence of str, optional
        The datasets from which ``unit="runs_and_datasets"`` draws, those of models in other shards
        as well.

    Returns
    -------
    pandas.DataFrame
        A row per model and statistic, models by name: ``model``, ``statistic``, ``estimate``,
        ``ci_low``, ``ci_high``, ``runs``, ``datasets`` and ``replicates`` (array; empty without an
        interval).

    Raises
    ------
    ValueError
        If a score is NaN or infinite.
    """
    rows = []
    for model, own in runs.groupby("model", sort=True):
        about = (len(own), own["dataset"].nunique())
        for found in bootstrap_model(
            own["score"],
            own["dataset"].tolist(),
            statistics=statistics,
            options=options,
            rng=make_rng(str(model)),
            pool=DatasetPool(datasets, make_rng()) if datasets else None,
        ):
            interval = (found.estimate, found.low, found.high)
            rows.append((model, found.statistic, *interval, *about, found.replicates))
    return pd.DataFrame(rows, columns=[*ESTIMATES, "replicates"]).astype(ESTIMATES)


def has_interval(strata: Strata, *, unit: Unit) -> bool:
    """Whether a model's runs tell enough of their spread for an interval."""
    repeated = np.count_nonzero(strata.draws > 1)
    return bool(2 * repeated >= len(strata.draws) and (unit == "runs" or len(strata.draws) > 1))


def _estimate_interval(
    statistic: Statistic, strata: Strata, replicates: FloatArray, *, options: Options
) -> Estimate:
    estimate, level = evaluate_runs(statistic, strata), options.confidence_level
    interval: Interval
    match options.interval:
        case "percentile":
            interval = percentile_interval(replicates, confidence_level=level)
        case "basic":
            interval = basic_interval(replicates, estimate=estimate, confidence_level=level)
        case "bca":
            accelerate = (
                acceleration_over_runs if options.unit == "runs" else acceleration_over_datasets
            )
            interval = bca_interval(
                replicates,
                estimate=estimate,
                acceleration=accelerate(statistic, strata),
                confidence_level=level,
            )
        case "calibrated":
            interval = _calibrate(statistic, strata, replicates, options=options)
            replicates = match_replicates(replicates, interval, confidence_level=level)
    return Estimate(statistic, estimate, *interval, replicates)


def _calibrate(
    statistic: Statistic, strata: Strata, replicates: FloatArray, *, options: Options
) -> Interval:
    n = len(strata.draws)
    if options.resamples_datasets:
        # Resampled datasets have (n − 1) / n of the variance that they should have.
        replicates = replicates * np.sqrt(n / (n - 1))
    estimate = evaluate_runs(statistic, strata)
    if np.ptp(replicates) <= NEGLIGIBLE * np.abs(replicates).max():
        return estimate, estimate
    low, high = calibrate_intervals(
        replicates,
        estimate=np.asarray(estimate_population(statistic, strata)),
        freedom=degrees_of_freedom(strata.draws, unit=options.unit),
        confidence_level=options.confidence_level,
    )
    return min(float(low), estimate), max(float(high), estimate)
