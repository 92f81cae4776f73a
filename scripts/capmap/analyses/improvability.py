"""Improvability: how much of a model's error the best model of each dataset does without."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.comparison.score_matrix import ScoreMatrix, arrange_runs
from capmap.metrics import find_metric
from capmap.normalization.rules import DatasetRule, find_transform
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.ranking.ranks import measure_replicates, rank_estimates
from capmap.ranking.resampling import draw_resamples, iterate_blocks, stratify_runs
from capmap.ranking.standard_errors import percentile_interval
from capmap.ranking.statistics import average_datasets
from capmap.rng import make_stream

DECIMALS = 12
SHARE, PERCENT = (0.0, 1.0), 100.0
MODEL_COLUMNS = [
    *("model", "improvability", "ci_low", "ci_high"),
    *("rank", "rank_low", "rank_high", "datasets"),
]


@dataclass(frozen=True)
class Improvability:
    """How far models stay behind the best.

    Parameters
    ----------
    models : pandas.DataFrame
        Columns ``model``, ``improvability`` (percent), ``ci_low``, ``ci_high``, ``rank``,
        ``rank_low``, ``rank_high`` and ``datasets``; lowest first, ties by name.
    cells : pandas.DataFrame
        Columns ``model``, ``dataset``, ``error`` and ``best_error`` (both in the unit of the raw
        score) and ``improvability`` (percent); by model and dataset.
    """

    models: pd.DataFrame
    cells: pd.DataFrame


def find_optima(bounds: pd.DataFrame, datasets: Mapping[str, DatasetRule]) -> pd.DataFrame:
    """Find the score of each dataset that leaves no error.

    Parameters
    ----------
    bounds : pandas.DataFrame
        Columns ``dataset``, ``metric``, ``direction`` ("max" or "min"), ``low`` and ``high`` (raw
        scores after transforms), a row per dataset.
    datasets : mapping
        Rules of datasets; only their ``transform`` counts.

    Returns
    -------
    pandas.DataFrame
        A row per dataset, in the order given: ``dataset``; ``optimum``, a raw score; ``unit``, the
        largest absolute value of the optimum and the bounds; in parts of it ``gap``, from the bound
        of the best side to the optimum, and ``span``, from bound to bound; and ``is_known``.

    Notes
    -----
    The optimum is the best end of the natural bounds: those of the transform where there is one,
    otherwise those that the metric has by its definition. Bounds of a metric from 0 to 1 that lie
    beyond it and within 0 to 100 are percent, and so is the optimum then. Where a metric has no
    natural bounds, or the bounds lie outside them and so are in another unit, the bound of the best
    side stands in, and ``is_known`` is false unless it is the natural one.

    Examples
    --------
    >>> bounds = pd.DataFrame(
    ...     [("A", "accuracy", "max", 0.1, 0.9), ("B", "quality", "max", 0.0, 5.0)],
    ...     columns=["dataset", "metric", "direction", "low", "high"],
    ... )
    >>> find_optima(bounds, {})[["optimum", "is_known"]].to_numpy().tolist()
    [[1.0, True], [5.0, False]]
    """
    rows = []
    for row in bounds.to_dict("records"):
        low, high = float(row["low"]), float(row["high"])
        is_max = row["direction"] == "max"
        rule = datasets.get(str(row["dataset"]), {})
        transform = find_transform(rule.get("transform"))
        known = transform or find_metric(str(row["metric"]))
        lowest, highest = (known.low, known.high) if known else (None, None)
        if (lowest, highest) == SHARE and low >= 0 and 1 < high <= PERCENT and not transform:
            highest = PERCENT
        side, natural = (high, highest) if is_max else (low, lowest)
        is_inside = (lowest is None or lowest <= low) and (highest is None or high <= highest)
        is_known = natural is not None and (is_inside or natural == side)
        optimum = natural if natural is not None and is_known else side
        unit = max(abs(low), abs(high), abs(optimum))
        gap = abs(optimum - side) / unit
        # Halves, because the distance of two huge bounds is beyond the largest float.
        span = (high / 2 - low / 2) / (unit / 2)
        rows.append((row["dataset"], optimum, unit, gap, span, is_known))
    return pd.DataFrame(rows, columns=["dataset", "optimum", "unit", "gap", "span", "is_known"])


def measure_errors(runs: pd.DataFrame, optima: pd.DataFrame) -> pd.DataFrame:
    """Turn normalized scores into distances to the optimum.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized), a row per run.
    optima : pandas.DataFrame
        From `find_optima`, for at least the datasets of the runs.

    Returns
    -------
    pandas.DataFrame
        The runs in their order with a new ``score``: the error in parts of the dataset's unit, the
        lower the better, negative beyond the optimum.

    Notes
    -----
    The error is ``gap + (1 − s) · span`` for the normalized score s in either direction. It is
    rounded to 12 decimals, so a raw score at the optimum has the error 0 and no noise around it.
    Errors below a millionth of the unit therefore keep few digits.
    """
    own = optima.set_index("dataset").loc[runs["dataset"]]
    gap, span = (own[name].to_numpy(dtype=np.float64) for name in ("gap", "span"))
    shortfall = 1 - runs["score"].to_numpy(dtype=np.float64)
    return runs.assign(score=np.round(gap + shortfall * span, DECIMALS))


def compute_improvability(errors: FloatArray, best: FloatArray) -> FloatArray:
    """Share of each error that the best error does without.

    Parameters
    ----------
    errors : numpy.ndarray
        Errors, at least 0; NaN where a cell is empty.
    best : numpy.ndarray
        Lowest error on the dataset, at most the error; shaped to broadcast.

    Returns
    -------
    numpy.ndarray
        ``(error − best) / error`` in percent, from 0 to 100; 0 where the error is 0.

    References
    ----------
    Erickson, N. et al. (2025). TabArena: a living benchmark for machine learning on tabular data.
    NeurIPS 38.

    Examples
    --------
    >>> compute_improvability(np.array([0.4, 0.1, 0.0]), np.array([0.1, 0.1, 0.0])).tolist()
    [75.0, 0.0, 0.0]
    """
    behind = (errors - best) * 100
    return np.divide(behind, errors, out=np.zeros_like(errors), where=errors != 0)


def bootstrap_improvability(
    runs: pd.DataFrame,
    optima: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[[str], np.random.Generator],
) -> Improvability:
    """Measure the improvability of models, with bootstrap intervals.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized), a row per run, at least one.
    optima : pandas.DataFrame
        From `find_optima`, for at least the datasets of the runs.
    n_resamples : int
        Number of stratified bootstrap resamples.
    confidence_level : float
        Of the intervals, between 0 and 1.
    make_rng : callable
        The random generator of a model, by its name.

    Returns
    -------
    Improvability
        The order of the runs has no influence.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    A cell's error is that of its mean score, set to 0 beyond the optimum. The best error of a
    dataset is the lowest of the models that have it, so improvability depends on the pool. A
    model's improvability is the mean over the datasets that it has.

    Intervals are percentile intervals. All models are resampled, and the best error is found anew
    in each replicate. The best of noisy errors is lower than the best of their means, so replicates
    lie a little high; an interval that would leave out the estimate is widened to end at it. A
    model has an interval if at least half of its datasets have two or more runs. Models without an
    interval count as not separated (`rank_estimates`).
    """
    errors = measure_errors(runs, optima)
    matrix = arrange_runs(errors)
    means = np.round(matrix.means, DECIMALS)
    means = np.maximum(means, 0.0)
    best = np.where(matrix.is_filled, means, np.inf).min(axis=0)
    values = compute_improvability(means, best)
    replicates = _replicate(errors, matrix, n_resamples, make_rng)
    units = optima.set_index("dataset").loc[matrix.datasets, "unit"].to_numpy(dtype=np.float64)
    rows, columns = np.nonzero(matrix.is_filled)
    cells = pd.DataFrame(
        {
            "model": np.array(matrix.models, dtype=object)[rows],
            "dataset": np.array(matrix.datasets, dtype=object)[columns],
            "error": round_significant((means * units)[rows, columns]),
            "best_error": round_significant((best * units)[columns]),
            "improvability": values[rows, columns],
        }
    )
    models = _rank(matrix, values, replicates, confidence_level=confidence_level)
    return Improvability(models=models, cells=cells)


def _replicate(
    errors: pd.DataFrame,
    matrix: ScoreMatrix,
    n_resamples: int,
    make_rng: Callable[[str], np.random.Generator],
) -> list[FloatArray]:
    """Replicates of each model's improvability; none where fewer than half its cells have two."""
    is_sure = 2 * (matrix.counts > 1).sum(axis=1) >= matrix.is_filled.sum(axis=1)
    if not is_sure.any():
        return [np.empty(0) for _ in matrix.models]
    best = np.full((len(matrix.datasets), n_resamples), np.inf)
    drawn = []
    for place, (model, own) in enumerate(errors.groupby("model", sort=True, observed=True)):
        strata, rng = stratify_runs(own["score"], own["dataset"].tolist()), make_rng(str(model))
        means = np.empty((len(strata.draws), n_resamples))
        for block in iterate_blocks(n_resamples, runs=len(own)):
            resamples = draw_resamples(strata, n_resamples=block.stop - block.start, rng=rng)
            means[:, block] = average_datasets(strata, resamples)
        columns = np.flatnonzero(matrix.is_filled[place])
        values = np.maximum(np.round(means, DECIMALS), 0.0)
        best[columns] = np.minimum(best[columns], values)
        drawn.append((columns, values))
    return [
        round_significant(compute_improvability(values, best[columns]).mean(axis=0))
        if sure
        else np.empty(0)
        for (columns, values), sure in zip(drawn, is_sure, strict=True)
    ]


def _rank(
    matrix: ScoreMatrix,
    values: FloatArray,
    replicates: list[FloatArray],
    *,
    confidence_level: float,
) -> pd.DataFrame:
    sizes = matrix.is_filled.sum(axis=1)
    sums = np.where(matrix.is_filled, values, 0.0).sum(axis=1)
    estimates = round_significant(sums / sizes)
    nothing = (np.nan, np.nan)
    low, high = np.transpose(
        [
            percentile_interval(own, confidence_level=confidence_level) if len(own) else nothing
            for own in replicates
        ]
    )
    table = pd.DataFrame(
        {
            "model": matrix.models,
            "estimate": estimates,
            "ci_low": np.minimum(low, estimates),
            "ci_high": np.maximum(high, estimates),
            "datasets": sizes,
        }
    )
    freedom = np.maximum(np.maximum(matrix.counts - 1, 0).sum(axis=1), 1)
    errors = measure_replicates(replicates, freedom=freedom)
    ranked = rank_estimates(table, errors, confidence_level=confidence_level, best="min")
    return ranked.rename(columns={"estimate": "improvability"})[MODEL_COLUMNS]


def measure_improvability(
    runs: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    datasets: Mapping[str, DatasetRule],
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> dict[str, Any]:
    """Measure the share of its error that each model could still lose.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    bounds : pandas.DataFrame
        Bounds of the datasets.
    study : str
        Name of the study, part of the names of its random streams.
    n_resamples
        As in the setting `comparison`.
    datasets : mapping
        Rules of datasets, which may name their best score.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``improvability`` and ``improvability_datasets``.
    """
    limits = bounds.set_index("dataset").loc[sorted(runs["dataset"].unique())].reset_index()
    optima = find_optima(limits, datasets)
    result = bootstrap_improvability(
        runs,
        optima,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "improvability"),
    )
    return {
        "improvability": result.models,
        "improvability_datasets": result.cells,
    }


def find_facts(
    improvability: pd.DataFrame,
    improvability_datasets: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    datasets: Mapping[str, DatasetRule],
) -> dict[str, Any]:
    """Which model has the lowest improvability, and in which cell it is highest."""
    cells = improvability_datasets
    first = improvability[improvability["rank"] == improvability["rank"].min()]
    worst = cells[cells["improvability"] == cells["improvability"].max()].iloc[:1]
    optima = find_optima(bounds[bounds["dataset"].isin(cells["dataset"])], datasets)
    return {
        "models": improvability["model"].tolist(),
        "first": first["model"].tolist(),
        "lowest": next(iter(first["improvability"]), np.nan),
        "ends": first[["ci_low", "ci_high"]].to_numpy().tolist()[0] if len(first) == 1 else [],
        "has_intervals": bool(improvability["ci_low"].notna().any()),
        "worst": worst[["model", "dataset", "improvability"]].to_numpy().tolist(),
        "without_optimum": optima.loc[~optima["is_known"], "dataset"].tolist(),
    }


ANALYSIS = Analysis(
    question="How much error is left to the best model?",
    position=60,
    tables={
        "improvability": Table(
            "Share of its error, in percent, that a model would lose by matching the best model "
            "of each dataset; lower is better. Intervals are over runs.",
            "model improvability ci_low ci_high rank rank_low rank_high datasets",
            best={"improvability": "min"},
        ),
        "improvability_datasets": Table(
            "Error of each model on each dataset, the lowest of any model, and the share between.",
            "model dataset error best_error improvability",
        ),
    },
    figures={
        "improvability": Figure(
            "Share of its error that a model would lose by matching the best model of each "
            "dataset.",
            draw="capmap.figures.rankings:draw_improvability",
            reads=["improvability"],
        )
    },
    steps={
        "measure_improvability": Step(
            measure_improvability,
            tables=["improvability", "improvability_datasets"],
            reads=["runs", "bounds"],
            options={
                "datasets": "datasets",
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
        )
    },
    find_facts=find_facts,
    meanings={
        "best_error": "Lowest error of any model on the dataset.",
        "error": "Distance of the score to the best possible one.",
        "improvability": "Share of its error, in percent, that the best model saves; 0 is best.",
    },
)
