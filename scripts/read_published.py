"""Read published metrics, which a study has as runs, for the tables of the multi-label analysis."""

import logging

from capmap.artifacts import read_parquet, write_parquet
from capmap.multilabel.published import split_published

logger = logging.getLogger(__name__)


def read_published(*, runs: str, scores: str) -> None:
    """Write the runs of a study as metrics of datasets."""
    table = split_published(read_parquet(runs))
    write_parquet(scores, table)
    logger.info("%d metrics of %d models", len(table), table["model"].nunique())


if __name__ == "__main__":
    from job import run_job

    run_job(read_published, snakemake)  # type: ignore[name-defined]
