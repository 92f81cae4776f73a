"""Sentences on tests of ranks."""

import pandas as pd

from capmap.prose.words import (
    format_count,
    format_p,
    format_percent,
    format_value,
    join_names,
    join_sentences,
    share_letter,
    tell_unused,
)
from capmap.wording import quote_name


def describe_rank_tests(
    friedman: pd.DataFrame,
    nemenyi: pd.DataFrame,
    mean_ranks: pd.DataFrame,
    *,
    missing: str,
    alpha: float,
) -> list[str]:
    """Say whether the models' ranks differ, and which models can be separated.

    Parameters
    ----------
    friedman, nemenyi, mean_ranks : pandas.DataFrame
        The columns of ``tables/friedman.csv``, ``tables/nemenyi.csv`` and
        ``tables/mean_ranks.csv``.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    alpha : float
        Level of the tests.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if len(mean_ranks) < 2:
        return ["With a single model there were no ranks to test."]
    level = format_percent(alpha)
    methods = join_sentences(
        "The models were ranked on each dataset by their mean score, ties sharing the average "
        "rank. Friedman's test (chi-squared form, corrected for ties) and the F form of Iman and "
        "Davenport asked whether all models have the same mean rank, on the datasets on which "
        "every model had runs.",
        _tell_incomplete(friedman, missing),
        f"Pairs were compared with Nemenyi's test (studentized range, level {level}), and with "
        "Wilcoxon's signed-rank test with Holm's correction over all pairs.",
        "Datasets were assumed to be independent.",
    )
    results = join_sentences(
        _tell_omnibus(friedman, alpha),
        _tell_leader(mean_ranks),
        _tell_nemenyi(nemenyi),
        _tell_wilcoxon(mean_ranks, alpha),
    )
    return [methods, results]


def _find_test(friedman: pd.DataFrame, test: str) -> "pd.Series | None":
    rows = friedman[(friedman["test"] == test) & friedman["p"].notna()]
    return None if rows.empty else rows.iloc[0]


def _tell_incomplete(friedman: pd.DataFrame, missing: str) -> str:
    if _find_test(friedman, "skillings_mack") is None or missing == "common":
        return ""
    return "The test of Skillings and Mack used the incomplete datasets as well."


def _tell_omnibus(friedman: pd.DataFrame, alpha: float) -> str:
    row, test = _find_test(friedman, "friedman"), _find_test(friedman, "iman_davenport")
    mack = _find_test(friedman, "skillings_mack")
    if row is None and mack is None:
        return "No test of all models together could be computed."
    parts = []
    if row is not None:
        parts.append(
            f"Friedman's chi-squared was {format_value(row['statistic'])} with "
            f"{format_count(row['df1'], 'degree')} of freedom ({format_p(row['p'])}; "
            f"{format_count(row['models'], 'model')}, {format_count(row['datasets'], 'dataset')})."
        )
        parts.append(tell_unused(row["cells_unused"]))
    if test is not None:
        parts.append(
            f"The F statistic was {format_value(test['statistic'])} with {test['df1']:g} and "
            f"{test['df2']:g} degrees of freedom ({format_p(test['p'])})."
        )
    if mack is not None:
        parts.append(
            f"The Skillings-Mack statistic on {format_count(mack['cells_used'], 'cell')} was "
            f"{format_value(mack['statistic'])} with {format_count(mack['df1'], 'degree')} of "
            f"freedom ({format_p(mack['p'])})."
        )
    known = [found["p"] < alpha for found in (row, test, mack) if found is not None]
    return join_sentences(*parts, _tell_verdict(known, format_percent(alpha)))


def _tell_verdict(rejected: list[bool], level: str) -> str:
    if all(rejected):
        return f"At the {level} level, the models' mean ranks differed."
    if any(rejected):
        return f"At the {level} level, these tests disagreed on whether the mean ranks differ."
    return (
        f"At the {level} level, this was no evidence that the mean ranks differ, nor does it show "
        "them to be equal."
    )


def _tell_leader(mean_ranks: pd.DataFrame) -> str:
    ranks = mean_ranks["mean_rank"].round(9)
    best, first = ranks.min(), mean_ranks.loc[ranks == ranks.min(), "model"]
    if not len(first):
        return ""
    verb = "shared" if len(first) > 1 else "had"
    return f"{join_names(first)} {verb} the best mean rank ({format_value(best)})."


def _tell_nemenyi(nemenyi: pd.DataFrame) -> str:
    if nemenyi.empty:
        return "Nemenyi's test needs a dataset that all models have, and there was none."
    separated = int(nemenyi["separated"].astype(bool).sum())
    pairs = format_count(len(nemenyi), "pair")
    distance = format_value(nemenyi["critical_difference"].iloc[0])
    return (
        f"Nemenyi's test separated {separated or 'none'} of {pairs} (critical difference "
        f"{distance}); its verdict on a pair depends on which other models are present."
    )


def _tell_wilcoxon(mean_ranks: pd.DataFrame, alpha: float) -> str:
    letters = mean_ranks["wilcoxon_group"]
    if not letters.dropna().astype(bool).any():
        return ""
    leader = mean_ranks.iloc[0]
    rivals = [
        model
        for model, own in zip(mean_ranks["model"].iloc[1:], letters.iloc[1:], strict=True)
        if share_letter(leader["wilcoxon_group"], own)
    ]
    level = format_percent(alpha)
    who = join_names(rivals) if rivals else "no other model"
    could = "could not be separated" if rivals else "remained inseparable"
    return (
        f"By Wilcoxon's test after Holm's correction, {who} {could} from "
        f"{quote_name(leader['model'])} at the {level} level."
    )
