"""Entries of a leaderboard, by method and dimension."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.claims import claim_ranking, find_rivals, label_entries
from capmap.leaderboard.entries import rank_entries, summarize_entries
from capmap.wording import find_statistic

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


ANALYSIS = Analysis(
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
