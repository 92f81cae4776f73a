"""Add models to the map in the order of their dates."""

import logging
from functools import partial

from capmap.artifacts import read_table
from capmap.capabilities import drift as drifts
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.gaps import choose_results
from capmap.capabilities.halves import Fitting
from capmap.prose import describe_drift, write_paragraphs
from capmap.rng import make_stream
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def track_drift(
    *,
    gaps: str,
    models: str,
    datasets: str,
    drift: list[str],
    newcomers: list[str],
    text: list[str],
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    confidence_level: float,
    seed: int,
) -> None:
    """Write how far positions move as models are published, and how well newcomers are placed.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    models, datasets : str
        Models with their dates and datasets with their families, CSV.
    drift : list of str
        Where to write the steps.
    newcomers : list of str
        Where to write the errors of all steps together.
    text : list of str
        Where to write the paragraphs.
    study : str
        The study's name, part of the names of its random streams.
    method : str
        One of `METHODS`.
    dimension : int
        Number of coordinates.
    n_starts : int
        Number of starts of methods that average fits.
    confidence_level : float
        Of the intervals, between 0 and 1.
    seed : int
        Seed of the study's random streams.
    """
    results = choose_results(read_table(gaps))
    dates = read_table(models).set_index("model")["date"].fillna("")
    families = read_table(datasets).set_index("dataset")["family"]
    starts = draw_starts(results, dimension=dimension, starts=2 * n_starts, seed=seed, study=study)
    found = drifts.track_drift(
        results,
        dates=dates.loc[results.models].tolist(),
        families=families.loc[results.datasets].tolist(),
        fitting=Fitting(METHODS[method], starts[:n_starts]),
        other_starts=starts[n_starts:],
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "drift"),
    )
    write_table(found.steps, drift)
    write_table(found.newcomers, newcomers)
    paragraphs = describe_drift(found.steps, found.newcomers, confidence_level=confidence_level)
    write_paragraphs(paragraphs, text)
    logger.info("%d steps", len(found.steps))


if __name__ == "__main__":
    from job import run_job

    run_job(track_drift, snakemake)  # type: ignore[name-defined]
