"""Summarize the runs per cell, and what seeds share."""

import logging
from collections.abc import Mapping

from capmap.artifacts import read_json, read_parquet
from capmap.normalization import DatasetRule
from capmap.ranking.normalized import summarize_study
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def aggregate(
    *,
    runs: str,
    normalized: str,
    scope: str,
    scores: list[str],
    seeds: list[str],
    dependence: list[str],
    datasets: Mapping[str, DatasetRule],
) -> None:
    """Write the score matrix, the seed summaries, and what runs have in common."""
    tables = summarize_study(
        read_parquet(runs, packed=True),
        read_parquet(normalized, packed=True),
        read_json(scope),
        datasets,
    )
    write_table(tables["seeds"], seeds)
    write_table(tables["dependence"], dependence)
    matrix = tables["scores"]
    write_table(matrix, scores, best=dict.fromkeys(matrix.columns[1:], "max"))
    logger.info("%d models on %d datasets", len(matrix), matrix.shape[1] - 1)


if __name__ == "__main__":
    from job import run_job

    run_job(aggregate, snakemake)  # type: ignore[name-defined]
