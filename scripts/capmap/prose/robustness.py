"""Sentences on how much the ranking depends on choices."""

import pandas as pd

from capmap.prose.words import (
    format_share,
    format_value,
    join_names,
    join_sentences,
)
from capmap.wording import (
    AGGREGATION_NAMES,
    format_count,
    join_words,
    quote_name,
    spell_statistic,
)

BOUNDS = {
    "configured": "the configured bounds",
    "observed": "the observed bounds",
    "ranks": "ranks instead of scores",
}


def describe_robustness(
    robustness: pd.DataFrame,
    flips: pd.DataFrame,
    dethroning: pd.DataFrame,
) -> list[str]:
    """Say how much the ranking depends on aggregation, normalization and the choice of datasets.

    Parameters
    ----------
    robustness, flips, dethroning : pandas.DataFrame
        The columns of the tables of these names.

    Returns
    -------
    list of str
        Methods, then results.
    """
    models = robustness["models"].max()
    if not models > 1:
        return ["With a single model there was no ranking whose robustness could be checked."]
    aggregations = [spell_statistic(name) for name in robustness["aggregation"].unique()]
    bounds = [BOUNDS[name] for name in robustness["bounds"].unique()]
    left_out = robustness["left_out"].dropna()
    datasets = left_out[left_out != ""].nunique()
    once = f" and without each of {format_count(datasets, 'dataset')}" if datasets else ""
    methods = join_sentences(
        f"The reported ranking was compared with {format_count(len(robustness), 'variation')}: "
        f"aggregation by {join_words(aggregations)}, with {join_words(bounds)}, on all datasets"
        f"{once}. Shares of variations are not probabilities.",
        "Each model was ranked on the datasets that it had runs on.",
    )
    results = join_sentences(
        _describe_agreement(robustness),
        _describe_best(robustness),
        _describe_flips(flips, int(models)),
        _describe_dethroning(dethroning),
    )
    return [methods, results]


def _describe_dethroning(dethroning: pd.DataFrame) -> str:
    if dethroning.empty:
        return (
            "No model reaches the leader's mean score on any choice of the datasets that both have."
        )
    row = dethroning.iloc[0]
    leader = quote_name(row["leader"])
    equal = dethroning["removed"].eq(row["removed"]) & dethroning["datasets"].eq(row["datasets"])
    rivals = join_names(dethroning.loc[equal, "model"])
    if row["removed"] == 0:
        verb = "is" if equal.sum() == 1 else "are"
        return f"By mean score {rivals} {verb} level with or ahead of {leader}."
    return (
        f"Leaving out {row['removed']:,} chosen ones of {format_count(row['datasets'], 'dataset')} "
        f"lets {rivals} reach the mean score of {leader}."
    )


def _describe_agreement(robustness: pd.DataFrame) -> str:
    known = robustness.dropna(subset=["kendall_tau"])
    if known.empty:
        return "No variation had an order to compare."
    worst = known.sort_values("kendall_tau", kind="stable").iloc[0]
    if worst["kendall_tau"] == known["kendall_tau"].max():
        return f"Kendall's tau-b was {format_value(worst['kendall_tau'])} in every variation."
    left_out = worst["left_out"]
    without = "" if pd.isna(left_out) or not left_out else f" without {quote_name(left_out)}"
    return (
        f"Kendall's tau-b had a median of {format_value(known['kendall_tau'].median())} and was "
        f"lowest, {format_value(worst['kendall_tau'])}, by the "
        f"{AGGREGATION_NAMES[worst['aggregation']]} with {BOUNDS[worst['bounds']]}{without}."
    )


def _describe_best(robustness: pd.DataFrame) -> str:
    best = robustness.loc[robustness["best"] != "", "best"].dropna()
    counts = best.value_counts()
    names = sorted(counts.index[counts == counts.max()])
    each = " each" if len(names) > 1 else ""
    variations = format_count(len(best), "variation")
    return f"{join_names(names)}{each} came first in {counts.max():,} of {variations}."


def _describe_flips(flips: pd.DataFrame, models: int) -> str:
    pairs = format_count(models * (models - 1) // 2, "pair")
    if flips.empty:
        return f"None of {pairs} changed order in any variation."
    row = flips.sort_values(["share", "model_a", "model_b"], ascending=[False, True, True]).iloc[0]
    by_dataset = flips.loc[flips["left_out"] != "", "left_out"].count()
    return (
        f"{len(flips):,} of {pairs} changed order at least once, most often "
        f"{quote_name(row['model_a'])} (ranked higher) and {quote_name(row['model_b'])}, in "
        f"{format_share(row['share'])} of variations; leaving out one dataset alone did so for "
        f"{by_dataset or 'none'}."
    )
