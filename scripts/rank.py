"""Rank the models of all shards, with rank intervals and tie groups."""

import logging
from collections.abc import Iterable, Mapping

import pandas as pd

from capmap.artifacts import read_json
from capmap.ranking.estimates import (
    INTERVALS,
    SCOPES,
    choose_columns,
    join_estimates,
    rank_estimates,
    read_limits,
)
from capmap.ranking.statistics import STATISTICS
from capmap.settings.choices import Statistic
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def rank(
    *,
    estimates: list[str],
    scope: str,
    iqm: list[str],
    scopes: list[str],
    intervals: list[str],
    confidence: float,
) -> None:
    """Write the ranking, that by interquartile mean, and the intervals of all statistics."""
    common = read_json(scope)
    limits = read_limits(common)

    def read(own: Mapping[str, str]) -> pd.DataFrame:
        return join_estimates(estimates, own)

    def rank_by_one(statistic: Statistic, kind: str = "dimension") -> pd.DataFrame:
        return rank_estimates(
            read, statistic, confidence_level=confidence, limits=limits, kind=kind
        )

    # One at a time: the replicates of all together could be too much at once.
    rankings = {statistic: rank_by_one(statistic) for statistic in STATISTICS}
    rank_by: Statistic = common["rank_by"]
    both = [rankings[rank_by], rank_by_one(rank_by, "beside")]
    ranking = choose_columns(rankings["iqm"], "iqm")
    write_table(ranking, iqm, best={"iqm": "max"})
    table = _stack(both).rename(columns={"estimate": "score"})
    missing = len(common["datasets"]) - table["datasets"] - table["filled"]
    write_table(table.assign(missing=missing)[SCOPES], scopes)
    write_table(_stack(rankings.values())[INTERVALS], intervals)
    logger.info("%d models, %d without interval", len(ranking), ranking["ci_low"].isna().sum())


def _stack(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


if __name__ == "__main__":
    from job import run_job

    run_job(rank, snakemake)  # type: ignore[name-defined]
