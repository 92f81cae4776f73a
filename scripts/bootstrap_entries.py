"""Bootstrap the leaderboard's dimensions and cells for the models of one shard."""

import logging
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from capmap.artifacts import read_parquet, read_table, write_parquet
from capmap.leaderboard.scores import ALL, bootstrap_cells, bootstrap_dimensions
from capmap.ranking.models import Options
from capmap.rng import make_stream
from capmap.settings.choices import IntervalMethod, Unit, Weights

logger = logging.getLogger(__name__)


def bootstrap_entries(
    *,
    shard: str,
    entries: str,
    cells: str,
    datasets: list[str],
    study: str,
    dimensions: Mapping[str, list[str]],
    n_resamples: int,
    confidence_level: float,
    interval: IntervalMethod,
    unit: Unit,
    weights: Weights,
    seed: int,
) -> None:
    """Write estimates, intervals and replicates by dimension, and intervals by dataset.

    Parameters
    ----------
    shard : str
        Normalized runs, Parquet.
    entries : str
        Where to write a row per dimension and model, Parquet.
    cells : str
        Where to write a row per model and dataset, Parquet.
    datasets : list of str
        The table of the study's datasets, if they are resampled; else empty.
    study : str
        Name of the study, part of the names of its random streams.
    dimensions : mapping of str to list of str
        The datasets of each dimension; ``All`` is added.
    n_resamples, confidence_level, interval, unit, weights : int, float, str, str, str
        As in `capmap.ranking.models.Options`.
    seed : int
        Seed of the study's random streams.

    Notes
    -----
    The streams of ``All`` are those of the study's ranking, so its numbers are the same.
    """
    options = Options(n_resamples, confidence_level, interval, unit, weights)
    runs = read_parquet(shard)

    def make_rng(dimension: str, *model: str) -> np.random.Generator:
        if dimension == ALL:
            return make_stream(seed, study, *(("bootstrap", *model) if model else ("datasets",)))
        return make_stream(seed, study, "leaderboard", dimension, *model)

    def make_cell_rng(dataset: str, model: str) -> np.random.Generator:
        return make_stream(seed, study, "leaderboard_cells", dataset, model)

    names = [name for path in datasets for name in read_table(path)["dataset"]]
    table = bootstrap_dimensions(
        runs, dimensions, options=options, make_rng=make_rng, datasets=names
    )
    write_parquet(entries, table)
    by_dataset = replace(options, unit="runs")
    write_parquet(cells, bootstrap_cells(runs, options=by_dataset, make_rng=make_cell_rng))
    logger.info("%d models, %d rows", runs["model"].nunique(), len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(bootstrap_entries, snakemake)  # type: ignore[name-defined]
