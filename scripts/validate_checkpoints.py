"""Read the values of checkpoints, choose one per training, and say everything that is wrong."""

import logging
from typing import Any

from capmap.artifacts import write_json, write_parquet
from capmap.checkpoints.choice import (
    arrange_values,
    choose,
    find_lacks,
    find_misfit_values,
    leave_out_choosing,
)
from capmap.checkpoints.plan import Settings
from capmap.checkpoints.selection import count_choices, gather_runs
from capmap.exports.checkpoints import check_evaluations, read_evaluations
from capmap.exports.files import check_digests
from capmap.normalization import Rules
from capmap.renaming import list_metrics
from capmap.validation import Policies, validate_runs
from capmap.validation.configuration import rename_runs
from capmap.validation.rows import reject_rows
from capmap.validation.summary import describe_exports, report_problems

logger = logging.getLogger(__name__)


def validate_checkpoints(
    *,
    exports: list[str],
    evaluations: str,
    runs: str,
    validation: str,
    rejected: str,
    checkpoints: Settings,
    **settings: Any,
) -> None:
    """Write the chosen checkpoints of a study as runs, or say why they cannot be used."""
    rules, renamed = Rules.choose(settings, settings["references"]), settings["renamed"]
    read = read_evaluations(
        exports,
        dataset_metrics=list_metrics(settings["datasets"], renamed),
        **{name: settings[name] for name in ("columns", "where", "metric", "decimal")},
    )
    table, misnamed = rename_runs(read.table, renamed)
    sound = reject_rows(table, read.exports.problems, policy=settings["invalid"])
    values, faults = check_evaluations(sound.runs, read.columns, duplicates=settings["duplicates"])
    plan, listed, doubts = choose(
        values, checkpoints, settings["rankings"], metric=settings["metric"], rules=rules
    )
    result = validate_runs(
        compared := gather_runs(values, listed, plan),
        [
            *check_digests(exports, settings["checksums"], names=settings["names"]),
            *(*sound.faults, *sound.others, *misnamed, *faults, *doubts),
            *find_lacks(values, listed, plan, settings),
        ],
        rules=leave_out_choosing(rules, values, compared),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=renamed,
    )
    result = result.add_problems(find_misfit_values(values, plan, rules, reported=result.problems))
    rows = read.exports.rows
    report_problems(result, rejected=rejected, files=len(exports), rows=rows, logger=logger)
    logger.info("%d checkpoints, %d runs", len(listed), result.counts["runs"])
    write_parquet(evaluations, arrange_values(values))
    write_parquet(runs, result.runs)
    choices = {"checkpoints": count_choices(values, listed, plan)}
    write_json(validation, describe_exports(read.exports, result) | choices)


if __name__ == "__main__":
    from job import run_job

    run_job(validate_checkpoints, snakemake)  # type: ignore[name-defined]
