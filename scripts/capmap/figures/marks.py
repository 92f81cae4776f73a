"""What is drawn of which model and dataset, for pages that name and highlight it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes

KINDS = ("model", "dataset")


@dataclass(frozen=True)
class Mark:
    """What something that is drawn stands for.

    Parameters
    ----------
    model, dataset : str
        Of which model and dataset; empty: of none, or of all.
    text : str
        What a page shows of it besides the names, such as an estimate with its interval.
    more : str
        What a page shows of it when it is chosen.
    """

    model: str = ""
    dataset: str = ""
    text: str = ""
    more: str = ""


@dataclass(frozen=True)
class Grid:
    """Rows, or cells, that fill axes.

    Parameters
    ----------
    rows, columns : sequence of str
        Names from the top and from the left; of rows alone there are no columns.
    kinds : (str, str)
        What the rows and the columns are, "model", "dataset" or anything else.
    texts : sequence
        What a page shows of each row or, if there are columns, in each row of each cell.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    kinds: tuple[str, str]
    texts: Sequence[Any]


_marks: WeakKeyDictionary[Artist, list[Mark]] = WeakKeyDictionary()
_grids: WeakKeyDictionary[Axes, Grid] = WeakKeyDictionary()


def mark(artist: Artist, model: str = "", *, dataset: str = "", text: str = "") -> None:
    """Say what an artist stands for."""
    _marks[artist] = [Mark(model, dataset, text)]


def mark_members(artist: Artist, members: Sequence[Mark]) -> None:
    """Say what each line of a collection, or each marker of a line, stands for, in their order."""
    _marks[artist] = list(members)


def mark_rows(axes: Axes, names: Sequence[str], *, kind: str, texts: Sequence[str] = ()) -> None:
    """Say what each row of axes stands for, from the top; nothing of other kinds than `KINDS`."""
    if kind in KINDS:
        _grids[axes] = Grid(list(names), [], (kind, ""), list(texts))


def mark_cells(
    axes: Axes, rows: Sequence[str], columns: Sequence[str], *, kinds: tuple[str, str], texts: Any
) -> None:
    """Say what each cell of axes stands for.

    Parameters
    ----------
    axes : Axes
        Filled by the cells.
    rows, columns : sequence of str
        Names from the top and from the left.
    kinds : (str, str)
        What they are.
    texts : sequence of sequence of str
        What a page shows of each cell, by rows.
    """
    _grids[axes] = Grid(list(rows), list(columns), kinds, texts)


def find_marks(artist: Artist) -> list[Mark]:
    """What an artist stands for; empty where nothing was said."""
    return _marks.get(artist, [])


def find_grid(axes: Axes) -> Grid | None:
    """The rows or cells of axes, if they have any."""
    return _grids.get(axes)


def write_points(points: npt.ArrayLike, *, most: int = 5) -> str:
    r"""Write a point of a curve per line; of many, some from the first to the last.

    Parameters
    ----------
    points : array_like, shape (points, 2)
        From the left; of points one above the other, the last counts. NaN where missing.
    most : int
        Points that are written, at least 2.

    Examples
    --------
    >>> write_points([[1, 0.25], [2, 0.5], [2, 0.75]])
    '1: 0.25\n2: 0.75'
    """
    known = {float(x): float(y) for x, y in np.asarray(points, float) if x == x and y == y}
    chosen = np.unique(np.linspace(0, len(known) - 1, min(most, len(known))).round().astype(int))
    pairs = list(known.items())
    return "\n".join(f"{pairs[place][0]:.3g}: {pairs[place][1]:.3g}" for place in chosen)


def write_estimates(values: npt.ArrayLike, digits: int = 3) -> list[str]:
    """Write estimates with their ends, such as ``0.652 [0.643, 0.663]``; empty where missing.

    Parameters
    ----------
    values : array_like, shape (rows, 3)
        Estimate, low and high; NaN where missing.
    digits : int
        After the decimal point.

    Examples
    --------
    >>> write_estimates([[0.5, 0.4, 0.6], [0.5, float("nan"), 0.6]])
    ['0.500 [0.400, 0.600]', '0.500']
    """
    texts = []
    for estimate, low, high in np.asarray(values, float):
        text = "" if estimate != estimate else f"{estimate:.{digits}f}"
        has_ends = text and np.isfinite([low, high]).all()
        texts.append(f"{text} [{low:.{digits}f}, {high:.{digits}f}]" if has_ends else text)
    return texts
