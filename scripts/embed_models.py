"""Place models and datasets so that their distances come near the gaps."""

import logging

from capmap.artifacts import read_table, write_parquet
from capmap.capabilities.embedding import (
    METHODS,
    draw_starts,
    fit_starts,
    tabulate_fits,
    tabulate_positions,
)
from capmap.capabilities.gaps import choose_results
from capmap.settings.choices import FitMethod
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def embed_models(
    *,
    gaps: str,
    positions: list[str],
    fits: str,
    method: FitMethod,
    dimension: int,
    n_starts: int,
    seed: int,
    study: str,
) -> None:
    """Write the positions of the first and best fit, and all fits.

    Parameters
    ----------
    gaps : str
        Gaps of all results, CSV; those that were dropped have no part in it.
    positions : list of str
        Where to write the table of positions.
    fits : str
        Where to write all fits, Parquet.
    method : {"ensemble", "l2", "cosine", "poincare"}
        What is fitted.
    dimension : int
        Number of coordinates.
    n_starts : int
        Number of random starts, for methods that average fits.
    seed : int
        Seed of the study's random streams.
    study : str
        Name of the study, part of the names of its random streams.
    """
    results = choose_results(read_table(gaps))
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    found = fit_starts(results, METHODS[method], starts=starts)
    write_parquet(fits, tabulate_fits(found, results))
    write_table(tabulate_positions(found[0], results), positions)
    logger.info(
        "%d models, %d datasets, losses %s",
        len(results.models),
        len(results.datasets),
        ", ".join(f"{fit.loss:.4f}" for fit in found),
    )


if __name__ == "__main__":
    from job import run_job

    run_job(embed_models, snakemake)  # type: ignore[name-defined]
