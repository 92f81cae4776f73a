"""What can be wrong with a file or a cell, in words."""

from collections.abc import Iterable
from difflib import get_close_matches

from capmap.errors import ExportError
from capmap.problems import Problem, Severity
from capmap.wording import quote_name


class UnreadableExportError(ExportError):
    """A file of which nothing can be used.

    Parameters
    ----------
    *problems : Problem
        Everything that is wrong with it.
    """

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = list(problems)


def make_problem(
    code: str,
    source: str,
    reason: str,
    remedy: str,
    *,
    line: int = 0,
    column: str = "",
    value: str = "",
    severity: Severity = "error",
) -> Problem:
    """Make a problem from what it is, where it is and what to do about it."""
    return Problem(severity, code, source, line, column, value, reason, remedy)


def find_nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Find the candidate that is spelled most like a name, whatever its case, if any is."""
    folded = {candidate.casefold(): candidate for candidate in candidates}
    nearest = get_close_matches(name.casefold(), folded, n=1, cutoff=0.65)
    return folded[nearest[0]] if nearest else None


def ask_nearest(name: str, candidates: Iterable[str]) -> str:
    """Ask "Did you mean …?" with a space behind, or say nothing when no candidate is near."""
    nearest = find_nearest(name, candidates)
    return "" if nearest is None else f"Did you mean {quote_name(nearest)}? "
