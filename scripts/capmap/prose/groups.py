"""Sentences on rankings by groups of datasets."""

import pandas as pd

from capmap.prose.words import (
    format_count,
    format_interval,
    format_percent,
    format_span,
    format_value,
    join_names,
    join_sentences,
    share_letter,
    tell_no_interval,
    tell_unused,
)
from capmap.wording import quote_name

RULES = {
    "drop_models": "models without runs on one of its datasets were left out",
    "drop_datasets": "datasets without runs of one of the models were left out",
    "keep": "every model was kept and measured on the datasets that it had",
    "error": "every model had to have runs on each of its datasets",
}


def describe_groups(
    groups: pd.DataFrame,
    group_coverage: pd.DataFrame,
    *,
    confidence_level: float,
    n_resamples: int,
) -> list[str]:
    """Say which models lead each group of datasets.

    Parameters
    ----------
    groups, group_coverage : pandas.DataFrame
        The columns of ``tables/groups.csv`` and ``tables/group_coverage.csv``.
    confidence_level : float
        Of the intervals, between 0 and 1.
    n_resamples : int
        Number of bootstrap replicates.

    Returns
    -------
    list of str
        Methods, then a paragraph of results per group.
    """
    if groups.empty:
        return ["No groups of datasets were defined."]
    names = groups["group"].unique()
    spans = format_span(group_coverage["datasets"], "dataset")
    each = "" if len(names) == 1 else " each"
    methods = (
        f"The models were ranked within {format_count(len(names), 'group')} ({spans}{each}) by "
        "the interquartile mean (IQM) of their normalized scores, with "
        f"{format_percent(confidence_level)} intervals from {n_resamples:,} bootstrap replicates. "
        "The intervals are per model and group, without correction for the number of groups, and "
        "groups of few datasets separate little."
    )
    return [
        methods,
        *(_tell_group(name, groups, group_coverage, confidence_level) for name in names),
    ]


def _tell_group(
    name: str, groups: pd.DataFrame, coverage: pd.DataFrame, confidence_level: float
) -> str:
    own = groups[groups["group"] == name].sort_values(["rank", "model"])
    leader = own.iloc[0]
    first = own.loc[own["rank"] == leader["rank"], "model"].tolist()
    interval = format_interval(
        leader["ci_low"], leader["ci_high"], confidence_level=confidence_level
    )
    if len(own) == 1:
        lead = f"{quote_name(first[0])} was the only model, with an IQM of "
    elif len(first) > 1:
        lead, interval = f"{join_names(first)} shared the highest IQM, ", ""
    else:
        lead = f"{quote_name(first[0])} had the highest IQM, "
    return join_sentences(
        f"In the group {quote_name(name)} ({format_count(len(own), 'model')}), "
        f"{lead}{format_value(leader['iqm'])}{interval}.",
        _tell_rivals(own, first),
        _tell_coverage(coverage[coverage["group"] == name]),
        tell_no_interval(own),
    )


def _tell_rivals(own: pd.DataFrame, first: list[str]) -> str:
    letters = own["ties"].iloc[0]
    rivals = [
        model
        for model, ties in zip(own["model"], own["ties"], strict=True)
        if model not in first and share_letter(letters, ties)
    ]
    if not rivals:
        return ""
    could = "could not be separated from it" if len(first) == 1 else "could not be separated"
    return f"{join_names(rivals)} {could}."


def _tell_coverage(coverage: pd.DataFrame) -> str:
    if coverage.empty:
        return ""
    row = coverage.iloc[0]
    dropped = [
        format_count(row[f"{thing}s_dropped"], thing)
        for thing in ("dataset", "model")
        if row[f"{thing}s_dropped"] > 0
    ]
    loss = f" ({' and '.join(dropped)})" if dropped else ""
    rule = RULES.get(row["incomplete"], str(row["incomplete"]))
    return f"By its rule, {rule}{loss}. {tell_unused(row['cells_unused'])}"
