"""Rank the models of all shards, with rank intervals and tie groups."""

import logging
from functools import partial

from capmap.artifacts import read_json
from capmap.ranking import choose
from capmap.ranking.estimates import join_estimates, rank_study
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def rank(
    *,
    estimates: list[str],
    scope: str,
    ranking: list[str],
    groups: list[str],
    confidence: float,
) -> None:
    """Write the ranking on all datasets, in both scopes and by all statistics, and in groups."""
    found = rank_study(
        partial(join_estimates, estimates),
        read_json(scope),
        groups=groups,
        confidence_level=confidence,
    )
    write_table(found, ranking)
    first = choose(found)
    logger.info("%d models, %d without interval", len(first), first["ci_low"].isna().sum())


if __name__ == "__main__":
    from job import run_job

    run_job(rank, snakemake)  # type: ignore[name-defined]
