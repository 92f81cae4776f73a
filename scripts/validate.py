"""Read what a study exports, say everything that is wrong with it, and write its runs."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from capmap.artifacts import write_json, write_parquet
from capmap.exports import Exports
from capmap.validation import Validation
from capmap.validation.findings import describe_exports, report_problems

# What was read, its runs and problems, and what else is written, by the name of the output.
Checked: TypeAlias = tuple[Exports, Validation, dict[str, Any]]
# What is no setting of reading or of validation itself.
OWN = ("patterns", "references", "benchmark", "named", "renamed")

logger = logging.getLogger(__name__)


def validate(
    *,
    runs: str,
    validation: str,
    rejected: str,
    names: list[str],
    item_scores: str = "",
    evaluations: str = "",
    submissions: str = "",
    **given: Any,
) -> None:
    """Write the runs of a study and what else its exports say, or say why they cannot be used."""
    read, result, made = _find_check(given["format"])(names=names, **given)
    rows = read.counts["rows"]
    report_problems(result, rejected=rejected, files=len(names), rows=rows, logger=logger)
    counts = [result.counts[part] for part in ("runs", "models", "datasets")]
    logger.info("%d runs of %d models on %d datasets", *counts)
    write_parquet(runs, result.runs)
    write_json(validation, describe_exports(read, result))
    if item_scores:
        write_parquet(item_scores, result.items)
    if evaluations:
        write_parquet(evaluations, made["evaluations"])
    if submissions:
        write_json(submissions, made["submissions"])


def _find_check(kind: str) -> Callable[..., Checked]:
    """Find the function that reads and checks a format of exports, and load nothing else."""
    if kind == "submission":
        from capmap.leaderboard.checks import check_submissions

        return check_submissions
    if kind == "checkpoints":
        from capmap.leaderboard.checks import check_checkpoints

        return check_checkpoints
    if kind == "predictions":
        from capmap.multilabel.gathering import check_predictions

        return check_predictions
    return _check_tables


def _check_tables(
    exports: list[str], *, names: list[str], attributes: Mapping[str, Any], **settings: Any
) -> Checked:
    """Read and check tables of runs, and of what is known of models and datasets."""
    from capmap.attributes import find_attribute_faults
    from capmap.validation.findings import check_exports

    own = {name: settings.pop(name) for name in OWN}
    read, result = check_exports(exports, names=names, settings=settings, **own)
    return read, result.add_problems(find_attribute_faults(attributes)), {}


if __name__ == "__main__":
    from job import run_job

    run_job(validate, snakemake)  # type: ignore[name-defined]
