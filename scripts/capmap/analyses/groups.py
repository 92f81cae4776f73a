"""The models ranked on named groups of datasets, which are rows of the ranking."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.claims import find_rivals
from capmap.ranking.groups import choose_groups
from capmap.ranking.table import choose_of_groups
from capmap.settings.choices import Incomplete


def cover_groups(
    runs: pd.DataFrame,
    *,
    definitions: Mapping[str, Mapping[str, Any]],
    incomplete: Incomplete,
    min_datasets: str | float,
) -> pd.DataFrame:
    """Count what each group of datasets holds, and what it leaves out."""
    groups = choose_groups(runs, definitions, incomplete=incomplete, min_datasets=min_datasets)
    return pd.DataFrame([group.coverage for group in groups])


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
    tables={
        "group_coverage": Table(
            "Datasets, models and cells of each group, and what its rule about missing runs drops.",
            "group incomplete datasets models datasets_dropped models_dropped cells_unused",
        ),
    },
    figures={
        "groups": Figure(
            "Score and rank of each model within each group of datasets.",
            draw="capmap.figures.datasets:draw_groups",
            reads=["ranking"],
        )
    },
    steps={
        "choose_groups": Step(
            cover_groups,
            tables=["group_coverage"],
            reads=["runs"],
            options={
                "definitions": "groups",
                "incomplete": "incomplete",
                "min_datasets": "min_datasets",
            },
        )
    },
    find_facts=find_facts,
    options={"confidence_level": "bootstrap/confidence"},
    meanings={
        "datasets_dropped": "Datasets that the rule about missing runs left out.",
        "incomplete": "The group's rule about missing runs.",
        "models_dropped": "Models that the rule about missing runs left out.",
    },
)
