"""Gather one score per model, dataset and seed, and say everything that is wrong with the dumps."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from capmap.artifacts import read_json, read_shards, read_table, write_json, write_parquet
from capmap.errors import ValidationError
from capmap.exports.files import check_digests
from capmap.multilabel.gathering import (
    NAMES,
    Fact,
    drop_explained_gaps,
    find_other_images,
    find_thin_subgroups,
    find_unscored,
    find_unused_objects,
    gather_runs,
    read_problems,
)
from capmap.normalization import Rules, read_references
from capmap.normalization.rules import DatasetRule, MetricRule, Normalization, Select
from capmap.settings.choices import Duplicates, Incomplete, Invalid
from capmap.validation import Policies, validate_runs
from capmap.validation.summary import describe_validation, report_problems

logger = logging.getLogger(__name__)


def gather_scores(
    *,
    scores: list[str],
    facts: list[str],
    objects: list[str],
    runs: str,
    validation: str,
    rejected: str,
    checksums: Mapping[str, str],
    names: list[str],
    rank_by: str,
    subgroups: Mapping[str, list[int]],
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    normalization: Normalization,
    select: Select,
    min_seeds: int,
    incomplete: Incomplete,
    duplicates: Duplicates,
    invalid: Invalid,
    references: list[str],
    named: Sequence[Mapping[str, Any]] = (),
    renamed: Mapping[str, str] | None = None,
) -> None:
    """Write the runs of a study of predictions, or say why they cannot be used.

    Parameters
    ----------
    scores, facts : list of str
        Metrics of the dumps, Parquet, and what is known of them, JSON, of `evaluate_predictions`.
    objects : list of str
        Of composed images the tables of `crop_objects` and of one seed of `compose_patches`.
    runs, validation : str
        Table of runs and summary to write, when there is no error, as `validate_exports` does.
    rejected : str
        Table of errors, written in any case.
    checksums : mapping of str to str
        Pinned SHA-256 of some exports.
    names : list of str
        The path or URL by which each export is configured.
    rank_by : str
        The metric whose values are the scores.
    subgroups : mapping of str to list of int
        Numbers of labels over which the ASMA of each dataset averages.
    metrics, datasets, normalization : mapping
        Rules of direction and bounds.
    select, min_seeds, incomplete, duplicates, invalid : mapping, int and str
        What the study wants of its runs. A dump that is not there is an empty cell.
    references : list of str
        No file or one with frozen bounds.
    named : sequence of mapping, optional
        Names in the settings of analyses, as `validate_runs` takes them.
    renamed : mapping of str to str, optional
        New names of models and datasets, which the metrics have already, for the frozen bounds.

    Raises
    ------
    ValidationError
        When there are no dumps, or there is any error in dumps, labels or runs; the message has
        the counts and the first 20 problems.
    """
    rules = Rules(metrics, datasets, normalization, read_references(*references, renamed=renamed))
    _require_dumps(facts)
    contents = [read_json(path) for path in facts]
    known: list[Fact] = [fact for content in contents for fact in content["dumps"]]
    gathered = gather_runs(read_shards(scores), known, metric=rank_by)
    found = [
        *check_digests(names, checksums),
        *read_problems([problem for content in contents for problem in content["problems"]]),
        *find_unscored(gathered, known, metric=rank_by),
        *find_other_images(known),
        *find_thin_subgroups(known, subgroups=subgroups),
        *find_unused_objects(*map(read_table, objects)),
    ]
    result = validate_runs(
        gathered,
        found,
        rules=rules,
        policies=Policies(select, min_seeds, incomplete, duplicates, invalid),
        named=named,
        renamed=renamed,
    )
    scored = set(gathered["source"])
    broken = [cell for content in contents for cell in content["broken"]]
    broken += [[fact[name] for name in NAMES] for fact in known if fact["path"] not in scored]  # type: ignore[literal-required]
    result = replace(result, problems=drop_explained_gaps(result.problems, broken))
    sources = ({problem.source for problem in found} | {fact["path"] for fact in known}) - {""}
    images = sum(fact["images"] for fact in known)
    report_problems(result, rejected=rejected, files=len(sources), rows=images, logger=logger)
    logger.info("%d dumps with %d images", len(known), images)
    write_parquet(runs, result.runs)
    files = [_describe_file(fact) for fact in known]
    counts = {"files": len(known), "rows": images, "rows_filtered": 0, "rows_empty_score": 0}
    conversions = {"percent_signs": 0, "decimal_commas": 0}
    account = describe_validation(result, files=files, counts=counts, conversions=conversions)
    write_json(validation, account)


def _require_dumps(facts: Sequence[str]) -> None:
    if not facts:
        raise ValidationError(
            "there are no score dumps yet. Score the images that were composed, in patchml/, and "
            "write a dump for each seed where `exports` finds it."
        )


def _describe_file(fact: Fact) -> dict[str, Any]:
    names = {"path": "path", "sha256": "sha256", "bytes": "bytes", "rows": "images"}
    return {name: fact[key] for name, key in names.items()}  # type: ignore[literal-required]


if __name__ == "__main__":
    from job import run_job

    run_job(gather_scores, snakemake)  # type: ignore[name-defined]
