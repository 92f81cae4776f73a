"""Predictions on images with several valid labels."""

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.multilabel.comparisons import compare_predictions
from capmap.multilabel.published import read_metrics
from capmap.multilabel.rankings import summarize_metrics

ANALYSIS = Analysis(
    question="What changes once several labels are right?",
    position=180,
    folder="multilabel",
    tables={
        "summary": Table(
            "Top-1, ReaL and average subgroup multi-label accuracy (ASMA) of each model on each "
            "dataset, averaged over seeds, with dense ranks: models with equal values share a "
            "rank and no rank is left out. Where numbers of images are given, ranks that rounding"
            " hides are counted.",
            "model dataset top1 real asma top1_rank real_rank asma_rank seeds",
            formats="csv tex",
        ),
        "rank_shift": Table(
            "Ranks by one metric on one dataset (a) and by another metric or on another dataset "
            "(b), among the models that have both; a positive shift is a rise. Ranks are dense, "
            "as in the summary; competition ranks, which leave out ranks after a tie, stand "
            "beside them.",
            "model metric_a dataset_a metric_b dataset_b value_a value_b rank_a rank_b shift "
            "competition_a competition_b competition_shift",
        ),
        "degradation": Table(
            "Each metric on the first dataset less that on the second one, with intervals over "
            "images; the rows without a model are means over models.",
            "model metric subgroup dataset_a dataset_b value_a value_b difference ci_low ci_high "
            "paired images",
        ),
        "differences": Table(
            "Differences between models on the same images, with intervals over images.",
            "model_a model_b dataset metric difference ci_low ci_high images",
        ),
        "label_counts": Table(
            "How many images have how many valid labels.",
            "dataset labels images share",
        ),
        "metrics": Table(
            "Every metric of each model, dataset and seed, with intervals over images.",
            "model dataset seed metric subgroup value ci_low ci_high images",
        ),
    },
    figures={
        "metric_lines": Figure(
            "Top-1, ReaL and ASMA of every model on two datasets, and the difference below.",
            draw="capmap.figures.multilabel:draw_metric_lines",
            reads=["summary", "degradation"],
        ),
        "metric_rank_shift": Figure(
            "Dense ranks by top-1 accuracy and by the metric that orders the models; the largest "
            "shifts are named.",
            draw="capmap.figures.multilabel:draw_metric_rank_shift",
            reads=["rank_shift", "degradation", "metrics"],
            options={
                "rank_by": "multilabel/rank_by",
            },
        ),
        "label_counts": Figure(
            "Shares of images by their number of valid labels.",
            draw="capmap.figures.multilabel:draw_label_counts",
            reads=["label_counts"],
        ),
        "subgroup_boxes": Figure(
            "ReaL accuracy and subgroup accuracy by number of labels, over models, on two "
            "datasets.",
            draw="capmap.figures.multilabel:draw_subgroup_boxes",
            reads=["metrics", "degradation"],
        ),
    },
    steps={
        "read_metrics": Step(
            read_metrics,
            reads=["exported"],
            paths=["scores"],
            files={
                "evaluated": "multilabel/evaluated.parquet",
            },
        ),
        "compare_predictions": Step(
            compare_predictions,
            tables=["differences", "degradation"],
            reads=["evaluated"],
            paths=["outcomes"],
            options={
                "compare": "multilabel/compare",
                "order": "predictions/order",
                "rank_by": "multilabel/rank_by",
                "subgroups": "multilabel/subgroups",
                "n_resamples": "bootstrap/of_images",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
        ),
        "summarize_metrics": Step(
            summarize_metrics,
            tables=["metrics", "summary", "rank_shift", "label_counts"],
            reads=["evaluated", "degradation"],
            paths=["facts", "labels"],
            options={
                "counted": "multilabel/counted",
                "rank_by": "multilabel/rank_by",
                "subgroups": "multilabel/subgroups",
                "n_resamples": "bootstrap/of_images",
                "confidence_level": "bootstrap/confidence",
                "images": "multilabel/images",
            },
        ),
    },
    meanings={
        "asma": "Average subgroup multi-label accuracy, 0 to 1.",
        "asma_rank": "Rank by ASMA; 1 is best.",
        "competition_a": "Competition rank by the first metric and dataset; 1 is best.",
        "competition_b": "Competition rank by the second metric and dataset; 1 is best.",
        "competition_shift": "First competition rank less the second; above 0: a rise.",
        "images": "Number of images.",
        "paired": "Whether both datasets have the same images.",
        "real": "Share of images whose answer is among the valid labels (ReaL), 0 to 1.",
        "real_rank": "Rank by ReaL; 1 is best.",
        "subgroup": "Number of valid labels of the images.",
        "top1": "Share of images whose first answer is the label, 0 to 1.",
        "top1_rank": "Rank by top-1 accuracy; 1 is best.",
        "value": "Value of the metric, 0 to 1.",
        "value_a": "Value on the first dataset.",
        "value_b": "Value on the second dataset.",
        "degradation.difference": "Value on the first dataset less that on the second.",
        "differences.difference": "Value of the first model less that of the second.",
        "label_counts.share": "Share of the dataset's images, 0 to 1.",
        "rank_shift.rank_a": "Dense rank by the first metric and dataset; 1 is best.",
        "rank_shift.rank_b": "Dense rank by the second metric and dataset; 1 is best.",
        "rank_shift.shift": "First rank less the second; above 0: a rise.",
        "rank_shift.value_a": "Value of the first metric on the first dataset.",
        "rank_shift.value_b": "Value of the second metric on the second dataset.",
    },
)
