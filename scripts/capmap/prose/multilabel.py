"""Sentences on classifiers with one label per image where several are valid."""

import pandas as pd

from capmap.prose.words import join_names, join_sentences
from capmap.settings.choices import LabelMetric, Subgroups
from capmap.wording import LABEL_METRICS as TITLES
from capmap.wording import format_count, format_percent, join_words, quote_name

SUMMARIZED = ("top1", "real", "asma")


def describe_multilabel(
    metrics: pd.DataFrame,
    summary: pd.DataFrame,
    rank_shift: pd.DataFrame,
    degradation: pd.DataFrame,
    label_counts: pd.DataFrame,
    *,
    rank_by: LabelMetric,
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say who leads by which metric, and what becomes of the drop between two datasets."""
    if summary.empty:
        return ["No model is evaluated on images with several labels."]
    intervals = "Metrics are taken as published, without intervals."
    if metrics["ci_low"].notna().any():
        intervals = (
            f"Intervals ({format_percent(confidence_level)}) are percentiles of {n_resamples:,} "
            "bootstrap resamples of images."
        )
    methods = join_sentences(
        "Top-1 accuracy asks for the single label of an image; ReaL accuracy accepts any valid "
        "label; ASMA (average subgroup multi-label accuracy) takes as many classes as an image has "
        "labels and averages the share of labels among them over subgroups of images by number of "
        "labels.",
        intervals,
    )
    results = join_sentences(
        _describe_best(summary, rank_by),
        _describe_shift(rank_shift, rank_by),
        _describe_drop(degradation, label_counts, subgroups, confidence_level),
    )
    return [methods, results]


def _describe_best(summary: pd.DataFrame, rank_by: LabelMetric) -> str:
    """Say who is first by top-1 accuracy and by the metric that ranks, on the first dataset."""
    by = [f"{metric}_rank" for metric in dict.fromkeys(["top1", rank_by])]
    by = [column for column in by if column in summary]
    firsts = summary[(summary[by] == 1).any(axis=1)]
    known = firsts.groupby("dataset")[by].count().sum(axis=1)
    name = str(known.idxmax())
    parts = []
    for column in by:
        metric = column.removesuffix("_rank")
        first = firsts[(firsts["dataset"] == name) & (firsts[column] == 1)]
        if len(first):
            value = f"{100 * first[metric].iloc[0]:.2f}%"
            parts.append(f"{join_names(first['model'])} by {TITLES[metric]} ({value})")
    return f"First on {quote_name(name)}: {join_words(parts)}."


def _describe_shift(rank_shift: pd.DataFrame, rank_by: LabelMetric) -> str:
    """Say how many ranks differ from those by top-1 accuracy, on the first dataset with both."""
    asked = rank_shift[(rank_shift["metric_a"] == "top1") & (rank_shift["metric_b"] == rank_by)]
    own = asked[asked["dataset_a"] == asked["dataset_b"]]
    rows = own[own["dataset_a"] == own["dataset_a"].min()]
    if len(rows) < 2:
        return ""
    moved = int((rows["shift"] != 0).sum())
    changes = f"{moved:,} of {format_count(len(rows), 'rank changes', 'ranks change')}"
    return f"{changes if moved else 'No rank changes'} from {TITLES['top1']} to {TITLES[rank_by]}."


def _describe_drop(
    degradation: pd.DataFrame,
    label_counts: pd.DataFrame,
    subgroups: Subgroups,
    confidence_level: float,
) -> str:
    """Say how much each metric falls between two datasets, on average over models."""
    whole = degradation[degradation["subgroup"].isna()]
    is_mean = whole["model"].isna() | (whole["model"] == "")
    rows = {str(row["metric"]): row for _, row in whole[is_mean].iterrows()}
    known = [metric for metric in SUMMARIZED if metric in rows]
    if not known:
        return ""
    first = rows[known[0]]
    if "asma" in known and not _share_subgroups(first, label_counts, subgroups):
        known.remove("asma")
    if not known:
        return ""
    level = ""
    if pd.notna([rows[name]["ci_low"] for name in known]).any():
        level = f" ({format_percent(confidence_level)} intervals)"
    changes = [f"{TITLES[name]} by {_write_drop(rows[name])}" for name in known]
    return (
        f"From {quote_name(first['dataset_a'])} to {quote_name(first['dataset_b'])}, mean drops in "
        f"percentage points{level}: {join_words(changes)}."
    )


def _share_subgroups(row: "pd.Series", label_counts: pd.DataFrame, subgroups: Subgroups) -> bool:
    """Whether the ASMAs of both datasets average the same subgroups, as far as is known."""
    names = [row["dataset_a"], row["dataset_b"]]
    if not all(name in subgroups for name in names):
        return True
    known = label_counts[label_counts["images"] > 0]
    first, second = (
        {*known.loc[known["dataset"] == name, "labels"]} & {*map(str, subgroups[name])}
        for name in names
    )
    return first == second


def _write_drop(row: "pd.Series") -> str:
    drop, low, high = (f"{100 * row[name]:z.2f}" for name in ("difference", "ci_low", "ci_high"))
    return drop if pd.isna(row["ci_low"]) else f"{drop} ({low} to {high})"
