"""Sentences on tests of ranks."""

import pandas as pd

from capmap.claims import claim_mean_ranks, claim_nemenyi, claim_wilcoxon
from capmap.prose.words import (
    describe_unused,
    format_value,
    join_names,
    join_sentences,
    join_some,
    name_covered,
)
from capmap.wording import (
    MOST_LETTERED,
    describe_few,
    format_count,
    format_p,
    format_percent,
    join_words,
)


def describe_rank_tests(
    friedman: pd.DataFrame,
    nemenyi: pd.DataFrame,
    mean_ranks: pd.DataFrame,
    *,
    alpha: float,
) -> list[str]:
    """Say whether the models' ranks differ, and which models can be separated.

    Parameters
    ----------
    friedman, nemenyi, mean_ranks : pandas.DataFrame
        The columns of ``comparisons/friedman.csv``, ``comparisons/nemenyi.csv`` and
        ``comparisons/mean_ranks.csv``.
    alpha : float
        Level of the tests.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if len(mean_ranks) < 2:
        return ["With a single model there were no ranks to test."]
    wilcoxon = "Wilcoxon's signed-rank test with Holm's correction over all pairs"
    pairs = [
        *(["Nemenyi's test"] if len(nemenyi) else []),
        *([wilcoxon] if len(mean_ranks) <= MOST_LETTERED else []),
    ]
    level = format_percent(alpha)
    methods = join_sentences(
        "The models were ranked on each dataset by mean score (average ranks for ties).",
        _describe_tests(friedman),
        f"Pairs were compared by {join_words(pairs)}, at the {level} level." if pairs else "",
        "Datasets were assumed independent.",
    )
    results = join_sentences(
        _describe_omnibus(friedman, alpha),
        _describe_first(mean_ranks),
        _describe_nemenyi(nemenyi, alpha),
        _describe_wilcoxon(mean_ranks, alpha),
    )
    return [methods, results]


def _find_test(friedman: pd.DataFrame, test: str) -> "pd.Series | None":
    rows = friedman[(friedman["test"] == test) & friedman["p"].notna()]
    return None if rows.empty else rows.iloc[0]


def _describe_tests(friedman: pd.DataFrame) -> str:
    has_mack = _find_test(friedman, "skillings_mack") is not None
    if _find_test(friedman, "friedman") is None:
        mack = "The test of Skillings and Mack used all datasets on which several models had runs."
        return mack if has_mack else ""
    incomplete = "; that of Skillings and Mack used the incomplete datasets as well"
    return (
        "Friedman's chi-squared test (corrected for ties) "
        f"used the datasets on which every model had runs{incomplete if has_mack else ''}."
    )


def _describe_omnibus(friedman: pd.DataFrame, alpha: float) -> str:
    row = _find_test(friedman, "friedman")
    mack = _find_test(friedman, "skillings_mack")
    if row is None and mack is None:
        return "No test of all models together could be computed."
    parts = []
    if row is not None:
        shape = (
            f"{format_count(row['models'], 'model')}, {format_count(row['datasets'], 'dataset')}"
        )
        parts.append(
            f"Friedman's chi-squared was {format_value(row['test_statistic'])} with "
            f"{format_count(row['df'], 'degree')} of freedom ({format_p(row['p'])}; {shape})."
        )
        parts.append(describe_unused(row["cells_unused"]) if row["cells_unused"] else "")
    if mack is not None:
        parts.append(
            f"The Skillings-Mack statistic on {format_count(mack['cells_used'], 'cell')} was "
            f"{format_value(mack['test_statistic'])} with {format_count(mack['df'], 'degree')} of "
            f"freedom ({format_p(mack['p'])})."
        )
    rejected = [found["p"] < alpha for found in (row, mack) if found is not None]
    level = format_percent(alpha)
    if claim_mean_ranks(friedman, alpha=alpha):
        verdict = f"At the {level} level, the mean ranks differed."
    elif friedman["models"].max() == 2:
        verdict = "Of two models only Wilcoxon's test says whether they differ."
    elif any(rejected):
        verdict = f"At the {level} level, these tests disagreed on whether the mean ranks differ."
    else:
        verdict = (
            f"At the {level} level, this is no evidence of different mean ranks, nor of equal ones."
        )
    return join_sentences(*parts, verdict)


def _describe_first(mean_ranks: pd.DataFrame) -> str:
    ranks = mean_ranks["mean_rank"].round(9)
    if ranks.isna().all():
        return "No two models had a dataset in common."
    first = mean_ranks[ranks == ranks.min()]
    total = mean_ranks["datasets"].max()
    names = [
        name_covered(name, datasets, total)
        for name, datasets in zip(first["model"], first["datasets"], strict=True)
    ]
    verb = "shared" if len(names) > 1 else "had"
    return f"{join_some(names)} {verb} the best mean rank, {format_value(ranks.min())}."


def _describe_nemenyi(nemenyi: pd.DataFrame, alpha: float) -> str:
    if nemenyi.empty:
        return "Nemenyi's test needs a dataset that all models have, and there was none."
    if len(nemenyi) == 1:
        return "Nemenyi's test is for three models or more."
    separated = len(claim_nemenyi(nemenyi, alpha=alpha))
    pairs = format_count(len(nemenyi), "pair")
    distance = format_value(nemenyi["critical_difference"].iloc[0])
    return (
        f"Nemenyi's test separated {separated or 'none'} of {pairs} (critical difference "
        f"{distance}); that depends on which other models are present."
    )


def _describe_wilcoxon(mean_ranks: pd.DataFrame, alpha: float) -> str:
    if mean_ranks["mean_rank"].isna().all() or len(mean_ranks) > MOST_LETTERED:
        return ""
    is_first = mean_ranks["mean_rank"] == mean_ranks["mean_rank"].min()
    leaders = join_names(mean_ranks.loc[is_first, "model"])
    pairs = len(mean_ranks) * (len(mean_ranks) - 1) // 2
    few = describe_few(int(mean_ranks["datasets"].max()), pairs=pairs, alpha=alpha)
    separated = {claim.object for claim in claim_wilcoxon(mean_ranks, alpha=alpha)}
    rivals = mean_ranks.loc[~is_first & ~mean_ranks["model"].isin(separated), "model"]
    if is_first.all() or (few and not separated):
        return few
    if rivals.empty:
        found = f"every other model was separated from {leaders}"
    else:
        found = f"{join_names(rivals)} could not be separated from {leaders}"
    return f"By Wilcoxon's test after Holm's correction, {found}."
