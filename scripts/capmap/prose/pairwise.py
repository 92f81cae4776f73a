"""Sentences on comparisons of pairs of models."""

from collections.abc import Mapping

import pandas as pd

from capmap.prose.words import (
    PER_PAIR,
    format_count,
    format_interval,
    format_p,
    format_percent,
    format_span,
    format_value,
    join_names,
    join_sentences,
    join_words,
    tell_policy,
)
from capmap.wording import quote_name

FEW_DATASETS = 5
DECISIONS = {
    "reference better": "better than {}",
    "model better": "worse than {}",
    "equivalent": "practically equivalent to {}",
}


def describe_pairwise(
    pairwise: pd.DataFrame,
    rope: pd.DataFrame,
    *,
    missing: str,
    reference: str,
    probability: float,
    n_samples: int,
    n_resamples: int,
    confidence_level: float,
    rope_setting: float | Mapping[str, float],
) -> list[str]:
    """Say how pairs of models were compared, and what was found.

    Parameters
    ----------
    pairwise, rope : pandas.DataFrame
        The columns of ``tables/pairwise.csv`` and ``tables/rope.csv``.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    reference : str
        The model that others are compared with where `rope` has no row to name it.
    probability : float
        From which posterior probability on something counts as decided.
    n_samples, n_resamples : int
        Number of Monte Carlo samples of the Bayesian test and of bootstrap resamples.
    confidence_level : float
        Of the intervals; one minus it is the level of the tests.
    rope_setting : float or mapping of str to float
        Half-width of the region of practical equivalence, of normalized scores or per metric.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if pairwise.empty:
        return ["With a single model there was no pair to compare."]
    methods = join_sentences(
        _tell_shape(pairwise, missing),
        _tell_tests(n_resamples, confidence_level),
        _tell_bayes(rope_setting, n_samples, probability),
        "Datasets were assumed to be independent and exchangeable. Intervals, effect sizes and "
        "posterior probabilities are per pair, without correction for the number of pairs.",
    )
    results = join_sentences(
        _tell_significance(pairwise, 1 - confidence_level),
        _tell_largest(pairwise, confidence_level),
        _tell_decisions(rope, reference, probability),
        _tell_sensitivity(rope),
        _warn_of_few(pairwise),
    )
    return [methods, results]


def _tell_shape(pairwise: pd.DataFrame, missing: str) -> str:
    models = pd.unique(pd.concat([pairwise["model_a"], pairwise["model_b"]]))
    subject = "They were compared" if len(pairwise) == 1 else "Each pair was compared"
    strangers = int((pairwise["datasets"] == 0).sum())
    unused = pairwise["cells_unused"]
    cost = "; no cell with runs was left out."
    if unused.max() > 0:
        cells = format_span(unused, "cell")
        cost = f", which left out {cells} (a model on a dataset with runs) per pair."
    policy = tell_policy(missing, subject=subject, own=PER_PAIR).removesuffix(".")
    shared = format_span(pairwise["datasets"], "dataset")
    without = ""
    if strangers:
        without = f"{format_count(strangers, 'pair')} had no dataset in common and no result."
    return join_sentences(
        f"{format_count(len(models), 'model')} made {format_count(len(pairwise), 'pair')}.",
        f"{policy} ({shared}){cost}",
        without,
    )


def _tell_tests(n_resamples: int, confidence_level: float) -> str:
    level = format_percent(confidence_level)
    return (
        "The mean difference was the mean over datasets of the difference of mean normalized "
        f"scores, with a {level} t interval. Wilcoxon's signed-rank test (two-sided, zero "
        "differences dropped) was applied to the differences per dataset, with Holm's correction "
        "over all pairs, and the matched-pairs rank-biserial correlation as effect size. The "
        "probability of improvement, that a run of one model beats a run of the other on the same "
        f"dataset, had {level} percentile intervals from {n_resamples:,} bootstrap resamples."
    )


def _tell_bayes(
    rope_setting: float | Mapping[str, float], n_samples: int, probability: float
) -> str:
    if isinstance(rope_setting, Mapping):
        listed = [f"{quote_name(name)} {width:g}" for name, width in sorted(rope_setting.items())]
        width = f"with a half-width per metric, in its own unit ({join_words(listed)})"
    else:
        width = f"of half-width {rope_setting:g} in normalized score"
    return (
        "The Bayesian signed-rank test (Dirichlet process with prior strength 0.5 on a zero "
        f"difference, {n_samples:,} Monte Carlo samples) used a region of practical equivalence "
        f"{width}; a verdict needed a posterior probability of {format_percent(probability)}."
    )


def _tell_significance(pairwise: pd.DataFrame, alpha: float) -> str:
    tested = pairwise.dropna(subset=["wilcoxon_p_holm"])
    if tested.empty:
        return "No pair could be tested."
    level = format_percent(round(alpha, 6))
    found = int((tested["wilcoxon_p_holm"] < alpha).sum())
    if len(tested) == 1:
        p = format_p(tested["wilcoxon_p_holm"].iloc[0])
        verb = "differed" if found else "did not differ"
        who = "The two models" if len(pairwise) == 1 else "The one pair tested"
        return f"{who} {verb} significantly at the {level} level ({p})."
    pairs = format_count(len(tested), "pair")
    return (
        f"Of {pairs} tested, {found or 'none'} differed significantly at the {level} level "
        "after Holm's correction."
    )


def _tell_largest(pairwise: pd.DataFrame, confidence_level: float) -> str:
    known = pairwise.dropna(subset=["mean_difference"])
    if known.empty:
        return ""
    row = known.sort_values("mean_difference", key=abs, ascending=False, kind="stable").iloc[0]
    if not row["mean_difference"]:
        return "No pair differed in mean score."
    is_a_better = row["mean_difference"] > 0
    names = [quote_name(row["model_a"]), quote_name(row["model_b"])]
    better, worse = names if is_a_better else names[::-1]
    low, high = (
        (row["ci_low"], row["ci_high"]) if is_a_better else (-row["ci_high"], -row["ci_low"])
    )
    interval = format_interval(low, high, confidence_level=confidence_level)
    mean = format_value(abs(row["mean_difference"]))
    p = format_p(row["wilcoxon_p_holm"])
    which = "The mean difference" if len(pairwise) == 1 else "The largest mean difference"
    return (
        f"{which} was {mean}{interval}, of {better} over {worse} "
        f"(corrected {p}{_tell_effect(row, is_a_better)})."
    )


def _tell_effect(row: "pd.Series", is_a_better: bool) -> str:
    if pd.isna(row["effect_size"]) or pd.isna(row["p_improvement"]):
        return ""
    effect = row["effect_size"] if is_a_better else -row["effect_size"]
    chance = row["p_improvement"] if is_a_better else 1 - row["p_improvement"]
    return (
        f", effect size {format_value(effect)}, probability of improvement {format_value(chance)}"
    )


def _tell_decisions(rope: pd.DataFrame, reference: str, probability: float) -> str:
    own = rope[rope["factor"] == 1]
    if own.empty:
        return ""
    name = own["reference"].iloc[0] or reference
    parts = [
        text.format(join_names(own.loc[own["decision"] == decision, "model"]))
        for decision, text in DECISIONS.items()
        if (own["decision"] == decision).any()
    ]
    level = format_percent(probability)
    open_ = own.loc[~own["decision"].isin(DECISIONS), "model"]
    return join_sentences(
        f"With posterior probability {level} or more, {quote_name(name)} was {join_words(parts)}."
        if parts
        else "",
        f"Between {quote_name(name)} and {join_names(open_)} nothing was decided at {level}."
        if len(open_)
        else "",
    )


def _tell_sensitivity(rope: pd.DataFrame) -> str:
    verdicts = rope.groupby("model")["decision"].nunique()
    if verdicts.empty or rope["factor"].nunique() < 2:
        return ""
    low, high = rope["factor"].min(), rope["factor"].max()
    changed = verdicts.index[verdicts > 1].sort_values().tolist()
    span = f"when the region was made {low:g} to {high:g} times as wide"
    if not changed:
        return f"No verdict changed {span}."
    verdict = "verdict" if len(changed) == 1 else "verdicts"
    return f"The {verdict} on {join_names(changed)} changed {span}."


def _warn_of_few(pairwise: pd.DataFrame) -> str:
    most = int(pairwise["datasets"].max())
    if not 0 < most <= FEW_DATASETS:
        return ""
    smallest = 2.0 ** (1 - most)
    return (
        f"With {format_count(most, 'dataset')} the signed-rank test cannot give a p-value below "
        f"{format_value(smallest)} before correction."
    )
