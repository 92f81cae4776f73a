"""Say how often the study's intervals hold the truth, by simulation of studies like it."""

import logging
from functools import partial

from capmap.artifacts import read_shards
from capmap.ranking.coverage import tabulate_coverage
from capmap.rng import make_stream
from capmap.settings.choices import Weights
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def simulate_coverage(
    *,
    shards: list[str],
    coverage: list[str],
    study: str,
    confidence_level: float,
    weights: Weights,
    seed: int,
) -> None:
    """Write the expected coverage of percentile and calibrated intervals.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    coverage : list of str
        Where to write the coverage.
    study : str
        Name of the study, part of the names of its random streams.
    confidence_level : float
        Nominal coverage.
    weights : {"datasets", "runs"}
        Whether each dataset weighs the same or each run.
    seed : int
        Seed of the study's random streams.
    """
    table = tabulate_coverage(
        read_shards(shards, packed=True),
        confidence_level=confidence_level,
        weights=weights,
        make_rng=partial(make_stream, seed, study, "coverage"),
    )
    write_table(table, coverage)
    logger.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    from job import run_job

    run_job(simulate_coverage, snakemake)  # type: ignore[name-defined]
