"""Measure the gap of each model to the best one of each dataset."""

import logging

from capmap.artifacts import read_shards, read_table
from capmap.capabilities.gaps import tabulate_gaps
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def measure_gaps(*, shards: list[str], bounds: str, gaps: list[str], min_results: int) -> None:
    """Write the gap of each cell, and which cells are dropped.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    bounds : str
        Metric, direction and bounds of each dataset, CSV.
    gaps : list of str
        Where to write the gaps.
    min_results : int
        Models and datasets with fewer results are dropped, until none is left to drop.

    Raises
    ------
    ValidationError
        If less than two models or two datasets are left.
    """
    table = tabulate_gaps(read_shards(shards), read_table(bounds), min_results=min_results)
    write_table(table, gaps)
    logger.info("%d of %d cells are kept", int(table["gap"].notna().sum()), len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(measure_gaps, snakemake)  # type: ignore[name-defined]
