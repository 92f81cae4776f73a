"""Columns of names kept as numbers: millions of runs have few models, datasets and seeds."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

MOST = 2**62


def pack_names(names: pd.Series) -> pd.Series:
    """Keep each name once, in order, and its number in every row.

    Parameters
    ----------
    names : pandas.Series
        Texts, packed or not.

    Returns
    -------
    pandas.Series
        Categorical, whose categories are sorted, so that it sorts and groups as the texts do.

    Examples
    --------
    >>> pack_names(pd.Series(["b", "a", "b"])).cat.codes.tolist()
    [1, 0, 1]
    """
    packed = names.astype("category")
    # Without a row the categories would be no texts.
    texts = packed.cat.categories.astype("str").sort_values()
    return packed.cat.set_categories(texts)


def unpack_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Write the names of packed columns out."""
    packed = table.columns[table.dtypes == "category"]
    return table.astype(dict.fromkeys(packed, "str"))


def number_rows(table: pd.DataFrame, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number rows by some columns of names: equal and in order as the names are.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["b", "a", "b"], "seed": ["0", "1", "0"]})
    >>> number_rows(table, ["model", "seed"]).tolist()
    [2, 1, 2]
    """
    numbers, size = np.zeros(len(table), dtype=np.int64), 1
    for name in names:
        packed = pack_names(table[name]).cat
        if size * len(packed.categories) > MOST:
            distinct, numbers = np.unique(numbers, return_inverse=True)
            size = len(distinct)
        size *= len(packed.categories)
        numbers = numbers * len(packed.categories) + packed.codes.to_numpy()
    return numbers


def sort_rows(table: pd.DataFrame, names: Sequence[str], number: str) -> pd.DataFrame:
    """Sort rows by some columns of names, then by one of numbers, and count them anew."""
    places = number_rows(table, names)
    if not (places[1:] > places[:-1]).all():
        table = table.take(np.lexsort((table[number], places)))
    return table.reset_index(drop=True)
