"""Sentences on comparisons of pairs of models."""

from collections.abc import Mapping
from itertools import chain

import pandas as pd

from capmap.claims import BAYESIAN, claim_decisions, claim_pairs
from capmap.prose.words import (
    PER_PAIR,
    format_interval,
    format_span,
    format_value,
    join_names,
    join_sentences,
)
from capmap.settings.choices import DECIDED, POSTERIOR_SAMPLES
from capmap.wording import (
    describe_few,
    format_count,
    format_p,
    format_percent,
    join_words,
    quote_name,
)

OVER = {"runs": "runs", "seeds": "seeds", "runs_and_datasets": "datasets"}
DIFFERENCES = {
    "runs": (
        "Welch-Satterthwaite intervals over runs (independent, about normal; single runs take "
        "their model's pooled variance), which hold for new runs on these datasets, whereas the "
        "tests are over datasets"
    ),
    "seeds": (
        "paired t intervals over seeds (runs of a seed on different datasets move together), which "
        "hold for new seeds on these datasets, whereas the tests are over datasets"
    ),
    "runs_and_datasets": "paired t intervals over datasets",
}
IMPROVEMENTS = {"runs": "runs", "runs_and_datasets": "runs and datasets"}


def describe_pairwise(
    pairwise: pd.DataFrame,
    *,
    reference: str,
    unit: str,
    alpha: float,
    n_resamples: int,
    confidence_level: float,
    rope_setting: float | Mapping[str, float],
) -> list[str]:
    """Say how pairs of models were compared, and what was found.

    Parameters
    ----------
    pairwise : pandas.DataFrame
        The columns of ``comparisons/pairwise.csv``.
    reference : str
        The model whose pairs are told.
    unit : {"runs", "seeds", "runs_and_datasets"}
        What intervals generalize to.
    alpha : float
        Level of the tests.
    n_resamples : int
        Number of bootstrap resamples.
    confidence_level : float
        Of the intervals.
    rope_setting : float or mapping of str to float
        Half-width of the region of practical equivalence, of normalized scores or per metric.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if pairwise.empty:
        return ["With a single model there was no pair to compare."]
    level = format_percent(confidence_level)
    methods = join_sentences(
        _describe_shape(pairwise),
        _describe_differences(pairwise, unit, level),
        "Wilcoxon's signed-rank test (two-sided, zero differences dropped) has Holm's correction "
        "over all pairs and the rank-biserial correlation as effect size.",
        _describe_improvement(pairwise, unit, level, n_resamples),
        _describe_bayes(rope_setting),
        "Datasets are assumed independent and exchangeable. Decisions in the table are of each "
        "pair alone; what is said below allows for the number of pairs.",
    )
    if not pairwise["datasets"].any():
        return [methods, "No two models had a dataset in common."]
    results = join_sentences(
        _describe_significance(pairwise, alpha),
        _describe_largest(pairwise, confidence_level, OVER[unit]),
        _describe_decisions(pairwise, reference, alpha),
    )
    return [methods, results]


def _describe_shape(pairwise: pd.DataFrame) -> str:
    models = pd.unique(pd.concat([pairwise["model_a"], pairwise["model_b"]]))
    pairs = format_count(len(pairwise), "pair")
    shared = format_span(pairwise["datasets"], "dataset")
    unused = pairwise["cells_unused"]
    cells = f"{format_span(unused, 'cell')} per pair" if unused.max() > 0 else "no cell analyzed"
    return (
        f"{format_count(len(models), 'model')} made {pairs}, compared on the {PER_PAIR} ({shared}; "
        f"{cells} left out)."
    )


def _describe_differences(pairwise: pd.DataFrame, unit: str, level: str) -> str:
    if not pairwise["ci_low"].notna().any():
        return "Differences in mean normalized score have no intervals."
    return f"Differences in mean normalized score have {level} {DIFFERENCES[unit]}."


def _describe_improvement(pairwise: pd.DataFrame, unit: str, level: str, n_resamples: int) -> str:
    text = (
        "The probability of improvement is that of a run beating a run of the other model on the "
        "same dataset"
    )
    if not pairwise["p_improvement_low"].notna().any():
        return f"{text}."
    return (
        f"{text}, with {level} percentile intervals over {IMPROVEMENTS[unit]} ({n_resamples:,} "
        "resamples)."
    )


def _describe_bayes(rope_setting: float | Mapping[str, float]) -> str:
    if isinstance(rope_setting, Mapping):
        listed = [f"{quote_name(name)} {width:g}" for name, width in sorted(rope_setting.items())]
        width = f"with a half-width per metric, in its own unit ({join_words(listed)})"
    else:
        width = f"of half-width {rope_setting:g} in normalized score"
    return (
        "The Bayesian signed-rank test (prior strength 0.5 on zero, "
        f"{POSTERIOR_SAMPLES:,} samples) has a "
        f"region of practical equivalence {width} and decides from a posterior probability of "
        f"{format_percent(DECIDED)}; better or worse is only said where Wilcoxon's test "
        "agrees, and equivalent on so many datasets that it could have disagreed."
    )


def _describe_significance(pairwise: pd.DataFrame, alpha: float) -> str:
    tested = pairwise.dropna(subset=["wilcoxon_p_holm"])
    level = format_percent(alpha)
    p = tested["wilcoxon_p_holm"]
    found = len(claim_pairs(pairwise, alpha=alpha))
    few = ""
    if not found:
        few = describe_few(int(tested["datasets"].max()), pairs=len(tested), alpha=alpha)
    if len(pairwise) == 1:
        verb = "differed" if found else "did not differ"
        text = f"The two models {verb} significantly at the {level} level ({format_p(p.iloc[0])})."
        return join_sentences(text, few)
    strangers = len(pairwise) - len(tested)
    return join_sentences(
        few
        or f"Of {format_count(len(tested), 'pair')} tested, {found or 'none'} differed "
        f"significantly at the {level} level after Holm's correction.",
        f"{format_count(strangers, 'pair')} had no dataset in common." if strangers else "",
    )


def _describe_largest(pairwise: pd.DataFrame, confidence_level: float, over: str) -> str:
    known = pairwise.dropna(subset=["mean_difference"])
    row = known.sort_values("mean_difference", key=abs, ascending=False, kind="stable").iloc[0]
    if not row["mean_difference"]:
        return "No pair differed in mean score."
    is_a_better = row["mean_difference"] > 0
    names = [quote_name(row["model_a"]), quote_name(row["model_b"])]
    better, worse = names if is_a_better else names[::-1]
    ends = (row["ci_low"], row["ci_high"]) if is_a_better else (-row["ci_high"], -row["ci_low"])
    # Of many pairs, the interval of the largest would have to allow for its choice.
    interval = ""
    if len(pairwise) == 1:
        interval = format_interval(*ends, confidence_level=confidence_level, over=over)
    mean = format_value(abs(row["mean_difference"]))
    effect = row["effect_size"] if is_a_better else -row["effect_size"]
    chance = row["p_improvement"] if is_a_better else 1 - row["p_improvement"]
    is_partial = row["datasets"] < pairwise["datasets"].max()
    where = f" on {format_count(row['datasets'], 'dataset')}" if is_partial else ""
    is_only = len(pairwise) == 1
    p = "" if is_only else f"corrected {format_p(row['wilcoxon_p_holm'])}, "
    return (
        f"The {'' if is_only else 'largest '}mean difference was {mean}{interval}, of {better} "
        f"over {worse}{where} ({p}effect size {format_value(effect)}, probability of improvement "
        f"{format_value(chance)})."
    )


def _describe_decisions(pairwise: pd.DataFrame, reference: str, alpha: float) -> str:
    own = pairwise[(pairwise["model_a"] == reference) | (pairwise["model_b"] == reference)]
    rivals = own["model_a"].where(own["model_b"] == reference, own["model_b"])
    name = quote_name(reference)
    pairs = len(pairwise)
    found: dict[str, list[str]] = {relation: [] for relation in BAYESIAN}
    for claim in claim_decisions(pairwise, reference=reference, probability=DECIDED, alpha=alpha):
        found[claim.relation].append(claim.object)
    parts = [
        f"{relation.removeprefix('is ')} {join_names(models)}"
        for relation, models in found.items()
        if models
    ]
    allowing = f", allowing for {format_count(pairs, 'pair')}" if pairs > 1 else ""
    level = f"posterior probability {format_percent(DECIDED)}{allowing}"
    decided = f"With {level}, {name} was {join_words(parts)}."
    others = rivals[~rivals.isin(list(chain(*found.values())))]
    at = "" if parts else f" at {level}"
    undecided = f"{name} against {join_names(others)} stayed undecided{at}."
    return join_sentences(decided if parts else "", undecided if len(others) else "")
