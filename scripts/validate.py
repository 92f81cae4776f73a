"""Read the exports of a study and say everything that is wrong with them."""

import logging
from collections.abc import Mapping
from typing import Any

from capmap.artifacts import write_json, write_parquet
from capmap.attributes import find_attribute_faults
from capmap.validation.exports import check_exports
from capmap.validation.summary import describe_exports, report_problems

# What is no setting of reading or of validation itself.
OWN = ("names", "patterns", "references", "benchmark", "named", "renamed")

logger = logging.getLogger(__name__)


def validate(
    *,
    exports: list[str],
    runs: str,
    validation: str,
    rejected: str,
    attributes: Mapping[str, Mapping[str, str]],
    **settings: Any,
) -> None:
    """Write the runs of a study, or say why they cannot be used."""
    own = {name: settings.pop(name) for name in OWN}
    found = find_attribute_faults(attributes)
    read, result = check_exports(exports, settings=settings, found=found, **own)
    report_problems(result, rejected=rejected, files=len(exports), rows=read.rows, logger=logger)
    counts = [result.counts[name] for name in ("runs", "models", "datasets")]
    logger.info("%d runs of %d models on %d datasets", *counts)
    write_parquet(runs, result.runs)
    write_json(validation, describe_exports(read, result))


if __name__ == "__main__":
    from job import run_job

    run_job(validate, snakemake)  # type: ignore[name-defined]
