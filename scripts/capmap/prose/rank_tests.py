"""Sentences on tests of ranks."""

import pandas as pd

from capmap.claims import claim_mean_ranks, claim_nemenyi, claim_wilcoxon
from capmap.prose.words import count_of, format_value, join_names, join_sentences
from capmap.wording import (
    MOST_LETTERED,
    describe_few,
    format_count,
    format_p,
    format_percent,
    join_words,
)

FEWEST_RANKED = 3


def describe_rank_tests(
    friedman: pd.DataFrame,
    nemenyi: pd.DataFrame,
    mean_ranks: pd.DataFrame,
    *,
    alpha: float,
) -> list[str]:
    """Say whether mean ranks differ, and which models can be separated."""
    if len(mean_ranks) < 2:
        return ["With a single model there are no ranks to test."]
    pairs = [
        *(["Nemenyi's test"] if len(nemenyi) else []),
        *(
            ["Wilcoxon's signed-rank test with Holm's correction over all pairs"]
            if len(mean_ranks) <= MOST_LETTERED
            else []
        ),
    ]
    level = format_percent(alpha)
    tests = [
        text
        for name, text in (
            ("friedman", "Friedman's test"),
            ("skillings_mack", "the test of Skillings and Mack, which allows empty cells"),
        )
        if ((friedman["test"] == name) & friedman["p"].notna()).any()
    ]
    methods = join_sentences(
        "Models are ranked on each dataset by mean score; ties have average ranks.",
        f"All models together are tested by {join_words(tests)}." if tests else "",
        f"Pairs are compared by {join_words(pairs)}, at the {level} level." if pairs else "",
        "Datasets are assumed independent.",
    )
    if mean_ranks["mean_rank"].isna().all():
        return [methods, "No two models have a dataset in common."]
    results = join_sentences(
        _describe_all(friedman, alpha),
        _describe_first(mean_ranks, alpha),
        _describe_nemenyi(nemenyi, alpha),
    )
    return [methods, results]


def _describe_all(friedman: pd.DataFrame, alpha: float) -> str:
    known = friedman.dropna(subset="p")
    if known.empty or known["models"].max() < FEWEST_RANKED:
        return ""
    row, level = known.iloc[0], format_percent(alpha)
    what = f"the mean ranks of {format_count(row['models'], 'model')}"
    if claim_mean_ranks(friedman, alpha=alpha):
        largest = format_p(known["p"].max())
        return f"On datasets like these, {what} differ significantly ({largest}; {level} level)."
    return f"On datasets like these, {what} do not differ significantly ({level} level)."


def _describe_first(mean_ranks: pd.DataFrame, alpha: float) -> str:
    ranks = mean_ranks["mean_rank"].round(9)
    is_first = ranks == ranks.min()
    leaders = join_names(mean_ranks.loc[is_first, "model"])
    verb, them = ("share", "them") if is_first.sum() > 1 else ("has", "it")
    lead = f"{leaders} {verb} the best mean rank, {format_value(ranks.min())}"
    if len(mean_ranks) > MOST_LETTERED or is_first.all():
        return f"{lead}."
    separated = {claim.object for claim in claim_wilcoxon(mean_ranks, alpha=alpha)}
    rivals = mean_ranks.loc[~is_first & ~mean_ranks["model"].isin(separated), "model"]
    pairs = len(mean_ranks) * (len(mean_ranks) - 1) // 2
    few = describe_few(int(mean_ranks["datasets"].max()), pairs=pairs, alpha=alpha)
    if few and not separated:
        return f"{lead}."
    if rivals.empty:
        return f"{lead}; Wilcoxon's test separates every other model from {them}."
    return f"{lead}; Wilcoxon's test does not separate {join_names(rivals)} from {them}."


def _describe_nemenyi(nemenyi: pd.DataFrame, alpha: float) -> str:
    if len(nemenyi) < FEWEST_RANKED:
        return ""
    separated = len(claim_nemenyi(nemenyi, alpha=alpha))
    distance = format_value(nemenyi["critical_difference"].iloc[0])
    return (
        f"Nemenyi's test separates {count_of(separated, len(nemenyi), 'pair')} (critical "
        f"difference {distance})."
    )
