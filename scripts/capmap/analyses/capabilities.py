"""What each model is good at: positions, predictions and their errors."""

from typing import Any

import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.capabilities.crossvalidation import crossvalidate_study
from capmap.capabilities.embedding import embed_models
from capmap.capabilities.gaps import tabulate_gaps
from capmap.capabilities.maps import project_map
from capmap.capabilities.predictions import predict_cells
from capmap.capabilities.quality import correlate_centrality, describe_results

SHOWN_CELLS = 3
COMPARED = ("l2", "additive", "factors")


def find_facts(
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    summary: pd.DataFrame,
    predictions: pd.DataFrame,
    *,
    dimension: int,
) -> dict[str, Any]:
    """The results furthest below and above their prediction, and errors for hidden results."""
    known = predictions[predictions["held_out"].astype(bool)]
    residuals = (known["observed"] - known["predicted"]).sort_values(kind="stable")
    cells = known.loc[residuals.index, ["model", "dataset", "observed", "predicted"]]
    strongest, weakest = cells[residuals < 0], cells[residuals > 0].iloc[::-1]
    hidden = summary[(summary["protocol"] == "random") & summary["mse"].notna()]
    hidden = hidden[hidden["dimension"].fillna(dimension) == dimension]
    errors = hidden.set_index("distance").to_dict("index")
    return {
        "models": int((models["kept"] > 0).sum()),
        "datasets": int((datasets["kept"] > 0).sum()),
        "parts": models["component"].nunique(),
        "strongest": list(strongest[:SHOWN_CELLS].itertuples(index=False, name=None)),
        "weakest": list(weakest[:SHOWN_CELLS].itertuples(index=False, name=None)),
        "errors": {name: errors[name] for name in COMPARED if name in errors},
    }


ANALYSIS = Analysis(
    question="What is each model good at?",
    position=130,
    folder="capabilities",
    tables={
        "summary": Table(
            "Errors of predicted gaps in training and for hidden results, by method, dimension and "
            "protocol, with intervals over models. The difference is from the L2 distance on the "
            "same splits; below 0 is better.",
            "distance dimension protocol folds predictions train_mse train_mse_low train_mse_high"
            " train_mae train_mae_low train_mae_high train_pearson train_pearson_low "
            "train_pearson_high mse mse_low mse_high mae mae_low mae_high pearson pearson_low "
            "pearson_high difference difference_low difference_high confidence",
            formats="csv tex",
        ),
        "by_results": Table(
            "Errors for hidden results by how many results their model has.",
            "source distance results_from results_to models predictions mse mse_low mse_high mae",
        ),
        "bend": Table(
            "Number of results of a model beyond which its error falls no further, and change of "
            "the error with twice as many results. Intervals are over models.",
            "distance bend bend_low bend_high doubling doubling_low doubling_high confidence "
            "mse_few mse_many models predictions",
            text="distance",
        ),
        "centrality": Table(
            "Spearman's correlation of a model's distance to the center with its mean gap.",
            "statistic estimate low high confidence models",
        ),
        "models": Table(
            "Results, mean gap and attributes of each model.",
            "model results kept component duplicate_of mean_gap architecture parameters date "
            "dropped",
        ),
        "datasets": Table(
            "Results, best model, spread, saturation and attributes of each dataset.",
            "dataset results kept component duplicate_of best_model best_score worst_score std "
            "saturation headroom type family dropped",
        ),
        "positions": Table(
            "Position of each model and dataset along the principal axes.",
            "kind name component centrality",
            more=True,
        ),
        "predictions": Table(
            "Gap and score of every model on every dataset, with prediction intervals. Results "
            "marked as held out were hidden when they were predicted.",
            "model dataset observed predicted low high predicted_score score_low score_high "
            "held_out",
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
            draw="capmap.figures.capability_map:draw_map",
            reads=["places", "models", "datasets", "gaps"],
            options={"projection": "capabilities/map"},
        ),
        "capability_attributes": Figure(
            "The map colored by attributes of models and datasets.",
            draw="capmap.figures.capability_map:draw_attribute_maps",
            reads=["places", "models", "datasets"],
        ),
        "prediction_fit": Figure(
            "Predicted against true gaps in training and for hidden results, by method.",
            draw="capmap.figures.predictions:draw_fit",
            reads=["training", "validation", "summary"],
            options={"dimension": "capabilities/dimension"},
        ),
        "prediction_dimensions": Figure(
            "Mean squared error for hidden results and in training by number of dimensions.",
            draw="capmap.figures.predictions:draw_dimensions",
            reads=["summary"],
        ),
        "error_by_results": Figure(
            "Mean squared error for hidden results by how many results their model has.",
            draw="capmap.figures.predictions:draw_error_by_results",
            reads=["by_results"],
            options={"method": "capabilities/method"},
        ),
    },
    steps={
        "measure_gaps": Step(
            tabulate_gaps,
            tables=["gaps"],
            reads=["runs", "bounds"],
            options={"min_results": "capabilities/min_results"},
        ),
        "describe_results": Step(
            describe_results,
            tables=["models", "datasets"],
            reads=["gaps", "bounds"],
            paths=["model_file", "dataset_file"],
            options={
                "model_attributes": "attributes/models",
                "dataset_attributes": "attributes/datasets",
                "renamed": "figures/names",
            },
        ),
        "crossvalidate": Step(
            crossvalidate_study,
            tables=["validation", "summary", "by_results", "bend"],
            reads=["gaps", "models", "datasets"],
            options={
                "dimension": "capabilities/dimension",
                "dimensions": "capabilities/dimensions",
                "n_splits": "capabilities/splits",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            files={"training": "capabilities/training.parquet"},
        ),
        "embed_models": Step(
            embed_models,
            tables=["positions"],
            reads=["gaps"],
            options={
                "method": "capabilities/method",
                "dimension": "capabilities/dimension",
                "seed": "bootstrap/seed",
            },
            files={"fits": "capabilities/fits.parquet"},
        ),
        "project_map": Step(
            project_map,
            reads=["fits"],
            options={"projection": "capabilities/map", "seed": "bootstrap/seed"},
            files={"places": "capabilities/map.parquet"},
        ),
        "predict_scores": Step(
            predict_cells,
            tables=["predictions"],
            reads=["gaps", "models", "datasets", "bounds"],
            options={"seed": "bootstrap/seed"},
        ),
        "describe_capabilities": Step(
            correlate_centrality,
            tables=["centrality"],
            reads=["models", "positions"],
        ),
    },
    find_facts=find_facts,
    meanings={
        "absolute_gap": "Distance to the best model of the dataset, in the metric's unit.",
        "bend": "Number of results of a model from which on the error falls no further.",
        "best_score": "The best score of any model, in the metric's unit.",
        "centrality": "Distance to the centroid of the map.",
        "confidence": "Level of the interval, 0 to 1.",
        "distance": "What predicts gaps from positions.",
        "doubling": "Change of the mean squared error with twice as many results.",
        "fold": "Number of the split.",
        "folds": "Number of splits.",
        "gap": "Distance to the best model of the dataset; 0: the best, 1: the worst model.",
        "headroom": "From the best score to the best that the metric allows, in its unit.",
        "held_out": "Whether the result was hidden when it was predicted.",
        "kept": "How many results are in the map.",
        "mae": "Mean absolute error of predicted gaps.",
        "mse_few": "Fitted mean squared error of models with the fewest results.",
        "mse_many": "Fitted mean squared error beyond the bend.",
        "normalized": "Score between the dataset's bounds: 0 is the low, 1 the high one.",
        "observed": "The gap that was observed; empty: there is no result.",
        "parameters": "Number of parameters, as the attributes say.",
        "pearson": "Pearson correlation of predicted and observed gaps.",
        "prediction": "The gap that was predicted.",
        "protocol": "How results were hidden.",
        "results_from": "Least number of results of these models.",
        "results_to": "Largest number of results of these models.",
        "saturation": "Share of models with a gap of at most 0.1.",
        "truth": "The gap that was hidden.",
        "worst_score": "The worst score of any model, in the metric's unit.",
        "datasets.std": "Standard deviation of scores over models, in the metric's unit.",
    },
)
