"""Estimates and rankings on groups of datasets: all of them, dimensions, and single ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.claims import find_rivals
from capmap.errors import ValidationError
from capmap.normalization import count_runs, drop_incomplete, find_limits
from capmap.problems import require_known
from capmap.ranking.aggregation import AGGREGATIONS, aggregate_models, summarize_cells
from capmap.ranking.holes import (
    Effects,
    fill_cells,
    find_ranked,
    fit_effects,
    require_connected,
)
from capmap.ranking.models import Options, bootstrap_models
from capmap.ranking.ranks import keep_within, rank_statistic
from capmap.ranking.statistics import STATISTICS
from capmap.rng import make_stream
from capmap.settings.choices import (
    Aggregation,
    Incomplete,
    IntervalMethod,
    Statistic,
    Unit,
)
from capmap.wording import ALL, LISTED_NAMES, PLAIN_KEY, find_statistic, quote_name

INTERVALS = {
    "group": "str",
    "statistic": "str",
    "model": "str",
    "estimate": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "rank": "int64",
    "rank_low": "Int64",
    "rank_high": "Int64",
}
RANKING = {
    "ci_low": "float64",
    "ci_high": "float64",
    "rank": "int64",
    "rank_low": "Int64",
    "rank_high": "Int64",
    "tie_group": "str",
}
SHAPE = {"runs": "int64", "datasets": "int64", "missing": "int64"}
COVERAGE = {
    "group": "str",
    "incomplete": "str",
    "datasets": "int64",
    "models": "int64",
    "datasets_dropped": "int64",
    "models_dropped": "int64",
    "cells_unused": "int64",
}


class Definition(TypedDict):
    """A configured group: its datasets, and what becomes of models or datasets with empty cells."""

    datasets: list[str]
    incomplete: Incomplete


@dataclass(frozen=True)
class Group:
    """The runs of a group of datasets, as far as its rule for empty cells keeps them.

    Parameters
    ----------
    name : str
        Name of the group.
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per run, at least one.
    coverage : mapping of str to str or int
        What was kept and what was left out: the columns of the table of coverage.
    """

    name: str
    runs: pd.DataFrame
    coverage: Mapping[str, str | int]


@dataclass(frozen=True)
class Rankings:
    """What `rank_groups` finds.

    Parameters
    ----------
    ranking, intervals, coverage : pandas.DataFrame
        The tables that it describes.
    """

    ranking: pd.DataFrame
    intervals: pd.DataFrame
    coverage: pd.DataFrame


def bootstrap_groups(
    runs: pd.DataFrame,
    *,
    study: str,
    statistics: Sequence[Statistic],
    rank_by: Statistic = "iqm",
    options: Options,
    seed: int,
    datasets: Sequence[str],
    seeds: Sequence[str],
    effects: Effects | None = None,
    dimensions: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Estimate statistics of each model on all datasets, in each dimension, and on each dataset.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed`` and ``score`` (normalized, finite), a row per run.
    study : str
        Name of the study, part of the names of its random streams.
    statistics : sequence of {"iqm", "mean", "median", "optimality_gap"}
        What to estimate on all datasets; elsewhere it is what ranks the models.
    rank_by : {"iqm", "mean", "median", "optimality_gap"}, optional
        What ranks the models, which stands beside the ranking as well.
    options : Options
        How to bootstrap; on a single dataset only runs are drawn.
    seed : int
        Seed of the study's random streams.
    datasets, seeds : sequence of str
        Those of the whole study.
    effects : Effects, optional
        Of the datasets, for models that lack some; where all datasets are ranked.
    dimensions : mapping of str to sequence of str, optional
        The datasets of each dimension of a leaderboard, which also has the single datasets.

    Returns
    -------
    pandas.DataFrame
        As `bootstrap_models`, with ``unit`` (of the options, or "runs_and_datasets" for calibrated
        intervals beside them), ``kind`` ("dimension", "dataset", or "beside" for what stands beside
        the ranking) and ``group``, the name of the dimension or dataset; the dimension "All" comes
        first and has every dataset.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.
    """
    stream = partial(make_stream, seed, study)
    names = {"runs": (), "seeds": seeds, "runs_and_datasets": datasets}

    def draw_all(*model: str) -> np.random.Generator:
        return stream(*(("bootstrap", *model) if model else ("datasets",)))

    scopes = [("dimension", options)]
    if options.unit != "runs_and_datasets":
        beside = replace(options, unit="runs_and_datasets", interval="calibrated")
        scopes.append(("beside", beside))
    tables = [
        bootstrap_models(
            runs,
            statistics=statistics if kind == "dimension" else [rank_by],
            options=own,
            make_rng=draw_all,
            drawn=names[own.unit],
            effects=effects,
        ).assign(unit=own.unit, kind=kind, group=ALL)
        for kind, own in scopes
    ]
    if dimensions is not None:
        for name, members in dimensions.items():
            found = bootstrap_models(
                runs[runs["dataset"].isin(members)],
                statistics=[rank_by],
                options=options,
                make_rng=partial(stream, "leaderboard", name),
                drawn=seeds if options.unit == "seeds" else sorted({*datasets} & {*members}),
            )
            tables.append(found.assign(unit=options.unit, kind="dimension", group=name))
        for dataset, own in runs.groupby("dataset", sort=True, observed=True):
            found = bootstrap_models(
                own,
                statistics=[rank_by],
                options=replace(options, unit="runs"),
                make_rng=partial(stream, "leaderboard_cells", str(dataset)),
            )
            tables.append(found.assign(unit="runs", kind="dataset", group=dataset))
    return pd.concat(tables, ignore_index=True)


def choose_groups(
    runs: pd.DataFrame, definitions: Mapping[str, Definition], *, min_datasets: str | float = 0.5
) -> list[Group]:
    """Choose the runs of each group.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, normalized, of the whole study.
    definitions : mapping
        The configured groups, by name.
    min_datasets : {"all"}, int or float, optional
        Datasets of a group with ``adjust`` that a model needs, as in the setting of that name.

    Returns
    -------
    list of Group
        By name.

    Raises
    ------
    ValidationError
        If a dataset is unknown, or a group has nothing left. All groups with a fault are named.

    Notes
    -----
    The rules are those of the study. ``drop_models`` leaves out models that lack one of the group's
    datasets, ``drop_datasets`` leaves out datasets that one of the models with any run in the group
    lacks, and ``adjust`` ranks each model that has enough of the datasets with the scores that are
    expected on the others as well. ``error`` refuses every empty cell, also those of models without
    any run in the group; otherwise these are left out.
    """
    groups, faults = [], []
    for name, definition in sorted(definitions.items()):
        try:
            groups.append(_choose_group(name, runs, definition, min_datasets))
        except ValidationError as error:
            faults.append(str(error))
    if faults:
        raise ValidationError("\n".join(faults))
    return groups


def rank_groups(
    groups: Sequence[Group],
    *,
    statistics: Sequence[Statistic],
    rank_by: Statistic = "iqm",
    aggregations: Sequence[Aggregation],
    options: Options,
    limits: tuple[float, float],
    make_rng: Callable[..., np.random.Generator],
) -> Rankings:
    """Rank the models of all groups.

    Parameters
    ----------
    groups : sequence of Group
        From `choose_groups`; may be empty.
    statistics : sequence of {"iqm", "mean", "median", "optimality_gap"}
        What has intervals; the interquartile mean and `rank_by` always have.
    rank_by : {"iqm", "mean", "median", "optimality_gap"}, optional
        What ranks the models.
    aggregations : sequence of {"mean", "trimmed_mean", "median"}
        What else ranks the models, across the means of datasets.
    options : Options
        How to bootstrap.
    limits : tuple of float
        What normalized scores can be, see `find_limits`.
    make_rng : callable
        Makes a random generator: ``make_rng(group)`` draws a group's datasets,
        ``make_rng(group, model)`` a model's runs.

    Returns
    -------
    Rankings
        ``ranking``: group by group, best first, ties by name: ``group``, ``model``, the statistic,
        ``ci_low``, ``ci_high``, ``rank``, ``rank_low``, ``rank_high``, ``tie_group``, a column per
        aggregation, a column ``rank_…`` per aggregation, ``runs``, ``datasets`` and ``missing``
        (datasets of the group without a score). Interval, rank interval and ties are empty for a
        model without an interval.

        ``intervals``: group by group and statistic by statistic, best first: ``group``,
        ``statistic``, ``model``, ``estimate``, ``ci_low``, ``ci_high``, ``rank``, ``rank_low`` and
        ``rank_high``.

        ``coverage``: a row per group: ``group``, ``incomplete`` (its rule), ``datasets`` and
        ``models`` (ranked), ``datasets_dropped``, ``models_dropped`` (of the study's models) and
        ``cells_unused`` (cells of the group's datasets that have runs and are left out).

    Notes
    -----
    These are the rankings of the study (`bootstrap_model`, `rank_estimates`, `aggregate_models`)
    with the group's datasets as the only ones. Each model has a random stream of its own for each
    group, from which all statistics are drawn.
    """
    wanted = [name for name in STATISTICS if name in {"iqm", rank_by, *statistics}]
    columns = dict.fromkeys(aggregations, "float64") | {
        f"rank_{name}": "int64" for name in aggregations
    }
    # The mean and the median of runs are those of datasets unless these have unequal weights.
    kinds = {"group": "str", "model": "str", rank_by: "float64"} | RANKING | columns | SHAPE
    rankings = [pd.DataFrame(columns=list(kinds)).astype(kinds)]
    intervals = [pd.DataFrame(columns=list(INTERVALS)).astype(INTERVALS)]
    for group in groups:
        cells = summarize_cells(group.runs)
        effects = fit_effects(cells) if group.coverage["incomplete"] == "adjust" else None
        tables = _rank_group(
            group, statistics=wanted, options=options, make_rng=make_rng, effects=effects
        )
        tables = {
            name: keep_within(table, limits, statistic=name) for name, table in tables.items()
        }
        scores = aggregate_models(fill_cells(cells, effects), aggregations=aggregations)
        ranking = tables[rank_by].rename(columns={"estimate": rank_by})
        lacked = group.runs["dataset"].nunique() - ranking["datasets"] - ranking["filled"]
        ranking = ranking.assign(missing=lacked)
        scores = scores.drop(columns=["datasets", rank_by], errors="ignore")
        rankings.append(ranking.merge(scores, on="model")[list(kinds)].astype(kinds))
        intervals += [table[list(INTERVALS)].astype(INTERVALS) for table in tables.values()]
    coverage = pd.DataFrame([group.coverage for group in groups], columns=list(COVERAGE))
    return Rankings(
        ranking=pd.concat(rankings, ignore_index=True),
        intervals=pd.concat(intervals, ignore_index=True),
        coverage=coverage.astype(COVERAGE),
    )


def _rank_group(
    group: Group,
    *,
    statistics: Sequence[Statistic],
    options: Options,
    make_rng: Callable[..., np.random.Generator],
    effects: Effects | None,
) -> dict[Statistic, pd.DataFrame]:
    """Estimates, intervals and ranks of a group's models by each statistic."""
    estimates = bootstrap_models(
        group.runs,
        statistics=statistics,
        options=options,
        make_rng=partial(make_rng, group.name),
        drawn=group.runs["seed" if options.unit == "seeds" else "dataset"].unique().tolist(),
        effects=effects,
    ).assign(group=group.name)
    by_statistic = dict(list(estimates.groupby("statistic")))
    return {
        name: rank_statistic(by_statistic[name], name, confidence_level=options.confidence_level)
        for name in statistics
    }


def _choose_group(
    name: str, runs: pd.DataFrame, definition: Definition, min_datasets: str | float
) -> Group:
    wanted, policy = sorted(set(definition["datasets"])), definition["incomplete"]
    option = f"groups.{_write_name(name)}"
    require_known(wanted, set(runs["dataset"]), option=f"{option}.datasets", kind="dataset")
    inside = runs[runs["dataset"].isin(wanted)]
    kept, dropped = drop_incomplete(inside, policy=policy)
    if kept.empty:
        raise ValidationError(_explain_empty(option, policy, dropped))
    if policy == "adjust":
        kept = kept[kept["model"].isin(find_ranked(kept, min_datasets))]
        if kept.empty:
            raise ValidationError(f"{option}: no model has min_datasets of the group's datasets.")
        try:
            require_connected(kept)
        except ValidationError as error:
            raise ValidationError(f"{option}: {error}") from error
    cells, kept_cells = (int(np.count_nonzero(count_runs(part))) for part in (inside, kept))
    models, datasets = kept["model"].nunique(), kept["dataset"].nunique()
    coverage: dict[str, str | int] = {
        "group": name,
        "incomplete": policy,
        "datasets": datasets,
        "models": models,
        "datasets_dropped": len(wanted) - datasets,
        "models_dropped": runs["model"].nunique() - models,
        "cells_unused": cells - kept_cells,
    }
    return Group(name, kept, coverage)


def _write_name(name: str) -> str:
    """Write a group's name as part of an option: in quotes unless it is a plain word."""
    quoted = quote_name(name)
    return quoted[1:-1] if PLAIN_KEY.fullmatch(name) else quoted


def _explain_empty(option: str, policy: Incomplete, dropped: pd.DataFrame) -> str:
    kept, other, rule = (
        ("model", "datasets", "drop_datasets")
        if policy == "drop_models"
        else ("dataset", "models", "drop_models")
    )
    reasons = [
        f"{quote_name(row['name'])}: {row['reason'].rstrip('.')}"
        for row in dropped.to_dict("records")
    ]
    return (
        f"{option}: no {kept} has runs for all of the group's {other}, so its rule {policy} "
        f"leaves nothing. {_list_first(reasons)}. Set incomplete to adjust or {rule}, or "
        "choose other datasets."
    )


def _list_first(sentences: list[str]) -> str:
    rest = len(sentences) - LISTED_NAMES
    listed = "; ".join(sentences[:LISTED_NAMES])
    return f"{listed}; and {rest} more" if rest > 0 else listed


def compare_groups(
    runs: pd.DataFrame,
    scopes: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    definitions: Mapping[str, Mapping[str, Any]],
    incomplete: Incomplete,
    min_datasets: str | float,
    n_resamples: int,
    confidence_level: float,
    interval: IntervalMethod,
    seed: int,
) -> dict[str, Any]:
    """Rank the models on each configured group of datasets.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    scopes : pandas.DataFrame
        The ranking, which says what intervals are over and what ranks the models.
    bounds : pandas.DataFrame
        The bounds of the datasets.
    study : str
        Name of the study, part of the names of its random streams.
    definitions : mapping
        The setting `groups`: name to ``datasets``.
    incomplete : str
        The setting of that name; without empty cells ("error") it makes no difference.
    min_datasets : {"all"}, int or float
        The setting of that name.
    n_resamples, confidence_level, interval, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``groups``, ``group_intervals`` and ``group_coverage``.
    """
    unit: Unit = scopes["unit"].iloc[0]
    policy: Incomplete = "drop_models" if incomplete == "error" else incomplete
    groups = {
        name: Definition(datasets=own["datasets"], incomplete=policy)
        for name, own in definitions.items()
    }
    found = rank_groups(
        choose_groups(runs, groups, min_datasets=min_datasets),
        statistics=[*STATISTICS],
        rank_by=scopes["statistic"].iloc[0],
        aggregations=[*AGGREGATIONS],
        options=Options(n_resamples, confidence_level, interval, unit),
        limits=find_limits(bounds, runs),
        make_rng=partial(make_stream, seed, study, "groups"),
    )
    return {
        "groups": found.ranking,
        "group_intervals": found.intervals,
        "group_coverage": found.coverage,
    }


def find_facts(groups: pd.DataFrame, scopes: pd.DataFrame) -> dict[str, Any]:
    """Who leads each group, and in which groups others cannot be separated from the first."""
    statistic = find_statistic(groups.columns)
    ranked = groups[groups["rank"].notna()]
    leaders = []
    for name, own in ranked.groupby("group", sort=False):
        first = own[own["rank"] == own["rank"].min()].sort_values("model")
        rivals = len(find_rivals(own.sort_values(["rank", "model"])))
        leaders.append((str(name), first["model"].tolist(), first[statistic].iloc[0], rivals))
    return {
        "statistic": statistic,
        "unit": next(iter(scopes["unit"]), "runs"),
        "leaders": leaders,
        "has_intervals": bool(groups["ci_low"].notna().any()),
    }


ANALYSIS = Analysis(
    question="Which model is best at what?",
    position=100,
    default=True,
    needs="groups",
    tables={
        "groups": Table(
            "Ranking of the models within each group of datasets, with intervals of score and "
            "rank. Nothing is corrected for the number of groups.",
            "group model iqm ci_low ci_high rank rank_low rank_high tie_group",
            more=True,
            formats="csv tex",
        ),
        "group_intervals": Table(
            "Every statistic of each model within each group, with its interval and set of ranks.",
            "group statistic model estimate ci_low ci_high rank rank_low rank_high",
        ),
        "group_coverage": Table(
            "Datasets, models and cells of each group, and what its rule about missing runs drops.",
            "group incomplete datasets models datasets_dropped models_dropped cells_unused",
        ),
    },
    figures={
        "groups": Figure(
            "Interquartile mean and rank of each model within each group of datasets.",
            draw="capmap.figures.datasets:draw_groups",
            reads=["groups"],
        )
    },
    steps={
        "rank_groups": Step(
            compare_groups,
            tables=["groups", "group_intervals", "group_coverage"],
            reads=["runs", "scopes", "bounds"],
            options={
                "definitions": "groups",
                "incomplete": "incomplete",
                "min_datasets": "min_datasets",
                "n_resamples": "bootstrap/replicates",
                "confidence_level": "bootstrap/confidence",
                "interval": "bootstrap/interval",
                "seed": "bootstrap/seed",
            },
        )
    },
    find_facts=find_facts,
    meanings={
        "datasets_dropped": "Datasets that the rule about missing runs left out.",
        "incomplete": "The group's rule about missing runs.",
        "models_dropped": "Models that the rule about missing runs left out.",
    },
)
