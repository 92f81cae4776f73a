"""Predictions on images with several valid labels."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.multilabel.summaries import (
    DROPS,
    PUBLISHED,
    SHIFTS,
    SUMMARY,
    compare_predictions,
    summarize_metrics,
)
from capmap.wording import LABEL_METRICS

ENDS = ("dataset_a", "dataset_b")


def find_facts(
    summary: pd.DataFrame,
    rank_shift: pd.DataFrame,
    degradation: pd.DataFrame,
    label_counts: pd.DataFrame,
    metrics: pd.DataFrame,
    *,
    rank_by: str,
) -> dict[str, Any]:
    """Who is first, what ranks move, the mean drop between two datasets, and how much is mix."""
    by = [name for name in dict.fromkeys(["top1", rank_by]) if f"{name}_rank" in summary]
    known = summary[by].notna().groupby(summary["dataset"]).any().sum(axis=1)
    dataset = known.idxmax() if len(known) else ""
    own = summary[summary["dataset"] == dataset]
    places = {"metric_a": "top1", "metric_b": rank_by, "dataset_a": dataset, "dataset_b": dataset}
    shifts = rank_shift.loc[(rank_shift[[*places]] == pd.Series(places)).all(axis=1), "shift"]
    drops = _list_drops(degradation, metrics)
    compared = [drops[0][end] for end in ENDS] if drops else []
    is_one = label_counts["labels"].astype("str") == "1"
    shares = label_counts[is_one].set_index("dataset")["share_more"]
    return {
        "dataset": dataset,
        "firsts": [
            (LABEL_METRICS[name], first["model"].tolist(), first[name].iloc[0])
            for name in by
            if len(first := own[own[f"{name}_rank"] == 1])
        ],
        "ranked": len(shifts),
        "moved": int((shifts != 0).sum()),
        "drops": drops,
        "split": [drop for drop in drops if pd.notna(drop["mix"])],
        "several": [(name, shares[name]) for name in compared if name in shares],
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
            " ".join(SUMMARY),
            formats="csv tex",
        ),
        "rank_shift": Table(
            "Dense ranks by one metric and dataset (a) and by another (b), among models with both; "
            "a positive shift is a rise.",
            " ".join(SHIFTS),
        ),
        "degradation": Table(
            "Drop of each metric from the first to the second dataset, and of top-1 and ReaL "
            "accuracy how much of it is label mix (shares of images by number of labels) and how "
            "much is accuracy within groups (at the same number of labels), with intervals over "
            "images; rows without a model are means over models.",
            " ".join(DROPS),
        ),
        "label_counts": Table(
            "Images by number of valid labels.", "dataset labels images share share_more"
        ),
        "metrics": Table("All metrics, with intervals over images.", " ".join(PUBLISHED)),
    },
    figures={
        "label_counts": Figure(
            "Shares of images by their number of valid labels.",
            draw="capmap.figures.multilabel:draw_label_counts",
        ),
        "metric_lines": Figure(
            "Top-1, ReaL and ASMA of each model on two datasets.",
            draw="capmap.figures.multilabel:draw_metric_lines",
        ),
        "metric_rank_shift": Figure(
            "Dense ranks by top-1 accuracy and by the metric that orders the models.",
            draw="capmap.figures.multilabel:draw_metric_rank_shift",
            options={"rank_by": "multilabel/rank_by"},
        ),
        "subgroup_boxes": Figure(
            "ReaL and subgroup accuracy by number of labels, over models, on two datasets.",
            draw="capmap.figures.multilabel:draw_subgroup_boxes",
        ),
        "seed_boxes": Figure(
            "ASMA on composed images by seed, over models.",
            draw="capmap.figures.multilabel:draw_seed_boxes",
        ),
    },
    steps={
        "summarize_metrics": Step(
            summarize_metrics,
            tables=["metrics", "summary", "rank_shift", "label_counts"],
            paths=["scores", "facts", "labels"],
            options={
                "counted": "multilabel/counted",
                "rank_by": "multilabel/rank_by",
                "subgroups": "multilabel/subgroups",
                "images": "multilabel/images",
            },
        ),
        "compare_predictions": Step(
            compare_predictions,
            tables=["degradation"],
            paths=["outcomes"],
            options={
                "compare": "multilabel/compare",
                "subgroups": "multilabel/subgroups",
                "n_resamples": "bootstrap/of_images",
            },
        ),
    },
    find_facts=find_facts,
    meanings={
        "asma": "Average subgroup multi-label accuracy, 0 to 1.",
        "asma_rank": "Rank by ASMA; 1 is best.",
        "images": "Number of images.",
        "mix": "Part of the drop that other shares of images by number of labels make.",
        "mix_high": "Upper end of its interval.",
        "mix_low": "Lower end of its interval.",
        "real": "Share of images whose answer is among the valid labels (ReaL), 0 to 1.",
        "real_rank": "Rank by ReaL; 1 is best.",
        "subgroup": "Number of valid labels of the images.",
        "top1": "Share of images whose first answer is the label, 0 to 1.",
        "top1_rank": "Rank by top-1 accuracy; 1 is best.",
        "value": "Value of the metric, 0 to 1.",
        "value_a": "Value of the metric, or the first one, on the first dataset.",
        "value_b": "Value of the metric, or the second one, on the second dataset.",
        "within": "Part of the drop that other accuracies at the same number of labels make.",
        "within_high": "Upper end of its interval.",
        "within_low": "Lower end of its interval.",
        "degradation.difference": "Value on the first dataset less that on the second.",
        "label_counts.share": "Share of the dataset's images with labels, 0 to 1.",
        "share_more": "Share of these that have more labels, 0 to 1.",
        "rank_shift.rank_a": "Dense rank by the first metric and dataset; 1 is best.",
        "rank_shift.rank_b": "Dense rank by the second metric and dataset; 1 is best.",
        "rank_shift.shift": "First rank less the second; above 0: a rise.",
    },
)
