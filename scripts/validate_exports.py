"""Read the exports of a study and say everything that is wrong with them."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from capmap.artifacts import write_json, write_parquet
from capmap.attributes import find_attribute_faults
from capmap.validation.exports import check_exports
from capmap.validation.summary import describe_exports, report_problems

logger = logging.getLogger(__name__)


def validate_exports(
    *,
    exports: list[str],
    runs: str,
    validation: str,
    rejected: str,
    names: list[str],
    patterns: str | list[str],
    references: list[str],
    benchmark: list[str],
    named: Sequence[Mapping[str, Any]] = (),
    attributes: Mapping[str, Mapping[str, str]] | None = None,
    renamed: Mapping[str, str] | None = None,
    **settings: Any,
) -> None:
    """Write the runs of a study, or say why they cannot be used."""
    read, result = check_exports(
        exports,
        names=names,
        patterns=patterns,
        settings=settings,
        references=references,
        benchmark=benchmark,
        named=named,
        renamed=renamed,
        found=find_attribute_faults(attributes or {}),
    )
    report_problems(result, rejected=rejected, files=len(exports), rows=read.rows, logger=logger)
    counts = [result.counts[name] for name in ("runs", "models", "datasets")]
    logger.info("%d runs of %d models on %d datasets", *counts)
    write_parquet(runs, result.runs)
    write_json(validation, describe_exports(read, result))


if __name__ == "__main__":
    from job import run_job

    run_job(validate_exports, snakemake)  # type: ignore[name-defined]
