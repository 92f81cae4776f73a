"""Predict the score of every model on every dataset, with an interval."""

import logging

from capmap.artifacts import read_parquet, read_table
from capmap.capabilities import predictions as predicting
from capmap.capabilities.embedding import METHODS, draw_starts, restore_fits
from capmap.capabilities.gaps import choose_results, scale_scores
from capmap.capabilities.halves import Fitting
from capmap.rng import make_stream
from capmap.settings.choices import FitMethod
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def predict_scores(
    *,
    gaps: str,
    fits: str,
    predictions: list[str],
    study: str,
    method: FitMethod,
    dimension: int,
    n_starts: int,
    seed: int,
    confidence_level: float,
) -> None:
    """Write predictions of results that are there, each hidden in turn, and of all others.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    fits : str
        Fits of all results, Parquet.
    predictions : list of str
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
        Of the prediction intervals.
    """
    table = read_table(gaps)
    results = choose_results(table)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    found = predicting.predict_scores(
        results,
        restore_fits(read_parquet(fits)),
        scale=scale_scores(table),
        fitting=Fitting(METHODS[method], starts),
        confidence_level=confidence_level,
        rng=make_stream(seed, study, "capabilities", "predictions"),
    )
    write_table(found, predictions)
    logger.info("%d predictions, %d of them of results", len(found), found["held_out"].sum())


if __name__ == "__main__":
    from job import run_job

    run_job(predict_scores, snakemake)  # type: ignore[name-defined]
