"""Models estimated with their intervals, and ranked: the numbers of `tables/iqm`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses.groups import bootstrap_groups
from capmap.artifacts import read_parquet
from capmap.ranking.holes import Effects
from capmap.ranking.models import Options
from capmap.ranking.ranks import keep_within, rank_statistic, widen_intervals
from capmap.ranking.scopes import Scope
from capmap.ranking.statistics import STATISTICS
from capmap.settings.choices import Statistic
from capmap.wording import ALL

RANKING = [
    *("model", "iqm", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
    *("rank_low_all", "rank_high_all", "may_be_best", "runs", "datasets", "filled", "tie_group"),
]
SCOPES = [
    *("unit", "statistic", "model", "score", "ci_low", "ci_high", "ci_low_all", "ci_high_all"),
    *RANKING[4:-1],
    *("missing", "tie_group"),
]
INTERVALS = [
    *("statistic", "model", "estimate", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
]


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
        Those below ``bootstrap``.
    dimensions : mapping of str to list of str, optional
        The datasets of each dimension of a leaderboard.

    Returns
    -------
    pandas.DataFrame
        A row per kind and group of datasets, model and statistic.
    """
    return bootstrap_groups(
        runs,
        study=study,
        statistics=sorted(STATISTICS),
        rank_by=scope["rank_by"],
        options=Options(
            settings["replicates"],
            settings["confidence"],
            settings["interval"],
            scope["unit"],
        ),
        seed=settings["seed"],
        datasets=scope["datasets"],
        seeds=scope["seeds"],
        effects=Effects.from_json(scope["effects"]),
        dimensions=dimensions,
    )


def join_estimates(paths: Sequence[str], where: Mapping[str, str]) -> pd.DataFrame:
    """Read the rows of all shards whose columns have these values; a shard may have no model."""
    tables = [read_parquet(path, where=where) for path in paths]
    filled = [table for table in tables if len(table)]
    return pd.concat(filled or tables, ignore_index=True)


def read_limits(scope: Scope) -> tuple[float, float]:
    """What normalized scores can be, on these datasets and on others like them."""
    low, high = scope["limits"]
    return -np.inf if low is None else low, np.inf if high is None else high


def rank_estimates(
    read: Callable[[Mapping[str, str]], pd.DataFrame],
    statistic: Statistic,
    *,
    confidence_level: float,
    limits: tuple[float, float],
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
    limits : tuple of float
        What scores can be, from `read_limits`.
    kind : str
        "dimension", or "beside" for the other of what intervals generalize to.

    Returns
    -------
    pandas.DataFrame
        A row per model, best first, then those without datasets enough to be ranked; empty without
        estimates.
    """
    models = read({"kind": kind, "group": ALL, "statistic": statistic})
    if models.empty:
        return models
    table = rank_statistic(models[models["ranked"]], statistic, confidence_level=confidence_level)
    table = widen_intervals(table, confidence_level=confidence_level)
    others = models[~models["ranked"]].drop(columns=["replicates", "parts"])
    table = join_unranked(table, others.sort_values("model"))
    return keep_within(table, limits, statistic=statistic)


def join_unranked(table: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Put models that are not ranked below a ranking, without rank, sets of ranks and letters."""
    if others.empty:
        return table
    names = [name for name in table if name not in others]
    empty = pd.DataFrame(index=others.index, columns=names).astype(
        {name: "Int64" if name == "rank" else table[name].dtype for name in names}
    )
    table = table.astype({"rank": "Int64"})
    others = pd.concat([others, empty], axis=1)[list(table)].assign(tie_group="")
    return pd.concat([table, others], ignore_index=True)


def choose_columns(ranking: pd.DataFrame, statistic: Statistic) -> pd.DataFrame:
    """Give a ranking the columns that are shown, its scores named after what ranks the models."""
    columns = [statistic if name == "iqm" else name for name in RANKING]
    return ranking.rename(columns={"estimate": statistic})[columns]
