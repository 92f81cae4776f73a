"""How alike two conditions of the same models, such as two studies, rank them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.artifacts import read_parquet
from capmap.comparison.correlation import compute_kendall_tau, compute_spearman_rho
from capmap.ranking.aggregation import FloatArray, IntArray, rank_competitors
from capmap.ranking.resampling import (
    DatasetPool,
    draw_datasets,
    repeat_datasets,
    stratify_runs,
)
from capmap.ranking.standard_errors import percentile_interval
from capmap.ranking.statistics import evaluate_statistic
from capmap.rng import make_stream

CELL = ["model", "dataset"]
AGREEMENT = {
    "condition": "str",
    "statistic": "str",
    "estimate": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "models": "int64",
    "datasets": "int64",
    "cells_unused": "int64",
}
RANKS = {
    "condition": "str",
    "model": "str",
    "score": "float64",
    "rank": "int64",
    "score_other": "float64",
    "rank_other": "int64",
    "change": "int64",
}
# Of the parts of a shard's path, its study.
STUDY_PART = -3


@dataclass(frozen=True)
class _Common:
    """The runs of two conditions in the cells that can be compared."""

    models: list[str]
    datasets: list[str]
    sides: tuple[pd.DataFrame, pd.DataFrame]
    cells_unused: int


def compare_condition(
    runs: pd.DataFrame,
    other: pd.DataFrame,
    *,
    condition: str,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare how two conditions rank the models that both have.

    Parameters
    ----------
    runs, other : pandas.DataFrame
        Normalized runs of each condition: ``model``, ``dataset`` and ``score``.
    condition : str
        Name of the other condition.
    n_resamples : int
        Number of resamples of the datasets.
    confidence_level : float
        Between 0 and 1.
    make_rng : callable
        Makes a random generator: ``make_rng()`` draws the datasets, shared by both conditions, and
        ``make_rng(model)`` stands in for a model without any of those drawn.

    Returns
    -------
    agreement : pandas.DataFrame
        Two rows, ``kendall_tau`` and ``spearman_rho``, in the column ``statistic``, with
        ``condition``, ``estimate``, ``ci_low``, ``ci_high``, ``models``, ``datasets`` (compared)
        and ``cells_unused``.
    ranks : pandas.DataFrame
        A row per model, by rank, then name: ``condition``, ``model``, ``score``, ``rank``,
        ``score_other``, ``rank_other`` and ``change`` (``rank_other - rank``). Ranks are those of
        a competition among these models on these datasets.

    Notes
    -----
    Compared are cells that have runs in both conditions: under ``pairwise`` each model on the
    datasets that it has in both, under ``common`` on those where all models that both conditions
    have do. So the two scores of a model rest on the same datasets, but under ``pairwise`` those of
    two models need not. A model without such a cell is left out. ``datasets`` counts those of any
    model, and ``cells_unused`` all cells with runs, of either condition, that are not compared.

    Kendall's tau is tau-b and Spearman's rho rests on average ranks, so ties are allowed for. Both
    are NaN for fewer than two models or datasets, or if all models of a condition are equal.
    Intervals are percentiles over resamples of the datasets, drawn as in
    `capmap.ranking.resampling.draw_datasets`, with the runs as they are; resamples in which a
    coefficient is not defined are left out. Resampling makes both rankings noisier, so
    the coefficients of resamples tend to be lower than the estimate. An interval that would leave
    the estimate out is stretched to it.

    Coefficients and intervals are those to expect of rankings on as many datasets and runs, whose
    noise lowers them below the coefficients of the true orders: of two noisy conditions with the
    same order of 8 models on 10 datasets, tau was 0.73 on average; 95% intervals held what is to
    expect on as many new datasets in 98% of studies, and the true tau in 8%.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239–251.
    """
    common = _choose_common(runs, other)
    n_models, n_datasets = len(common.models), len(common.datasets)
    coefficients = np.full((2, 3), np.nan)
    ranks = pd.DataFrame(columns=list(RANKS))
    if n_models:
        scores, drawn = _score_models(common, n_resamples, make_rng)
        ranks = _tabulate_ranks(common.models, scores[0], scores[1])
        if n_models > 1 and n_datasets > 1:
            coefficients = _correlate(scores, drawn, confidence_level=confidence_level)
    agreement = pd.DataFrame(coefficients, columns=["estimate", "ci_low", "ci_high"]).assign(
        statistic=["kendall_tau", "spearman_rho"],
        models=n_models,
        datasets=n_datasets,
        cells_unused=common.cells_unused,
    )
    return (
        agreement.assign(condition=condition)[list(AGREEMENT)].astype(AGREEMENT),
        ranks.assign(condition=condition)[list(RANKS)].astype(RANKS),
    )


def _choose_common(runs: pd.DataFrame, other: pd.DataFrame) -> _Common:
    filled = [side[CELL].drop_duplicates() for side in (runs, other)]
    cells = filled[0].merge(filled[1], on=CELL)
    first, second = (side.merge(cells, on=CELL) for side in (runs, other))
    models, datasets = (sorted(cells[kind].unique()) for kind in CELL)
    cells_unused = len(filled[0]) + len(filled[1]) - 2 * len(cells)
    return _Common(models, datasets, (first, second), cells_unused)


def _score_models(
    common: _Common, n_resamples: int, make_rng: Callable[..., np.random.Generator]
) -> tuple[FloatArray, FloatArray]:
    """Scores in both conditions, shape (2, models), and in resamples of datasets."""
    sides = [dict(list(side.groupby("model", sort=True, observed=True))) for side in common.sides]
    drawn = np.empty((2, len(common.models), 1 + n_resamples))
    for place, model in enumerate(common.models):
        names = sorted(sides[0][model]["dataset"].unique())
        times = draw_datasets(
            names,
            pool=DatasetPool(common.datasets, make_rng()),
            n_resamples=n_resamples,
            rng=make_rng(model),
        )
        times = np.hstack([np.ones((len(names), 1), dtype=np.intp), times])
        for row, side in zip(drawn, sides, strict=True):
            own = side[model]
            strata = stratify_runs(own["score"], own["dataset"].tolist())
            row[place] = evaluate_statistic("iqm", strata, repeat_datasets(strata, times))
    return drawn[:, :, 0], drawn[:, :, 1:]


def _tabulate_ranks(models: list[str], scores: FloatArray, others: FloatArray) -> pd.DataFrame:
    ranks, ranks_other = rank_competitors(scores), rank_competitors(others)
    table = pd.DataFrame(
        {
            "model": models,
            "score": scores,
            "rank": ranks,
            "score_other": others,
            "rank_other": ranks_other,
            "change": ranks_other - ranks,
        }
    )
    return table.sort_values(["rank", "model"], ignore_index=True)


def _correlate(scores: FloatArray, drawn: FloatArray, *, confidence_level: float) -> FloatArray:
    """Estimate and ends of the interval (columns) of tau and rho (rows)."""
    points = [_rank_models(side[:, None]) for side in scores]
    replicates = [_rank_models(side) for side in drawn]
    rows = []
    for correlate in (compute_kendall_tau, compute_spearman_rho):
        estimate = float(correlate(*points)[0])
        values = correlate(*replicates)
        values = values[np.isfinite(values)]
        low, high = np.nan, np.nan
        if np.isfinite(estimate) and len(values):
            low, high = percentile_interval(values, confidence_level=confidence_level)
            low, high = min(low, estimate), max(high, estimate)
        rows.append((estimate, low, high))
    return np.array(rows)


def _rank_models(scores: FloatArray) -> IntArray:
    ranks: IntArray = rank_competitors(scores.T).T.astype(np.min_scalar_type(-len(scores) - 1))
    return ranks


def compare_conditions(
    runs: pd.DataFrame,
    others: Sequence[str],
    *,
    study: str,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Compare the ranking of a study with those of other studies.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    others : sequence of str
        Files of the normalized runs of the other studies.
    study : str
        Name of the study, part of the names of its random streams.
    n_resamples
        As in the setting `comparison`.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``conditions`` and ``condition_ranks``.
    """
    agreement = [pd.DataFrame(columns=list(AGREEMENT)).astype(AGREEMENT)]
    ranks = [pd.DataFrame(columns=list(RANKS)).astype(RANKS)]
    for path in sorted(others):
        name, other = Path(path).parts[STUDY_PART], read_parquet(path)
        agreed, ranked = compare_condition(
            runs,
            other[other["ranked"]],
            condition=name,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            make_rng=partial(make_stream, seed, study, "conditions", name),
        )
        agreement.append(agreed)
        ranks.append(ranked)
    return {
        "conditions": pd.concat(agreement, ignore_index=True),
        "condition_ranks": pd.concat(ranks, ignore_index=True),
    }


def find_facts(conditions: pd.DataFrame, condition_ranks: pd.DataFrame) -> dict[str, Any]:
    """How well the order agrees with that of each condition, and which models move most."""
    taus = conditions[conditions["statistic"] == "kendall_tau"]
    taus = taus.sort_values("estimate", kind="stable")
    places = condition_ranks["change"].abs().fillna(0)
    movers = condition_ranks.loc[(places == places.max()) & (places > 0), "model"]
    return {
        "taus": taus[["condition", "estimate", "ci_low", "ci_high"]].to_numpy().tolist(),
        "has_intervals": bool(conditions["ci_low"].notna().any()),
        "most": int(places.max()) if len(places) else 0,
        "movers": sorted({*movers}),
    }


ANALYSIS = Analysis(
    question="Does the order depend on the condition?",
    position=110,
    default=True,
    needs="conditions",
    tables={
        "conditions": Table(
            "Rank correlation with other conditions, with intervals over resampled datasets.",
            "condition statistic estimate ci_low ci_high models datasets cells_unused",
        ),
        "condition_ranks": Table(
            "Score and rank of each model under both conditions, on their common datasets.",
            "condition model score rank score_other rank_other change",
        ),
    },
    figures={
        "conditions": Figure(
            "Rank of each model under two conditions, on the datasets that both have.",
            draw="capmap.figures.bump:draw_conditions",
            reads=["conditions", "condition_ranks"],
            order="ranking",
        )
    },
    steps={
        "compare_conditions": Step(
            compare_conditions,
            tables=["conditions", "condition_ranks"],
            reads=["runs"],
            paths=["others"],
            options={
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
        )
    },
    find_facts=find_facts,
    meanings={
        "rank_other": "Rank under the other condition.",
        "score_other": "Score under the other condition.",
    },
)
