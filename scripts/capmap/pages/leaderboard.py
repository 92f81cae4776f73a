"""A leaderboard as one page: markup, style, script and data in a file that fetches nothing."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from capmap.artifacts import read_table
from capmap.pages.rendering import TEMPLATES, render_page
from capmap.wording import find_statistic, name_most, spell_statistic

# A script element ends at its end tag wherever that stands, and old engines end lines at U+2028.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
MAX_PAGE = 1_950_000
# What each of these tables repeats of the entries.
REPEATED = ["method", "name", "submission"]
PARTS_OF_ENTRIES = ["dimensions", "raw", "normalized"]


@dataclass(frozen=True)
class Board:
    """What the page of a leaderboard is made of.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        The finished tables ``entries``, ``dimensions``, ``raw``, ``normalized``, ``best`` and
        ``submissions`` as texts, with "" for what is missing.
    runs : pandas.DataFrame
        The study's runs.
    groups : mapping of str to sequence of str
        The datasets of each dimension, in the order of the page.
    captions : mapping of str to str
        What the tables show, by their names; a folder before the name does not matter.
    files : mapping of str to str
        Where each table is kept, relative to the page.
    confidence_level : float
        Level of the intervals, in (0, 1).
    about : str
        What the page says beside the table; "" for nothing.
    """

    tables: Mapping[str, pd.DataFrame]
    runs: pd.DataFrame
    groups: Mapping[str, Sequence[str]]
    captions: Mapping[str, str]
    files: Mapping[str, str]
    confidence_level: float
    about: str


def render_board(board: Board, *, study: str, title: str) -> str:
    """Put a leaderboard on one page.

    Parameters
    ----------
    board : Board
        The finished tables and what belongs to them.
    study, title : str
        Name and heading of the study.

    Returns
    -------
    str
        HTML that fetches nothing. Equal tables give equal text.

    Notes
    -----
    All names travel as data in a script element and reach the page as text, never as markup. The
    runs of all models are left out, with a note on the page, where the page would take more than
    2 MB with them; all rows of the other tables are always there. Only method, name and submission
    are said once, with the entry, instead of in each of its rows.
    """
    content: dict[str, Any] = {
        "study": study,
        "confidence": f"{100 * board.confidence_level:g}",
        "groups": [[name, list(datasets)] for name, datasets in board.groups.items()],
        "captions": {Path(name).name: text for name, text in board.captions.items()},
        "tables": {
            name: pack_table(table.drop(columns=REPEATED) if name in PARTS_OF_ENTRIES else table)
            for name, table in board.tables.items()
        },
    }
    models = board.tables["entries"]["model"].tolist()
    statistic = find_statistic(board.tables["entries"].columns)
    content["statistic"] = {
        "column": statistic,
        "name": spell_statistic(statistic),
        "best": name_most(statistic),
    }
    runs = {"runs": pack_table(choose_runs(board.runs, models))}
    data = write_script_data({**content, **runs})
    page = _render(data, board, title, study)
    if len(page.encode()) <= MAX_PAGE:
        return page
    return _render(write_script_data({**content, "runs": None}), board, title, study)


def _render(data: str, board: Board, title: str, study: str) -> str:
    style, script = ((TEMPLATES / name).read_text("utf-8") for name in ("board.css", "board.js"))
    return render_page(
        "board.html.j2",
        style=style,
        script=script,
        data=data,
        files=board.files,
        about=board.about,
        title=title,
        study=study,
    )


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


def read_texts(path: str) -> pd.DataFrame:
    """Read a table as texts."""
    columns = pd.read_csv(path, nrows=0).columns.tolist()
    return write_texts(read_table(path, names=columns))
