"""Columns of scores and rows of wide tables that have no filled cell in any file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from capmap.exports.cells import Mapped, list_columns
from capmap.exports.doubts import is_attribute
from capmap.problems import Problem
from capmap.wording import count_things, list_names

FILL_IN = "Fill in the scores if the runs were made, or"


@dataclass(frozen=True)
class Unfilled:
    """Which parts of a wide table have no filled cell; nothing of another table.

    Parameters
    ----------
    source : str, optional
        The file.
    columns : mapping of str to bool, optional
        The columns of scores, and whether each has a filled cell.
    names : mapping, optional
        By role ("model" or "dataset"), the names of rows without a filled cell, and the first line
        of each.
    """

    source: str = ""
    columns: Mapping[str, bool] = field(default_factory=dict)
    names: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def find_unfilled(parts: Sequence[Unfilled], runs: pd.DataFrame, columns: Mapped) -> list[Problem]:
    """Find columns of scores, models and datasets of which no file has a filled cell.

    Parameters
    ----------
    parts : sequence of Unfilled
        Of each file.
    runs : pandas.DataFrame
        The runs of all files.
    columns : mapping
        The configured columns, as in `read_exports`.

    Returns
    -------
    list of Problem
        Each column and name is reported once, with the others of its file: listed columns as an
        error, all else as a warning.
    """
    scores = columns.get("score", "")
    listed = {*list_columns(columns, "datasets"), *(scores if not isinstance(scores, str) else ())}
    settled = {name for part in parts for name, filled in part.columns.items() if filled}
    known = {role: {"", *runs[role].unique()} for role in ("model", "dataset")}
    problems = []
    for part in parts:
        empty = [name for name in part.columns if name not in settled]
        settled.update(empty)
        problems += _explain_columns(part.source, [name for name in empty if name in listed])
        # An index or an attribute of models is no dataset, nor is what an extra comma makes.
        rest = [name for name in empty if name not in listed and not is_attribute(name)]
        problems += _explain_columns(part.source, rest, is_listed=False)
        for role, lines in part.names.items():
            names = [name for name in lines if name not in known[role]]
            known[role].update(names)
            problems += _explain_names(part.source, role, names, lines)
    return problems


def _explain_columns(source: str, names: Sequence[str], *, is_listed: bool = True) -> list[Problem]:
    if not names:
        return []
    count = count_things(len(names), "column")
    what = f"{count} of scores without a filled cell: {list_names(names)}."
    remedy = f"{FILL_IN} add the columns to `columns: {{ignore: […]}}`."
    if is_listed:
        remedy = f"{FILL_IN} remove the columns from `columns`."
    return [
        Problem(
            severity="error" if is_listed else "warning",
            code="empty_column",
            source=source,
            line=1,
            column=names[0],
            reason=f"The configuration lists {what}" if is_listed else f"Left out: {what}",
            remedy=remedy,
        )
    ]


def _explain_names(
    source: str, role: str, names: Sequence[str], lines: Mapping[str, int]
) -> list[Problem]:
    if not names:
        return []
    count = count_things(len(names), role)
    return [
        Problem(
            severity="warning",
            code="empty_row",
            source=source,
            line=lines[names[0]],
            value=names[0],
            reason=f"Left out: {count} without a filled cell: {list_names(names)}.",
            remedy=f"{FILL_IN} remove the rows; headings between models can stay.",
        )
    ]
