"""Hide results and predict them without an embedding."""

import logging
from functools import partial

import pandas as pd

from capmap.artifacts import read_table, write_parquet
from capmap.capabilities.baselines import BASELINES
from capmap.capabilities.crossvalidation import crossvalidate
from capmap.capabilities.gaps import choose_results
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def crossvalidate_baselines(
    *,
    gaps: str,
    datasets: str,
    folds: str,
    study: str,
    n_splits: int,
    held_out: int,
    seed: int,
) -> None:
    """Write predictions of hidden results by every baseline, of the same results as embeddings.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    datasets : str
        Datasets with their families, CSV.
    folds : str
        Where to write the predictions, Parquet.
    study : str
        The study's name, part of the names of its random streams.
    n_splits : int
        Number of random splits.
    held_out : int
        Number of results hidden in each.
    seed : int
        Seed of the study's random streams.
    """
    results = choose_results(read_table(gaps))
    families = read_table(datasets).set_index("dataset")["family"]
    tables = []
    for name, fit in BASELINES.items():
        table = crossvalidate(
            results,
            lambda known, fit=fit: fit(known).predict,  # type: ignore[misc]
            families=families.loc[results.datasets].tolist(),
            n_splits=n_splits,
            held_out=held_out,
            make_rng=partial(make_stream, seed, study, "capabilities", "folds"),
        )
        table.insert(0, "distance", name)
        tables.append(table)
    joined = pd.concat(tables, ignore_index=True)
    joined.insert(1, "dimension", pd.Series(pd.NA, index=joined.index, dtype="Int64"))
    write_parquet(folds, joined)
    logger.info("%d baselines, %d predictions", len(tables), len(joined))


if __name__ == "__main__":
    from job import run_job

    run_job(crossvalidate_baselines, snakemake)  # type: ignore[name-defined]
