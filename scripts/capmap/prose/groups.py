"""Sentences on rankings by groups of datasets."""

import pandas as pd

from capmap.claims import find_rivals
from capmap.prose.words import (
    describe_leader,
    describe_no_interval,
    describe_unused,
    format_span,
    join_names,
    join_sentences,
)
from capmap.wording import (
    find_statistic,
    format_count,
    format_percent,
    join_words,
    name_first,
    quote_name,
    spell_statistic,
)

RULES = {
    "drop_models": "every model had to have runs on each of its datasets",
    "drop_datasets": "every dataset had to have runs of each model",
    "adjust": "every model was kept that had runs on its datasets, with expected scores elsewhere",
    "error": "every model had to have runs on each of its datasets",
}
UNITS = {"runs": "runs", "seeds": "seeds", "runs_and_datasets": "runs and datasets"}


def describe_groups(
    groups: pd.DataFrame,
    group_coverage: pd.DataFrame,
    *,
    interval: str,
    unit: str,
    confidence_level: float,
    n_resamples: int,
) -> list[str]:
    """Say which models lead each group of datasets.

    Parameters
    ----------
    groups, group_coverage : pandas.DataFrame
        The columns of ``comparisons/groups.csv`` and ``comparisons/group_coverage.csv``; at least
        one group.
    interval : {"percentile", "calibrated"}
        Kind of interval.
    unit : {"runs", "seeds", "runs_and_datasets"}
        What intervals generalize to.
    confidence_level : float
        Of the intervals, between 0 and 1.
    n_resamples : int
        Number of bootstrap replicates.

    Returns
    -------
    list of str
        Methods, then a paragraph of results per group.
    """
    names = groups["group"].unique()
    spans = format_span(group_coverage["datasets"], "dataset")
    intervals = ""
    if groups["ci_low"].notna().any():
        resamples = f"{n_resamples:,} bootstrap replicates"
        source = "Student's t" if interval == "calibrated" else resamples
        intervals = (
            f"The {format_percent(confidence_level)} {interval} intervals over "
            f"{UNITS[unit]} come from {source}, without correction for the number of groups."
        )
    statistic = spell_statistic(find_statistic(groups.columns))
    methods = join_sentences(
        f"The models were ranked within {format_count(len(names), 'group')} ({spans}"
        f"{'' if len(names) == 1 else ' each'}) by the {statistic} of their normalized scores.",
        intervals,
    )
    over = UNITS[unit]
    return [
        methods,
        *(_describe_group(name, groups, group_coverage, confidence_level, over) for name in names),
    ]


def _describe_group(
    name: str, groups: pd.DataFrame, coverage: pd.DataFrame, confidence_level: float, over: str
) -> str:
    own = groups[groups["group"] == name].sort_values(["rank", "model"])
    row = coverage[coverage["group"] == name].iloc[0]
    statistic = find_statistic(own.columns)
    lead = describe_leader(
        own,
        statistic,
        name_first(statistic),
        total=row["datasets"],
        confidence_level=confidence_level,
        over=over,
    )
    return join_sentences(
        f"In the group {quote_name(name)} ({format_count(len(own), 'model')}), {lead}",
        _describe_rivals(own),
        _describe_coverage(row),
        describe_no_interval(own),
    )


def _describe_rivals(own: pd.DataFrame) -> str:
    rivals = find_rivals(own)
    if not rivals:
        return ""
    them = "it" if own["rank"].eq(own["rank"].min()).sum() == 1 else "them"
    return f"{join_names(rivals)} could not be separated from {them}."


def _describe_coverage(row: "pd.Series") -> str:
    dropped = [
        format_count(row[f"{thing}s_dropped"], thing)
        for thing in ("dataset", "model")
        if row[f"{thing}s_dropped"] > 0
    ]
    unused = describe_unused(row["cells_unused"])
    if not dropped:
        return unused
    return f"By its rule, {RULES[row['incomplete']]} ({join_words(dropped)} left out). {unused}"
