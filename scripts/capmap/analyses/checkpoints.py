"""Which checkpoint stands for a training, and what the choice is worth."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.leaderboard.trainings import rank_trainings, trace_curves


def find_facts(
    selected: pd.DataFrame, checkpoint_rankings: pd.DataFrame, ranking_agreement: pd.DataFrame
) -> dict[str, Any]:
    """Who leads the first ranking, what the choice gains, and which rankings disagree most."""
    firsts = checkpoint_rankings[checkpoint_rankings["rank"] == 1]
    gains = selected.loc[selected["checkpoints"] > 1, "gain_report"].dropna()
    agreement = ranking_agreement.dropna(subset="kendall_tau").sort_values("kendall_tau")
    return {
        "trainings": len(selected),
        "stamp": selected["stamp"].iloc[0],
        "firsts": firsts[firsts["ranking"] == firsts["ranking"].min()].to_dict("records"),
        "choices": len(gains),
        "better": int((gains > 0).sum()),
        "worse": int((gains < 0).sum()),
        "least": agreement.iloc[0].to_dict() if len(agreement) else None,
    }


ANALYSIS = Analysis(
    question="Which checkpoint is best, and what is the choice worth?",
    position=210,
    tables={
        "selected": Table(
            "The chosen checkpoint of each training and its gain over the mean and the last one. "
            "Where it was chosen, the gain is partly chance; on the report split it is not.",
            "model training checkpoint step selection report checkpoints mean last optimism_mean "
            "optimism_last gain_report stamp",
            formats="csv tex json",
        ),
        "checkpoint_rankings": Table(
            "Each configured ranking of the chosen checkpoints.",
            "ranking method rank model training checkpoint score stamp",
            formats="csv json",
        ),
        "ranking_agreement": Table(
            "Kendall's tau-b of two rankings of the same checkpoints, also by single metrics.",
            "ranking_a ranking_b kendall_tau checkpoints moved stamp",
            formats="csv json",
        ),
        "checkpoints": Table(
            "Checkpoints of each training, and the values by which they are chosen.",
            "training model checkpoint step selection chosen datasets split stamp",
            formats="csv json",
        ),
        "curves": Table(
            "Each metric by step, with intervals over datasets, or over trainings where no training"
            " is named. Values of several datasets are normalized, so that 1 is best.",
            "training model metric split step mean ci_low ci_high datasets trainings",
            formats="csv json",
        ),
    },
    figures={
        "checkpoint_curves": Figure(
            "The metric of the choice by step, mean of each model with an interval over trainings, "
            "or over datasets of a single training; markers are chosen checkpoints.",
            draw="capmap.figures.lines:draw_checkpoint_curves",
            options={"metric": "checkpoints/select/metric"},
        ),
    },
    steps={
        "rank_checkpoints": Step(
            rank_trainings,
            tables=["selected", "checkpoint_rankings", "ranking_agreement", "checkpoints"],
            options={"settings": "checkpoints", "metric": "metric", "metrics": "metrics"},
        ),
        "trace_curves": Step(trace_curves, tables=["curves"], options={"metrics": "metrics"}),
    },
    find_facts=find_facts,
    options={"split": "checkpoints/select/split", "report": "checkpoints/report/split"},
    meanings={
        "checkpoints": "Number of checkpoints of the training.",
        "chosen": "Whether this checkpoint is the one that is chosen.",
        "gain_report": "Chosen checkpoint less the last that could be, on the report split.",
        "last": "Value of the last checkpoint.",
        "moved": "Number of checkpoints with another rank.",
        "optimism_last": "Chosen checkpoint less the last that could be, where it was chosen.",
        "optimism_mean": "Chosen checkpoint less the mean of all, where it was chosen.",
        "report": "Value where checkpoints are compared.",
        "selection": "Value by which checkpoints are chosen.",
        "step": "Step of the training.",
        "trainings": "Number of trainings.",
        "curves.mean": "Mean over datasets, normalized where there are several.",
        "ranking_agreement.checkpoints": "Number of checkpoints that both rank.",
        "ranking_agreement.kendall_tau": "Kendall's tau-b of the two rankings, -1 to 1.",
        "selected.mean": "Mean value of all checkpoints.",
    },
)
