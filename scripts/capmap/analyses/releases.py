"""How ranks moved from release to release of a leaderboard."""

from collections.abc import Sequence
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
REMEDY = "Give leaderboard: {releases: …} copies of leaderboard/entries.csv only."


def read_release(path: str | Path, *, statistic: str = "iqm") -> pd.DataFrame:
    """Read a table of entries that was kept from a former release."""
    try:
        table = read_declared(path, "leaderboard/entries")
    except (ValueError, OSError) as error:
        raise ValidationError(f"{path}: not a readable CSV table ({error}). {REMEDY}") from error
    needed = ["method", "model", "name", "rank", statistic]
    if missing := [name for name in needed if name not in table]:
        raise ValidationError(f"{path}: lacks the columns {list_names(missing)}. {REMEDY}")
    ranks, scores = (pd.to_numeric(table[name], errors="coerce") for name in ("rank", statistic))
    is_sound = (table["model"] != "") & ~table.duplicated("model") & np.isfinite(scores)
    is_sound &= table["rank"].isna() | ((ranks >= 1) & (ranks % 1 == 0))
    if not is_sound.all():
        place = int(is_sound.to_numpy().argmin())
        raise ValidationError(
            f"{path}, line {place + 2}: the entry {quote_name(table['model'][place])} stands twice "
            f"or has no name, or its rank or {statistic} is no number. {REMEDY}"
        )
    names = table["name"].where(table["name"] != "", table["model"])
    table = table[needed].assign(name=names, rank=ranks, **{statistic: scores})
    return table.astype({"rank": "Int64"})


def track_releases(folder: str, releases: Sequence[str]) -> pd.DataFrame:
    """Track the rank of each entry from release to release, which are taken by name, v9 before v10.

    A release is called after its file, or where two files are called alike by its path. Ranks are
    those of their time: a release's ranks are not computed again, and an entry that a release lacks
    has no row there. Scores of different releases compare only where they rest on the same bounds
    of normalization.
    """
    former, entries = sorted(releases, key=split_digits), f"{folder}/leaderboard/entries.csv"
    statistic = find_statistic(read_declared(entries, "leaderboard/entries").columns)
    names = [Path(path).stem for path in former]
    names = names if len({*names, CURRENT}) > len(names) else former
    order = ["method", "rank", "name", "model"]
    tables = [
        read_release(path, statistic=statistic).assign(release=name).sort_values(order)
        for name, path in zip([*names, CURRENT], [*former, entries], strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


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
            draw="capmap.figures.lines:draw_rank_history",
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
