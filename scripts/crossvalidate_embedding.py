"""Hide results and predict them by an embedding fitted to the others."""

import logging
from functools import partial

import pandas as pd

from capmap.artifacts import read_table, write_parquet
from capmap.capabilities.crossvalidation import FACTORS, crossvalidate
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.factors import Pairs, gather_attributes
from capmap.capabilities.gaps import Results, choose_results
from capmap.capabilities.halves import Fitting, fit_map
from capmap.capabilities.stacking import predict_stack
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def crossvalidate_embedding(
    *,
    gaps: str,
    models: str,
    datasets: str,
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
    models, datasets : str
        Models and datasets with their attributes, CSV.
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
    about = read_table(datasets)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    fitting = Fitting(METHODS[method], starts)
    attributes = gather_attributes(results, read_table(models), about)

    def fit(known: Results, rows: IntArray, columns: IntArray) -> dict[str, FloatArray]:
        if len(fitting.methods) == 1:
            return {method: fit_map(known, fitting)(rows, columns)}
        rng = make_stream(seed, study, "capabilities", "stack")
        found = predict_stack(known, Pairs(rows, columns), fitting, attributes, rng=rng)
        return {method: found["stack"], FACTORS: found["factors"]}

    table = crossvalidate(
        results,
        fit,
        families=about.set_index("dataset")["family"].loc[results.datasets].tolist(),
        n_splits=n_splits,
        held_out=held_out,
        make_rng=partial(make_stream, seed, study, "capabilities", "folds"),
    )
    is_member = table["distance"] == FACTORS
    table.insert(1, "dimension", pd.Series(dimension, table.index, "Int64").mask(is_member))
    write_parquet(folds, table)
    logger.info("%s in %d dimensions, %d predictions", method, dimension, len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(crossvalidate_embedding, snakemake)  # type: ignore[name-defined]
