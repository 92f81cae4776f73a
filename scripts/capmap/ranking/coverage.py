"""How often intervals hold the truth, by simulation of studies like the one at hand.

A simulated model has the dataset means, the spread of runs and the numbers of runs of a model of
the study; its runs vary as all runs of the study do, skewed or with outliers as they are. The truth
is the interquartile mean of infinitely many such runs per dataset.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from capmap.ranking.aggregation import TRIMMED, FloatArray
from capmap.ranking.models import Options, bootstrap_model, calibrated_interval
from capmap.ranking.resampling import Strata, stratify_runs
from capmap.ranking.standard_errors import measure_error
from capmap.settings.choices import IntervalMethod, Weights

INTERVALS: tuple[IntervalMethod, ...] = ("percentile", "calibrated")

N_RESAMPLES = 399
N_SIMULATIONS, FEWEST_SIMULATIONS = 1000, 200
CELLS = 1 << 27
QUANTILES = 400
FEWEST_RESIDUALS = 60
NEGLIGIBLE = 1e-12


def tabulate_coverage(
    runs: pd.DataFrame,
    *,
    confidence_level: float,
    weights: Weights,
    make_rng: Callable[..., np.random.Generator],
) -> pd.DataFrame:
    """Expected coverage of percentile and calibrated intervals for a study.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, finite), a row per run.
    confidence_level : float
        Nominal coverage, between 0 and 1.
    weights : {"datasets", "runs"}
        Whether each dataset weighs the same or each run.
    make_rng : callable
        Makes the random generator of a simulated model, from its number.

    Returns
    -------
    pandas.DataFrame
        A row per kind of interval: ``interval``, ``datasets`` and ``seeds`` (medians over models
        and cells, halves rounded up), ``seeds_min``, ``seeds_max``, ``nominal``, ``expected`` and
        ``simulations``. Where no model has an interval, or so many runs that fewer than 200
        simulations fit the work, or where cells with three runs have fewer than 60 residuals, too
        few to estimate the noise, ``expected`` is NaN and nothing is simulated.

    Notes
    -----
    The models of the study take turns. A run is its cell's mean plus the cell's standard deviation
    times a draw from the standardized residuals of all cells with three runs or more, so it is as
    skewed and has outliers as often. The standard error of a share p
    is sqrt(p (1 − p) / simulations), 0.007 for 1000 simulations near 0.95. Large studies are
    simulated as often as fits a fixed amount of work. Percentile intervals of 399 replicates hold
    the truth about 0.005 less often than those of very many.
    """
    models = [
        stratify_runs(own["score"], own["dataset"].tolist(), weights=weights)
        for _, own in runs.groupby("model", observed=True, sort=True)
    ]
    draws = np.concatenate([model.draws for model in models])
    able = [model for model in models if measure_error("iqm", model, unit="runs")]
    size = max((len(model.scores) for model in able), default=CELLS)
    simulations = min(CELLS // (size * N_RESAMPLES), N_SIMULATIONS)
    residuals = pool_residuals(models) if simulations >= FEWEST_SIMULATIONS else np.empty(0)
    simulations = simulations if len(residuals) >= FEWEST_RESIDUALS else 0
    expected: dict[str, float] = dict.fromkeys(INTERVALS, np.nan)
    if simulations:
        held: dict[str, int] = dict.fromkeys(INTERVALS, 0)
        for number in range(simulations):
            model = able[number % len(able)]
            for interval, is_held in _simulate(
                model, residuals, make_rng(str(number)), confidence_level=confidence_level
            ).items():
                held[interval] += is_held
        expected = {interval: count / simulations for interval, count in held.items()}
    return pd.DataFrame(
        {
            "interval": INTERVALS,
            "datasets": int(np.median([len(model.draws) for model in models]) + 0.5),
            "seeds": int(np.median(draws) + 0.5),
            "seeds_min": draws.min(),
            "seeds_max": draws.max(),
            "nominal": confidence_level,
            "expected": [expected[interval] for interval in INTERVALS],
            "simulations": simulations,
        }
    )


def pool_residuals(models: list[Strata]) -> FloatArray:
    """Standardized residuals of all cells, ascending, with mean 0 and variance 1.

    Returns
    -------
    numpy.ndarray
        Of cells with three runs or more, as those of two are always 1 and −1. At most 400, at equal
        distances of all; empty where no such cell has runs that differ.
    """
    found = [
        _standardize(part.scores) for model in models for part in model.parts if part.draws > 2
    ]
    pooled = np.sort(np.concatenate([np.empty(0), *found]))
    if not len(pooled):
        return pooled
    if len(pooled) > QUANTILES:
        pooled = pooled[(2 * np.arange(QUANTILES) + 1) * len(pooled) // (2 * QUANTILES)]
    pooled = pooled - pooled.mean()
    return np.asarray(pooled / pooled.std())


def _standardize(scores: FloatArray) -> FloatArray:
    """Residuals of the datasets of a stratum in units of their own standard deviation."""
    apart = scores - scores.mean(axis=0)
    spread = apart.std(axis=0)
    differs = spread > NEGLIGIBLE * np.abs(scores).max(initial=0)
    return np.asarray((apart[:, differs] / spread[differs]).ravel())


def _simulate(
    model: Strata, residuals: FloatArray, rng: np.random.Generator, *, confidence_level: float
) -> dict[str, bool]:
    """Whether each kind of interval of a simulated model holds its truth."""
    means = np.bincount(model.datasets, model.scores) / model.draws
    squares = np.bincount(model.datasets, (model.scores - means[model.datasets]) ** 2)
    repeated = model.draws > 1
    spreads = np.sqrt(squares / np.maximum(model.draws - 1, 1))
    spreads[~repeated] = np.sqrt(squares.sum() / (model.draws - 1).sum())
    shares = model.draws * model.dataset_weights
    truth = average_middle(means, spreads, residuals, shares)
    places = np.repeat(np.arange(len(means)), model.draws)
    noise = rng.choice(residuals, size=len(places))
    scores = means[places] + spreads[places] * noise
    names = [f"{place:06d}" for place in places]
    drawn = stratify_runs(scores, names, weights=model.weights)
    options = Options(N_RESAMPLES, confidence_level, "percentile", weights=model.weights)
    [iqm] = bootstrap_model(scores, names, statistics=["iqm"], options=options, rng=rng)
    found = {"percentile": (iqm.low, iqm.high), "calibrated": (np.nan, np.nan)}
    if iqm.error:
        found["calibrated"] = calibrated_interval(
            "iqm", drawn, iqm.error, confidence_level=confidence_level
        )
    return {kind: bool(low <= truth <= high) for kind, (low, high) in found.items()}


def average_middle(
    means: FloatArray, spreads: FloatArray, residuals: FloatArray, weights: FloatArray
) -> float:
    """Interquartile mean of infinitely many runs on each dataset.

    Parameters
    ----------
    means, spreads, weights : numpy.ndarray, shape (datasets,)
        Mean, standard deviation and weight of the runs on each dataset.
    residuals : numpy.ndarray, shape (residuals,)
        Equally likely values of a run in units of the standard deviation.

    Returns
    -------
    float
        Mean of the middle half of the mixture of all datasets.
    """
    values = (means[:, None] + spreads[:, None] * residuals).ravel()
    order = np.argsort(values, kind="stable")
    share = np.repeat(weights, len(residuals))[order]
    reached = np.cumsum(share)
    low, high = TRIMMED * reached[-1], (1 - TRIMMED) * reached[-1]
    kept = np.clip(reached, low, high) - np.clip(reached - share, low, high)
    return float(kept @ values[order] / kept.sum())
