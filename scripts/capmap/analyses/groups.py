"""The models ranked on named groups of datasets, which are rows of the ranking."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure
from capmap.claims import find_rivals
from capmap.ranking import choose_of_groups


def find_facts(ranking: pd.DataFrame) -> dict[str, Any]:
    """Who leads each group, and in which groups others cannot be separated from the first."""
    ranked = choose_of_groups(ranking).dropna(subset="rank")
    leaders = []
    for name, own in ranked.groupby("group", sort=False):
        first = own[own["rank"] == own["rank"].min()].sort_values("model")
        rivals = len(find_rivals(own))
        leaders.append((str(name), first["model"].tolist(), first["score"].iloc[0], rivals))
    return {
        "statistic": next(iter(ranking["statistic"]), "iqm"),
        "unit": next(iter(ranking["unit"]), "runs"),
        "leaders": leaders,
        "has_intervals": bool(ranked["ci_low"].notna().any()),
    }


ANALYSIS = Analysis(
    question="Which model is best at what?",
    position=100,
    default=True,
    needs="groups",
    tables={},
    figures={
        "groups": Figure(
            "Score and rank of each model within each group of datasets.",
            draw="capmap.figures.datasets:draw_groups",
        )
    },
    find_facts=find_facts,
    options={"confidence_level": "bootstrap/confidence"},
)
