"""Predictions on images with several valid labels."""

from typing import Any

import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.multilabel.comparisons import compare_predictions
from capmap.multilabel.gathering import read_metrics
from capmap.multilabel.rankings import summarize_metrics
from capmap.wording import LABEL_METRICS

ENDS = ("dataset_a", "dataset_b")


def find_facts(
    metrics: pd.DataFrame,
    summary: pd.DataFrame,
    rank_shift: pd.DataFrame,
    degradation: pd.DataFrame,
    *,
    rank_by: str,
) -> dict[str, Any]:
    """Who is first by top-1 accuracy and by what ranks, and the mean drop between two datasets."""
    by = [name for name in dict.fromkeys(["top1", rank_by]) if f"{name}_rank" in summary]
    known = summary[by].notna().groupby(summary["dataset"]).any().sum(axis=1)
    dataset = known.idxmax() if len(known) else ""
    own = summary[summary["dataset"] == dataset]
    places = {"metric_a": "top1", "metric_b": rank_by, "dataset_a": dataset, "dataset_b": dataset}
    shifts = rank_shift.loc[(rank_shift[[*places]] == pd.Series(places)).all(axis=1), "shift"]
    return {
        "dataset": dataset,
        "firsts": [
            (LABEL_METRICS[name], first["model"].tolist(), first[name].iloc[0])
            for name in by
            if len(first := own[own[f"{name}_rank"] == 1])
        ],
        "ranked": len(shifts),
        "moved": int((shifts != 0).sum()),
        "drops": _list_drops(degradation, metrics),
        "has_intervals": bool(metrics["ci_low"].notna().any()),
        "ranks": LABEL_METRICS[rank_by],
    }


def _list_drops(degradation: pd.DataFrame, metrics: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean drops by metric; ASMA only where both datasets have the same subgroups."""
    parts = metrics[metrics["metric"] == "subgroup"].groupby("dataset")["subgroup"].agg(set)
    means = degradation[degradation["subgroup"].isna() & (degradation["model"].fillna("") == "")]
    rows: dict[str, Any] = {row["metric"]: row for row in means.to_dict("records")}
    first, second = (parts.get(rows["asma"][end]) if "asma" in rows else None for end in ENDS)
    shown = ("top1", "real", "asma") if first == second else ("top1", "real")
    return [{**rows[name], "metric": LABEL_METRICS[name]} for name in shown if name in rows]


ANALYSIS = Analysis(
    question="What changes once several labels are right?",
    position=180,
    folder="multilabel",
    tables={
        "summary": Table(
            "Top-1, ReaL and average subgroup multi-label accuracy (ASMA) of each model on each "
            "dataset, mean over seeds, with dense ranks. With numbers of images, ranks that "
            "rounding hides are counted.",
            "model dataset top1 real asma top1_rank real_rank asma_rank seeds",
            formats="csv tex",
        ),
        "rank_shift": Table(
            "Dense and competition ranks by one metric and dataset (a) and by another (b), among "
            "models with both; a positive shift is a rise.",
            "model metric_a dataset_a metric_b dataset_b value_a value_b rank_a rank_b shift "
            "competition_a competition_b competition_shift",
        ),
        "degradation": Table(
            "Drop of each metric from the first to the second dataset, with intervals over "
            "images; rows without a model are means over models.",
            "model metric subgroup dataset_a dataset_b value_a value_b difference ci_low ci_high "
            "paired images",
        ),
        "differences": Table(
            "Differences between models on the same images, with intervals over images.",
            "model_a model_b dataset metric difference ci_low ci_high images",
        ),
        "label_counts": Table(
            "Images by number of valid labels.",
            "dataset labels images share",
        ),
        "metrics": Table(
            "Metrics by model, dataset and seed, with intervals over images.",
            "model dataset seed metric subgroup value ci_low ci_high images",
        ),
    },
    figures={
        "metric_lines": Figure(
            "Top-1, ReaL and ASMA of each model on two datasets; below, the difference.",
            draw="capmap.figures.multilabel:draw_metric_lines",
            reads=["summary", "degradation"],
        ),
        "metric_rank_shift": Figure(
            "Dense ranks by top-1 accuracy and by the metric that orders the models.",
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
            "ReaL and subgroup accuracy by number of labels, over models, on two datasets.",
            draw="capmap.figures.multilabel:draw_subgroup_boxes",
            reads=["metrics", "degradation"],
        ),
    },
    steps={
        "read_metrics": Step(
            read_metrics,
            reads=["exported"],
            paths=["scores"],
            files={"evaluated": "multilabel/evaluated.parquet"},
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
    find_facts=find_facts,
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
        "value_a": "Value of the metric, or the first one, on the first dataset.",
        "value_b": "Value of the metric, or the second one, on the second dataset.",
        "degradation.difference": "Value on the first dataset less that on the second.",
        "differences.difference": "Value of the first model less that of the second.",
        "label_counts.share": "Share of the dataset's images, 0 to 1.",
        "rank_shift.rank_a": "Dense rank by the first metric and dataset; 1 is best.",
        "rank_shift.rank_b": "Dense rank by the second metric and dataset; 1 is best.",
        "rank_shift.shift": "First rank less the second; above 0: a rise.",
    },
)
