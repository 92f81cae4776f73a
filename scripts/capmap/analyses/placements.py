"""Where models with few results stand."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.capabilities.crossvalidation import CURVE
from capmap.capabilities.predictions import place_models
from capmap.settings.choices import PREDICTION_LEVEL


def find_facts(placements: pd.DataFrame, error_curve: pd.DataFrame) -> dict[str, Any]:
    """How many models are placed, and the errors with the fewest and with the most results."""
    curve = error_curve.sort_values("results").to_dict("records")
    return {
        "placed": placements.sort_values(["mean_gap", "model"]).to_dict("records"),
        "few": curve[0] if curve else None,
        "many": curve[-1] if len(curve) > 1 else None,
        "prediction_level": PREDICTION_LEVEL,
    }


ANALYSIS = Analysis(
    question="Where do models with few results stand?",
    position=140,
    folder="capabilities",
    tables={
        "placements": Table(
            "Positions of models with few results, and their mean gap over all datasets.",
            "model results mean_gap mean_gap_low mean_gap_high",
            more=True,
        ),
        "placement_predictions": Table(
            "Predicted gaps and scores of models with few results, with intervals.",
            "model dataset predicted low high predicted_score score_low score_high",
        ),
        "error_curve": Table(
            "Errors and coverage of predictions by the number of results that models keep, and "
            "errors of an additive model.",
            CURVE,
        ),
    },
    figures={
        "error_curve": Figure(
            "Errors of predictions by the number of results that models keep.",
            draw="capmap.figures.lines:draw_error_curve",
        ),
    },
    steps={
        "place_models": Step(
            place_models,
            options={"method": "capabilities/method"},
        ),
    },
    find_facts=find_facts,
    meanings={
        "change": "Change of the models' mean squared error since the row before.",
        "coverage": "Share of prediction intervals that hold the hidden result, 0 to 1.",
    },
)
