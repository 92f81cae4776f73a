"""How ranks moved from release to release of a leaderboard."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.claims import label_entries
from capmap.errors import ValidationError
from capmap.patterns import split_digits
from capmap.tables import read_declared
from capmap.wording import find_statistic, list_names, quote_name

CURRENT = "current"
HISTORY = {"release": "str", "method": "str", "model": "str", "name": "str", "rank": "Int64"}
REMEDY = "Give leaderboard: {releases: …} copies of leaderboard/entries.csv only."


def track_ranks(releases: Mapping[str, pd.DataFrame], *, statistic: str = "iqm") -> pd.DataFrame:
    """List the rank of each entry in each release.

    Parameters
    ----------
    releases : mapping of str to pandas.DataFrame
        Tables of entries by the name of their release, in their order: ``method``, ``model``,
        ``name``, ``rank`` (missing for an incomplete entry) and the statistic, and any others.
    statistic : str, optional
        What ranks the entries.

    Returns
    -------
    pandas.DataFrame
        ``release``, ``method``, ``model``, ``name``, ``rank`` and the statistic: release by
        release, and within one by method, rank (those without at the end), name and model.

    Notes
    -----
    Ranks are those of their time: a release's ranks are not computed again, and an entry that a
    release lacks has no row there. Scores of different releases compare only where they rest on
    the same bounds of normalization.
    """
    kinds = {**HISTORY, statistic: "float64"}
    parts = [pd.DataFrame(columns=list(kinds)).astype(kinds)]
    for name, entries in releases.items():
        table = entries.assign(release=name).astype({"rank": "Int64"})
        table = table.sort_values(["method", "rank", "name", "model"], na_position="last")
        parts.append(table[list(kinds)].astype(kinds))
    return pd.concat(parts, ignore_index=True)


def read_release(path: str | Path, *, statistic: str = "iqm") -> pd.DataFrame:
    """Read a table of entries that was kept from a former release.

    Parameters
    ----------
    path : path-like
        A CSV file, as ``leaderboard/entries.csv``.
    statistic : str, optional
        What has to rank the entries.

    Returns
    -------
    pandas.DataFrame
        Its columns ``method``, ``model``, ``name``, ``rank`` (Int64) and the statistic; names as
        text.

    Raises
    ------
    ValidationError
        If it is no table, lacks a column, names an entry twice or not at all, or has a rank or
        score that is no number.
    """
    try:
        table = read_declared(path, "leaderboard/entries")
    except (ValueError, OSError) as error:
        raise ValidationError(f"{path}: not a readable CSV table ({error}). {REMEDY}") from error
    needed = [*(name for name in HISTORY if name != "release"), statistic]
    if missing := [name for name in needed if name not in table]:
        raise ValidationError(f"{path}: lacks the columns {list_names(missing)}. {REMEDY}")
    table = table[needed].copy()
    ranks, scores = (pd.to_numeric(table[name], errors="coerce") for name in ("rank", statistic))
    faults = {
        "model": (table["model"] == "") | table.duplicated("model"),
        "rank": table["rank"].notna() & ~((ranks >= 1) & (ranks % 1 == 0)),
        statistic: ~np.isfinite(scores),
    }
    for column, wrong in faults.items():
        if wrong.any():
            value = quote_name(str(table.loc[wrong, column].iloc[0]))
            reason = "names no entry, or one twice" if column == "model" else f"is no {column}"
            line = int(wrong.to_numpy().argmax()) + 2
            raise ValidationError(f"{path}, line {line}: {value} {reason}. {REMEDY}")
    table["name"] = table["name"].where(table["name"] != "", table["model"])
    return table.assign(rank=ranks, **{statistic: scores}).astype({"rank": "Int64"})


def name_releases(paths: Sequence[str]) -> list[str]:
    """Name releases after their files, or their folders where all files are called alike.

    Parameters
    ----------
    paths : sequence of str
        Paths of former tables of entries.

    Returns
    -------
    list of str
        The first of file names without suffix, names of folders, and whole paths that are all
        different and none of them ``current``; in the order given.

    Examples
    --------
    >>> name_releases(["old/2025-01.csv", "old/2025-02.csv"])
    ['2025-01', '2025-02']
    >>> name_releases(["2025-01/entries.csv", "2025-02/entries.csv"])
    ['2025-01', '2025-02']
    """
    files = [Path(path) for path in paths]
    ways = [[file.stem for file in files], [file.parent.name for file in files]]
    for names in ways:
        if len({*names, CURRENT, ""}) == len(names) + 2:
            return names
    return [str(path) for path in paths]


def track_releases(folder: str, releases: Sequence[str]) -> pd.DataFrame:
    """Track the rank of each entry from release to release.

    Parameters
    ----------
    folder : str
        That of the study, with the current entries.
    releases : sequence of str
        Former tables of entries, which the user keeps, in any order; they are taken by name, v9
        before v10.

    Returns
    -------
    pandas.DataFrame
        The table ``rank_history``.
    """
    former, entries = sorted(releases, key=split_digits), f"{folder}/leaderboard/entries.csv"
    statistic = find_statistic(read_declared(entries, "leaderboard/entries").columns)
    paths = dict(zip(name_releases(former), former, strict=True)) | {CURRENT: entries}
    tables = {name: read_release(path, statistic=statistic) for name, path in paths.items()}
    return track_ranks(tables, statistic=statistic)


def find_facts(rank_history: pd.DataFrame) -> dict[str, Any]:
    """What is new, gone and moved among the ranked entries, against the release before."""
    *_, former, now = ["", "", *rank_history["release"].unique()]
    entries = rank_history.drop_duplicates("model", keep="last").assign(submission="")
    labels = dict(zip(entries["model"], label_entries(entries), strict=True))
    ranks, before = (
        rank_history[rank_history["release"] == name].set_index("model")["rank"].dropna()
        for name in (now, former)
    )
    both = pd.concat([before, ranks], axis=1, keys=["before", "now"], join="inner")
    moved = both[both["before"] != both["now"]].astype(int)
    return {
        "former": former,
        "new": [labels[model] for model in ranks.index.difference(before.index)],
        "gone": [labels[model] for model in before.index.difference(ranks.index)],
        "moves": [(labels[row.Index], row.before, row.now) for row in moved.itertuples()],
    }


ANALYSIS = Analysis(
    question="How did the ranks move from release to release?",
    position=200,
    needs="leaderboard/releases",
    tables={
        "rank_history": Table(
            "Rank and score of each entry in each release, as published at the time. Scores "
            "compare only between releases with the same bounds of normalization.",
            "release method model name rank iqm",
            formats="csv json",
        ),
    },
    figures={
        "rank_history": Figure(
            "Ranks of the entries from release to release; a gap is a release without a rank.",
            draw="capmap.figures.leaderboard:draw_rank_history",
        ),
    },
    steps={
        "track_releases": Step(
            track_releases,
            paths=["releases"],
        ),
    },
    find_facts=find_facts,
)
