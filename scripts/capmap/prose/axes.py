"""Sentences on what the axes of a map are about."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from capmap.prose.words import format_value, join_sentences
from capmap.wording import format_count, format_percent, join_words

LEVEL = 0.05
ALL_AXES = "all"
NAMES = {
    "architecture": "the architecture of models",
    "parameters": "the number of parameters of models",
    "date": "the date of models",
    "type": "the type of datasets",
    "family": "the family of datasets",
}
STATISTICS = {
    "r2": "R squared",
    "r2_groups": "share of the variance between groups",
    "spearman": "Spearman's rho",
    "correlation_ratio": "correlation ratio",
}


def describe_axes(axes: pd.DataFrame) -> str:
    """Say which attributes positions go with, where a test finds so.

    Parameters
    ----------
    axes : pandas.DataFrame
        The columns of the table of that name.

    Returns
    -------
    str
        Attributes first by all axes at once, which no rotation changes, then by the principal axes;
        "" where none could be tested.
    """
    if axes.empty:
        return ""
    found = axes[axes["p_holm"] < LEVEL]
    tests = (
        f"{format_count(len(axes), 'permutation test')}, {format_percent(LEVEL)} level, Holm's "
        "correction for all"
    )
    attributes = join_words([NAMES[name] for name in axes["attribute"].unique()])
    if found.empty:
        return f"Positions were not found to go with {attributes} ({tests})."
    whole = found[found["axis"] == ALL_AXES]
    single = found[found["axis"] != ALL_AXES]
    return join_sentences(
        f"Positions go with {_list_findings(whole)} ({tests}), whichever way the map is turned."
        if len(whole)
        else "",
        f"Of the principal axes, {join_words(_list_axes(single))}"
        f"{'' if len(whole) else f' ({tests})'}."
        if len(single)
        else "",
    )


def _list_findings(found: pd.DataFrame) -> str:
    return join_words([_write(row) for row in found.to_dict("records")])


def _list_axes(found: pd.DataFrame) -> list[str]:
    return [
        f"{str(axis)[1:]} goes with {_list_findings(own)}"
        for axis, own in found.groupby("axis", sort=False)
    ]


def _write(row: dict[Hashable, Any]) -> str:
    value = format_value(row["estimate"])
    return f"{NAMES[row['attribute']]} ({STATISTICS[row['statistic']]} {value})"
