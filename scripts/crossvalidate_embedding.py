"""Hide results and predict them by an embedding fitted to the others."""

import logging
from collections.abc import Sequence

from capmap.artifacts import read_parquet, read_table, write_parquet
from capmap.capabilities.crossvalidation import crossvalidate_study
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.factors import Pairs
from capmap.capabilities.fold_factors import make_stack_stream, restore_factors
from capmap.capabilities.gaps import Results, choose_results
from capmap.capabilities.halves import Fitting, fit_map
from capmap.capabilities.stacking import predict_stack
from capmap.ranking.aggregation import FloatArray, IntArray

logger = logging.getLogger(__name__)


def crossvalidate_embedding(
    *,
    gaps: str,
    datasets: str,
    factors: Sequence[str],
    folds: str,
    study: str,
    method: str,
    dimension: int,
    n_splits: int,
    held_out: int,
    n_starts: int,
    seed: int,
) -> None:
    """Write predictions of hidden results by one method in one dimension.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    datasets : str
        Datasets and their families, CSV.
    factors : sequence of str
        Fits of `crossvalidate_factors`, Parquet; none for a method without factors.
    folds : str
        Where to write the predictions, Parquet.
    study : str
        The study's name, part of the names of its random streams.
    method : str
        One of `METHODS`.
    dimension : int
        Number of coordinates.
    n_splits : int
        Number of random splits.
    held_out : int
        Number of results hidden in each.
    n_starts : int
        Number of starts of a method with a penalty; others have one.
    seed : int
        Seed of the study's random streams.
    """
    results = choose_results(read_table(gaps))
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    fitting = Fitting(METHODS[method], starts)
    fits = restore_factors([*map(read_parquet, factors)])

    def fit(known: Results, rows: IntArray, columns: IntArray) -> dict[str, FloatArray]:
        if len(fitting.methods) == 1:
            return {method: fit_map(known, fitting)(rows, columns)}
        pairs, rng = Pairs(rows, columns), make_stack_stream(seed, study)
        return {method: predict_stack(known, pairs, fitting, next(fits), rng=rng)}

    table = crossvalidate_study(
        results,
        fit,
        read_table(datasets),
        study=study,
        n_splits=n_splits,
        held_out=held_out,
        seed=seed,
        dimension=dimension,
    )
    write_parquet(folds, table)
    logger.info("%s in %d dimensions, %d predictions", method, dimension, len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(crossvalidate_embedding, snakemake)  # type: ignore[name-defined]
