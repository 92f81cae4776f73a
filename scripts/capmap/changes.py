"""What moved since the last run."""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

COLUMNS = ["table", "model", "quantity", "before", "after"]


def compare_tables(
    before: Mapping[str, pd.DataFrame], after: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """List the numbers that moved between two runs.

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
