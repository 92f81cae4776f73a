"""Leave models with few results, and measure how well the hidden ones are predicted."""

import logging
from functools import partial

from capmap.artifacts import read_table
from capmap.capabilities import placement_replay as replaying
from capmap.capabilities.embedding import draw_starts
from capmap.capabilities.gaps import choose_results
from capmap.rng import make_stream
from capmap.settings.choices import FitMethod
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def replay_placements(
    *,
    gaps: str,
    placement_replay: list[str],
    study: str,
    method: FitMethod,
    dimension: int,
    n_starts: int,
    seed: int,
    confidence_level: float,
) -> None:
    """Write errors and coverage by method and number of results.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    placement_replay : list of str
        Where to write the table.
    study : str
        Name of the study, part of the names of its random streams.
    method : {"ensemble", "l2", "cosine", "poincare"}
        What is fitted.
    dimension : int
        Number of coordinates.
    n_starts : int
        Number of random starts, for methods that average fits.
    seed : int
        Seed of the study's random streams.
    confidence_level : float
        Of all intervals.
    """
    results = choose_results(read_table(gaps))
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    table = replaying.replay_placements(
        results,
        method=method,
        starts=starts,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "placement_replay"),
    )
    write_table(table, placement_replay)
    logger.info("%d rows, %d predictions", len(table), table["predictions"].max())


if __name__ == "__main__":
    from job import run_job

    run_job(replay_placements, snakemake)  # type: ignore[name-defined]
