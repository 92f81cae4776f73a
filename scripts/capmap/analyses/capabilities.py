"""What each model is good at, where models with few results stand, and what to run next."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.capabilities.crossvalidation import (
    CURVE,
    crossvalidate_study,
    summarize_validation,
)
from capmap.capabilities.embedding import GROUPS, embed_models
from capmap.capabilities.gaps import DATASETS, MODELS, describe_results
from capmap.capabilities.predictions import NEAREST, place_models, predict_cells
from capmap.settings.choices import PREDICTION_LEVEL

# Models that the page names, and what it compares.
SHOWN = 2
COMPARED = ("l2", "additive", "factors")
# A result matters if its gap may be this small: the model may be near the best on the dataset.
NEAR = 0.1
# Results to run next of a model.
MOST = 10
NEXT = "rank model dataset predicted low high width"


def find_facts(
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    summary: pd.DataFrame,
    nearest: pd.DataFrame,
    *,
    dimension: int,
) -> dict[str, Any]:
    """What the best models are near, and errors for hidden results."""
    best = models.dropna(subset="mean_gap").sort_values(["mean_gap", "model"])["model"][:SHOWN]
    found = [nearest[nearest["model"] == model] for model in best]
    hidden = summary[(summary["protocol"] == "random") & summary["mse"].notna()]
    hidden = hidden[hidden["dimension"].fillna(dimension) == dimension]
    errors = hidden.set_index("distance").to_dict("index")
    return {
        "models": int((models["kept"] > 0).sum()),
        "datasets": int((datasets["kept"] > 0).sum()),
        "parts": models["component"].nunique(),
        "shown": [
            {
                "model": model,
                "near": own["nearest"].dropna().tolist(),
                "untried": own.dropna(subset="untried")[["untried", "predicted"]].to_numpy(),
            }
            for model, own in zip(best, found, strict=True)
        ],
        "errors": {name: errors[name] for name in COMPARED if name in errors},
    }


def find_placements(placements: pd.DataFrame, error_curve: pd.DataFrame) -> dict[str, Any]:
    """How many models are placed, and the errors with the fewest and with the most results."""
    curve = error_curve.sort_values("results").to_dict("records")
    return {
        "placed": placements.sort_values(["mean_gap", "model"]).to_dict("records"),
        "few": curve[0] if curve else None,
        "many": curve[-1] if len(curve) > 1 else None,
        "prediction_level": PREDICTION_LEVEL,
    }


def choose_next_results(
    predictions: pd.DataFrame, placement_predictions: pd.DataFrame
) -> pd.DataFrame:
    """Choose the results to run next, of all models and datasets.

    A result that is not there matters if its prediction interval reaches a gap of 0.1 or less: the
    model may be near the best one on the dataset. Of those that matter, the one with the widest
    interval comes first: it is the one that is known least.

    Examples
    --------
    >>> row = {"model": "A", "dataset": "D", "observed": None, "predicted": 0.3}
    >>> table = pd.DataFrame([row | {"low": 0.05, "high": 0.5}, row | {"low": 0.2, "high": 0.9}])
    >>> choose_next_results(table, table.iloc[:0])["width"].tolist()
    [0.45]
    """
    parts = [part for part in (predictions, placement_predictions) if len(part)]
    found = pd.concat(parts or [predictions], ignore_index=True)
    found = found[found["observed"].isna() & (found["low"] <= NEAR)]
    found = found.assign(width=found["high"] - found["low"])
    found = found.sort_values(["width", "model", "dataset"], ascending=[False, True, True])
    found = found[found.groupby("model").cumcount() < MOST].reset_index(drop=True)
    found = found.assign(rank=found.index + 1)[NEXT.split()]
    return found.astype({"model": "str", "dataset": "str"})


def find_next(next: pd.DataFrame) -> dict[str, Any]:  # noqa: A002
    """The first results to run."""
    return {
        "cells": next[["model", "dataset"]].to_numpy().tolist(),
        "first": next.iloc[0].to_dict() if len(next) else None,
        "near": NEAR,
        "prediction_level": PREDICTION_LEVEL,
    }


CAPABILITIES = Analysis(
    question="What is each model good at?",
    position=130,
    folder="capabilities",
    tables={
        "nearest": Table(
            "What each model is nearest to on the map, and the datasets without a result on which "
            "it is predicted best, with prediction intervals.",
            NEAREST,
            text="nearest untried",
        ),
        "summary": Table(
            "Errors of predicted gaps for hidden results, by method, dimension and protocol, with "
            "intervals over models. The difference is from the L2 distance on the same splits; "
            "below 0 is better.",
            "distance dimension protocol folds predictions mse mse_low mse_high difference "
            "difference_low difference_high confidence",
            formats="csv tex",
        ),
        "centrality": Table(
            "Spearman's correlation of a model's distance to the center with its mean gap.",
            "statistic estimate low high confidence models",
        ),
        "groups": Table("How near groups stand to the center and to each other.", GROUPS),
        "models": Table("Results, mean gap and attributes of each model.", MODELS),
        "datasets": Table("Results and attributes of each dataset.", DATASETS),
        "positions": Table(
            "Position of each model and dataset along the principal axes.",
            "kind name component centrality",
            more=True,
        ),
        "predictions": Table(
            "Gap and score of every model on every dataset, with prediction intervals. Observed "
            "results were hidden when they were predicted.",
            "model dataset observed predicted low high predicted_score score_low score_high",
        ),
        "validation": Table(
            "Every hidden result with its predicted gap, by method, dimension and protocol.",
            "distance dimension protocol fold model dataset truth prediction",
        ),
        "gaps": Table(
            "Gap of each result to the best model of its dataset, in the metric's unit and divided "
            "by that of the worst model.",
            "model dataset score normalized absolute_gap gap dropped",
        ),
    },
    figures={
        "capability_map": Figure(
            "Map of models (filled) and datasets (open): the nearer, the smaller the gap.",
            draw="capmap.figures.scatter:draw_map",
            options={"projection": "capabilities/map"},
        ),
        "prediction_fit": Figure(
            "Predicted against true gaps of hidden results, by method.",
            draw="capmap.figures.scatter:draw_fit",
            options={"dimension": "capabilities/dimension"},
        ),
    },
    steps={
        "describe_results": Step(
            describe_results,
            tables=["gaps", "models", "datasets"],
            paths=["model_file", "dataset_file"],
            options={
                "min_results": "capabilities/min_results",
                "dataset_attributes": "attributes/datasets",
            },
        ),
        "crossvalidate": Step(
            crossvalidate_study,
            tables=["validation"],
            options={
                "dimension": "capabilities/dimension",
                "dimensions": "capabilities/dimensions",
                "n_splits": "capabilities/splits",
            },
        ),
        "summarize_validation": Step(
            summarize_validation,
            tables=["summary"],
            options={"dimension": "capabilities/dimension"},
        ),
        "embed_models": Step(
            embed_models,
            tables=["positions", "groups"],
            options={
                "method": "capabilities/method",
                "groups": "capabilities/groups",
                "dimension": "capabilities/dimension",
                "projection": "capabilities/map",
            },
            files={"places": "capabilities/map.parquet"},
        ),
        "predict_cells": Step(predict_cells, tables=["predictions", "nearest", "centrality"]),
    },
    find_facts=find_facts,
    meanings={
        "absolute_gap": "Distance to the best model of the dataset, in the metric's unit.",
        "center": "Share of all that are nearer to the center than a member.",
        "centrality": "Distance to the centroid of the map.",
        "confidence": "Level of the interval, 0 to 1.",
        "distance": "What predicts gaps from positions.",
        "fold": "Number of the split.",
        "folds": "Number of splits.",
        "gap": "Distance to the best model of the dataset; 0: the best, 1: the worst model.",
        "kept": "How many results are in the map.",
        "map_distance": "Distance between positions, in all dimensions.",
        "nearest": "The dataset that is nearest to the model on the map.",
        "normalized": "Score between the dataset's bounds: 0 is the low, 1 the high one.",
        "observed": "The gap that was observed; empty: there is no result.",
        "parameters": "Number of parameters, as the attributes say.",
        "place": "From 1: the nearest, and the one that is predicted best.",
        "prediction": "The gap that was predicted.",
        "protocol": "How results were hidden.",
        "together": "Mean distance between members, divided by that between all.",
        "truth": "The gap that was hidden.",
        "untried": "A dataset on which the model has no result.",
    },
)
PLACEMENTS = Analysis(
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
        "place_models": Step(place_models, options={"method": "capabilities/method"}),
    },
    find_facts=find_placements,
    meanings={
        "change": "Change of the models' mean squared error since the row before.",
        "coverage": "Share of prediction intervals that hold the hidden result, 0 to 1.",
    },
)
NEXT_RESULTS = Analysis(
    question="Which result should be run next?",
    position=150,
    tables={
        "next": Table(
            "Missing results that may be near the best, widest prediction interval first.", NEXT
        ),
    },
    steps={
        "choose_results": Step(choose_next_results),
    },
    find_facts=find_next,
)
ANALYSES = {"capabilities": CAPABILITIES, "placements": PLACEMENTS, "next_results": NEXT_RESULTS}
