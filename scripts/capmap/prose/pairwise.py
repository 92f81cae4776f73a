"""Sentences on comparisons of pairs of models."""

from collections.abc import Mapping

import pandas as pd

from capmap.claims import BAYESIAN, claim_decisions, claim_pairs
from capmap.prose.words import (
    count_of,
    format_interval,
    format_value,
    join_names,
    join_sentences,
)
from capmap.settings.choices import DECIDED, POSTERIOR_SAMPLES
from capmap.wording import describe_few, format_p, format_percent, join_words, quote_name

DIFFERENCES = {
    "runs": "Welch-Satterthwaite intervals over runs",
    "seeds": "paired t intervals over seeds",
    "runs_and_datasets": "paired t intervals over datasets",
}


def describe_pairwise(
    pairwise: pd.DataFrame,
    *,
    reference: str,
    unit: str,
    alpha: float,
    confidence_level: float,
    rope_setting: float | Mapping[str, float],
) -> list[str]:
    """Say how pairs of models are compared, and which differ."""
    if pairwise.empty:
        return ["With a single model there is no pair to compare."]
    width = "per metric" if isinstance(rope_setting, Mapping) else f"of {rope_setting:g}"
    level = format_percent(confidence_level)
    methods = join_sentences(
        "Pairs are compared on the datasets that both models have, by Wilcoxon's signed-rank test "
        "over datasets with Holm's correction over all pairs.",
        f"Mean differences in normalized score have {level} {DIFFERENCES[unit]}."
        if pairwise["ci_low"].notna().any()
        else "",
        f"The Bayesian signed-rank test ({POSTERIOR_SAMPLES:,} samples) has a region of practical "
        f"equivalence {width} and needs a posterior probability of "
        f"{format_percent(DECIDED)}, allowing for all pairs.",
    )
    if not pairwise["datasets"].any():
        return [methods, "No two models have a dataset in common."]
    tested = pairwise.dropna(subset="wilcoxon_p_holm")
    few = describe_few(int(tested["datasets"].max()), pairs=len(tested), alpha=alpha)
    found = len(claim_pairs(pairwise, alpha=alpha))
    results = join_sentences(
        few if few and not found else _describe_significance(found, tested, alpha),
        _describe_largest(pairwise, confidence_level, alpha),
        _describe_decisions(pairwise, reference, alpha),
    )
    return [methods, results]


def _describe_significance(found: int, tested: pd.DataFrame, alpha: float) -> str:
    level = format_percent(alpha)
    if len(tested) == 1:
        verb = "differ" if found else "do not differ"
        return f"On datasets like these, the two models {verb} significantly ({level} level)."
    return (
        f"On datasets like these, {count_of(found, len(tested), 'pair')} differ significantly "
        f"({level} level, Holm's correction)."
    )


def _describe_largest(pairwise: pd.DataFrame, confidence_level: float, alpha: float) -> str:
    known = pairwise.dropna(subset=["mean_difference"])
    row = known.sort_values("mean_difference", key=abs, ascending=False, kind="stable").iloc[0]
    if not row["mean_difference"]:
        return "No pair differs in mean score."
    names = [quote_name(row["model_a"]), quote_name(row["model_b"])]
    ends = [row["ci_low"], row["ci_high"]]
    if row["mean_difference"] < 0:
        names, ends = names[::-1], [-ends[1], -ends[0]]
    # Of many pairs, the interval of the largest would have to allow for its choice.
    note, largest = "", "largest "
    if len(pairwise) == 1:
        largest = ""
        note = format_interval(*ends, confidence_level=confidence_level)
    elif not describe_few(int(row["datasets"]), pairs=len(pairwise), alpha=alpha):
        note = f" (corrected {format_p(row['wilcoxon_p_holm'])})"
    size = format_value(abs(row["mean_difference"]))
    return f"The {largest}mean difference is {size}, of {names[0]} over {names[1]}{note}."


def _describe_decisions(pairwise: pd.DataFrame, reference: str, alpha: float) -> str:
    found: dict[str, list[str]] = {relation: [] for relation in BAYESIAN}
    for claim in claim_decisions(pairwise, reference=reference, probability=DECIDED, alpha=alpha):
        found[claim.relation].append(claim.object)
    parts = [f"{relation} {join_names(models)}" for relation, models in found.items() if models]
    name = quote_name(reference)
    if not parts:
        return f"The Bayesian test decides no comparison with {name}."
    return f"By the Bayesian test, {name} {join_words(parts)}."
