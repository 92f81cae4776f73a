"""Sentences on how much the ranking depends on choices."""

import pandas as pd

from capmap.prose.words import (
    PER_MODEL,
    format_count,
    format_percent,
    format_value,
    join_names,
    join_sentences,
    join_words,
    tell_policy,
    tell_unused,
)
from capmap.wording import quote_name

AGGREGATIONS = {
    "mean": "mean",
    "trimmed_mean": "trimmed mean",
    "median": "median",
    "iqm": "interquartile mean",
}
BOUNDS = {
    "configured": "the configured bounds",
    "observed": "the lowest and highest score observed",
    "ranks": "ranks instead of scores",
}


def describe_robustness(
    robustness: pd.DataFrame,
    flips: pd.DataFrame,
    rank_stability: pd.DataFrame,
    *,
    missing: str,
    n_resamples: int,
    cells_unused: int,
) -> list[str]:
    """Say how much the ranking depends on aggregation, normalization and the choice of datasets.

    Parameters
    ----------
    robustness, flips, rank_stability : pandas.DataFrame
        The columns of ``tables/robustness.csv``, ``tables/flips.csv`` and
        ``tables/rank_stability.csv``.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    n_resamples : int
        Number of resamples of datasets.
    cells_unused : int
        Cells with runs that were left out.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if len(rank_stability) < 2:
        return ["With a single model there was no ranking whose robustness could be checked."]
    aggregations = [AGGREGATIONS.get(name, name) for name in robustness["aggregation"].unique()]
    bounds = [BOUNDS.get(name, name) for name in robustness["bounds"].unique()]
    left_out = robustness["left_out"].dropna()
    datasets = left_out[left_out != ""].nunique()
    count = format_count(datasets, "dataset")
    once = f", with all datasets and with each of {count} left out" if datasets else ""
    methods = join_sentences(
        f"The reported ranking was compared with {format_count(len(robustness), 'variation')}: "
        f"aggregation by {join_words(aggregations)}, with {join_words(bounds)}{once}. Agreement "
        "was Kendall's tau-b; a flip is a pair of models in the opposite order.",
        tell_policy(missing, subject="Each model was ranked", own=PER_MODEL),
        tell_unused(cells_unused),
        f"Ranks were also computed in {n_resamples:,} resamples of the datasets, drawn with "
        "replacement and assumed exchangeable. The variations overlap and are no random sample, so "
        "shares of them are no probabilities.",
    )
    results = join_sentences(
        _tell_agreement(robustness),
        _tell_best(robustness),
        _tell_flips(flips, len(rank_stability)),
        _tell_stability(rank_stability),
    )
    return [methods, results]


def _tell_agreement(robustness: pd.DataFrame) -> str:
    known = robustness.dropna(subset=["kendall_tau"])
    if known.empty:
        return "No variation had an order to compare."
    worst = known.sort_values("kendall_tau", kind="stable").iloc[0]
    if worst["kendall_tau"] == known["kendall_tau"].max():
        return f"Kendall's tau was {format_value(worst['kendall_tau'])} in every variation."
    left_out = worst["left_out"]
    without = "" if pd.isna(left_out) or not left_out else f" without {quote_name(left_out)}"
    return (
        f"Kendall's tau had a median of {format_value(known['kendall_tau'].median())} and was "
        f"lowest, {format_value(worst['kendall_tau'])}, by the "
        f"{AGGREGATIONS.get(worst['aggregation'], worst['aggregation'])} with "
        f"{BOUNDS.get(worst['bounds'], worst['bounds'])}{without}."
    )


def _tell_best(robustness: pd.DataFrame) -> str:
    best = robustness["best"].dropna()
    best = best[best != ""]
    if best.empty:
        return ""
    counts = best.value_counts()
    name = min(counts.index[counts == counts.max()])
    variations = format_count(len(best), "variation")
    return f"{quote_name(name)} came first in {counts.max():,} of {variations}."


def _tell_flips(flips: pd.DataFrame, models: int) -> str:
    pairs = format_count(models * (models - 1) // 2, "pair")
    if flips.empty:
        return f"None of {pairs} flipped in any variation."
    row = flips.sort_values(["share", "model_a", "model_b"], ascending=[False, True, True]).iloc[0]
    share = format_percent(round(row["share"], 3))
    return (
        f"{len(flips):,} of {pairs} flipped at least once, most often {quote_name(row['model_a'])} "
        f"(reported above) and {quote_name(row['model_b'])}, in {share} of the "
        "variations."
    )


def _tell_stability(stability: pd.DataFrame) -> str:
    known = stability.dropna(subset=["p_best"])
    if known.empty:
        return ""
    order = known.sort_values(["p_best", "model"], ascending=[False, True])
    row = order.iloc[0]
    tied = order.loc[order["p_best"] == row["p_best"], "model"]
    share = format_percent(round(row["p_best"], 3))
    if len(tied) > 1:
        return f"In resamples of the datasets, {join_names(tied)} were each best in {share}."
    ranks = ""
    if pd.notna(row["rank_low"]):
        ranks = f" (rank {row['rank_low']:.0f} to {row['rank_high']:.0f} in the middle 95%)"
    return (
        f"In resamples of the datasets, {quote_name(row['model'])} was best most often, in {share}"
        f"{ranks}."
    )
