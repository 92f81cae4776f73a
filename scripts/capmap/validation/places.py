"""Where a problem is: a row of an export, or the study as a whole."""

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
    return Problem(severity, code, row.source, int(row.line), row.column, row.raw, reason, remedy)


def blame_group(
    row: Row, code: str, reason: str, remedy: str, *, severity: Severity, value: str = ""
) -> Problem:
    """Describe a problem of all rows of a dataset, or of something else, at one of them.

    Parameters
    ----------
    value : str, optional
        The name of what is at fault; the dataset's name when not given.
    """
    value = value or row.dataset
    return Problem(severity, code, row.source, int(row.line), "", value, reason, remedy)


def blame_study(
    code: str, reason: str, remedy: str, *, severity: Severity, value: str = ""
) -> Problem:
    """Describe a problem that no single row has."""
    return Problem(severity, code, "", 0, "", value, reason, remedy)
