"""What moved since the last run: a record of the tables before, and the difference to them."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from capmap.artifacts import read_table, write_bytes

COLUMNS = ["table", "model", "quantity", "before", "after"]
REPLACING = "replacing"


def compare_tables(
    before: Mapping[str, pd.DataFrame], after: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """List the numbers that moved between two runs.

    Parameters
    ----------
    before, after : mapping of str to pandas.DataFrame
        Tables by name, each with a column ``model`` (one row per model) and columns of numbers.

    Returns
    -------
    pandas.DataFrame
        Columns ``table``, ``model``, ``quantity``, ``before`` and ``after``; a row per number that
        differs, in the order of the tables, then of the models' names, then of the columns.
        Quantities that are whole in both tables, such as ranks, are integers.

    Notes
    -----
    - An added model has no ``before`` in any quantity, a removed model no ``after``.
    - Numbers within 1e-9 of each other, relative to the larger (1e-12 near zero), have not moved:
      that is the noise of summation order.
    - Columns of text, and columns that only one of the runs has, are not compared; a table that
      only one of the runs has is left out.

    Examples
    --------
    >>> old = pd.DataFrame({"model": ["a", "b"], "iqm": [0.5, 0.4], "rank": [1, 2]})
    >>> new = pd.DataFrame({"model": ["b", "a"], "iqm": [0.6, 0.5], "rank": [1, 2]})
    >>> print(compare_tables({"iqm": old}, {"iqm": new}).to_string(index=False))
    table model quantity before after
      iqm     a     rank      1     2
      iqm     b      iqm    0.4   0.6
      iqm     b     rank      2     1
    """
    moved = [
        (name, *row)
        for name in after
        if name in before
        for row in _compare_table(before[name], after[name])
    ]
    return pd.DataFrame(moved, columns=COLUMNS, dtype="object")


def update_record(incoming: Mapping[str, Path], folder: str | Path) -> dict[str, pd.DataFrame]:
    """Bring the record of earlier tables up to date and return the tables of the run before.

    1. Tables that differ from those last seen make the last seen ones the previous ones.
    2. The incoming ones become the last seen.

    Parameters
    ----------
    incoming : mapping of str to pathlib.Path
        This run's tables by name.
    folder : path-like
        Holds ``{name}.csv``, the tables of the run before, and ``seen/{name}.csv``, the tables
        as last seen.

    Returns
    -------
    dict of str to pandas.DataFrame
        The previous tables by name; empty as long as there was only one run.

    Notes
    -----
    Equal bytes move nothing, so a run repeated on the same exports keeps its record. A mark is
    left in the folder while the last seen tables are being replaced, and `close_record` takes it
    away once the difference is written: a run that was killed in between, and is repeated, is
    compared with the last run that ended.
    """
    folder = Path(folder)
    seen = {name: folder / "seen" / f"{name}.csv" for name in incoming}
    previous = {name: folder / f"{name}.csv" for name in incoming}
    content = {name: path.read_bytes() for name, path in incoming.items()}
    mark = folder / REPLACING
    recorded = all(path.is_file() for path in seen.values())
    if not recorded or any(seen[name].read_bytes() != content[name] for name in seen):
        if recorded and not mark.exists():
            for name, path in seen.items():
                write_bytes(previous[name], path.read_bytes())
        write_bytes(mark, b"")
        for name, path in seen.items():
            write_bytes(path, content[name])
    if not all(path.is_file() for path in previous.values()):
        return {}
    try:
        found = {name: read_table(path) for name, path in previous.items()}
    except (ValueError, LookupError):
        found = {}
    if all("model" in table and table["model"].is_unique for table in found.values()) and found:
        return found
    # A damaged record is as good as none.
    for path in previous.values():
        path.unlink()
    return {}


def close_record(folder: str | Path) -> None:
    """Take away the mark of `update_record`, after the difference is written."""
    (Path(folder) / REPLACING).unlink(missing_ok=True)


def _compare_table(
    before: pd.DataFrame, after: pd.DataFrame
) -> Iterator[tuple[str, str, float | None, float | None]]:
    old, new = _take_numbers(before), _take_numbers(after)
    quantities = [name for name in new.columns if name in old.columns]
    whole = {name for name in quantities if _is_whole(old[name]) and _is_whole(new[name])}
    models = sorted({*old.index, *new.index})
    old, new = old.reindex(models)[quantities], new.reindex(models)[quantities]
    for model, were, are in zip(models, old.to_numpy(), new.to_numpy(), strict=True):
        for quantity, was, now in zip(quantities, were.tolist(), are.tolist(), strict=True):
            if _has_moved(was, now):
                yield model, quantity, *(_tidy(value, quantity in whole) for value in (was, now))


def _take_numbers(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index("model").select_dtypes("number").astype("float64")


def _is_whole(values: "pd.Series[float]") -> bool:
    return all(value.is_integer() for value in values.dropna().tolist())


def _has_moved(before: float, after: float) -> bool:
    if math.isnan(before) or math.isnan(after):
        return math.isnan(before) != math.isnan(after)
    return not math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)


def _tidy(value: float, whole: bool) -> float | None:
    if math.isnan(value):
        return None
    return int(value) if whole else value
