"""Project models and datasets to a map in two dimensions by UMAP."""

import logging

from capmap.artifacts import read_parquet, write_parquet
from capmap.capabilities.neighbor_maps import project_neighbors
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def project_umap(
    *,
    fits: str,
    places: str,
    study: str,
    seed: int,
) -> None:
    """Write the map by UMAP.

    Parameters
    ----------
    fits : str
        All fits, Parquet; the first is projected.
    places : str
        Where to write the map, Parquet.
    study : str
        Name of the study, part of the names of its random streams.
    seed : int
        Seed of the study's random streams.
    """
    rng = make_stream(seed, study, "capabilities", "umap")
    table = project_neighbors(read_parquet(fits), rng=rng)
    write_parquet(places, table)
    logger.info("%d points", len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(project_umap, snakemake)  # type: ignore[name-defined]
