"""How metrics move over the steps of trainings, and of models that have several."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from capmap.checkpoints.plan import Plan
from capmap.checkpoints.selection import CHECKPOINT, normalize_values
from capmap.ranking.aggregation import FloatArray
from capmap.ranking.standard_errors import percentile_interval

CURVES = [
    *("training", "model", "metric", "split", "step", "mean", "ci_low", "ci_high"),
    *("datasets", "trainings"),
]


def trace_curves(
    values: pd.DataFrame,
    plan: Plan,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> pd.DataFrame:
    """Average each metric over datasets at each step of each training, and over trainings.

    Parameters
    ----------
    values : pandas.DataFrame
        ``model``, ``training``, ``checkpoint``, ``step``, ``dataset``, ``metric``, ``split`` and
        ``score``, a row per value.
    plan : Plan
        Which values are better.
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Of the intervals, between 0 and 1.
    make_rng : callable
        Makes a random generator: ``make_rng(*datasets)`` draws from these datasets.

    Returns
    -------
    pandas.DataFrame
        The columns of `CURVES`, by metric, split, model, training and step. A model with several
        trainings has a curve of its own, whose ``training`` is "" and which says in ``trainings``
        how many it averages; elsewhere that is 1.

    Notes
    -----
    A metric with one dataset on a split keeps its raw values. With several, they are normalized: 0
    for the worst and 1 for the best value that any checkpoint of any training has on the dataset,
    0.5 where all are equal; a metric of which nobody says the direction is not turned. ``datasets``
    says how many a mean is of, so a step that lacks some is known.

    Intervals of a training are percentile intervals of the mean over datasets drawn with
    replacement. With one dataset there is none, and with few they are too narrow. Steps with the
    same datasets share their draws, so curves are compared on the same ones.

    A model's curve is the mean of its trainings at the steps that all of them have, on the same
    datasets, with Student's t interval of that mean: it says what another training might do on
    these datasets, and not what other datasets might.
    """
    tables = []
    for key, rows in values.groupby(["metric", "split"]):
        own = rows.sort_values([*CHECKPOINT, "dataset"])
        if len(own["dataset"].unique()) > 1:
            own = own.assign(score=normalize_values(own, plan.directions))
        wide = own.pivot_table(index=CHECKPOINT, columns="dataset", values="score")
        steps = _average_steps(
            wide, n_resamples=n_resamples, confidence_level=confidence_level, make_rng=make_rng
        )
        models = _average_trainings(steps, confidence_level=confidence_level)
        table = pd.concat([models, steps.assign(trainings=1)])
        table = table.sort_values(["model", "training", "step"])
        metric, split = map(str, key)
        tables.append(table.assign(metric=metric, split=split))
    return pd.concat(tables, ignore_index=True)[CURVES]


def _average_steps(
    wide: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> pd.DataFrame:
    """Means and intervals of the rows of a table with a column per dataset, and their pattern."""
    scores = wide.to_numpy(dtype=np.float64)
    known = np.isfinite(scores)
    numbers = np.full((3, len(scores)), np.nan)
    patterns, found = np.unique(known, axis=0, return_inverse=True)
    owner = found.reshape(-1)
    for number, pattern in enumerate(patterns):
        places = np.flatnonzero(owner == number)
        own = scores[places][:, pattern]
        numbers[0, places] = own.mean(axis=1)
        if pattern.sum() > 1:
            datasets: Sequence[str] = wide.columns[pattern].tolist()
            shares = _draw_shares(len(datasets), n_resamples, make_rng(*datasets))
            ends = [
                percentile_interval(replicates, confidence_level=confidence_level)
                for replicates in own @ shares
            ]
            numbers[1:, places] = np.transpose(ends)
    mean, low, high = numbers
    steps = wide.index.to_frame(index=False).assign(pattern=owner)
    return steps.assign(mean=mean, ci_low=low, ci_high=high, datasets=known.sum(axis=1))


def _average_trainings(steps: pd.DataFrame, *, confidence_level: float) -> pd.DataFrame:
    """Means over the trainings of models that have several, at the steps that all of them have."""
    totals = steps.groupby("model")["training"].transform("nunique")
    groups = steps[totals > 1].assign(total=totals).groupby(["model", "step"], as_index=False)
    table = groups.agg(
        mean=("mean", "mean"),
        spread=("mean", "std"),
        datasets=("datasets", "first"),
        trainings=("mean", "size"),
        total=("total", "first"),
        patterns=("pattern", "nunique"),
    )
    table = table[(table["trainings"] == table["total"]) & (table["patterns"] == 1)]
    quantile = stats.t.ppf((1 + confidence_level) / 2, table["trainings"] - 1)
    half = quantile * table["spread"] / np.sqrt(table["trainings"])
    return table.assign(training="", ci_low=table["mean"] - half, ci_high=table["mean"] + half)


def _draw_shares(count: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Share of each dataset (rows) in each replicate (columns)."""
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=n_resamples)
    return np.asarray(drawn.T / count, dtype=np.float64)
