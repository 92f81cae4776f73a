"""Put the metrics of all models together: tables of metrics, ranks and label counts, and prose."""

import logging
from collections.abc import Mapping

from capmap.artifacts import read_json, read_shards, read_table
from capmap.multilabel.gathering import pool_label_counts
from capmap.multilabel.rankings import arrange_metrics, shift_all_ranks, summarize_models
from capmap.prose import describe_multilabel, write_paragraphs
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def summarize_metrics(
    *,
    scores: list[str],
    facts: list[str],
    degradation: str,
    metrics: list[str],
    summary: list[str],
    rank_shift: list[str],
    label_counts: list[str],
    text: list[str],
    subgroups: list[int],
    n_resamples: int,
    confidence_level: float,
    images: Mapping[str, int] | None = None,
) -> None:
    """Write what the models reach on each dataset by each metric, and what this says in words.

    Parameters
    ----------
    scores : list of str
        Metrics of all dumps, or published ones, Parquet.
    facts : list of str
        What is known of the dumps, JSON; none where metrics are published.
    degradation : str
        Differences between two datasets, CSV.
    metrics, summary, rank_shift, label_counts, text : list of str
        Where to write the tables and the paragraphs. Without `facts`, no label counts are known.
    subgroups : list of int
        Numbers of labels over which ASMA averages.
    n_resamples : int
        Number of bootstrap resamples over images.
    confidence_level : float
        Of the intervals.
    images : mapping of str to int, optional
        Number of images behind the published top-1 accuracies of a dataset, for their ranks. Not
        used with `facts`: accuracies of predictions are not rounded.

    Raises
    ------
    ValidationError
        If metrics are published and `images` names a dataset without top-1 accuracies.
    """
    known = [fact for path in facts for fact in read_json(path)["dumps"]]
    values = arrange_metrics(read_shards(scores))
    models = summarize_models(values)
    shifts = shift_all_ranks(models, images=None if facts else images)
    counts = pool_label_counts(known, largest=max(subgroups))
    write_table(values, metrics)
    write_table(models, summary)
    write_table(shifts, rank_shift)
    write_table(counts, label_counts)
    paragraphs = describe_multilabel(
        values,
        models,
        shifts,
        read_table(degradation),
        counts,
        subgroups=subgroups,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d metrics of %d models", len(values), values["model"].nunique())


if __name__ == "__main__":
    from job import run_job

    run_job(summarize_metrics, snakemake)  # type: ignore[name-defined]
