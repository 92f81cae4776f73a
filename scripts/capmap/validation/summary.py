"""What validation found: the message, validation.json and the log."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter, itemgetter
from typing import Any

import pandas as pd

from capmap.artifacts import render_csv, write_text
from capmap.errors import ValidationError
from capmap.exports import Exports
from capmap.problems import Problem
from capmap.validation.study import Validation
from capmap.wording import count_things

SHOWN = 20
KEPT = 1000
REJECTED = ["source", "line", "column", "value", "reason", "remedy"]


def summarize(validation: Validation) -> dict[str, Any]:
    """Describe a validation as the content of ``validation.json``, apart from what was read.

    Returns
    -------
    dict
        ok, counts, seeds_per_cell, metrics, rejected, warnings (at most 1000, with some of every
        kind) and warnings_total.
    """
    runs, warnings = validation.runs, validation.warnings
    return {
        "ok": not validation.errors,
        "counts": validation.counts,
        "seeds_per_cell": _summarize_seeds(runs),
        "metrics": {
            str(metric): int(count)
            for metric, count in runs.groupby("metric")["dataset"].nunique().items()
        },
        "rejected": count_codes(validation.left_out),
        "warnings": [asdict(problem) for problem in choose_examples(warnings, most=KEPT)],
        "warnings_total": len(warnings),
    }


def list_rejected(validation: Validation) -> pd.DataFrame:
    """List all errors, and all rows that are left out, as the table ``rejected.csv``.

    Returns
    -------
    DataFrame
        source, line, column, value, reason and remedy, by source and line.
    """
    left_out = set(map(id, validation.left_out))
    listed = [
        problem
        for problem in validation.problems
        if problem.severity == "error" or id(problem) in left_out
    ]
    rows = sorted(map(attrgetter(*REJECTED), listed))
    return pd.DataFrame(rows, columns=REJECTED)


def count_codes(problems: Iterable[Problem]) -> dict[str, int]:
    """Count problems by their code, the most frequent first."""
    counts = Counter(problem.code for problem in problems)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def choose_examples(problems: Sequence[Problem], *, most: int = SHOWN) -> list[Problem]:
    """Choose problems to show so that a frequent kind does not hide a rare one.

    Parameters
    ----------
    problems : sequence of Problem
        In their order.
    most : int, optional
        How many to show.

    Returns
    -------
    list of Problem
        The first of each kind, then the second of each kind, until there are enough; in the
        order of `problems`, errors first.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ranked = []
    for position, problem in enumerate(problems):
        kind = (problem.severity, problem.code)
        ranked.append((problem.severity, seen[kind], position))
        seen[kind] += 1
    chosen = sorted(sorted(ranked)[:most], key=lambda item: (item[0], item[2]))
    return [problems[position] for _, _, position in chosen]


def write_message(problems: Sequence[Problem], *, place: str, files: int, rows: int) -> str:
    """Say what is wrong: a headline with counts, the first 20 problems, and where the rest is.

    Parameters
    ----------
    problems : sequence of Problem
        Errors first.
    place : str
        File that lists all of them.
    files, rows : int
        What was read.
    """
    errors = [problem for problem in problems if problem.severity == "error"]
    codes = ", ".join(f"{count} {code}" for code, count in count_codes(errors).items())
    warnings = len(problems) - len(errors)
    lines = [
        f"{count_things(len(errors), 'error')} ({codes}) and {count_things(warnings, 'warning')} "
        f"in {count_things(files, 'file')} with {count_things(rows, 'row')}."
    ]
    shown = choose_examples(problems)
    lines += [f"  {problem}" for problem in shown]
    if len(problems) > len(shown):
        lines.append(f"  ... and {len(problems) - len(shown)} more.")
    lines.append(f"All errors are in {place}.")
    return "\n".join(lines)


def _summarize_seeds(runs: pd.DataFrame) -> dict[str, float]:
    sizes = runs.groupby(["model", "dataset"]).size()
    if sizes.empty:
        return {"min": 0, "median": 0, "max": 0}
    return {"min": int(sizes.min()), "median": float(sizes.median()), "max": int(sizes.max())}


def report_problems(
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
