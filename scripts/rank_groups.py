"""Rank the models on each named group of datasets."""

import logging
from collections.abc import Mapping
from functools import partial

from capmap.artifacts import read_shards
from capmap.prose import describe_groups, write_paragraphs
from capmap.ranking import groups as rankings
from capmap.ranking.models import Options
from capmap.rng import make_stream
from capmap.settings.choices import Aggregation, IntervalMethod, Statistic, Unit, Weights
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def rank_groups(
    *,
    shards: list[str],
    groups: list[str],
    group_intervals: list[str],
    group_coverage: list[str],
    text: list[str],
    study: str,
    definitions: Mapping[str, rankings.Definition],
    aggregations: list[Aggregation],
    statistics: list[Statistic],
    n_resamples: int,
    confidence_level: float,
    interval: IntervalMethod,
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
    group_intervals : list of str
        Where to write estimates, intervals and ranks by all statistics.
    group_coverage : list of str
        Where to write what was kept and left out.
    text : list of str
        Where to write the paragraph.
    study : str
        Name of the study, part of the names of its random streams.
    definitions : mapping
        The configured groups: name to ``datasets`` and ``incomplete``.
    aggregations : list of {"mean", "trimmed_mean", "median"}
        Aggregations across datasets that also rank the models.
    statistics : list of str
        What to estimate; the interquartile mean always is.
    n_resamples, confidence_level, interval, unit, weights : int, float, str, str, str
        As in `capmap.ranking.models.Options`.
    seed : int
        Seed of the study's random streams.
    """
    options = Options(n_resamples, confidence_level, interval, unit, weights)
    found = rankings.rank_groups(
        rankings.choose_groups(read_shards(shards), definitions),
        statistics=statistics,
        aggregations=aggregations,
        options=options,
        make_rng=partial(make_stream, seed, study, "groups"),
    )
    write_table(found.ranking, groups)
    write_table(found.intervals, group_intervals)
    write_table(found.coverage, group_coverage)
    paragraphs = describe_groups(
        found.ranking,
        found.coverage,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        interval=interval,
        unit=unit,
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d groups, %d rows", len(found.coverage), len(found.ranking))


if __name__ == "__main__":
    from job import run_job

    run_job(rank_groups, snakemake)  # type: ignore[name-defined]
