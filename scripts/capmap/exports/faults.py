"""What can be wrong with a file or a cell, in words."""

from collections.abc import Iterable

from capmap.errors import ExportError
from capmap.problems import Problem
from capmap.wording import find_nearest, quote_name


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


def ask_nearest(name: str, names: Iterable[str]) -> str:
    """Ask "Did you mean …?" with a space behind, or say nothing when no candidate is near."""
    nearest = find_nearest(name, names)
    return "" if nearest is None else f"Did you mean {quote_name(nearest)}? "
