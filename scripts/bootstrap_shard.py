"""Bootstrap the models of one shard."""

import logging
from collections.abc import Mapping

from capmap.artifacts import read_json, read_parquet, write_parquet
from capmap.ranking.groups import bootstrap_groups
from capmap.ranking.holes import Effects
from capmap.ranking.models import Options
from capmap.ranking.statistics import STATISTICS
from capmap.settings.choices import IntervalMethod, Statistic, Weights

logger = logging.getLogger(__name__)


def bootstrap_shard(
    *,
    shard: str,
    scope: str,
    replicates: str,
    study: str,
    n_resamples: int,
    confidence_level: float,
    interval: IntervalMethod,
    weights: Weights,
    statistics: list[Statistic],
    dimensions: Mapping[str, list[str]] | None,
    seed: int,
) -> None:
    """Write estimates, intervals and replicates of the models of one shard.

    Parameters
    ----------
    shard : str
        Normalized runs, Parquet.
    scope : str
        What intervals generalize to, what ranks the models, the study's datasets and seeds, and
        the effects of datasets where models lack some, JSON.
    replicates : str
        Where to write a row per group of datasets, model and statistic, Parquet.
    study : str
        Name of the study, part of the names of its random streams.
    n_resamples, confidence_level, interval, weights : int, float, str, str
        As in `capmap.ranking.models.Options`.
    statistics : list of str
        What to estimate; the interquartile mean and what ranks the models always are.
    dimensions : mapping of str to list of str, optional
        The datasets of each dimension of a leaderboard.
    seed : int
        Seed of the study's random streams.
    """
    known = read_json(scope)
    options = Options(n_resamples, confidence_level, interval, known["unit"], weights)
    wanted = {"iqm", known["rank_by"], *statistics}
    table = bootstrap_groups(
        read_parquet(shard),
        study=study,
        statistics=[name for name in sorted(STATISTICS) if name in wanted],
        rank_by=known["rank_by"],
        options=options,
        seed=seed,
        datasets=known["datasets"],
        seeds=known["seeds"],
        effects=Effects.from_json(known["effects"]),
        dimensions=dimensions,
    )
    write_parquet(replicates, table)
    unsure = table.loc[table["ci_low"].isna(), "model"].nunique()
    logger.info("%d models, %d without some interval", table["model"].nunique(), unsure)


if __name__ == "__main__":
    from job import run_job

    run_job(bootstrap_shard, snakemake)  # type: ignore[name-defined]
