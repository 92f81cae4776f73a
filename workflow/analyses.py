"""Which tables and figures belong to which analysis, and which of them a study asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Analysis:
    """Names of what an analysis makes; its paragraph is called as the analysis is."""

    tables: list[str]
    figures: list[str]
    folder: str = "tables"

    def locate_tables(self) -> list[str]:
        """Where the tables are, in the study's folder and without suffix."""
        return [f"{self.folder}/{name}" for name in self.tables]


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
    "capabilities": Analysis(
        folder="capabilities",
        tables=[
            *("summary", "by_results", "centrality", "models", "datasets"),
            *("positions", "predictions", "validation", "gaps"),
        ],
        figures=[
            *("capability_map", "capability_attributes", "centrality"),
            *("prediction_fit", "prediction_dimensions", "error_by_results", "prediction_errors"),
        ],
    ),
    "placements": Analysis(
        folder="capabilities",
        tables=["placements", "placement_predictions", "placement_replay"],
        figures=["placement_replay"],
    ),
    "next_results": Analysis(
        folder="capabilities",
        tables=[
            *("next", "next_models", "dataset_information"),
            *("dataset_replay", "dataset_savings", "model_replay"),
        ],
        figures=["dataset_replay", "model_replay"],
    ),
    "drift": Analysis(folder="capabilities", tables=["newcomers", "drift"], figures=["drift"]),
    "transfer": Analysis(folder="capabilities", tables=["transfer"], figures=["transfer"]),
    "multilabel": Analysis(
        folder="multilabel",
        tables=[
            *("summary", "rank_shift", "degradation"),
            *("differences", "label_counts", "metrics"),
        ],
        figures=[
            *("metric_lines", "metric_rank_shift", "label_counts"),
            *("subgroup_boxes", "seed_boxes", "prediction_examples"),
        ],
    ),
    "leaderboard": Analysis(
        folder="leaderboard",
        tables=["entries", "dimensions", "best", "normalized", "raw", "submissions"],
        figures=["leaderboard_dimensions"],
    ),
    "releases": Analysis(folder="leaderboard", tables=["rank_history"], figures=["rank_history"]),
    "checkpoints": Analysis(
        folder="leaderboard",
        tables=["selected", "checkpoint_rankings", "checkpoints", "curves"],
        figures=["checkpoint_curves", "checkpoint_optimism"],
    ),
}
# Settings without which an analysis has nothing to do.
NEEDS = {
    "groups": ["groups"],
    "conditions": ["conditions"],
    "drift": ["attributes", "models", "date"],
    "releases": ["leaderboard", "releases"],
}


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
        name for name in ANALYSES if name in study["analyses"] and _has(study, NEEDS.get(name, []))
    ]


def list_tables(study: Mapping[str, Any]) -> list[str]:
    """List where all tables of a study are, in its folder and without suffix."""
    made = [MAIN, *(ANALYSES[name] for name in list_analyses(study))]
    return [table for analysis in made for table in analysis.locate_tables()]


def list_figures(study: Mapping[str, Any]) -> list[str]:
    """List the names of all figures of a study."""
    return MAIN.figures + [
        figure for name in list_analyses(study) for figure in ANALYSES[name].figures
    ]


def _has(study: Mapping[str, Any], path: list[str]) -> bool:
    settings: Any = study
    for key in path:
        settings = settings[key]
    return bool(settings)
