"""Read the submissions of a study and say everything that is wrong with them."""

import logging
from dataclasses import replace
from typing import Any

from capmap.artifacts import write_json, write_parquet
from capmap.benchmarks import complete_rules, read_benchmark
from capmap.exports.files import check_digests
from capmap.exports.submission_results import Demands
from capmap.exports.submissions import read_submissions
from capmap.leaderboard.entries import find_mixes
from capmap.normalization import Rules
from capmap.renaming import list_metrics
from capmap.validation import Policies, validate_runs
from capmap.validation.configuration import rename_runs
from capmap.validation.submission_scores import drop_told, screen_scores
from capmap.validation.summary import describe_exports, report_problems

logger = logging.getLogger(__name__)


def validate_submissions(
    *,
    files: list[str],
    folders: list[str],
    benchmark: list[str],
    runs: str,
    validation: str,
    submissions: str,
    rejected: str,
    **settings: Any,
) -> None:
    """Write the runs of all submissions, or say why they cannot be used."""
    datasets, renamed = settings["datasets"], settings["renamed"]
    definition = read_benchmark(benchmark[0]) if benchmark else None
    fixed = definition.datasets if definition else ()
    known = complete_rules(datasets, definition, fixed)
    read, listed = read_submissions(
        folders,
        files=files,
        columns=settings["columns"],
        demands=Demands(
            benchmark=definition,
            metrics=list_metrics(known, renamed),
            decimal=settings["decimal"],
            **settings["submission"],
        ),
    )
    rules = Rules.choose(settings, settings["references"], known)
    submitted, misnamed = rename_runs(read.runs, renamed, fixed=fixed)
    doubted = screen_scores(submitted, rules, definition)
    present = doubted.runs["dataset"].unique()
    result = validate_runs(
        doubted.runs,
        [
            *(*read.problems, *misnamed, *doubted.problems, *find_mixes(submitted)),
            *check_digests(files, settings["checksums"], names=settings["names"]),
        ],
        rules=replace(rules, datasets=complete_rules(datasets, definition, present)),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=renamed,
    )
    result = drop_told(result, definition)
    report_problems(result, rejected=rejected, files=len(files), rows=read.rows, logger=logger)
    logger.info("%d runs of %d submissions", len(result.runs), len(listed))
    write_parquet(runs, result.runs)
    write_json(submissions, {"submissions": listed})
    write_json(validation, describe_exports(read, result))


if __name__ == "__main__":
    from job import run_job

    run_job(validate_submissions, snakemake)  # type: ignore[name-defined]
