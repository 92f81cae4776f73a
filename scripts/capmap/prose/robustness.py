"""Sentences on how much the ranking depends on choices."""

import pandas as pd

from capmap.prose.words import format_share, format_value, join_names, join_sentences
from capmap.wording import AGGREGATION_NAMES, format_count, join_words, quote_name

BOUNDS = {
    "configured": "configured bounds",
    "observed": "observed bounds",
    "ranks": "ranks instead of scores",
}


def describe_robustness(
    robustness: pd.DataFrame, flips: pd.DataFrame, dethroning: pd.DataFrame
) -> list[str]:
    """Say how much the ranking depends on aggregation, normalization and the choice of datasets."""
    if not robustness["models"].max() > 1:
        return ["With a single model there is no ranking whose robustness could be checked."]
    aggregations = [AGGREGATION_NAMES[name] for name in robustness["aggregation"].unique()]
    bounds = [BOUNDS[name] for name in robustness["bounds"].unique()]
    left_out = robustness["left_out"].dropna().ne("").any()
    once = ", and without each dataset in turn" if left_out else ""
    methods = (
        f"The ranking is compared with variations: aggregation by {join_words(aggregations)}, with "
        f"{join_words(bounds)}, on all datasets{once}. Models are ranked on the datasets that they "
        "have. Shares of variations are not probabilities."
    )
    results = join_sentences(
        _describe_best(robustness),
        _describe_agreement(robustness),
        _describe_flips(flips),
        _describe_dethroning(dethroning),
    )
    return [methods, results]


def _describe_best(robustness: pd.DataFrame) -> str:
    best = robustness.loc[robustness["best"] != "", "best"].dropna()
    counts = best.value_counts()
    names = sorted(counts.index[counts == counts.max()])
    verb = "is" if len(names) == 1 else "are each"
    variations = format_count(len(best), "variation")
    return f"{join_names(names)} {verb} first in {counts.max():,} of {variations}."


def _describe_agreement(robustness: pd.DataFrame) -> str:
    known = robustness.dropna(subset=["kendall_tau"])
    if known.empty:
        return ""
    worst = known.sort_values("kendall_tau", kind="stable").iloc[0]
    left_out = worst["left_out"]
    without = "" if pd.isna(left_out) or not left_out else f" without {quote_name(left_out)}"
    return (
        f"Kendall's tau to the ranking is lowest, {format_value(worst['kendall_tau'])}, by the "
        f"{AGGREGATION_NAMES[worst['aggregation']]} with {BOUNDS[worst['bounds']]}{without}."
    )


def _describe_flips(flips: pd.DataFrame) -> str:
    if flips.empty:
        return "No pair changes order in any variation."
    row = flips.sort_values(["share", "model_a", "model_b"], ascending=[False, True, True]).iloc[0]
    changes = format_count(len(flips), "pair changes", "pairs change")
    return (
        f"{changes} order in some variation, most often {quote_name(row['model_a'])} and "
        f"{quote_name(row['model_b'])} ({format_share(row['share'])} of variations)."
    )


def _describe_dethroning(dethroning: pd.DataFrame) -> str:
    if dethroning.empty:
        return "No choice of datasets lets another model reach the leader's mean score."
    row = dethroning.iloc[0]
    leader = quote_name(row["leader"])
    equal = dethroning["removed"].eq(row["removed"]) & dethroning["datasets"].eq(row["datasets"])
    rivals = join_names(dethroning.loc[equal, "model"])
    verb = "reaches" if equal.sum() == 1 else "reach"
    if row["removed"] == 0:
        return f"{rivals} {verb} the mean score of {leader} on all datasets."
    chosen = f"{row['removed']:,} of {format_count(row['datasets'], 'dataset')}"
    return f"Leaving out {chosen}, {rivals} {verb} the mean score of {leader}."
