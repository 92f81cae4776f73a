"""What validation.json and the log tell of exports that passed."""

import logging
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

from capmap.artifacts import render_csv, write_text
from capmap.errors import ValidationError
from capmap.exports import Exports
from capmap.validation.study import Validation
from capmap.validation.summary import choose_examples, list_rejected, summarize, write_message


def settle_problems(
    result: Validation, *, rejected: str, files: int, rows: int, logger: logging.Logger
) -> None:
    """Write what is rejected, stop at an error, and log the warnings.

    Parameters
    ----------
    result : Validation
        The runs and their problems.
    rejected : str
        Where to write the table of errors and of rows that are left out, in any case.
    files, rows : int
        How many were read.
    logger : logging.Logger
        Gets examples as warnings, which the terminal shows, and the others for the log file.

    Raises
    ------
    ValidationError
        When there is any error; the message has the counts and the first 20 problems.
    """
    write_text(rejected, render_csv(list_rejected(result)))
    if result.errors:
        raise ValidationError(
            write_message(result.problems, place=rejected, files=files, rows=rows)
        )
    warnings = result.warnings
    shown = set(map(id, choose_examples(warnings)))
    for problem in warnings:
        level = logging.WARNING if id(problem) in shown else logging.INFO
        logger.log(level, "%s", problem)
    if len(warnings) > len(shown):
        logger.warning("... and %d more warnings, in the log.", len(warnings) - len(shown))


def describe_validation(
    result: Validation,
    *,
    files: Iterable[Mapping[str, Any]],
    counts: Mapping[str, int],
    conversions: Mapping[str, int],
) -> dict[str, Any]:
    """Describe a study's files and runs as the content of ``validation.json``.

    Parameters
    ----------
    result : Validation
        The runs and their problems.
    files : iterable of mapping
        The ``path``, ``sha256``, ``bytes`` and ``rows`` of each file.
    counts : mapping of str to int
        files, rows, rows_filtered and rows_empty_score.
    conversions : mapping of str to int
        percent_signs and decimal_commas.

    Returns
    -------
    dict
        These, by path, and what `summarize` tells.
    """
    summary = summarize(result)
    return {
        "ok": summary.pop("ok"),
        "files": sorted(files, key=itemgetter("path")),
        "counts": {**counts, **summary.pop("counts")},
        **summary,
        "conversions": dict(conversions),
    }


def describe_exports(read: Exports, result: Validation) -> dict[str, Any]:
    """Describe exports that were read as tables, as `describe_validation` does."""
    return describe_validation(
        result,
        files=read.files,
        counts={
            "files": len(read.files),
            "rows": read.rows,
            "rows_filtered": read.rows_filtered,
            "rows_empty_score": read.rows_empty_score,
        },
        conversions={
            "percent_signs": read.percent_signs,
            "decimal_commas": read.decimal_commas,
        },
    )
