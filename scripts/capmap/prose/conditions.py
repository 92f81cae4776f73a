"""Sentences on how much the order of models depends on the condition."""

import pandas as pd

from capmap.prose.words import (
    describe_unused,
    format_interval,
    format_value,
    join_names,
    join_sentences,
)
from capmap.wording import (
    format_count,
    format_percent,
    join_words,
    quote_name,
)

COEFFICIENTS = {"kendall_tau": "Kendall's tau-b", "spearman_rho": "Spearman's rho"}


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
        The columns of ``comparisons/conditions.csv`` and ``comparisons/condition_ranks.csv``; at
        least one condition.
    n_resamples : int
        Number of resamples of datasets.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then a paragraph of results per condition.
    """
    names = conditions["condition"].unique()
    intervals = ""
    if conditions["ci_low"].notna().any():
        intervals = (
            f"The {format_percent(confidence_level)} intervals, not simultaneous, were percentiles "
            f"of {n_resamples:,} resamples of the datasets (assumed exchangeable), stretched where "
            "they would miss the estimate."
        )
    methods = join_sentences(
        f"The ranking was compared with {format_count(len(names), 'other condition')} "
        f"({join_names(names)}). The models that both have were ranked anew on the datasets that "
        "both have, by the IQM of cells that have runs in both.",
        intervals,
        "Coefficients and intervals are those of rankings on as many datasets and runs, whose "
        "noise alone lowers them where conditions agree."
        if conditions["estimate"].notna().any()
        else "",
    )
    return [
        methods,
        *(
            _describe_condition(name, conditions, condition_ranks, confidence_level)
            for name in names
        ),
    ]


def _describe_condition(
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
            describe_unused(first["cells_unused"]),
        )
    parts = [
        f"{COEFFICIENTS[row['statistic']]} was {format_value(row['estimate'])}"
        + format_interval(
            row["ci_low"], row["ci_high"], confidence_level=confidence_level, over="datasets"
        )
        for _, row in known.iterrows()
    ]
    return join_sentences(
        f"With {quote_name(name)} ({shape}), {join_words(parts)}.",
        _describe_changes(ranks[ranks["condition"] == name]),
        describe_unused(first["cells_unused"]),
    )


def _describe_changes(ranks: pd.DataFrame) -> str:
    moved = ranks[ranks["change"] != 0]
    if moved.empty:
        return "No model changed its rank."
    most = int(moved["change"].abs().max())
    movers = moved.loc[moved["change"].abs() == most, "model"].sort_values()
    changed = format_count(len(moved), "model")
    return (
        f"{changed} changed rank, at most by {format_count(most, 'place')} ({join_names(movers)}), "
        "which noise may explain."
    )
