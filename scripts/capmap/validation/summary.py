"""What validation found: the message, validation.json and the log."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from operator import attrgetter, itemgetter
from typing import Any

import pandas as pd

from capmap.artifacts import render_csv, write_text
from capmap.errors import ValidationError
from capmap.exports import Exports
from capmap.problems import Problem, shorten
from capmap.validation.study import Validation
from capmap.wording import count_things

# Of each kind: how many remedies are printed, and how many further places of each.
CAUSES = 3
PLACES = 3
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
            for metric, count in runs.groupby("metric", observed=True)["dataset"].nunique().items()
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


def choose_examples(problems: Sequence[Problem], *, most: int) -> list[Problem]:
    """Choose problems to show so that a frequent kind does not hide a rare one.

    Parameters
    ----------
    problems : sequence of Problem
        In their order.
    most : int
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


def group_problems(problems: Iterable[Problem]) -> list[tuple[str, list[Problem]]]:
    """Group problems of one cause: of one kind and with one remedy.

    Parameters
    ----------
    problems : iterable of Problem
        Errors first.

    Returns
    -------
    list of (str, list of Problem)
        Three for a kind at most, the last of which has all others of it. The first as a sentence,
        with how many more there are and where the next three stand; and all of them.
    """
    groups: dict[tuple[str, str], dict[str, list[Problem]]] = {}
    for problem in problems:
        kind = groups.setdefault((problem.severity, problem.code), {})
        is_named = problem.remedy in kind or len(kind) < CAUSES
        cause = problem.remedy if is_named else next(reversed(kind))
        kind.setdefault(cause, []).append(problem)
    found = [group for kind in groups.values() for group in kind.values()]
    return [(_describe_group(group), group) for group in found]


def _describe_group(group: Sequence[Problem]) -> str:
    first, *others = group
    if not others:
        return str(first)
    places = list(
        dict.fromkeys(filter(None, (_describe_difference(first, other) for other in others)))
    )
    listed = "; ".join(places[:PLACES]) + (" …" if len(places) > PLACES else "")
    return f"{first} And {len(others)} more like this{': ' if places else ''}{listed}."


def _describe_difference(first: Problem, other: Problem) -> str:
    """Say where a problem is, as far as that differs from the first of its kind."""
    parts = {
        "source": other.source,
        "line": f"line {other.line}" if other.line else "",
        "column": f"column {other.column!r}",
        "value": f"value {shorten(other.value)!r}",
    }
    return ", ".join(
        text
        for name, text in parts.items()
        if text and getattr(first, name) != getattr(other, name)
    )


def write_message(problems: Sequence[Problem], *, place: str, files: int, rows: int) -> str:
    """Say what is wrong: a headline with counts, a line for each cause, and where all is listed.

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
    lines += [f"  {text}" for text, _ in group_problems(problems)]
    lines.append(f"All errors are in {place}.")
    return "\n".join(lines)


def _summarize_seeds(runs: pd.DataFrame) -> dict[str, float]:
    sizes = runs.groupby(["model", "dataset"], observed=True).size()
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
        Gets a warning for each cause, which the terminal shows, and the others for the log file,
        at most 1000 of a cause.

    Raises
    ------
    ValidationError
        When there is any error; the message has a line for each cause.
    """
    write_text(rejected, render_csv(list_rejected(result)))
    if result.errors:
        raise ValidationError(
            write_message(result.problems, place=rejected, files=files, rows=rows)
        )
    for text, group in group_problems(result.warnings):
        logger.warning("%s", text)
        for problem in group[1:KEPT]:
            logger.info("%s", problem)


def describe_exports(read: Exports, result: Validation) -> dict[str, Any]:
    """Describe a study's exports and runs as the content of ``validation.json``.

    Returns
    -------
    dict
        The files, by path, what was counted and converted, and what `summarize` says.
    """
    summary = summarize(result)
    counts = {name: getattr(read, name) for name in ("rows", "rows_filtered", "rows_empty_score")}
    described = {
        "ok": summary.pop("ok"),
        "files": sorted(read.files, key=itemgetter("path")),
        "counts": {"files": len(read.files), **counts, **summary.pop("counts")},
        **summary,
        "conversions": {
            "percent_signs": read.percent_signs,
            "decimal_commas": read.decimal_commas,
            "summarized": int(result.runs["summary"].sum()) if "summary" in result.runs else 0,
        },
    }
    return {**described, "readings": read.readings} if read.readings else described
