"""What validation found, for people and for the next step."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import Any

import pandas as pd

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
