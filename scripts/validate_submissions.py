"""Read the submissions of a study and say everything that is wrong with them."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from capmap.artifacts import write_json, write_parquet
from capmap.benchmarks import complete_rules, read_benchmark
from capmap.exports.files import check_digests
from capmap.exports.submission_results import Demands
from capmap.exports.submissions import read_submissions
from capmap.normalization import Rules, read_references
from capmap.normalization.rules import DatasetRule, MetricRule, Normalization, Select
from capmap.settings.choices import Decimal, Duplicates, Incomplete, Invalid
from capmap.validation import Policies, validate_runs
from capmap.validation.submission_scores import screen_scores
from capmap.validation.summary import describe_exports, report_problems

logger = logging.getLogger(__name__)


def validate_submissions(
    *,
    files: list[str],
    folders: list[str],
    benchmark: list[str],
    references: list[str],
    runs: str,
    validation: str,
    submissions: str,
    rejected: str,
    checksums: Mapping[str, str],
    names: list[str],
    seeds_per_cell: int,
    columns: Mapping[str, Any],
    decimal: Decimal,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    normalization: Normalization,
    select: Select,
    incomplete: Incomplete,
    duplicates: Duplicates,
    invalid: Invalid,
    named: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write the runs of all submissions, or say why they cannot be used.

    Parameters
    ----------
    files, folders : list of str
        The files that were found, and the folder of each submission.
    benchmark, references : list of str
        No file or one with the definition of the benchmark, and with frozen bounds.
    runs, validation : str
        Table of runs and summary to write, when there is no error, as `validate_exports` does.
    submissions : str
        What the submissions say about themselves, JSON, when there is no error.
    rejected : str
        Table of errors and of rows that are left out, written in any case.
    checksums : mapping of str to str
        Pinned SHA-256 of some exports.
    names : list of str
        The path or URL by which each export is configured.
    seeds_per_cell : int
        Seeds that each model needs on each of its datasets.
    columns : mapping
        Only "model" matters, the columns that make up its name.
    decimal : {"auto", ".", ","}
        Decimal mark of numbers.
    metrics, datasets, normalization : mapping
        Rules of direction and bounds; they win over those of the benchmark.
    select, incomplete, duplicates, invalid : mapping and str
        What the study wants of its runs. The same seed twice in a cell is refused in any case.
    named : sequence of mapping, optional
        Names in the settings of analyses, as `validate_runs` takes them.

    Raises
    ------
    ValidationError
        When there is any error; the message has the counts and the first 20 problems.
    """
    definition = read_benchmark(benchmark[0]) if benchmark else None
    known = complete_rules(datasets, definition, definition.datasets if definition else ())
    read, listed = read_submissions(
        folders,
        files=files,
        columns=columns,
        demands=Demands(
            benchmark=definition,
            metrics={name: rule["metric"] for name, rule in known.items() if "metric" in rule},
            seeds_per_cell=seeds_per_cell,
            decimal=decimal,
        ),
    )
    rules = Rules(metrics, known, normalization, read_references(*references))
    doubted = screen_scores(read.runs, rules, definition)
    present = doubted.runs["dataset"].unique()
    result = validate_runs(
        doubted.runs,
        [*read.problems, *doubted.problems, *check_digests(files, checksums, names=names)],
        rules=replace(rules, datasets=complete_rules(datasets, definition, present)),
        policies=Policies(select, 1, incomplete, duplicates, invalid),
        named=named,
    )
    # What the definition of the benchmark says needs no warning.
    told = {dataset.metric for dataset in definition.datasets.values()} if definition else set()
    problems = [
        problem
        for problem in result.problems
        if problem.code != "overruled_direction" or problem.value not in told
    ]
    result = replace(result, problems=problems)
    report_problems(result, rejected=rejected, files=len(files), rows=read.rows, logger=logger)
    logger.info("%d runs of %d submissions", len(result.runs), len(listed))
    write_parquet(runs, result.runs)
    write_json(submissions, {"submissions": listed})
    write_json(validation, describe_exports(read, result))


if __name__ == "__main__":
    from job import run_job

    run_job(validate_submissions, snakemake)  # type: ignore[name-defined]
