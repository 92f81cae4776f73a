"""Rank the models on each named group of datasets."""

import logging
from collections.abc import Mapping

import pandas as pd

from capmap import groups as rankings
from capmap.artifacts import read_parquet
from capmap.bootstrap.intervals import Kind, Unit
from capmap.bootstrap.models import Options
from capmap.bootstrap.resampling import Weights
from capmap.prose import describe_groups, write_paragraphs
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def rank_groups(
    *,
    shards: list[str],
    groups: list[str],
    group_coverage: list[str],
    text: list[str],
    study: str,
    definitions: Mapping[str, rankings.Definition],
    n_resamples: int,
    confidence_level: float,
    interval: Kind,
    unit: Unit,
    weights: Weights,
    seed: int,
) -> None:
    """Write the ranking of each group, and what its rule for empty cells left out.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    groups : list of str
        Where to write the rankings.
    group_coverage : list of str
        Where to write what was kept and left out.
    text : list of str
        Where to write the paragraph.
    study : str
        Name of the study, part of the names of its random streams.
    definitions : mapping
        The configured groups: name to ``datasets`` and ``incomplete``.
    n_resamples, confidence_level, interval, unit, weights : int, float, str, str, str
        As in `capmap.bootstrap.models.Options`.
    seed : int
        Seed of the study's random streams.
    """
    runs = pd.concat([read_parquet(path) for path in shards], ignore_index=True)
    options = Options(n_resamples, confidence_level, interval, unit, weights)
    chosen = rankings.choose_groups(runs, definitions)
    ranking, coverage = rankings.rank_groups(chosen, study=study, seed=seed, options=options)
    write_table(ranking, groups)
    write_table(coverage, group_coverage)
    paragraphs = describe_groups(
        ranking, coverage, confidence_level=confidence_level, n_resamples=n_resamples
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d groups, %d rows", len(coverage), len(ranking))


if __name__ == "__main__":
    from job import run_job

    run_job(rank_groups, snakemake)  # type: ignore[name-defined]
