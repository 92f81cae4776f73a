"""Sentences on a leaderboard."""

import pandas as pd

from capmap.claims import find_rivals, has_letters, label_entries
from capmap.prose.words import (
    describe_leader,
    describe_no_interval,
    format_span,
    format_value,
    join_names,
    join_sentences,
    join_some,
)
from capmap.wording import (
    find_statistic,
    format_count,
    format_percent,
    name_first,
    quote_name,
    spell_statistic,
)


def describe_leaderboard(
    entries: pd.DataFrame, dimensions: pd.DataFrame, *, confidence_level: float
) -> list[str]:
    """Say which entries lead a leaderboard, how sure that is, and what is incomplete.

    Parameters
    ----------
    entries, dimensions : pandas.DataFrame
        The columns of ``leaderboard/entries.csv`` and ``leaderboard/dimensions.csv``.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then a paragraph of results per method.

    Notes
    -----
    An entry goes by its display name; where a method has several of that name, its submission
    follows, or its model where there is none.
    """
    methods = join_sentences(
        f"The entries were ranked by the {spell_statistic(find_statistic(entries.columns))} of "
        f"their normalized scores; an entry without runs on every dataset was not ranked.",
        "Entries of different methods were not ranked against each other."
        if len(set(entries["method"])) > 1
        else "",
    )
    paragraphs = [methods]
    for method, own in entries.groupby("method", sort=True):
        labeled = own.assign(model=label_entries(own), runner=own["model"])
        by_dimension = dimensions[dimensions["method"] == method]
        paragraphs.append(_describe_method(str(method), labeled, by_dimension, confidence_level))
    return paragraphs


def describe_releases(rank_history: pd.DataFrame) -> list[str]:
    """Say what the current release changed against the one before.

    Parameters
    ----------
    rank_history : pandas.DataFrame
        The columns of ``comparisons/rank_history.csv``, releases in their order.

    Returns
    -------
    list of str
        One paragraph.

    Notes
    -----
    An entry is new where the release before does not have it at all; it moved where both rank it
    and the ranks differ, if only because another entry came or went. Entries go by their display
    names; where several have one name, the model follows.
    """
    releases = list(dict.fromkeys(rank_history["release"]))
    if len(releases) < 2:
        return ["There is no former release to compare with."]
    before, now = (
        rank_history[rank_history["release"] == name].set_index("model", drop=False)
        for name in releases[-2:]
    )
    return [
        join_sentences(
            f"The current release was compared with the last of "
            f"{format_count(len(releases) - 1, 'former release')}, {quote_name(releases[-2])}.",
            *_describe_changes(before, now),
        )
    ]


def _describe_changes(before: pd.DataFrame, now: pd.DataFrame) -> list[str]:
    """Say what is new, gone, ranked and moved; both releases are indexed by model."""
    every = pd.concat([now, before]).drop_duplicates("model").assign(submission="")
    labels = dict(zip(every["model"], label_entries(every), strict=True))
    both = now[now.index.isin(before.index)]
    both = both.assign(rank_before=before["rank"].reindex(both.index))
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
    kept = both[is_ranked & was_ranked]
    moved = kept[kept["rank"] != kept["rank_before"]].sort_values(["method", "rank", "name"])
    moves = [
        f"{quote_name(labels[row.model])} from {row.rank_before:.0f} to {row.rank:.0f}"
        for row in moved[["model", "rank_before", "rank"]].itertuples(index=False)
    ]
    last = f"Moved in rank: {join_some(moves)}." if moves else "No entry that both rank moved."
    return [*sentences, last]


def _describe_method(
    method: str, entries: pd.DataFrame, dimensions: pd.DataFrame, confidence_level: float
) -> str:
    count = format_count(len(entries), "entry", "entries")
    opening = f"With the method {quote_name(method)} ({count}), " if method else f"Of {count}, "
    ranked = entries[entries["complete"]].sort_values(["rank", "model"])
    names = dict(zip(entries["runner"], entries["model"], strict=True))
    if ranked.empty:
        return join_sentences(
            f"{opening}none had runs on enough of the datasets to be ranked.",
            _describe_partial(entries, ranked),
            _describe_dimensions(dimensions, names),
        )
    statistic = find_statistic(ranked.columns)
    lead = describe_leader(
        ranked,
        statistic,
        name_first(statistic),
        total=int(ranked["expected"].iloc[0]),
        confidence_level=confidence_level,
    )
    return join_sentences(
        opening + lead,
        _describe_rivals(ranked, confidence_level),
        _describe_partial(entries, ranked),
        describe_no_interval(ranked),
        _describe_dimensions(dimensions, names),
    )


def _describe_rivals(ranked: pd.DataFrame, confidence_level: float) -> str:
    """Say from whom the leaders could not be separated; those without an interval are left out."""
    is_compared = ranked["tie_group"].map(has_letters).astype(bool)
    first, behind = ranked[ranked["rank"] == 1], ranked[(ranked["rank"] > 1) & is_compared]
    rivals = find_rivals(ranked)
    them = f"{'it' if len(first) == 1 else 'them'} ({format_percent(confidence_level)} confidence)"
    if rivals:
        return f"{join_names(rivals)} could not be separated from {them}."
    if behind.empty or not is_compared[first.index].all():
        return ""
    sure = " with an interval" if len(behind) < len(ranked) - len(first) else ""
    others = f"All other ranked entries{sure} were"
    if len(behind) == 1:
        others = f"{quote_name(behind['model'].iloc[0])} was"
    return f"{others} separated from {them}."


def _describe_partial(entries: pd.DataFrame, ranked: pd.DataFrame) -> str:
    partial = entries[~entries["complete"]]
    if partial.empty:
        return ""
    spans = format_span(partial["datasets"], "dataset")
    names = join_names(partial["model"].sort_values())
    verb = "is" if len(partial) == 1 else "are"
    if ranked.empty:
        return f"{names} {verb} shown with {spans} of {partial['expected'].iloc[0]:,}."
    count = format_count(len(partial), "entry", "entries")
    return (
        f"{count} with runs on {spans} of {partial['expected'].iloc[0]:,} {verb} shown without a "
        f"rank: {names}."
    )


def _describe_dimensions(dimensions: pd.DataFrame, labels: dict[str, str]) -> str:
    """Say who leads each dimension but the first, which holds all datasets."""
    names = dimensions["dimension"].unique()[1:].tolist()
    statistic = find_statistic(dimensions.columns)
    first_in, unsure = [], []
    for name in names:
        ranked = dimensions[(dimensions["dimension"] == name) & dimensions["rank"].notna()]
        first = ranked[ranked["rank"] == 1]
        if len(first):
            who = " and ".join(quote_name(labels[model]) for model in first["model"])
            first_in.append(
                f"{who} in {quote_name(name)} ({format_value(first[statistic].iloc[0])})"
            )
        if find_rivals(ranked):
            unsure.append(quote_name(name))
    none = len(names) - len(first_in)
    return join_sentences(
        f"By dimension, {name_first(statistic)} was that of {join_some(first_in)}."
        if first_in
        else "",
        f"In {join_some(unsure)}, others could not be separated from the first." if unsure else "",
        f"{format_count(none, 'dimension')} had no entry with enough datasets." if none else "",
    )
