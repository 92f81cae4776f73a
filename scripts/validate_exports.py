"""Read the exports of a study and say everything that is wrong with them."""

import logging
from collections.abc import Mapping
from typing import Any

from capmap.artifacts import write_json, write_parquet
from capmap.benchmarks import complete_rules, read_benchmark
from capmap.exports import read_exports
from capmap.exports.files import FileOptions, check_digests
from capmap.exports.repeats import Taken
from capmap.normalization import Rules, read_references
from capmap.normalization.rules import DatasetRule, MetricRule, Normalization, Select
from capmap.patterns import read_fields
from capmap.settings.choices import Decimal, Duplicates, Failed, Incomplete, Invalid, TableFormat
from capmap.validation import Policies, validate_runs
from capmap.validation.summary import describe_exports, report_problems

logger = logging.getLogger(__name__)


def validate_exports(
    *,
    exports: list[str],
    runs: str,
    validation: str,
    rejected: str,
    checksums: Mapping[str, str],
    names: list[str],
    format: TableFormat,  # noqa: A002 (the name of the configured option)
    header_rows: int,
    reading: Mapping[str, Any],
    patterns: str | list[str],
    fields: Mapping[str, str],
    values: Mapping[str, float],
    summary: Mapping[str, Any],
    take: Taken,
    columns: Mapping[str, Any],
    where: Mapping[str, Any],
    metric: str,
    decimal: Decimal,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    normalization: Normalization,
    select: Select,
    min_seeds: int,
    incomplete: Incomplete,
    duplicates: Duplicates,
    invalid: Invalid,
    failed: Failed,
    references: list[str],
    benchmark: list[str],
) -> None:
    """Write the runs of a study, or say why they cannot be used.

    Parameters
    ----------
    exports : list of str
        Files to read.
    runs, validation : str
        Table of valid runs and summary to write, when there is no error.
    rejected : str
        Table of errors and of rows that are left out, written in any case.
    checksums : mapping of str to str
        Pinned SHA-256 of some exports.
    names : list of str
        The path or URL by which each export is configured.
    format, header_rows, reading, columns, where, metric, decimal : str, int and mapping
        How the exports are laid out.
    patterns : str or list of str
        The configured exports, whose fields the names of files fill.
    fields : mapping of str to str
        What holds for all files.
    values, summary, take : mapping and str
        What scores stand for, and which rows count.
    metrics, datasets, normalization : mapping
        Rules of direction and bounds.
    select, min_seeds, incomplete, duplicates, invalid, failed : mapping, int and str
        What the study wants of its runs.
    references, benchmark : list of str
        No file or one with frozen bounds, and with the definition of the benchmark, whose rules of
        datasets come after those that are configured.

    Raises
    ------
    ValidationError
        When there is any error; the message has the counts and the first 20 problems.
    """
    read = read_exports(
        _place_files(exports, names),
        layout=format,
        options=FileOptions(header_rows=header_rows, **reading),
        fields=[{**fields, **read_fields(name, patterns)} for name in names],
        columns=columns,
        where=where,
        metric=metric,
        decimal=decimal,
        dataset_metrics=_name_metrics(datasets),
        values=values,
        take=take,
        summary=summary,
    )
    for path in benchmark:
        datasets = complete_rules(datasets, read_benchmark(path), read.runs["dataset"].unique())
    result = validate_runs(
        read.runs,
        [*read.problems, *check_digests(exports, checksums, names=names)],
        rules=Rules(metrics, datasets, normalization, read_references(*references)),
        policies=Policies(select, min_seeds, incomplete, duplicates, invalid, failed),
        layout=format,
    )
    report_problems(result, rejected=rejected, files=len(exports), rows=read.rows, logger=logger)
    counts = [result.counts[name] for name in ("runs", "models", "datasets")]
    logger.info("%d runs of %d models on %d datasets", *counts)
    write_parquet(runs, result.runs)
    write_json(validation, describe_exports(read, result))


def _place_files(exports: list[str], names: list[str]) -> list[str]:
    """Say where each export is; one in an archive is named by a path below that."""
    return [
        name if name.startswith(f"{path}/") else path
        for path, name in zip(exports, names, strict=True)
    ]


def _name_metrics(datasets: Mapping[str, DatasetRule]) -> dict[str, str]:
    return {name: rule["metric"] for name, rule in datasets.items() if "metric" in rule}


if __name__ == "__main__":
    from job import run_job

    run_job(validate_exports, snakemake)  # type: ignore[name-defined]
