"""Place models with few results on the map of the others."""

import logging
from functools import partial

from capmap.artifacts import read_parquet, read_table
from capmap.capabilities.embedding import METHODS, draw_starts, restore_fits
from capmap.capabilities.gaps import choose_results, scale_scores
from capmap.capabilities.halves import Fitting
from capmap.capabilities.predictions import choose_newcomers, place_newcomers
from capmap.prose import describe_placements, write_paragraphs
from capmap.rng import make_stream
from capmap.settings.choices import FitMethod
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def place_models(
    *,
    gaps: str,
    fits: str,
    placement_replay: str,
    placements: list[str],
    placement_predictions: list[str],
    text: list[str],
    study: str,
    method: FitMethod,
    dimension: int,
    n_starts: int,
    seed: int,
    confidence_level: float,
) -> None:
    """Write where models with few results stand, what is predicted of them, and a paragraph.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    fits : str
        Fits of all results that are kept, Parquet.
    placement_replay : str
        Errors and coverage where results were hidden, CSV; for the paragraph.
    placements, placement_predictions : list of str
        Where to write the tables.
    text : list of str
        Where to write the paragraph.
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
    table = read_table(gaps)
    results = choose_results(table)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    found = place_newcomers(
        choose_newcomers(table, results),
        results,
        restore_fits(read_parquet(fits)),
        scale=scale_scores(table),
        fitting=Fitting(METHODS[method], starts),
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "placements"),
    )
    write_table(found.placements, placements)
    write_table(found.predictions, placement_predictions)
    paragraphs = describe_placements(
        found.placements,
        read_table(placement_replay),
        confidence_level=confidence_level,
        method=method,
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d models placed", len(found.placements))


if __name__ == "__main__":
    from job import run_job

    run_job(place_models, snakemake)  # type: ignore[name-defined]
