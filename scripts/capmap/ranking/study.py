"""The ranking of a study from its runs: normalization, estimates and ranks."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from capmap.benchmarks import complete_rules, read_benchmark
from capmap.errors import ValidationError
from capmap.normalization import (
    apply_transforms,
    drop_incomplete,
    list_dropped,
    normalize_scores,
    read_references,
    resolve_bounds,
    select_runs,
)
from capmap.ranking.aggregation import summarize_cells
from capmap.ranking.groups import bootstrap_groups
from capmap.ranking.holes import Effects, fit_effects
from capmap.ranking.models import Options
from capmap.ranking.ranks import rank_statistic, widen_intervals
from capmap.ranking.scopes import resolve_statistic, resolve_unit
from capmap.ranking.statistics import STATISTICS
from capmap.settings.choices import Statistic
from capmap.wording import ALL

RANKING = [
    *("model", "iqm", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
    *("rank_low_all", "rank_high_all", "may_be_best", "runs", "datasets", "filled", "ties"),
]

Scope: TypeAlias = Mapping[str, Any]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Normalized:
    """The normalized runs of a study.

    Parameters
    ----------
    runs : pandas.DataFrame
        A row per run.
    bounds, dropped : pandas.DataFrame
        The bounds of each dataset, and what was left out.
    scope : mapping
        What all models have in common: ``unit``, ``rank_by``, ``datasets``, ``seeds`` and
        ``effects``, as JSON.
    """

    runs: pd.DataFrame
    bounds: pd.DataFrame
    dropped: pd.DataFrame
    scope: Scope


def normalize_study(
    found: pd.DataFrame,
    *,
    settings: Mapping[str, Any],
    references: Sequence[str] = (),
    benchmark: Sequence[str] = (),
) -> Normalized:
    """Normalize the runs of a study.

    Parameters
    ----------
    found : pandas.DataFrame
        Valid runs.
    settings : mapping
        The settings ``metrics``, ``datasets``, ``normalization``, ``select``, ``incomplete`` and
        ``rank_by`` of the study, and ``unit`` and ``interval`` of its bootstrap.
    references, benchmark : sequence of str
        No file or one with frozen bounds, and with the definition of the benchmark, whose rules of
        datasets come after those that are configured.

    Raises
    ------
    ValidationError
        When bounds cannot be resolved, or no runs are left.
    """
    datasets, select = settings["datasets"], settings["select"]
    for path in benchmark:
        datasets = complete_rules(datasets, read_benchmark(path), found["dataset"].unique())
    chosen, other_datasets = select_runs(found, datasets=select.get("datasets", "all"))
    converted = apply_transforms(chosen, datasets)
    bounds, problems = resolve_bounds(
        converted,
        metrics=settings["metrics"],
        datasets=datasets,
        normalization=settings["normalization"],
        references=read_references(*references),
    )
    if errors := [str(problem) for problem in problems if problem.severity == "error"]:
        raise ValidationError("\n".join(errors))
    constant = [problem for problem in problems if problem.code == "constant_dataset"]
    selected, other_models = select_runs(converted, models=select.get("models", "all"))
    runs, gaps = drop_incomplete(normalize_scores(selected, bounds), policy=settings["incomplete"])
    if runs.empty:
        raise ValidationError(
            "No run is left to analyse. Check select, incomplete, and constant datasets."
        )
    flat = list_dropped(("dataset", problem.value, problem.reason) for problem in constant)
    dropped = pd.concat([other_models, other_datasets, flat, gaps], ignore_index=True)
    counts = len(runs), runs["model"].nunique(), runs["dataset"].nunique()
    logger.info("%d runs of %d models on %d datasets", *counts)
    return Normalized(runs, bounds, dropped, _describe_scope(runs, settings))


def _describe_scope(runs: pd.DataFrame, settings: Mapping[str, Any]) -> dict[str, Any]:
    effects = fit_effects(summarize_cells(runs)) if settings["incomplete"] == "adjust" else None
    unit = resolve_unit(settings["unit"], runs, interval=settings["interval"])
    return {
        "unit": unit,
        "rank_by": resolve_statistic(settings["rank_by"], runs),
        "datasets": sorted(runs["dataset"].unique()),
        "seeds": sorted(runs["seed"].unique()) if unit == "seeds" else [],
        "effects": effects.to_json() if effects else None,
    }


def estimate_models(
    runs: pd.DataFrame,
    scope: Scope,
    *,
    study: str,
    settings: Mapping[str, Any],
    dimensions: Mapping[str, list[str]] | None = None,
) -> pd.DataFrame:
    """Estimate models, some or all of a study, with intervals and replicates.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of the models.
    scope : mapping
        That of `Normalized`.
    study : str
        Name of the study, part of the names of its random streams.
    settings : mapping
        Those below ``bootstrap``; what ranks the models and the interquartile mean are estimated
        beside its ``statistics``.
    dimensions : mapping of str to list of str, optional
        The datasets of each dimension of a leaderboard.

    Returns
    -------
    pandas.DataFrame
        A row per kind and group of datasets, model and statistic.
    """
    wanted = {"iqm", scope["rank_by"], *settings["statistics"]}
    return bootstrap_groups(
        runs,
        study=study,
        statistics=[name for name in sorted(STATISTICS) if name in wanted],
        rank_by=scope["rank_by"],
        options=Options(
            settings["replicates"],
            settings["confidence"],
            settings["interval"],
            scope["unit"],
            settings["weights"],
        ),
        seed=settings["seed"],
        datasets=scope["datasets"],
        seeds=scope["seeds"],
        effects=Effects.from_json(scope["effects"]),
        dimensions=dimensions,
    )


def rank_estimates(
    read: Callable[[Mapping[str, str]], pd.DataFrame],
    statistic: Statistic,
    *,
    confidence_level: float,
    kind: str = "dimension",
) -> pd.DataFrame:
    """Rank models by one statistic on all datasets.

    Parameters
    ----------
    read : callable
        Gives the rows of `estimate_models` of all models whose columns have these values.
    statistic : str
        What ranks the models.
    confidence_level : float
        Of rank intervals and tie groups.
    kind : str
        "dimension", or "beside" for the other of what intervals generalize to.

    Returns
    -------
    pandas.DataFrame
        A row per model, best first; empty without estimates.
    """
    models = read({"kind": kind, "group": ALL, "statistic": statistic})
    if models.empty:
        return models
    table = rank_statistic(models, statistic, confidence_level=confidence_level)
    return widen_intervals(table, confidence_level=confidence_level)


def choose_columns(ranking: pd.DataFrame, statistic: Statistic) -> pd.DataFrame:
    """Give a ranking the columns that are shown, its scores named after what ranks the models."""
    columns = [statistic if name == "iqm" else name for name in RANKING]
    return ranking.rename(columns={"estimate": statistic})[columns]
