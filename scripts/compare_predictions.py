"""Compare models, and two datasets, image by image."""

import logging
from functools import partial
from typing import Any

import pandas as pd

from capmap.artifacts import read_shards
from capmap.multilabel.comparisons import (
    DROPS,
    choose_pair,
    compare_datasets,
    compare_models,
    subtract_datasets,
)
from capmap.multilabel.outcomes import OutcomeFiles
from capmap.multilabel.rankings import list_datasets
from capmap.rng import make_stream
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def compare_predictions(
    *,
    scores: list[str],
    outcomes: list[str],
    differences: list[str],
    degradation: list[str],
    study: str,
    order: list[str],
    compare: list[str],
    rank_by: str,
    subgroups: list[int],
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> None:
    """Write the differences between models, and between two datasets.

    Parameters
    ----------
    scores : list of str
        Metrics of all dumps, or published ones, Parquet.
    outcomes : list of str
        Outcomes of all images, Parquet; none where metrics are published. Without them no models
        are compared, and differences between datasets have no interval.
    differences, degradation : list of str
        Where to write the tables.
    study : str
        Name of the study, part of the names of its random streams.
    order : list of str
        Datasets in their configured order; others come after them by name.
    compare : list of str
        The two datasets, or none for the first two.
    rank_by : str
        Metric that orders the models of a pair.
    subgroups : list of int
        Numbers of labels over which ASMA averages.
    n_resamples : int
        Number of bootstrap resamples over images.
    confidence_level : float
        Of the intervals, between 0 and 1.
    seed : int
        Seed of the study's random streams.

    Raises
    ------
    ValidationError
        If `compare` names a dataset that there is not, or one alone.
    """
    metrics = read_shards(scores)
    pair = choose_pair(compare, list_datasets(metrics, order))
    options: dict[str, Any] = {
        "subgroups": subgroups,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
    }
    files = OutcomeFiles(outcomes)
    pairs = compare_models(
        files,
        rank_by=rank_by,
        make_rng=lambda *names: partial(make_stream, seed, study, "differences", *names),
        **options,
    )
    if pair is None:
        drops = pd.DataFrame(columns=list(DROPS)).astype(DROPS)
    elif outcomes:
        drops = compare_datasets(
            files,
            pair,
            make_rng=lambda *names: partial(make_stream, seed, study, "degradation", *names),
            **options,
        )
    else:
        drops = subtract_datasets(metrics, dataset_a=pair[0], dataset_b=pair[1])
    write_table(pairs, differences)
    write_table(drops, degradation)
    logger.info("%d differences of models, %d of datasets", len(pairs), len(drops))


if __name__ == "__main__":
    from job import run_job

    run_job(compare_predictions, snakemake)  # type: ignore[name-defined]
