"""Where models with few results stand."""

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.capabilities.error_curve import draw_curve
from capmap.capabilities.placement import place_few_results

ANALYSIS = Analysis(
    question="Where do models with few results stand?",
    position=140,
    folder="capabilities",
    tables={
        "placements": Table(
            "Where models with few results stand, placed without moving the others, and their "
            "mean gap over all datasets.",
            "model results mean_gap mean_gap_low mean_gap_high",
            more=True,
        ),
        "placement_predictions": Table(
            "Gap and score of models with few results on the other datasets, with prediction "
            "intervals.",
            "model dataset predicted low high predicted_score score_low score_high",
        ),
        "error_curve": Table(
            "Errors of predictions for models that were left with so many of their results, "
            "beside those of additive effects, and coverage of the prediction intervals.",
            "results models predictions mse mse_low mse_high mse_additive difference "
            "difference_low difference_high coverage width",
        ),
    },
    figures={
        "error_curve": Figure(
            "Errors and coverage of predictions for models that were left with so many of their "
            "results.",
            draw="capmap.figures.predictions:draw_error_curve",
            reads=["error_curve"],
        ),
    },
    steps={
        "draw_error_curve": Step(
            draw_curve,
            tables=["error_curve"],
            reads=["gaps", "models", "datasets"],
            options={
                "seed": "bootstrap/seed",
            },
            files={
                "few_results": "capabilities/few_results.parquet",
            },
        ),
        "place_models": Step(
            place_few_results,
            tables=["placements", "placement_predictions"],
            reads=["gaps", "fits", "models", "datasets", "bounds", "few_results", "error_curve"],
            options={
                "seed": "bootstrap/seed",
            },
        ),
    },
    meanings={
        "coverage": "Share of prediction intervals that held the hidden result, 0 to 1.",
        "mean_gap_high": "Upper end of the interval of the mean gap.",
        "mean_gap_low": "Lower end of the interval of the mean gap.",
    },
)
