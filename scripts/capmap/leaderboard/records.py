"""Tables of the leaderboard as CSV, Markdown, LaTeX and JSON."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from capmap.artifacts import NAME_COLUMNS, read_table, write_text
from capmap.catalog.declarations import Best
from capmap.tables import write_table


def write_records(
    table: pd.DataFrame, paths: Sequence[str | Path], *, best: Best | None = None
) -> None:
    """Write one table to several files, each in the format that its suffix names.

    Parameters
    ----------
    table : pandas.DataFrame
        The finished table; its order is kept and its index is left out.
    paths : sequence of path-like
        Files ending in ``.csv``, ``.md``, ``.tex`` or ``.json``; each is replaced atomically.
    best : mapping of {"max", "min"}, optional
        Columns whose best value is set in bold in Markdown and LaTeX.

    Raises
    ------
    ValueError
        If a path has another suffix; nothing is written then.
    """
    write_table(table, [path for path in paths if Path(path).suffix != ".json"], best=best)
    for path in paths:
        if Path(path).suffix == ".json":
            write_text(path, render_records(table))


def read_records(path: str | Path) -> pd.DataFrame:
    """Read a table of the leaderboard from CSV: names as text, and "" where one is missing."""
    names = (*NAME_COLUMNS, "dimension")
    table = read_table(path, names=names)
    texts = [name for name in names if name in table]
    return table.fillna(dict.fromkeys(texts, "")).astype(dict.fromkeys(texts, "str"))


def render_records(table: pd.DataFrame) -> str:
    r"""Write a table as a JSON array with an object per row, each on a line of its own.

    Notes
    -----
    Missing values and infinite ones are null, numbers have their shortest exact form, and names
    stand as they are: JSON has no formulas to fear.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["=a", "b"], "rank": pd.array([1, None], dtype="Int64")})
    >>> print(render_records(table), end="")
    [
    {"model": "=a", "rank": 1},
    {"model": "b", "rank": null}
    ]
    """
    names = [str(name) for name in table.columns]
    columns = [[_as_plain(value) for value in table[name].tolist()] for name in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
    return "[\n" + ",\n".join(lines) + ("\n" if lines else "") + "]\n"


def _as_plain(value: Any) -> Any:
    if pd.isna(value) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value
