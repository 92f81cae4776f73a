"""Problems of exports and names: what is wrong, where, how often, and what to do about it."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from capmap.errors import ExportError, ValidationError
from capmap.wording import list_names, quote_name, shorten, suggest

Severity = Literal["error", "warning"]


NESTED = re.compile(r"\.(json|ya?ml)(\.gz)?$", re.IGNORECASE)


def name_line(source: str, line: int) -> str:
    """Name the line of a file, or the record of a nested one."""
    return f"{'record' if NESTED.search(source) else 'line'} {line}" if line else ""


@dataclass(frozen=True, order=True, kw_only=True)
class Problem:
    """One fault of the data: a file, the place in it (line 0: none), what is wrong, and the remedy.

    Lines of JSON and YAML that are no JSON lines count records.

    An error stops the study, or sends its row into quarantine; a warning is reported. `code` is the
    short stable name of the kind of fault, such as ``"not_a_number"``.
    """

    severity: Severity = "error"
    code: str
    source: str = ""
    line: int = 0
    column: str = ""
    value: str = ""
    reason: str
    remedy: str

    @property
    def places(self) -> list[str]:
        """The file and the place in it, each part in words or empty."""
        return [
            self.source,
            name_line(self.source, self.line),
            f"column {self.column!r}" if self.column else "",
            f"value {shorten(self.value)!r}" if self.value else "",
        ]

    def __str__(self) -> str:
        place = ", ".join(filter(None, self.places))
        return f"{self.severity}: {place + ': ' if place else ''}{self.reason} {self.remedy}"


def require_known(names: Iterable[str], known: Collection[str], *, option: str, kind: str) -> None:
    """Refuse names in the configuration that the data does not have, with the nearest known one."""
    for name in names:
        if name not in known:
            hint = suggest(name, known, f"There are: {list_names(sorted(known))}.")
            raise ValidationError(f"{option}: no {kind} {quote_name(name)} is analysed. {hint}")


class UnreadableExportError(ExportError):
    """A file of which nothing can be used, and everything that is wrong with it."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = list(problems)


def ask_nearest(name: str, names: Iterable[str]) -> str:
    """Ask "Did you mean …?" with a space behind, or say nothing when no candidate is near."""
    return f"{suggest(name, names)} ".lstrip()


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


class RowCheck(NamedTuple):
    """What can be wrong with a row of a table, in sentences with names of its columns in braces.

    Names of the row are put in quotes, unless those of their column begin with an underscore.
    """

    code: str
    column: str
    reason: str
    remedy: str
    severity: Severity = "error"

    def report(self, rows: pd.DataFrame, *, column: str | None = None) -> list[Problem]:
        """Make a problem of each of some rows.

        The column is called as in the file; that of a check of scores is where the score stands.
        """
        problems = []
        for row in rows.to_dict("records"):
            said = {
                str(name): quote_name(value)
                if isinstance(value, str) and not str(name).startswith("_")
                else value
                for name, value in row.items()
            }
            shown, value = self.column if column is None else column, row[self.column]
            if self.column == "score":
                shown, value = row["column"], row["raw"]
            problems.append(
                Problem(
                    severity=self.severity,
                    code=self.code,
                    source=str(row["source"]),
                    line=int(row["line"]),
                    column=shown,
                    value=shorten(value),
                    reason=self.reason.format_map(said),
                    remedy=self.remedy.format_map(said),
                )
            )
        return problems
