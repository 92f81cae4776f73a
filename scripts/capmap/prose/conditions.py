"""Sentences on how much the order of models depends on the condition."""

import pandas as pd

from capmap.prose.words import (
    format_count,
    format_interval,
    format_percent,
    format_value,
    join_names,
    join_sentences,
    tell_unused,
)
from capmap.wording import quote_name

LABELS = {"kendall_tau": "Kendall's tau", "spearman_rho": "Spearman's rho"}


def describe_conditions(
    conditions: pd.DataFrame,
    condition_ranks: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say how well the order of models agrees with that of other studies.

    Parameters
    ----------
    conditions, condition_ranks : pandas.DataFrame
        The columns of ``tables/conditions.csv`` and ``tables/condition_ranks.csv``.
    n_resamples : int
        Number of resamples of datasets.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then a paragraph of results per condition.
    """
    if conditions.empty:
        return ["There was no other condition to compare the ranking with."]
    names = conditions["condition"].unique()
    methods = (
        f"The ranking was compared with {format_count(len(names), 'other condition')} "
        f"({join_names(names)}), on the models common to both and the datasets on which all of "
        "these had runs in both, by Kendall's tau-b and Spearman's rho of the ranks. Their "
        f"{format_percent(confidence_level)} intervals came from {n_resamples:,} resamples of the "
        "datasets, the same draws in both conditions, with the runs held as they were; they assume "
        "that the datasets are exchangeable, and are per condition, not simultaneous."
    )
    return [
        methods,
        *(_tell_condition(name, conditions, condition_ranks, confidence_level) for name in names),
    ]


def _tell_condition(
    name: str, conditions: pd.DataFrame, ranks: pd.DataFrame, confidence_level: float
) -> str:
    rows = conditions[conditions["condition"] == name]
    first = rows.iloc[0]
    shape = (
        f"{format_count(first['models'], 'model')} on {format_count(first['datasets'], 'dataset')}"
    )
    known = rows.dropna(subset=["estimate"])
    if known.empty:
        return join_sentences(
            f"With {quote_name(name)} there was no correlation to compute ({shape} in common).",
            tell_unused(first["cells_unused"]),
        )
    parts = [
        f"{LABELS.get(row['statistic'], row['statistic'])} was {format_value(row['estimate'])}"
        + format_interval(row["ci_low"], row["ci_high"], confidence_level=confidence_level)
        for _, row in known.iterrows()
    ]
    return join_sentences(
        f"With {quote_name(name)} ({shape}), {' and '.join(parts)}.",
        _tell_changes(ranks[ranks["condition"] == name]),
        tell_unused(first["cells_unused"]),
    )


def _tell_changes(ranks: pd.DataFrame) -> str:
    moved = ranks[ranks["change"].fillna(0) != 0]
    if moved.empty:
        return "No model changed its rank."
    most = int(moved["change"].abs().max())
    movers = moved.loc[moved["change"].abs() == most, "model"].sort_values()
    changed = format_count(len(moved), "model")
    return (
        f"{changed} changed rank, at most by {format_count(most, 'place')} ({join_names(movers)})."
    )
