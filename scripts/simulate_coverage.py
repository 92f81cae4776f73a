"""Say how often the study's intervals hold the truth, by simulation of its shape."""

import logging

from capmap.artifacts import read_table
from capmap.ranking.coverage import tabulate_coverage
from capmap.settings.choices import Weights
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def simulate_coverage(
    *, shape: str, coverage: list[str], confidence_level: float, weights: Weights
) -> None:
    """Write the expected coverage of percentile and calibrated intervals.

    Parameters
    ----------
    shape : str
        Table of ``datasets`` and ``seeds``: on how many datasets a model has how many runs.
    coverage : list of str
        Where to write the coverage.
    confidence_level : float
        Nominal coverage.
    weights : {"datasets", "runs"}
        Whether each dataset weighs the same or each run.
    """
    table = tabulate_coverage(read_table(shape), confidence_level=confidence_level, weights=weights)
    write_table(table, coverage)
    logger.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    from job import run_job

    run_job(simulate_coverage, snakemake)  # type: ignore[name-defined]
