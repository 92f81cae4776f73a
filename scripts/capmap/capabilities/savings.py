"""How well policies of choosing results did, and how many results they saved."""

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.capabilities.choice_replay import Curves
from capmap.capabilities.estimates import estimate_mean

SAVED_AT = (4, 6, 8, 12, 16)
FEWEST = 5
N_RESAMPLES = 1000
CHANCE = "random"
SAVINGS = {
    "policy": "str",
    "results": "int64",
    "needed": "float64",
    "needed_low": "float64",
    "needed_high": "float64",
    "saving": "float64",
    "models": "int64",
}


def tabulate_curves(
    curves: Curves, *, choices: str, value: str, things: str, confidence_level: float
) -> pd.DataFrame:
    """Average curves over the models or datasets that were taken as new.

    Parameters
    ----------
    curves : Curves
        Of `replay_datasets` or `replay_models`.
    choices, value, things : str
        Names of columns: number of chosen results, what was reached with them, and number of models
        or datasets.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        Columns ``policy``, that of the number of results, that of the mean with ``…_low`` and
        ``…_high``, Student's interval over models or datasets (it ends at 0; NaN for a single
        one), and their number. By policy and number of results, as far as at least half of them
        had as many candidates.
    """
    kinds = {
        "policy": "str",
        choices: "int64",
        **dict.fromkeys((value, f"{value}_low", f"{value}_high"), "float64"),
        things: "int64",
    }
    total = len(curves.candidates)
    shown = [
        (place, int(choice))
        for place, choice in enumerate(curves.choices)
        if 0 < total <= 2 * np.count_nonzero(curves.candidates >= choice)
    ]

    def estimate(reached: FloatArray) -> tuple[float, float, float]:
        mean, low, high = estimate_mean(reached, confidence_level=confidence_level)
        return mean, float(np.maximum(low, 0)), high

    rows = [
        (policy, choice, *estimate(values[:, place]), total)
        for policy, values in sorted(curves.reached.items())
        for place, choice in shown
    ]
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def measure_savings(
    curves: Curves, *, confidence_level: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Measure how many results each policy needs to get as far as random choice.

    Parameters
    ----------
    curves : Curves
        Of `replay_datasets`.
    confidence_level : float
        Of the intervals, between 0 and 1.
    rng : numpy.random.Generator
        Resamples the models.

    Returns
    -------
    pandas.DataFrame
        For each policy but random, and 4, 6, 8, 12 and 16 ``results`` chosen at random, if at least
        5 models had as many to choose from: ``policy``; ``results``; ``needed``, the number with
        which the policy reaches the same mean error, interpolated; ``needed_low`` and
        ``needed_high``, its interval; ``saving``, 1 − needed / results; ``models``, how
        many had as many candidates, over which errors are averaged; and ``confidence``, the level
        of the interval. By policy and results.

    Notes
    -----
    The interval is the percentile one of 1000 bootstrap samples of the models. A model of which all
    candidates are known keeps its error, so that curves go on to 16 results or to the most that any
    model has. If the policy does not get there, ``needed``, ``saving`` and the interval are NaN. An
    end of the interval that too many samples do not get to is NaN: it is open.
    """
    rows: list[tuple[object, ...]] = []
    tail = (1 - confidence_level) / 2
    for results in SAVED_AT:
        chosen = np.flatnonzero(curves.candidates >= results)
        if len(chosen) < FEWEST:
            continue
        samples = rng.integers(len(chosen), size=(N_RESAMPLES, len(chosen)))
        level, levels = _average(curves.reached[CHANCE][chosen], samples)
        for policy in sorted(set(curves.reached) - {CHANCE}):
            curve, replicates = _average(curves.reached[policy][chosen], samples)
            needed = float(count_needed(curve[None], level[results, None])[0])
            others = count_needed(replicates, levels[:, results])
            found = np.quantile(others, [tail, 1 - tail], method="inverted_cdf")
            ends = np.where(np.isinf(found), np.nan, found).tolist()
            if np.isinf(needed):
                needed, ends = np.nan, [np.nan, np.nan]
            rows.append((policy, results, needed, *ends, 1 - needed / results, len(chosen)))
    table = pd.DataFrame(rows, columns=list(SAVINGS)).astype(SAVINGS)
    table["confidence"] = confidence_level
    return table.sort_values(["policy", "results"], ignore_index=True)


def count_needed(curves: FloatArray, levels: FloatArray) -> FloatArray:
    """Count the results after which curves first reach a level.

    Parameters
    ----------
    curves : ndarray, shape (curves, results + 1)
        Errors with 0, 1, 2, … results.
    levels : ndarray, shape (curves,)
        What each has to reach.

    Returns
    -------
    ndarray, shape (curves,)
        Interpolated between the last error above the level and the first one that is not; infinite
        if there is none.

    Examples
    --------
    >>> count_needed(np.array([[4.0, 2.0, 1.0]] * 3), np.array([5.0, 1.5, 0.5])).tolist()
    [0.0, 1.5, inf]
    """
    reached = curves <= levels[:, None]
    first = np.argmax(reached, axis=1)
    rows = np.arange(len(curves))
    before, after = curves[rows, np.maximum(first - 1, 0)], curves[rows, first]
    drop = np.where(before > after, before - after, 1.0)
    found = np.where(first > 0, first - 1 + (before - levels) / drop, 0.0)
    return np.where(reached.any(axis=1), found, np.inf)


def _average(curves: FloatArray, samples: IntArray) -> tuple[FloatArray, FloatArray]:
    """The mean curve, and that of each sample of models."""
    weights = np.zeros((len(samples), len(curves)))
    np.add.at(weights, (np.arange(len(samples))[:, None], samples), 1 / len(curves))
    return curves.mean(axis=0), weights @ curves
