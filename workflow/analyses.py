"""Which tables and figures belong to which analysis, and which of them a study asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Analysis:
    """Names of what an analysis makes; its paragraph is called as the analysis is."""

    tables: list[str]
    figures: list[str]


MAIN = Analysis(
    tables=["iqm", "intervals", "aggregate", "scores", "seeds", "coverage", "changes"],
    figures=["intervals", "rank_shift", "scores", "seed_spread", "runs_per_cell"],
)
ANALYSES = {
    "pairwise": Analysis(
        tables=["pairwise", "rope"],
        figures=[
            *("pairwise", "pairwise_reference", "bayes", "bayes_reference"),
            *("rope", "improvement"),
        ],
    ),
    "ranks": Analysis(
        tables=["friedman", "nemenyi", "mean_ranks"],
        figures=["critical_difference", "rank_cliques"],
    ),
    "profiles": Analysis(
        tables=["profiles", "profile_area"],
        figures=["profiles", "score_profiles"],
    ),
    "ratings": Analysis(tables=["elo", "winrate"], figures=["elo", "winrate"]),
    "improvability": Analysis(
        tables=["improvability", "improvability_datasets"],
        figures=["improvability", "improvability_datasets"],
    ),
    "robustness": Analysis(
        tables=[
            *("robustness", "robustness_ranks", "flips"),
            *("rank_stability", "rank_distribution"),
        ],
        figures=["robustness", "rank_stability"],
    ),
    "groups": Analysis(tables=["groups", "group_intervals", "group_coverage"], figures=["groups"]),
    "conditions": Analysis(tables=["conditions", "condition_ranks"], figures=["conditions"]),
    "sample_size": Analysis(
        tables=["seed_widths", "next_seeds"], figures=["seed_widths", "next_seeds"]
    ),
}
NEEDS = {"groups", "conditions"}


def list_analyses(study: Mapping[str, Any]) -> list[str]:
    """List a study's analyses, without those whose own settings are empty.

    Parameters
    ----------
    study : mapping
        The study's settings, checked and with defaults.

    Returns
    -------
    list of str
        In the order of the catalog, which is that of the report.
    """
    return [
        name
        for name in ANALYSES
        if name in study["analyses"] and (name not in NEEDS or study[name])
    ]


def list_tables(study: Mapping[str, Any]) -> list[str]:
    """List the names of all tables of a study."""
    return MAIN.tables + [table for name in list_analyses(study) for table in ANALYSES[name].tables]


def list_figures(study: Mapping[str, Any]) -> list[str]:
    """List the names of all figures of a study."""
    return MAIN.figures + [
        figure for name in list_analyses(study) for figure in ANALYSES[name].figures
    ]
