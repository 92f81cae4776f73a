"""Sentences on a leaderboard."""

import pandas as pd

from capmap.prose.words import (
    format_span,
    format_value,
    join_names,
    join_sentences,
    join_some,
    tell_leader,
    tell_no_interval,
)
from capmap.wording import format_count, format_percent, quote_name, share_letter


def describe_leaderboard(
    entries: pd.DataFrame, dimensions: pd.DataFrame, *, complete: float, confidence_level: float
) -> list[str]:
    """Say which entries lead a leaderboard, how sure that is, and what is incomplete.

    Parameters
    ----------
    entries, dimensions : pandas.DataFrame
        The columns of ``leaderboard/entries.csv`` and ``leaderboard/dimensions.csv``.
    complete : float
        Share of the datasets that an entry needs in order to be ranked, from 0 to 1.
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
    need = "every dataset"
    if complete < 1:
        need = f"at least {format_percent(complete)} of the datasets"
    methods = join_sentences(
        "The entries were ranked by the interquartile mean (IQM) of their normalized scores; an "
        f"entry without runs on {need} was not ranked.",
        "Entries of different methods were not ranked against each other."
        if len(set(entries["method"])) > 1
        else "",
    )
    told = [methods]
    for method, own in entries.groupby("method", sort=True):
        labeled = own.assign(model=_label_entries(own), runner=own["model"])
        by_dimension = dimensions[dimensions["method"] == method]
        told.append(_tell_method(str(method), labeled, by_dimension, confidence_level))
    return told


def describe_releases(rank_history: pd.DataFrame) -> list[str]:
    """Say what the current release changed against the one before.

    Parameters
    ----------
    rank_history : pandas.DataFrame
        The columns of ``leaderboard/rank_history.csv``, releases in their order.

    Returns
    -------
    list of str
        One paragraph.

    Notes
    -----
    An entry is new where the release before does not have it at all; it moved where both rank it
    and the ranks differ. Entries go by their display names.
    """
    releases = list(dict.fromkeys(rank_history["release"]))
    if len(releases) < 2:
        return ["There is no former release to compare with."]
    before, now = (
        rank_history[rank_history["release"] == name].set_index("model") for name in releases[-2:]
    )
    new, gone = now.index.difference(before.index), before.index.difference(now.index)
    both = now.assign(rank_before=before["rank"].reindex(now.index))
    both = both.dropna(subset=["rank", "rank_before"])
    moved = both[both["rank"] != both["rank_before"]].sort_values(["method", "rank", "name"])
    told = [
        f"{quote_name(row.name)} from {row.rank_before:.0f} to {row.rank:.0f}"
        for row in moved[["name", "rank_before", "rank"]].itertuples(index=False)
    ]
    return [
        join_sentences(
            f"The current release was compared with the last of "
            f"{format_count(len(releases) - 1, 'former release')}, {quote_name(releases[-2])}.",
            _tell_names("new", now.loc[new, "name"]),
            _tell_names("gone", before.loc[gone, "name"]),
            f"Moved in rank: {join_some(told)}." if told else "No entry that both rank moved.",
        )
    ]


def _tell_names(what: str, names: "pd.Series[str]") -> str:
    return f"{what.capitalize()}: {join_names(names.sort_values())}." if len(names) else ""


def _label_entries(entries: pd.DataFrame) -> list[str]:
    """Names of entries, with what tells them apart where several are called alike."""
    repeated = entries["name"].duplicated(keep=False)
    apart = entries["submission"].where(entries["submission"] != "", entries["model"])
    return [
        f"{name} ({other})" if again else name
        for name, other, again in zip(entries["name"], apart, repeated, strict=True)
    ]


def _tell_method(
    method: str, entries: pd.DataFrame, dimensions: pd.DataFrame, confidence_level: float
) -> str:
    count = format_count(len(entries), "entry", "entries")
    opening = f"With the method {quote_name(method)} ({count}), " if method else f"Of {count}, "
    ranked = entries[entries["complete"]].sort_values(["rank", "model"])
    names = dict(zip(entries["runner"], entries["model"], strict=True))
    if ranked.empty:
        return join_sentences(
            f"{opening}none had runs on enough of the datasets to be ranked.",
            _tell_partial(entries, ranked),
            _tell_dimensions(dimensions, names),
        )
    lead = tell_leader(
        ranked,
        "iqm",
        "the highest IQM",
        total=int(ranked["expected"].iloc[0]),
        confidence_level=confidence_level,
    )
    return join_sentences(
        opening + lead,
        _tell_rivals(ranked, confidence_level),
        _tell_partial(entries, ranked),
        tell_no_interval(ranked),
        _tell_dimensions(dimensions, names),
    )


def _tell_rivals(ranked: pd.DataFrame, confidence_level: float) -> str:
    first, behind = ranked[ranked["rank"] == 1], ranked[ranked["rank"] > 1]
    letters = first["ties"].iloc[0]
    rivals = behind.loc[[share_letter(letters, ties) for ties in behind["ties"]], "model"]
    them = "it" if len(first) == 1 else "them"
    if not rivals.empty:
        return f"{join_names(rivals)} could not be separated from {them}."
    if behind.empty or first["ci_low"].isna().any():
        return ""
    level = format_percent(confidence_level)
    return f"All others were separated from {them} at the {level} level."


def _tell_partial(entries: pd.DataFrame, ranked: pd.DataFrame) -> str:
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


def _tell_dimensions(dimensions: pd.DataFrame, labels: dict[str, str]) -> str:
    """Say who leads each dimension but the first, which holds all datasets."""
    names = dimensions["dimension"].unique()[1:].tolist()
    leaders = dimensions[(dimensions["rank"] == 1) & dimensions["dimension"].isin(names)]
    told = []
    for name in names:
        first = leaders[leaders["dimension"] == name]
        if len(first):
            who = " and ".join(quote_name(labels[model]) for model in first["model"])
            told.append(f"{who} in {quote_name(name)} ({format_value(first['iqm'].iloc[0])})")
    none = len(names) - len(told)
    return join_sentences(
        f"By dimension, the highest IQM was that of {join_some(told)}." if told else "",
        f"{format_count(none, 'dimension')} had no entry with enough datasets." if none else "",
    )
