"""Compare the ranking of a study with those of other studies of the same models."""

import logging
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pandas as pd

from capmap.artifacts import read_shards
from capmap.comparison.conditions import AGREEMENT, RANKS, Options, compare_condition
from capmap.prose import describe_conditions, write_paragraphs
from capmap.rng import make_stream
from capmap.settings.choices import Location, Missing, Weights
from capmap.tables import write_table

# results/<study>/normalized/<shard>.parquet
STUDY_PART = -3

logger = logging.getLogger(__name__)


def compare_conditions(
    *,
    shards: list[str],
    others: list[str],
    conditions: list[str],
    condition_ranks: list[str],
    text: list[str],
    study: str,
    missing: Missing,
    aggregation: Location,
    weights: Weights,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> None:
    """Write how alike this study and each of the others rank the models that both have.

    Parameters
    ----------
    shards : list of str
        Normalized runs of this study, Parquet.
    others : list of str
        Normalized runs of the other studies; a study's name is the folder above that of its files.
    conditions : list of str
        Where to write rank correlations.
    condition_ranks : list of str
        Where to write both ranks of each model.
    text : list of str
        Where to write the paragraph.
    study : str
        Name of this study, part of the names of its random streams.
    missing : {"pairwise", "common"}
        Each model on the datasets it has in both studies, or all on those that all have in both.
    aggregation : {"iqm", "mean", "trimmed_mean", "median"}
        What ranks the models.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.
    n_resamples : int
        Number of resamples of the datasets.
    confidence_level : float
        Of the intervals, between 0 and 1.
    seed : int
        Seed of the study's random streams.
    """
    options = Options(aggregation, weights, missing, n_resamples, confidence_level)
    runs = read_shards(shards)
    agreement = [pd.DataFrame(columns=list(AGREEMENT)).astype(AGREEMENT)]
    ranks = [pd.DataFrame(columns=list(RANKS)).astype(RANKS)]
    for name, paths in _list_studies(others):
        agreed, ranked = compare_condition(
            runs,
            read_shards(paths),
            condition=name,
            options=options,
            make_rng=partial(make_stream, seed, study, "conditions", name),
        )
        agreement.append(agreed)
        ranks.append(ranked)
    agreed, ranked = (pd.concat(tables, ignore_index=True) for tables in (agreement, ranks))
    write_table(agreed, conditions)
    write_table(ranked, condition_ranks)
    paragraphs = describe_conditions(
        agreed,
        ranked,
        aggregation=aggregation,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d other conditions", agreed["condition"].nunique())


def _list_studies(paths: Iterable[str]) -> list[tuple[str, list[str]]]:
    studies = defaultdict(list)
    for path in paths:
        studies[Path(path).parts[STUDY_PART]].append(path)
    return sorted(studies.items())


if __name__ == "__main__":
    from job import run_job

    run_job(compare_conditions, snakemake)  # type: ignore[name-defined]
