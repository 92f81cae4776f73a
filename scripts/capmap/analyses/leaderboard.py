"""Entries of a leaderboard, by method and dimension, and how their ranks moved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.claims import claim_ranking, find_rivals, label_entries
from capmap.errors import ValidationError
from capmap.leaderboard.entries import rank_entries, summarize_entries
from capmap.patterns import split_digits
from capmap.tables import read_declared
from capmap.wording import find_statistic, list_names, quote_name

CURRENT = "current"
REMEDY = "Give leaderboard: {releases: …} copies of leaderboard/entries.csv only."
SHOWN_METHODS = 3


def find_facts(entries: pd.DataFrame, ranking: pd.DataFrame) -> dict[str, Any]:
    """Who leads the complete entries of each method, and from whom that is not separated."""
    is_complete = entries["complete"].astype(bool)
    leads = [
        {"method": method, **_find_lead(own.assign(model=label_entries(own)))}
        for method, own in entries[is_complete].groupby("method")
    ]
    return {
        "leads": leads[:SHOWN_METHODS],
        "more": len(leads[SHOWN_METHODS:]),
        "incomplete": int((~is_complete).sum()),
        "statistic": find_statistic(entries.columns),
        "datasets": int(entries["expected"].max()) if len(entries) else 0,
        "unit": next(iter(ranking["unit"]), ""),
    }


def _find_lead(entries: pd.DataFrame) -> dict[str, Any]:
    """The leader of a ranking of entries, and whether all others are separated from it."""
    ranked = entries.sort_values(["rank", "model"])
    firsts = ranked[ranked["rank"] == ranked["rank"].min()]
    claims = claim_ranking(ranked)
    return {
        "entries": len(ranked),
        "firsts": firsts["model"].tolist(),
        "score": firsts[find_statistic(ranked.columns)].iloc[0],
        "rivals": find_rivals(ranked),
        "is_separated": len(claims) == len(ranked) - len(firsts) > 0,
    }


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


def find_moves(rank_history: pd.DataFrame) -> dict[str, Any]:
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


LEADERBOARD = Analysis(
    question="Who leads, and on what?",
    position=190,
    folder="leaderboard",
    tables={
        "entries": Table(
            "Entries ranked within each method by their normalized score over all datasets, with "
            "intervals. Entries that share a letter cannot be separated, allowing for all pairs; "
            "those with too few datasets have no rank.",
            "method rank model name backbone size submission iqm ci_low ci_high rank_low "
            "rank_high tie_group mean runs datasets expected complete",
            best={"iqm": "max"},
            formats="csv tex json",
        ),
        "dimensions": Table(
            "Normalized score of each entry in each dimension and its rank within its method, with "
            "intervals. Percentile intervals of few seeds are too narrow.",
            "method dimension rank model name submission iqm ci_low ci_high rank_low rank_high "
            "tie_group bootstrap_mean bootstrap_sem runs datasets expected complete",
            text="dimension",
            formats="csv json",
        ),
        "best": Table(
            "The best complete entry of each backbone, ranked within its method. Intervals do not "
            "allow for this choice.",
            "method rank backbone name size submission iqm ci_low ci_high submissions",
            best={"iqm": "max"},
            formats="csv json",
        ),
        "normalized": Table(
            "Normalized score on each dataset with its interval, and rank within the method.",
            "method model name submission dataset seeds iqm ci_low ci_high rank",
            formats="csv json",
        ),
        "raw": Table(
            "Submitted scores in the units of their metrics: mean over seeds and its standard "
            "error.",
            "method model name submission dataset metric seeds mean sem",
            formats="csv json",
        ),
        "submissions": Table(
            "What each submission holds and says of itself.",
            "submission models runs datasets paper code license hpo_trials information comments",
            formats="csv json",
        ),
    },
    figures={
        "leaderboard_dimensions": Figure(
            "Normalized score of each entry in each dimension, with rank within its "
            "method. Entries with too few datasets have no rank.",
            draw="capmap.figures.datasets:draw_leaderboard_dimensions",
        ),
    },
    steps={
        "rank_entries": Step(
            rank_entries,
            tables=["entries", "dimensions", "best"],
            paths=["scope", "replicates", "descriptions", "benchmark"],
            options={"dimension_datasets": "leaderboard/dimensions"},
        ),
        "summarize_entries": Step(
            summarize_entries,
            tables=["normalized", "raw", "submissions"],
            paths=["scope", "replicates", "descriptions", "benchmark"],
        ),
    },
    find_facts=find_facts,
    meanings={
        "bootstrap_mean": "Mean of the bootstrap replicates.",
        "bootstrap_sem": "Numerical error of that mean, which is no measure of uncertainty.",
        "code": "Where the code of the submission is.",
        "comments": "What the submission says of itself.",
        "complete": "Whether the entry has enough runs on enough datasets to be ranked.",
        "hpo_trials": "Trials of the search for hyper-parameters.",
        "paper": "Where the paper of the submission is.",
        "submissions": "Number of submissions with this backbone.",
        "dimensions.dimension": "The dimension: a group of datasets, as configured.",
        "dimensions.expected": "Number of datasets that the dimension has.",
        "entries.expected": "Number of datasets that the leaderboard has.",
        "entries.mean": "Mean of normalized scores over datasets.",
        "submissions.information": "Further information of the submission.",
    },
)
RELEASES = Analysis(
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
    find_facts=find_moves,
)
ANALYSES = {"leaderboard": LEADERBOARD, "releases": RELEASES}
