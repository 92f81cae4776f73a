"""Finding the configured columns among those that a file has."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from capmap.exports.cells import SEPARATOR
from capmap.exports.faults import ask_nearest
from capmap.problems import Problem
from capmap.wording import list_names, quote_name

Names: TypeAlias = str | Sequence[str]
LISTS = frozenset({"datasets", "ignore", "keep"})

Mapped: TypeAlias = Mapping[str, Names]


@dataclass(frozen=True)
class Wish:
    """A column that a study asks for.

    Parameters
    ----------
    setting : str
        Where the configuration names it, such as ``columns: {score: …}``.
    name : str
        The column's name.
    """

    setting: str
    name: str


def clean_header(names: Sequence[str]) -> list[str]:
    """Trim the names of columns; a column without a name is called after its position.

    Examples
    --------
    >>> clean_header(["", " score "])
    ['Unnamed: 0', 'score']
    """
    return [name.strip() or f"Unnamed: {position}" for position, name in enumerate(names)]


def join_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join the rows of a header into one name per column.

    Parameters
    ----------
    rows : sequence of sequence of str, shape (header_rows, columns)
        The cells of the header, at least one row.

    Returns
    -------
    list of str
        Cleaned as in `clean_header`, the parts of each name joined with " / ".

    Notes
    -----
    A blank cell of any row but the last repeats the cell on its left, unless a new name starts
    above it. It stays blank in the first columns, where there is nothing to repeat. A blank cell of
    the last row adds nothing to the name.

    Examples
    --------
    >>> join_header([["", "PASTIS", "", "OSCD"], ["model", "test", " val", ""]])
    ['model', 'PASTIS / test', 'PASTIS / val', 'OSCD']
    """
    *upper, last = [[cell.strip() for cell in row] for row in rows]
    starts = [False] * len(last)
    for row in upper:
        for place, cell in enumerate(row):
            starts[place] |= bool(cell)
            if place and not starts[place]:
                row[place] = row[place - 1]
    columns = zip(*upper, last, strict=True)
    return clean_header([SEPARATOR.join(filter(None, parts)) for parts in columns])


def list_columns(columns: Mapped, role: str) -> list[str]:
    """List the columns that are mapped to a role, by default as the configuration has it.

    Examples
    --------
    >>> list_columns({"model": ["name", "pretrained"]}, "model"), list_columns({}, "score")
    (['name', 'pretrained'], ['score'])
    """
    names = columns.get(role, () if role in LISTS else role)
    return [name.strip() for name in ([names] if isinstance(names, str) else names)]


def wish_for(columns: Mapped, role: str) -> list[Wish]:
    """Ask for the columns that are mapped to a role."""
    return [Wish(f"columns: {{{role}: …}}", name) for name in list_columns(columns, role)]


def check_columns(
    wishes: Sequence[Wish], present: Sequence[str], source: str, *, hint: str = ""
) -> list[Problem]:
    """Check that a file has each wanted column once.

    Parameters
    ----------
    wishes : sequence of Wish
        What is asked for.
    present : sequence of str
        The columns of the file.
    source : str
        The file.
    hint : str, optional
        A further sentence for the remedy of a missing column.

    Returns
    -------
    list of Problem
        With the codes "missing_column" and "duplicated_column".
    """
    counts = Counter(present)
    problems = []
    for wish in dict.fromkeys(wishes):
        if counts[wish.name] == 0:
            reason = f"There is no column {quote_name(wish.name)} ({wish.setting})."
            remedy = f"{ask_nearest(wish.name, present)}The columns are {list_names(present)}."
            code, remedy = "missing_column", f"{remedy} {hint}".rstrip()
        elif counts[wish.name] > 1:
            reason = f"{counts[wish.name]} columns are called {quote_name(wish.name)}."
            code, remedy = "duplicated_column", "Rename or remove all but one of them."
        else:
            continue
        problems.append(
            Problem(
                code=code, source=source, reason=reason, remedy=remedy, line=1, column=wish.name
            )
        )
    return problems
