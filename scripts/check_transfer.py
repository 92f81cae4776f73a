"""Check whether results on some datasets help to predict those on others."""

import logging
from functools import partial

from capmap.artifacts import read_table
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.gaps import choose_results
from capmap.capabilities.halves import Fitting
from capmap.capabilities.transfer import measure_transfer
from capmap.prose import describe_transfer, write_paragraphs
from capmap.rng import make_stream
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def check_transfer(
    *,
    gaps: str,
    datasets: str,
    transfer: list[str],
    text: list[str],
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    confidence_level: float,
    seed: int,
) -> None:
    """Write how well some types and families of datasets predict the others.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    datasets : str
        Datasets with their types and families, CSV.
    transfer : list of str
        Where to write the errors.
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
    attributes = read_table(datasets).set_index("dataset").loc[results.datasets]
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    table = measure_transfer(
        results,
        types=attributes["type"].fillna("").tolist(),
        families=attributes["family"].tolist(),
        fitting=Fitting(METHODS[method], starts),
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "transfer"),
    )
    write_table(table, transfer)
    write_paragraphs(describe_transfer(table, confidence_level=confidence_level), text)
    logger.info("%d rows", len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(check_transfer, snakemake)  # type: ignore[name-defined]
