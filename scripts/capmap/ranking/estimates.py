"""Models estimated with their intervals and ranked, on all datasets and on some."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from capmap.artifacts import read_parquet
from capmap.ranking.dependence import Dependence, measure_dependence
from capmap.ranking.groups import Group
from capmap.ranking.holes import Effects
from capmap.ranking.models import Options, bootstrap_models
from capmap.ranking.ranks import rank_models
from capmap.ranking.scopes import Scope
from capmap.ranking.score_matrix import arrange_runs
from capmap.ranking.statistics import STATISTICS
from capmap.ranking.table import COLUMNS
from capmap.rng import make_stream
from capmap.settings.choices import Statistic

Read = Callable[[Mapping[str, str]], pd.DataFrame]


@dataclass(frozen=True)
class Part:
    """Runs on which models are ranked, and how.

    Parameters
    ----------
    kind, group : str
        "study", "group", "dimension" or "dataset", and its name, empty for the study.
    runs : pandas.DataFrame
        Those of all models.
    statistics : sequence of {"iqm", "mean", "median", "optimality_gap"}
        What to estimate.
    options : Options
        How to bootstrap.
    make_rng : callable
        As in `bootstrap_models`.
    effects : Effects, optional
        Of the datasets, for models that lack some.
    """

    kind: str
    group: str
    runs: pd.DataFrame
    statistics: Sequence[Statistic]
    options: Options
    make_rng: Callable[..., np.random.Generator]
    effects: Effects | None = None


def list_parts(
    runs: pd.DataFrame,
    scope: Scope,
    *,
    study: str,
    settings: Mapping[str, Any],
    groups: Sequence[Group] = (),
    dimensions: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Part]:
    """List the sets of runs of a study on which models are ranked.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of the study.
    scope : mapping
        That of `Normalized`.
    study : str
        Name of the study, part of the names of its random streams.
    settings : mapping
        Those below ``bootstrap``.
    groups : sequence of Group, optional
        Groups of datasets that are ranked on their own.
    dimensions : mapping of str to sequence of str, optional
        The datasets of each dimension of a leaderboard, which also has the single datasets, on
        which only runs are drawn.
    """
    known = Dependence.read(scope["dependence"])
    options = Options(
        n_resamples=settings["replicates"],
        confidence_level=settings["confidence"],
        interval=settings["interval"],
        unit=scope["unit"],
        cut=scope["iqm"],
        dependence=known,
    )

    # Only the study's own intervals stand beside those of the bootstrap.
    plain = options if options.interval == "percentile" else replace(options, n_resamples=0)

    def adapt(own: pd.DataFrame) -> Options:
        if options.unit != "runs_and_datasets":
            return plain
        matrix = arrange_runs(own, by_seed=known.seed_variance > 0)
        return replace(plain, dependence=measure_dependence(matrix, paired=known.paired))

    stream = partial(make_stream, settings["seed"], study)
    statistics, rank_by = sorted(STATISTICS), [scope["rank_by"]]
    effects = Effects.from_json(scope["effects"])

    def draw(*model: str) -> np.random.Generator:
        return stream(*(("bootstrap", *model) if model else ("datasets",)))

    yield Part("study", "", runs, statistics, options, draw, effects)
    if options.unit != "runs_and_datasets":
        other = replace(options, unit="runs_and_datasets", interval="calibrated")
        yield Part("study", "", runs, ["mean"], other, draw, effects)
    for group in groups:
        draw_group = partial(stream, "groups", group.name)
        own = adapt(group.runs)
        yield Part("group", group.name, group.runs, statistics, own, draw_group, group.effects)
    if dimensions is None:
        return
    for name, members in dimensions.items():
        inside = runs[runs["dataset"].isin(members)]
        draw_inside = partial(stream, "leaderboard", name)
        yield Part("dimension", name, inside, rank_by, adapt(inside), draw_inside)
    alone = replace(plain, unit="runs")
    for dataset, cells in runs.groupby("dataset", sort=True, observed=True):
        draw_cell = partial(stream, "leaderboard_cells", str(dataset))
        yield Part("dataset", str(dataset), cells, rank_by, alone, draw_cell)


def estimate_models(
    parts: Iterator[Part], *, models: Collection[str] | None = None
) -> pd.DataFrame:
    """Estimate models, some or all of a study, with intervals.

    Returns
    -------
    pandas.DataFrame
        As `bootstrap_models`, with ``unit``, ``kind`` and ``group`` of each part; replicates are
        kept where intervals are their percentiles.
    """
    tables = []
    for part in parts:
        table = bootstrap_models(
            part.runs,
            statistics=part.statistics,
            options=part.options,
            make_rng=part.make_rng,
            effects=part.effects,
            models=models,
        )
        if part.options.interval == "calibrated":
            table["replicates"] = pd.Series([np.empty(0)] * len(table), dtype="object")
        tables.append(table.assign(unit=part.options.unit, kind=part.kind, group=part.group))
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def rank_study(
    read: Read, scope: Scope, *, groups: Collection[str] = (), confidence_level: float
) -> pd.DataFrame:
    """Rank the models of a study on all datasets and on groups of them.

    Parameters
    ----------
    read : callable
        Gives the rows of `estimate_models` of all models whose columns have these values.
    scope : mapping
        That of `Normalized`.
    groups : collection of str, optional
        Names of the groups.
    confidence_level : float
        Of intervals, sets of ranks and tie groups.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`: the headline's ranking first, that over datasets, that by other statistics, and
        those of each group; in each the best first, and last the models that are not ranked.
    """
    unit, rank_by, limits = scope["unit"], scope["rank_by"], read_limits(scope)
    others = [name for name in STATISTICS if name != rank_by]
    wanted = [("", unit, rank_by)]
    if unit != "runs_and_datasets":
        wanted.append(("", "runs_and_datasets", "mean"))
    wanted += [("", unit, name) for name in others]
    wanted += [(group, unit, name) for group in sorted(groups) for name in (rank_by, *others)]
    rankings = []
    # One at a time: the replicates of all together could be too much at once.
    for group, over, statistic in dict.fromkeys(wanted):
        kind = "group" if group else "study"
        models = read({"kind": kind, "group": group, "unit": over, "statistic": statistic})
        if len(models):
            rankings.append(
                rank_models(models, statistic, confidence_level=confidence_level, limits=limits)
            )
    return pd.concat(rankings, ignore_index=True).rename(columns={"estimate": "score"})[COLUMNS]


def join_estimates(paths: Sequence[str], where: Mapping[str, str]) -> pd.DataFrame:
    """Read the rows of all shards whose columns have these values; a shard may have no model."""
    tables = [read_parquet(path, where=where) for path in paths]
    filled = [table for table in tables if len(table)]
    return pd.concat(filled or tables, ignore_index=True)


def read_limits(scope: Scope) -> tuple[float, float]:
    """What normalized scores can be, on these datasets and on others like them."""
    low, high = scope["limits"]
    return -np.inf if low is None else low, np.inf if high is None else high
