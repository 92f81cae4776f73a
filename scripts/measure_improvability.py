"""Measure how much of each model's error the best models do without."""

import logging
from collections.abc import Mapping
from functools import partial

from capmap.artifacts import read_shards, read_table
from capmap.comparison.improvability import bootstrap_improvability, find_optima
from capmap.comparison.score_matrix import arrange_runs, choose_common, count_unused
from capmap.normalization.rules import DatasetRule
from capmap.prose import describe_improvability, write_paragraphs
from capmap.rng import make_stream
from capmap.settings.choices import Missing
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def measure_improvability(
    *,
    shards: list[str],
    bounds: str,
    improvability: list[str],
    improvability_datasets: list[str],
    text: list[str],
    study: str,
    missing: Missing,
    n_resamples: int,
    confidence_level: float,
    seed: int,
    datasets: Mapping[str, DatasetRule],
) -> None:
    """Write the improvability of models and of their cells.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    bounds : str
        Metric, direction and bounds of each dataset, CSV.
    improvability : list of str
        Where to write the improvability of models, best first.
    improvability_datasets : list of str
        Where to write errors and improvability of each model on each dataset.
    text : list of str
        Where to write the sentences.
    study : str
        The study's name, which seeds its draws.
    missing : {"pairwise", "common"}
        Each model on the datasets it has, or all on those that all have.
    n_resamples : int
        Number of bootstrap resamples.
    confidence_level : float
        Of the intervals.
    seed : int
        The configured seed.
    datasets : mapping
        Rules of datasets; a transform has an optimum of its own.
    """
    runs = read_shards(shards)
    matrix = arrange_runs(runs)
    chosen = choose_common(matrix, missing=missing)
    limits = read_table(bounds).set_index("dataset").loc[chosen.datasets].reset_index()
    optima = find_optima(limits, datasets)
    result = bootstrap_improvability(
        runs[runs["dataset"].isin(chosen.datasets)],
        optima,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "improvability"),
    )
    write_table(result.models, improvability, best={"improvability": "min"})
    write_table(result.cells, improvability_datasets)
    paragraphs = describe_improvability(
        result.models,
        result.cells,
        missing=missing,
        without_optimum=optima.loc[~optima["is_known"], "dataset"].tolist(),
        clipped=result.clipped,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        cells_unused=count_unused(matrix, chosen),
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d models, %d cells", len(result.models), len(result.cells))


if __name__ == "__main__":
    from job import run_job

    run_job(measure_improvability, snakemake)  # type: ignore[name-defined]
