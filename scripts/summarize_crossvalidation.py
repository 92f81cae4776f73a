"""Summarize how well embeddings and baselines predict hidden results."""

import logging

from capmap.artifacts import read_parquet, write_parquet
from capmap.capabilities.crossvalidation import (
    group_by_results,
    join_folds,
    list_training,
    list_validation,
    summarize_folds,
)
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def summarize_crossvalidation(
    *,
    folds: list[str],
    baselines: str,
    validation: list[str],
    training: str,
    summary: list[str],
    by_results: list[str],
    dimension: int,
    confidence_level: float,
) -> None:
    """Write all predictions of hidden results and their errors.

    Parameters
    ----------
    folds : list of str
        Predictions of embeddings, a file per method and dimension, Parquet.
    baselines : str
        Predictions of all baselines, Parquet.
    validation : list of str
        Where to write predictions of hidden results.
    training : str
        Where to write predictions of results that were not hidden, Parquet.
    summary : list of str
        Where to write errors by method, dimension and protocol.
    by_results : list of str
        Where to write errors by the model's number of results.
    dimension : int
        The study's number of dimensions.
    confidence_level : float
        Of the intervals of errors, between 0 and 1.
    """
    table = join_folds(read_parquet(path) for path in [*folds, baselines])
    write_table(list_validation(table), validation)
    write_parquet(training, list_training(table))
    errors = summarize_folds(table, dimension=dimension, confidence_level=confidence_level)
    write_table(errors, summary)
    counted = group_by_results(table, dimension=dimension, confidence_level=confidence_level)
    write_table(counted, by_results)
    logger.info("%d methods, dimensions and protocols", len(errors))


if __name__ == "__main__":
    from job import run_job

    run_job(summarize_crossvalidation, snakemake)  # type: ignore[name-defined]
