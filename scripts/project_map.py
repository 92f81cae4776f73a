"""Project models and datasets to a map in two dimensions."""

import logging

from capmap.artifacts import read_parquet, write_parquet
from capmap.capabilities.maps import project_points

logger = logging.getLogger(__name__)


def project_map(*, fits: str, places: str) -> None:
    """Write the map by classical multidimensional scaling.

    Parameters
    ----------
    fits : str
        All fits, Parquet; the first is projected.
    places : str
        Where to write the map, Parquet.
    """
    table = project_points(read_parquet(fits))
    write_parquet(places, table)
    logger.info("%d points", len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(project_map, snakemake)  # type: ignore[name-defined]
