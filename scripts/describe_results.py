"""Describe the results of each model and dataset, and what else is known of them."""

import logging
from typing import TypedDict

from capmap.artifacts import read_table
from capmap.attributes import read_dataset_attributes, read_model_attributes
from capmap.capabilities.quality import describe_datasets, describe_models
from capmap.tables import write_table

logger = logging.getLogger(__name__)


class ModelColumns(TypedDict):
    """The configured columns of models' attributes."""

    name: str
    architecture: str
    parameters: str
    date: str
    date_format: str


class DatasetColumns(TypedDict):
    """The configured columns of datasets' attributes."""

    name: str
    type: str
    family: str


def describe_results(
    *,
    gaps: str,
    bounds: str,
    model_file: list[str],
    dataset_file: list[str],
    models: list[str],
    datasets: list[str],
    model_attributes: ModelColumns,
    dataset_attributes: DatasetColumns,
) -> None:
    """Write what is known of models and of datasets.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    bounds : str
        Metric, direction and bounds of each dataset, CSV.
    model_file, dataset_file : list of str
        No file or one with attributes.
    models, datasets : list of str
        Where to write the tables.
    model_attributes, dataset_attributes : mapping
        The configured columns of these files.

    Raises
    ------
    ValidationError
        If a file of attributes has faults, or names no model or dataset of the study.
    """
    cells = read_table(gaps)
    of_models = read_model_attributes(
        next(iter(model_file), ""),
        name=model_attributes["name"],
        architecture=model_attributes["architecture"],
        parameters=model_attributes["parameters"],
        date=model_attributes["date"],
        date_format=model_attributes["date_format"],
    )
    of_datasets = read_dataset_attributes(
        next(iter(dataset_file), ""),
        name=dataset_attributes["name"],
        type=dataset_attributes["type"],
        family=dataset_attributes["family"],
    )
    write_table(describe_models(cells, of_models), models)
    write_table(describe_datasets(cells, read_table(bounds), of_datasets), datasets)
    logger.info("%d models and %d datasets with attributes", len(of_models), len(of_datasets))


if __name__ == "__main__":
    from job import run_job

    run_job(describe_results, snakemake)  # type: ignore[name-defined]
