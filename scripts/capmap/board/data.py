"""What the leaderboard's page carries: finished tables as text, packed for a script to read."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

# A script element ends at its end tag wherever that stands, and old engines end lines at U+2028.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def pack_table(table: pd.DataFrame) -> dict[str, Any]:
    r"""Turn a table of texts into what a page carries of it.

    Parameters
    ----------
    table : pandas.DataFrame, shape (n_rows, n_columns)
        Texts; an empty one is a missing value. Names of columns may be anything and may repeat.

    Returns
    -------
    dict
        ``rows``, the number of rows, and ``columns``, a list with the ``name`` and ``cells`` of
        each. Cells are a list of texts, or, where that is shorter, ``values`` (the distinct
        texts, in order of first appearance) and ``codes`` (the position of each cell's value).

    Notes
    -----
    Numbers stay the texts they are in their file, so that the page can write the same bytes again.

    Examples
    --------
    >>> import pandas as pd
    >>> pack_table(pd.DataFrame({"metric": ["accuracy", "accuracy"]}))["columns"]
    [{'name': 'metric', 'cells': {'values': ['accuracy'], 'codes': [0, 0]}}]
    """
    columns = [
        {"name": str(name), "cells": _pack_cells([str(cell) for cell in table.iloc[:, position]])}
        for position, name in enumerate(table.columns)
    ]
    return {"rows": len(table), "columns": columns}


def write_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Write each cell of a table as text.

    Parameters
    ----------
    table : pandas.DataFrame, shape (n_rows, n_columns)
        Any values.

    Returns
    -------
    pandas.DataFrame, shape (n_rows, n_columns)
        Texts: numbers with all their digits, "" for what is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> write_texts(pd.DataFrame({"seed": ["7", None], "score": [0.1, 2.0]})).values.tolist()
    [['7', '0.1'], ['', '2.0']]
    """
    texts = table.astype("object").map(lambda cell: "" if pd.isna(cell) else str(cell))
    return texts.astype("object")


def choose_runs(runs: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Keep the runs of a leaderboard's models, as texts, without columns that say nothing.

    Parameters
    ----------
    runs : pandas.DataFrame
        A study's runs: model, dataset, metric, seed, score, source, line and further columns.
    models : sequence of str
        The models of the leaderboard.

    Returns
    -------
    pandas.DataFrame
        Texts, sorted by model, dataset and line. Columns that are empty everywhere are left out.
    """
    kept = write_texts(runs[runs["model"].isin(models)])
    order = kept.assign(line=pd.to_numeric(kept["line"], errors="coerce"))
    order = order.sort_values(["model", "dataset", "source", "line", "seed"], kind="stable")
    kept = kept.loc[order.index]
    filled = [name for name in kept.columns if name == "model" or (kept[name] != "").any()]
    return kept[filled].reset_index(drop=True)


def write_script_data(content: Mapping[str, Any]) -> str:
    r"""Write data as JSON that may stand in a script element of a page.

    Parameters
    ----------
    content : mapping
        What `json.dumps` takes, without infinite numbers.

    Returns
    -------
    str
        JSON in which no markup can begin or end, whatever the names in it.

    Examples
    --------
    >>> write_script_data({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)


def _pack_cells(cells: list[str]) -> list[str] | dict[str, Any]:
    counts = Counter(cells)
    values = list(counts)
    width = len(str(len(values)))
    saved = sum((len(text) + 2) * (count - 1) for text, count in counts.items())
    if saved <= width * len(cells):
        return cells
    codes = {text: code for code, text in enumerate(values)}
    return {"values": values, "codes": [codes[cell] for cell in cells]}
