"""A leaderboard as one page: markup, style, script and data in a file that fetches nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from capmap.board.data import choose_runs, pack_table, write_script_data
from capmap.pages.rendering import render_page

TEMPLATES = Path(__file__).parent / "templates"
# In this order they make one script.
PARTS = ["data", "state", "columns", "selection", "table", "controls", "model", "download", "board"]
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
    """

    tables: Mapping[str, pd.DataFrame]
    runs: pd.DataFrame
    groups: Mapping[str, Sequence[str]]
    captions: Mapping[str, str]
    files: Mapping[str, str]
    confidence_level: float


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
    runs = {"runs": pack_table(choose_runs(board.runs, models))}
    data = write_script_data({**content, **runs})
    page = _render(data, board.files, title, study)
    if len(page.encode()) <= MAX_PAGE:
        return page
    return _render(write_script_data({**content, "runs": None}), board.files, title, study)


def _render(data: str, files: Mapping[str, str], title: str, study: str) -> str:
    style = (TEMPLATES / "board.css").read_text("utf-8")
    parts = [(TEMPLATES / f"{name}.js").read_text("utf-8") for name in PARTS]
    return render_page(
        "board.html.j2",
        TEMPLATES,
        style=style,
        script="\n".join(parts),
        data=data,
        files=files,
        title=title,
        study=study,
    )
