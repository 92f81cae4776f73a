"""Gather one score per model, dataset and seed, and say everything that is wrong with the dumps."""

import logging
from dataclasses import replace
from typing import Any

from capmap.artifacts import read_json, read_table, write_json, write_parquet
from capmap.exports.files import check_digests
from capmap.multilabel.gathering import (
    Fact,
    describe_file,
    drop_explained_gaps,
    find_faults,
    find_unused_objects,
    gather_runs,
    join_scores,
    read_problems,
    require_dumps,
)
from capmap.normalization import Rules
from capmap.validation import Policies, validate_runs
from capmap.validation.summary import describe_validation, report_problems

logger = logging.getLogger(__name__)


def validate_predictions(
    *,
    scores: list[str],
    facts: list[str],
    objects: list[str],
    runs: str,
    validation: str,
    rejected: str,
    **settings: Any,
) -> None:
    """Write the runs of a study of predictions, or say why they cannot be used."""
    require_dumps(facts)
    contents = [read_json(path) for path in facts]
    known: list[Fact] = [fact for content in contents for fact in content["dumps"]]
    rank_by = settings["rank_by"]
    gathered = gather_runs(join_scores(scores), known, metric=rank_by)
    found = [
        *check_digests(settings["names"], settings["checksums"]),
        *read_problems([problem for content in contents for problem in content["problems"]]),
        *find_faults(gathered, known, rank_by=rank_by, subgroups=settings["subgroups"]),
        *find_unused_objects(*map(read_table, objects)),
    ]
    result = validate_runs(
        gathered,
        found,
        rules=Rules.choose(settings, settings["references"]),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=settings["renamed"],
    )
    broken = [cell for content in contents for cell in content["broken"]]
    result = replace(result, problems=drop_explained_gaps(result.problems, broken, gathered, known))
    sources = ({problem.source for problem in found} | {fact["path"] for fact in known}) - {""}
    images = sum(fact["images"] for fact in known)
    report_problems(result, rejected=rejected, files=len(sources), rows=images, logger=logger)
    logger.info("%d dumps with %d images", len(known), images)
    write_parquet(runs, result.runs)
    files = [describe_file(fact) for fact in known]
    counts = {"files": len(known), "rows": images, "rows_filtered": 0, "rows_empty_score": 0}
    conversions = {"percent_signs": 0, "decimal_commas": 0}
    account = describe_validation(result, files=files, counts=counts, conversions=conversions)
    write_json(validation, account)


if __name__ == "__main__":
    from job import run_job

    run_job(validate_predictions, snakemake)  # type: ignore[name-defined]
