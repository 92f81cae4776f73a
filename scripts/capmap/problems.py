"""What is wrong with an export or a name, said so that its owner can find and mend it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from capmap.errors import ValidationError
from capmap.wording import find_nearest, list_names, quote_name

Severity = Literal["error", "warning"]


@dataclass(frozen=True, order=True, kw_only=True)
class Problem:
    """One fault of the data.

    Parameters
    ----------
    severity : {"error", "warning"}, optional
        An error stops the study (or sends its row into quarantine), a warning is reported.
    code : str
        Short stable name of the kind of fault, such as ``"not_a_number"``.
    source : str, optional
        The file, as the configuration names it; empty when the fault is of the whole study.
    line : int, optional
        Line in the file, the header being line 1; 0 when no single line is at fault.
    column : str, optional
        The column's name in the file, or empty.
    value : str, optional
        The text found there, as it stands in the file.
    reason : str
        What is wrong, in one sentence without the place.
    remedy : str
        What to do about it, in one sentence.
    """

    severity: Severity = "error"
    code: str
    source: str = ""
    line: int = 0
    column: str = ""
    value: str = ""
    reason: str
    remedy: str

    def __str__(self) -> str:
        place = ", ".join(
            part
            for part in (
                self.source,
                f"line {self.line}" if self.line else "",
                f"column {self.column!r}" if self.column else "",
                f"value {self.value!r}" if self.value else "",
            )
            if part
        )
        return f"{self.severity}: {place + ': ' if place else ''}{self.reason} {self.remedy}"


def require_known(names: Iterable[str], known: Collection[str], *, option: str, kind: str) -> None:
    """Refuse names in the configuration that the data does not have.

    Parameters
    ----------
    names : iterable of str
        Configured names.
    known : collection of str
        Names in the data.
    option : str
        Where the names stand, such as ``comparison.reference``.
    kind : str
        What they name, such as ``model``.

    Raises
    ------
    ValidationError
        For the first unknown name, with the nearest known one.
    """
    for name in names:
        if name not in known:
            near = find_nearest(name, known)
            hint = (
                f"Did you mean {quote_name(near)}?"
                if near
                else f"There are: {list_names(sorted(known))}."
            )
            raise ValidationError(f"{option}: no {kind} {quote_name(name)} is analysed. {hint}")
