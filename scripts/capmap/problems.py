"""What is wrong with an export, said so that its owner can find and mend it."""

from dataclasses import dataclass
from typing import Literal

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
