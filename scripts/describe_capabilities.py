"""Describe in words what is on the map of models and datasets, and how far to trust it."""

import logging

from capmap import prose
from capmap.artifacts import read_table
from capmap.capabilities.centrality import correlate_centrality
from capmap.settings.choices import FitMethod
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def describe_capabilities(
    *,
    gaps: str,
    models: str,
    datasets: str,
    summary: str,
    by_results: str,
    predictions: str,
    positions: str,
    centrality: list[str],
    text: list[str],
    method: FitMethod,
    dimension: int,
    confidence_level: float,
    min_results: int,
) -> None:
    """Write the paragraphs, and the correlation that they tell of.

    Parameters
    ----------
    gaps, models, datasets, summary, by_results, predictions, positions : str
        The tables of these names, CSV.
    centrality : list of str
        Where to write how the distance to the center goes with the mean gap.
    text : list of str
        Where to write the paragraphs.
    method : {"ensemble", "l2", "cosine", "poincare"}
        What positions and predictions were fitted with.
    dimension : int
        Number of coordinates.
    confidence_level : float
        Of the prediction intervals and that of the correlation, between 0 and 1.
    min_results : int
        Results that each model and dataset had to have.
    """
    known = read_table(models)
    correlation = correlate_centrality(
        read_table(positions), known, confidence_level=confidence_level
    )
    write_table(correlation, centrality)
    paragraphs = prose.describe_capabilities(
        read_table(gaps),
        known,
        read_table(datasets),
        read_table(summary),
        read_table(by_results),
        read_table(predictions),
        correlation,
        method=method,
        dimension=dimension,
        confidence_level=confidence_level,
        min_results=min_results,
    )
    prose.write_paragraphs(paragraphs, text)
    logger.info("%d paragraphs", len(paragraphs))


if __name__ == "__main__":
    from job import run_job

    run_job(describe_capabilities, snakemake)  # type: ignore[name-defined]
