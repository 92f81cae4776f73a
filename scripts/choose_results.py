"""Choose the results to run next."""

import logging

from capmap.artifacts import read_parquet, read_table
from capmap.capabilities import gaps as measured
from capmap.capabilities.choices import (
    add_predictions,
    list_next_datasets,
    list_next_models,
    measure_information,
)
from capmap.capabilities.embedding import restore_fits
from capmap.capabilities.predictions import choose_newcomers
from capmap.prose import describe_next_results, write_paragraphs
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def choose_results(
    *,
    gaps: str,
    fits: str,
    datasets: str,
    predictions: str,
    placement_predictions: str,
    dataset_replay: str,
    dataset_savings: str,
    model_replay: str,
    next: list[str],  # noqa: A002
    next_models: list[str],
    dataset_information: list[str],
    text: list[str],
) -> None:
    """Write the datasets to run each model on, the models to try on each dataset, and a paragraph.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    fits : str
        Fits of all results that are kept, Parquet.
    datasets : str
        The table of datasets, CSV.
    predictions, placement_predictions : str
        What is predicted of models that were fitted and of further ones, CSV.
    dataset_replay, dataset_savings, model_replay : str
        What such choices would have saved, CSV; for the paragraph.
    next, next_models : list of str
        Where to write the datasets to run each model on, and the models to try on each dataset.
    dataset_information : list of str
        Where to write what a result on each dataset tells.
    text : list of str
        Where to write the paragraph.
    """
    table = read_table(gaps)
    results = measured.choose_results(table)
    found = restore_fits(read_parquet(fits))
    expected = [read_table(path) for path in (predictions, placement_predictions)]
    datasets_to_run = add_predictions(
        list_next_datasets(results, choose_newcomers(table, results), found), expected
    )
    models_to_try = add_predictions(list_next_models(results, found), expected)
    write_table(datasets_to_run, next)
    write_table(models_to_try, next_models)
    write_table(measure_information(results, found, read_table(datasets)), dataset_information)
    replays = (read_table(path) for path in (dataset_replay, dataset_savings, model_replay))
    write_paragraphs(describe_next_results(datasets_to_run, models_to_try, *replays), text)
    logger.info("%d choices for models, %d for datasets", len(datasets_to_run), len(models_to_try))


if __name__ == "__main__":
    from job import run_job

    run_job(choose_results, snakemake)  # type: ignore[name-defined]
