"""Sentences on a leaderboard."""

import pandas as pd

from capmap.claims import claim_ranking, find_rivals, label_entries
from capmap.prose.words import format_value, join_names, join_sentences, join_some
from capmap.wording import (
    find_statistic,
    format_count,
    format_percent,
    name_first,
    quote_name,
    spell_statistic,
)

SHOWN_METHODS = 3


def describe_leaderboard(entries: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say which entries lead a leaderboard, and how sure that is.

    An entry goes by its display name; where a method has several of that name, its submission
    follows, or its model where there is none.
    """
    statistic = find_statistic(entries.columns)
    methods = (
        f"Entries are ranked within each method by the {spell_statistic(statistic)} of their "
        "normalized scores; an entry without runs on every dataset has no rank. Differences are "
        f"tested at {format_percent(confidence_level)} confidence, allowing for all pairs of a "
        "method."
    )
    parts = [*entries.groupby("method", sort=True)]
    unranked = int((~entries["complete"].astype(bool)).sum())
    rest = len(parts) - SHOWN_METHODS
    results = join_sentences(
        *(_describe_method(str(method), own) for method, own in parts[:SHOWN_METHODS]),
        f"{format_count(rest, 'more method')} are in the table." if rest > 0 else "",
        f"{format_count(unranked, 'entry has', 'entries have')} no rank." if unranked else "",
    )
    return [methods, *([results] if results else [])]


def _describe_method(method: str, entries: pd.DataFrame) -> str:
    opening = f"With the method {quote_name(method)}, " if method else ""
    labeled = entries.assign(model=label_entries(entries))
    ranked = labeled[labeled["complete"].astype(bool)].sort_values(["rank", "model"])
    if ranked.empty:
        return f"{opening}no entry is complete." if method else "No entry is complete."
    statistic = find_statistic(ranked.columns)
    first = ranked.loc[ranked["rank"] == ranked["rank"].min()]
    verb, them = ("has", "it") if len(first) == 1 else ("share", "them")
    lead = (
        f"{opening}{join_names(first['model'])} {verb} {name_first(statistic)}, "
        f"{format_value(first[statistic].iloc[0])}"
    )
    if rivals := find_rivals(ranked):
        return f"{lead}; {join_names(rivals)} cannot be separated from {them}."
    if len(claim_ranking(ranked)) == len(ranked) - len(first) > 0:
        return f"{lead}, separated from all others."
    return f"{lead}."


def describe_releases(rank_history: pd.DataFrame) -> list[str]:
    """Say what the current release changes against the one before.

    An entry moves where both releases rank it and the ranks differ, if only because another entry
    comes or goes. Entries go by their display names; where several have one name, the model
    follows.
    """
    releases = list(dict.fromkeys(rank_history["release"]))
    if len(releases) < 2:
        return ["There is no former release to compare with."]
    before, now = (
        rank_history[rank_history["release"] == name].set_index("model", drop=False)
        for name in releases[-2:]
    )
    methods = f"The current release is compared with the one before, {quote_name(releases[-2])}."
    return [methods, join_sentences(*_describe_changes(before, now))]


def _describe_changes(before: pd.DataFrame, now: pd.DataFrame) -> list[str]:
    """Say what is new, gone and moved; both releases are indexed by model."""
    every = pd.concat([now, before]).drop_duplicates("model").assign(submission="")
    labels = dict(zip(every["model"], label_entries(every), strict=True))
    both = now.assign(rank_before=before["rank"].reindex(now.index))
    both = both[both.index.isin(before.index)]
    is_ranked, was_ranked = both["rank"].notna(), both["rank_before"].notna()
    lists = {
        "New": now.index.difference(before.index),
        "Gone": before.index.difference(now.index),
        "Now ranked": both.index[is_ranked & ~was_ranked],
        "No longer ranked": both.index[~is_ranked & was_ranked],
    }
    sentences = [
        f"{what}: {join_names(sorted(labels[model] for model in models))}."
        for what, models in lists.items()
        if len(models)
    ]
    both = both[is_ranked & was_ranked]
    moved = both[both["rank"] != both["rank_before"]].sort_values(["method", "rank", "name"])
    moves = [
        f"{quote_name(labels[row.model])} from {row.rank_before:.0f} to {row.rank:.0f}"
        for row in moved[["model", "rank_before", "rank"]].itertuples(index=False)
    ]
    last = f"Changed rank: {join_some(moves)}." if moves else "No entry changes its rank."
    return [*sentences, last]
