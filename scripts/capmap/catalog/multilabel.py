"""The analysis of predictions on images with several valid labels."""

from capmap.catalog.declarations import Analysis, Figure, Step, Table

MULTILABEL = Analysis(
    question="What changes once several labels are right?",
    folder="multilabel",
    tables={
        "summary": Table(
            "Top-1, ReaL and average subgroup multi-label accuracy (ASMA) of each model on "
            "each dataset, averaged over seeds, with dense ranks: models with equal values share "
            "a rank and no rank is left out. Where numbers of images are given, ranks that "
            "rounding hides are counted.",
            "model dataset top1 real asma top1_rank real_rank asma_rank seeds",
        ),
        "rank_shift": Table(
            "Ranks by one metric on one dataset (a) and by another metric or on another dataset "
            "(b), among the models that have both; a positive shift is a rise. Ranks are dense, as "
            "in the summary; competition ranks, which leave out ranks after a tie, stand beside "
            "them.",
            "model metric_a dataset_a metric_b dataset_b value_a value_b rank_a rank_b shift "
            "competition_a competition_b competition_shift",
        ),
        "degradation": Table(
            "Each metric on the first dataset less that on the second one, with intervals "
            "over images; the rows without a model are means over models.",
            "model metric subgroup dataset_a dataset_b value_a value_b difference ci_low "
            "ci_high paired images",
        ),
        "differences": Table(
            "Differences between models on the same images, with intervals over images.",
            "model_a model_b dataset metric difference ci_low ci_high images",
        ),
        "label_counts": Table(
            "How many images have how many valid labels.", "dataset labels images share"
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
            options={"rank_by": "multilabel/rank_by"},
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
            "capmap.multilabel.published:read_metrics",
            reads=["exported"],
            paths=["scores"],
            files={"evaluated": "multilabel/evaluated.parquet"},
        ),
        "compare_predictions": Step(
            "capmap.multilabel.comparisons:compare_predictions",
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
            "capmap.multilabel.rankings:summarize_metrics",
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
            describe="capmap.prose.multilabel:describe_multilabel",
        ),
    },
)

# In the order of the page.
ANALYSES = {
    "multilabel": MULTILABEL,
}
