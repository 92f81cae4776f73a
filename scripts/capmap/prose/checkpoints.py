"""Sentences on checkpoints: how they are chosen, what the choice is worth, and who leads."""

import pandas as pd

from capmap.prose.words import format_value, join_sentences, join_some
from capmap.wording import format_count, quote_name

SHOWN_RANKINGS = 2


def describe_checkpoints(
    selected: pd.DataFrame,
    checkpoint_rankings: pd.DataFrame,
    ranking_agreement: pd.DataFrame,
    *,
    split: str,
    report: str,
) -> list[str]:
    """Say how checkpoints are chosen, which ones lead, and whether the choice is worth it."""
    stamp = selected["stamp"].iloc[0]
    compared = "by the same values, which flatters them"
    if report != split:
        compared = f"on the split {quote_name(report)}"
    where = f" on the split {quote_name(split)}" if split else ""
    methods = join_sentences(
        f"Of each of {format_count(len(selected), 'training')}, the checkpoint with the best value"
        f"{where} is chosen (ties: the earliest) and compared {compared}. The best of several "
        "exceeds their mean even by noise alone.",
        f"Caution: they are {stamp}, so no split is left to judge them by." if stamp else "",
    )
    rankings = [*checkpoint_rankings.groupby("ranking", sort=False)]
    rest = len(rankings) - SHOWN_RANKINGS
    results = join_sentences(
        *(_describe_ranking(str(name), rows) for name, rows in rankings[:SHOWN_RANKINGS]),
        f"The table has {format_count(rest, 'more ranking')}." if rest > 0 else "",
        _describe_gains(selected) if report != split else "",
        _describe_agreement(ranking_agreement),
    )
    return [methods, results or "No training has a choice between checkpoints."]


def _describe_gains(selected: pd.DataFrame) -> str:
    """Say in how many trainings the chosen checkpoint beats the last where it is compared."""
    gains = selected.loc[selected["checkpoints"] > 1, "gain_report"].dropna()
    if gains.empty:
        return "No training has a choice between checkpoints."
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    return (
        f"The choice is better than the last checkpoint in {better} and worse in {worse} of "
        f"{format_count(len(gains), 'training')}."
    )


def _describe_agreement(agreement: pd.DataFrame) -> str:
    """Say which two rankings are least alike."""
    known = agreement.dropna(subset="kendall_tau").sort_values("kendall_tau", kind="stable")
    if known.empty:
        return ""
    row = known.iloc[0]
    return (
        f"Kendall's tau is lowest, {row['kendall_tau']:.2f}, between {quote_name(row['ranking_a'])}"
        f" and {quote_name(row['ranking_b'])}."
    )


def _describe_ranking(name: str, rows: pd.DataFrame) -> str:
    first = rows[rows["rank"] == 1]
    if first.empty:
        return f"In the ranking {quote_name(name)}, no checkpoint has a score."
    leaders = [
        f"{quote_name(row['model'])} (checkpoint {quote_name(str(row['checkpoint']))})"
        for _, row in first.iterrows()
    ]
    verb = "leads" if len(first) == 1 else "share the lead"
    score = format_value(first["score"].iloc[0])
    return f"In the ranking {quote_name(name)}, {join_some(leaders)} {verb} with {score}."
