"""Faults of one file, counted by their kind, so that a thousand like one are told once."""

from dataclasses import replace

from capmap.exports.faults import UnreadableExportError
from capmap.problems import Problem


class FaultTally:
    """The first fault of each kind, and how many there are.

    Parameters
    ----------
    source : str
        The file.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._firsts: dict[str, Problem] = {}
        self._counts: dict[str, int] = {}

    def add(
        self,
        code: str,
        reason: str,
        remedy: str,
        *,
        line: int = 0,
        column: str = "",
        value: str = "",
    ) -> None:
        """Add a fault; its value is shortened to what a message can bear."""
        self._counts[code] = self._counts.get(code, 0) + 1
        if code not in self._firsts:
            self._firsts[code] = Problem(
                code=code,
                source=self.source,
                line=line,
                column=column,
                value=shorten(value),
                reason=reason,
                remedy=remedy,
            )

    def raise_any(self) -> None:
        """Raise what was added, a problem for each kind of fault; do nothing where none was.

        Raises
        ------
        UnreadableExportError
            With a problem for each kind, in the order in which they turned up.
        """
        if not self._firsts:
            return
        problems = []
        for code, first in self._firsts.items():
            more = self._counts[code] - 1
            extent = f" There are {more} more of the kind." if more > 1 else ""
            extent = " There is 1 more of the kind." if more == 1 else extent
            problems.append(replace(first, reason=first.reason + extent))
        raise UnreadableExportError(*problems)


def shorten(text: str) -> str:
    """Shorten a text to the 80 characters that a message can bear.

    Examples
    --------
    >>> shorten("a" * 100) == "a" * 79 + "…"
    True
    """
    return text if len(text) <= 80 else text[:79] + "…"
