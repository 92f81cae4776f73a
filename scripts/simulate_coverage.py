"""Say how often the study's intervals hold the truth, by simulation of its shape."""

import logging

from capmap.artifacts import read_table
from capmap.coverage import tabulate_coverage
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def simulate_coverage(*, shape: str, coverage: list[str], confidence_level: float) -> None:
    """Write the expected coverage of percentile and calibrated intervals.

    Parameters
    ----------
    shape : str
        Table of one row: ``datasets`` and ``seeds``.
    coverage : list of str
        Where to write the coverage.
    confidence_level : float
        Nominal coverage.
    """
    [(datasets, seeds)] = read_table(shape)[["datasets", "seeds"]].itertuples(index=False)
    table = tabulate_coverage(
        datasets=int(datasets), seeds=int(seeds), confidence_level=confidence_level
    )
    write_table(table, coverage)
    logger.info("%d datasets x %d seeds", datasets, seeds)


if __name__ == "__main__":
    from job import run_job

    run_job(simulate_coverage, snakemake)  # type: ignore[name-defined]
