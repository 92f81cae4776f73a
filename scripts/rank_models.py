"""Rank the models of all shards, with rank intervals and tie groups."""

import logging

import pandas as pd

from capmap.artifacts import read_parquet
from capmap.ranking.ranks import rank_estimates
from capmap.ranking.statistics import LOWER_IS_BETTER, STATISTICS
from capmap.settings.choices import Direction, Statistic
from capmap.tables import write_table

RANKING = [
    *("model", "iqm", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
    *("runs", "datasets", "ties"),
]
INTERVALS = [
    *("statistic", "model", "estimate", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
]

logger = logging.getLogger(__name__)


def rank_models(
    *, shards: list[str], iqm: list[str], intervals: list[str], confidence_level: float
) -> None:
    """Write the ranking by interquartile mean, and the intervals of all statistics.

    Parameters
    ----------
    shards : list of str
        Estimates, intervals and replicates, Parquet.
    iqm : list of str
        Where to write the ranking by interquartile mean.
    intervals : list of str
        Where to write estimates, intervals and ranks by all statistics.
    confidence_level : float
        Of rank intervals and tie groups.
    """
    rankings: dict[Statistic, pd.DataFrame] = {}
    for statistic in STATISTICS:
        models = _read_statistic(shards, statistic)
        if len(models):
            best: Direction = "min" if statistic in LOWER_IS_BETTER else "max"
            rankings[statistic] = rank_estimates(
                models.drop(columns="replicates"),
                models["replicates"].tolist(),
                confidence_level=confidence_level,
                best=best,
            )
    ranking = rankings["iqm"].rename(columns={"estimate": "iqm"})[RANKING]
    write_table(ranking, iqm, best={"iqm": "max"})
    write_table(pd.concat(rankings.values(), ignore_index=True)[INTERVALS], intervals)
    logger.info("%d models, %d without interval", len(ranking), ranking["ci_low"].isna().sum())


def _read_statistic(shards: list[str], statistic: Statistic) -> pd.DataFrame:
    """Read the rows of one statistic: the replicates of all together could be too much at once."""
    tables = [read_parquet(path, where={"statistic": statistic}) for path in shards]
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    from job import run_job

    run_job(rank_models, snakemake)  # type: ignore[name-defined]
