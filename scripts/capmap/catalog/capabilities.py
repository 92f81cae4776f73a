"""Analyses of the capability map: what each model is good at, and what to run next."""

from capmap.catalog.declarations import Analysis, Figure, Step, Table

# How positions are fitted.
FIT = {"method": "capabilities/method", "dimension": "capabilities/dimension"}

CAPABILITIES = Analysis(
    question="What is each model good at?",
    folder="capabilities",
    tables={
        "summary": Table(
            "Errors of predicted gaps, in training and for hidden results, by method, "
            "dimension and protocol, averaged over splits with intervals over them. The "
            "difference is from the plain L2 distance on the same splits; below 0 is better.",
            "distance dimension protocol folds predictions train_mse train_mse_low "
            "train_mse_high train_mae train_mae_low train_mae_high train_pearson "
            "train_pearson_low train_pearson_high mse mse_low mse_high mae mae_low mae_high "
            "pearson pearson_low pearson_high difference difference_low difference_high "
            "confidence",
        ),
        "by_results": Table(
            "Errors of hidden results by how many results their model has.",
            "source distance results_from results_to models predictions mse mse_low mse_high mae",
        ),
        "bend": Table(
            "From how many results of a model on the error of its hidden results falls no further: "
            "a line that falls with the logarithm of their number and is level from there on; and "
            "how the error changes with twice as many results, below 0 where it falls. Intervals "
            "are over models.",
            "distance bend bend_low bend_high doubling doubling_low doubling_high confidence "
            "mse_few mse_many models predictions",
            text="distance",
        ),
        "centrality": Table(
            "Spearman's correlation of a model's distance to the center with its mean gap, "
            "over models.",
            "statistic estimate low high confidence models",
        ),
        "models": Table(
            "Results, mean gap and attributes of each model, and why it was dropped from the "
            "embedding, if it was.",
            "model results kept component duplicate_of mean_gap architecture parameters date "
            "dropped",
        ),
        "datasets": Table(
            "Results, best model, spread, saturation and attributes of each dataset, and why "
            "it was dropped from the embedding, if it was.",
            "dataset results kept component duplicate_of best_model best_score worst_score "
            "std saturation headroom type family dropped",
        ),
        "positions": Table(
            "Position of each model and dataset, along the principal axes; centrality is the "
            "distance to the centroid.",
            "kind name component centrality",
            more=True,
        ),
        "predictions": Table(
            "Gap and score of every model on every dataset, with prediction intervals. "
            "Results marked as held out were hidden when they were predicted.",
            "model dataset observed predicted low high predicted_score score_low score_high "
            "held_out",
        ),
        "validation": Table(
            "Every hidden result with its predicted gap, by method, dimension and protocol.",
            "distance dimension protocol fold model dataset truth prediction",
        ),
        "gaps": Table(
            "Gap of each result to the best model of its dataset: in the metric's unit, and "
            "divided by that of the worst model.",
            "model dataset score normalized absolute_gap gap dropped",
        ),
    },
    figures={
        "capability_map": Figure(
            "Map of models (filled) and datasets (open): the nearer a model is to a dataset, "
            "the smaller is its gap there.",
            draw="capmap.figures.capability_map:draw_map",
            reads=["places", "models", "datasets", "gaps"],
            options={"projection": "capabilities/map"},
        ),
        "capability_attributes": Figure(
            "The map colored by what is known of models and datasets.",
            draw="capmap.figures.capability_map:draw_attribute_maps",
            reads=["places", "models", "datasets"],
        ),
        "prediction_fit": Figure(
            "Predicted against true gaps, in training and for hidden results, by method.",
            draw="capmap.figures.predictions:draw_fit",
            reads=["training", "validation", "summary"],
            options={"dimension": "capabilities/dimension"},
        ),
        "prediction_dimensions": Figure(
            "Mean squared error by number of dimensions, for hidden results and in training, "
            "beside the baselines.",
            draw="capmap.figures.predictions:draw_dimensions",
            reads=["summary"],
        ),
        "error_by_results": Figure(
            "Mean squared error of hidden results by how many results their model has.",
            draw="capmap.figures.predictions:draw_error_by_results",
            reads=["by_results"],
            options={"method": "capabilities/method"},
        ),
    },
    steps={
        "measure_gaps": Step(
            "capmap.capabilities.gaps:tabulate_gaps",
            tables=["gaps"],
            reads=["runs", "bounds"],
            options={"min_results": "capabilities/min_results"},
        ),
        "describe_results": Step(
            "capmap.capabilities.quality:describe_results",
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
            "capmap.capabilities.crossvalidation:crossvalidate_study",
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
            "capmap.capabilities.embedding:embed_models",
            tables=["positions"],
            reads=["gaps"],
            options={
                **FIT,
                "seed": "bootstrap/seed",
            },
            files={"fits": "capabilities/fits.parquet"},
        ),
        "project_map": Step(
            "capmap.capabilities.maps:project_map",
            tables=[],
            reads=["fits"],
            options={"projection": "capabilities/map", "seed": "bootstrap/seed"},
            files={"places": "capabilities/map.parquet"},
        ),
        "predict_scores": Step(
            "capmap.capabilities.predictions:predict_cells",
            tables=["predictions"],
            reads=["gaps", "models", "datasets", "bounds"],
            options={
                "seed": "bootstrap/seed",
            },
        ),
        "describe_capabilities": Step(
            "capmap.capabilities.quality:correlate_centrality",
            tables=["centrality"],
            reads=[
                "models",
                "datasets",
                "summary",
                "predictions",
                "positions",
            ],
            options={
                "method": "capabilities/method",
                "dimension": "capabilities/dimension",
                "min_results": "capabilities/min_results",
            },
            describe="capmap.prose.capabilities:describe_capabilities",
        ),
    },
)

PLACEMENTS = Analysis(
    question="Where do models with few results stand?",
    folder="capabilities",
    tables={
        "placements": Table(
            "Where models with few results stand, placed without moving the others, and their mean "
            "gap over all datasets.",
            "model results mean_gap mean_gap_low mean_gap_high",
            more=True,
        ),
        "placement_predictions": Table(
            "Gap and score of models with few results on the other datasets, with prediction "
            "intervals.",
            "model dataset predicted low high predicted_score score_low score_high",
        ),
        "error_curve": Table(
            "Errors of predictions for models that were left with so many of their results, beside "
            "those of additive effects, and coverage of the prediction intervals.",
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
        )
    },
    steps={
        "draw_error_curve": Step(
            "capmap.capabilities.error_curve:draw_curve",
            tables=["error_curve"],
            reads=["gaps", "models", "datasets"],
            options={"seed": "bootstrap/seed"},
            files={"few_results": "capabilities/few_results.parquet"},
        ),
        "place_models": Step(
            "capmap.capabilities.placement:place_few_results",
            tables=["placements", "placement_predictions"],
            reads=["gaps", "fits", "models", "datasets", "bounds", "few_results", "error_curve"],
            options={"seed": "bootstrap/seed"},
            describe="capmap.prose.placements:describe_placements",
        ),
    },
)

NEXT_RESULTS = Analysis(
    question="Which result should be run next?",
    tables={
        "next": Table(
            "The results to run next: those with the widest prediction intervals, of models that "
            "may be near the best one on the dataset.",
            "rank model dataset predicted low high width",
        ),
    },
    figures={},
    steps={
        "choose_results": Step(
            "capmap.capabilities.next_results:choose_next_results",
            tables=["next"],
            reads=["predictions", "placement_predictions"],
            describe="capmap.prose.next_results:describe_next_results",
        ),
    },
)

DRIFT = Analysis(
    question="Does the map stay put over time?",
    needs="attributes/models/date",
    tables={
        "drift": Table(
            "How positions move while models are added in order of publication, and errors "
            "on the newcomers.",
            "date models results newcomers shift shift_to_final shift_noise predictions mse "
            "mse_low mse_high mse_additive",
        ),
    },
    figures={
        "drift": Figure(
            "How positions move while models are added in order of publication, and errors "
            "on the newcomers.",
            draw="capmap.figures.drift:draw_drift",
            reads=["drift"],
        )
    },
    steps={
        "track_drift": Step(
            "capmap.capabilities.drift:measure_drift",
            tables=["drift"],
            reads=["gaps", "models", "datasets"],
            options={
                **FIT,
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            describe="capmap.prose.drift:describe_drift",
        )
    },
)

TRANSFER = Analysis(
    question="Does it carry over to other datasets?",
    tables={
        "transfer": Table(
            "Errors on types of datasets with half of their results known, with and without the "
            "datasets of other types.",
            "tested_on datasets models predictions mse mse_low mse_high mse_alone mse_additive "
            "difference difference_low difference_high",
        )
    },
    figures={
        "transfer": Figure(
            "Errors on types of datasets with half of their results known, with and without the "
            "datasets of other types.",
            draw="capmap.figures.predictions:draw_transfer",
            reads=["transfer"],
        )
    },
    steps={
        "check_transfer": Step(
            "capmap.capabilities.transfer:measure_transfer",
            tables=["transfer"],
            reads=["gaps", "models", "datasets"],
            options={"confidence_level": "bootstrap/confidence", "seed": "bootstrap/seed"},
            describe="capmap.prose.transfer:describe_transfer",
        )
    },
)

# In the order of the page.
ANALYSES = {
    "capabilities": CAPABILITIES,
    "placements": PLACEMENTS,
    "next_results": NEXT_RESULTS,
    "drift": DRIFT,
    "transfer": TRANSFER,
}
