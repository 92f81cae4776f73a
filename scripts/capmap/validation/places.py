"""Where a problem is among the rows of an export."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from capmap.problems import Problem, Severity


class Row(NamedTuple):
    """A row of the table of raw runs."""

    model: str
    dataset: str
    metric: str
    seed: str
    score: float
    raw: str
    source: str
    line: int
    column: str


def list_rows(runs: pd.DataFrame) -> Iterator[Row]:
    """Go through the rows of a table that has the columns of `Row`, among others."""
    return map(Row._make, runs[list(Row._fields)].itertuples(index=False, name=None))


def blame_score(row: Row, code: str, reason: str, remedy: str, *, severity: Severity) -> Problem:
    """Describe a problem of one score."""
    return Problem(
        severity=severity,
        code=code,
        source=row.source,
        line=int(row.line),
        column=row.column,
        value=row.raw,
        reason=reason,
        remedy=remedy,
    )


def blame_group(
    row: Row, code: str, reason: str, remedy: str, *, severity: Severity, value: str = ""
) -> Problem:
    """Describe a problem of all rows of a dataset, or of something else, at one of them.

    Parameters
    ----------
    value : str, optional
        The name of what is at fault; the dataset's name when not given.
    """
    return Problem(
        severity=severity,
        code=code,
        source=row.source,
        line=int(row.line),
        value=value or row.dataset,
        reason=reason,
        remedy=remedy,
    )
