"""Rank the entries of a leaderboard, over all datasets and by dimension."""

import logging
from collections.abc import Mapping

import pandas as pd

from capmap.artifacts import read_json, read_parquet
from capmap.benchmarks import read_benchmark
from capmap.leaderboard.entries import ENTRY_COLUMNS, describe_entries
from capmap.leaderboard.records import write_records
from capmap.leaderboard.scores import (
    ALL,
    DIMENSION_COLUMNS,
    choose_best,
    count_expected,
    join_dimensions,
    list_dimensions,
    rank_dimension,
)
from capmap.prose.leaderboard import describe_leaderboard
from capmap.prose.paragraphs import write_paragraphs

logger = logging.getLogger(__name__)


def rank_entries(
    *,
    shards: list[str],
    runs: str,
    submissions: list[str],
    benchmark: list[str],
    entries: list[str],
    dimensions: list[str],
    best: list[str],
    text: list[str],
    dimension_datasets: Mapping[str, list[str]],
    complete: float,
    confidence_level: float,
) -> None:
    """Write the rankings of entries, of dimensions and of the best entry of each backbone.

    Parameters
    ----------
    shards : list of str
        Estimates, intervals and replicates by dimension, Parquet.
    runs : str
        Table of valid runs.
    submissions : list of str
        The records of the submissions, or nothing.
    benchmark : list of str
        The definition of the benchmark, or nothing.
    entries, dimensions, best : list of str
        Where to write the tables.
    text : list of str
        Where to write the paragraphs.
    dimension_datasets : mapping of str to list of str
        The datasets of each dimension; ``All`` stands for those with runs, unless it is given.
    complete : float
        Share of a dimension's datasets that an entry needs in order to be ranked in it.
    confidence_level : float
        Of rank intervals and tie groups.
    """
    records = [record for path in submissions for record in read_json(path)["submissions"]]
    models = {
        key: vars(model) for path in benchmark for key, model in read_benchmark(path).models.items()
    }
    about = describe_entries(read_parquet(runs), submissions=records, models=models)
    ranked = {}
    for name, members in list_dimensions(dimension_datasets).items():
        estimates = _read_dimension(shards, name)
        ranked[name] = rank_dimension(
            estimates,
            about,
            expected=count_expected(estimates, members),
            complete=complete,
            confidence_level=confidence_level,
        )
    overall, by_dimension = ranked[ALL][ENTRY_COLUMNS], join_dimensions(ranked.values())
    write_records(overall, entries, best={"iqm": "max"})
    write_records(by_dimension[DIMENSION_COLUMNS], dimensions)
    write_records(choose_best(overall), best, best={"iqm": "max"})
    paragraphs = describe_leaderboard(
        overall, by_dimension, complete=complete, confidence_level=confidence_level
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d entries, %d complete", len(overall), overall["complete"].sum())


def _read_dimension(shards: list[str], name: str) -> pd.DataFrame:
    """Read the rows of one dimension: the replicates of all together could be too much at once."""
    tables = [read_parquet(path, where={"dimension": name}) for path in shards]
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    from job import run_job

    run_job(rank_entries, snakemake)  # type: ignore[name-defined]
