"""A leaderboard as one page: markup, style, script and data in a file that fetches nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from capmap.artifacts import read_table
from capmap.pages import render_page
from capmap.wording import find_statistic, name_most, spell_statistic

# A script element ends at its end tag wherever that stands, and old engines end lines at U+2028.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
# What each of these tables repeats of the entries.
REPEATED = ["method", "name", "submission"]
PARTS_OF_ENTRIES = ["dimensions", "raw", "normalized"]
ENTRIES = {
    "switch": "Method",
    "within": "of method",
    "noun": "Model",
    "about": {
        "backbone": "Backbone",
        "size": "Size",
        "submission": "Submission",
        "tie_group": "Tie group",
        "runs": "Runs",
        "mean": "Mean",
    },
    "shown": ["size", "tie_group"],
}
TRAININGS = {
    "switch": "Ranking",
    "within": "of ranking",
    "noun": "Training",
    "about": {
        "backbone": "Model",
        "submission": "Checkpoint",
        "step": "Step",
        "checkpoints": "Checkpoints",
        "selection": "Value by which it is chosen",
        "report": "Value where it is compared",
        "gain_report": "Gain over the last",
    },
    "shown": ["backbone", "submission", "checkpoints", "gain_report"],
}
EVERY = "all checkpoints"
DIGITS = 12


def describe_entries(
    tables: Mapping[str, pd.DataFrame],
    *,
    groups: Mapping[str, Sequence[str]],
    confidence_level: float,
) -> dict[str, Any]:
    """What the page of a leaderboard holds, made of its finished tables as texts.

    Only method, name and submission are said once, with the entry, instead of in each of its rows.
    """
    statistic, entries = find_statistic(tables["entries"].columns), tables["entries"]
    # The page opens on the method with most entries that are ranked.
    ranked = entries[entries["rank"] != ""] if (entries["rank"] != "").any() else entries
    packed = {
        name: pack_table(table.drop(columns=REPEATED) if name in PARTS_OF_ENTRIES else table)
        for name, table in tables.items()
    }
    return {
        **ENTRIES,
        "first": next(iter(ranked["method"].mode()), ""),
        "score": statistic,
        "statistic": spell_statistic(statistic),
        "better": "lower" if name_most(statistic) == "lowest" else "higher",
        "confidence": f"{100 * confidence_level:g}",
        "groups": [[name, list(datasets)] for name, datasets in groups.items()],
        "tables": packed,
    }


def describe_trainings(
    rankings: pd.DataFrame, selected: pd.DataFrame, checkpoints: pd.DataFrame
) -> dict[str, Any]:
    """What the page of trainings holds: each ranking of chosen checkpoints, and of all."""
    keys = ["model", "training", "checkpoint"]
    is_error = (selected["optimism_mean"] * (selected["selection"] - selected["mean"])).sum() < 0
    every = checkpoints.dropna(subset="selection").assign(ranking=EVERY)
    scores = every["selection"].round(DIGITS)
    every["rank"] = scores.rank(method="min", ascending=is_error).astype("int64")
    every = every.assign(score=every["selection"])[["ranking", *keys, "rank", "score"]]
    table = pd.concat([rankings[["ranking", *keys, "rank", "score"]], every.sort_values("rank")])
    table = table.merge(selected.drop(columns="selection"), on=keys, how="left")
    table = table.drop(columns="step").merge(checkpoints[[*keys, "step", "selection"]], on=keys)
    entries = table.assign(
        method=table["ranking"],
        name=table["training"],
        backbone=table["model"],
        submission=table["checkpoint"],
        complete=True,
        model=table["ranking"].str.cat(table[keys], sep=" / "),
    )
    return {
        **TRAININGS,
        "first": next(iter(rankings["ranking"]), EVERY),
        "score": "score",
        "statistic": "score",
        "better": "",
        "confidence": "",
        "stamp": next(iter(selected["stamp"].dropna()), ""),
        "groups": [],
        "tables": {
            "entries": pack_table(write_texts(entries)),
            "checkpoints": pack_table(write_texts(checkpoints)),
        },
    }


def render_board(
    content: Mapping[str, Any],
    *,
    study: str,
    title: str,
    about: str,
    caption: str,
    files: Mapping[str, str],
    descriptions: Mapping[str, Mapping[str, str]],
) -> str:
    """Put a leaderboard on one page that fetches nothing.

    `content` is of `describe_entries` or `describe_trainings`; `files` says where tables are kept,
    relative to the page, and `descriptions` what datasets and dimensions are. All names travel as
    data in a script element and reach the page as text, never as markup.
    """
    data = {**content, "study": study, "descriptions": descriptions}
    return render_page(
        "board.html.j2",
        scripts=["board.js"],
        data=write_script_data(data),
        content=content,
        descriptions=descriptions,
        caption=caption,
        files=files,
        about=about,
        title=title,
        study=study,
    )


def pack_table(table: pd.DataFrame) -> dict[str, Any]:
    """Turn a table of texts into what a page carries of it: distinct values and their places.

    Numbers stay the texts they are in their file.

    Examples
    --------
    >>> pack_table(pd.DataFrame({"metric": ["accuracy", "accuracy"]}))["columns"]
    [{'name': 'metric', 'values': ['accuracy'], 'codes': [0, 0]}]
    """
    columns = []
    for position, name in enumerate(table.columns):
        codes, values = pd.factorize(table.iloc[:, position].astype("str"))
        columns.append({"name": str(name), "values": list(values), "codes": codes.tolist()})
    return {"rows": len(table), "columns": columns}


def write_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Write each cell of a table as text: numbers with all their digits, "" for what is missing."""
    texts = table.astype("object").map(lambda cell: "" if pd.isna(cell) else str(cell))
    return texts.astype("object")


def write_script_data(content: Mapping[str, Any]) -> str:
    r"""Write data as JSON that may stand in a script element of a page.

    Examples
    --------
    >>> write_script_data({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)


def read_texts(path: str) -> pd.DataFrame:
    """Read a table as texts."""
    columns = pd.read_csv(path, nrows=0).columns.tolist()
    return write_texts(read_table(path, names=columns))
