"""Sentences on whether results on other types of datasets help to predict those on one."""

import pandas as pd

from capmap.prose.gap_errors import (
    classify_difference,
    describe_difference,
    describe_error,
    format_error,
)
from capmap.prose.words import join_names, join_sentences
from capmap.wording import format_count


def describe_transfer(transfer: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say whether other types of datasets help to predict results on one.

    Parameters
    ----------
    transfer : pandas.DataFrame
        The columns of ``comparisons/transfer.csv``; may be empty.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results; one sentence where there are no types.
    """
    known = transfer.dropna(subset=["mse", "mse_alone"])
    if known.empty:
        return ["There was no type of datasets with datasets enough, or types are not known."]
    methods = (
        "On the datasets of each type, a random half of the results was hidden, then the other "
        "half, and predicted from the remaining ones there, with and without the results on all "
        "datasets of other types. These help where the error is lower with them. Intervals are "
        "over models."
    )
    row, types = known.iloc[-1], known.iloc[:-1]
    alone = f"the {format_error(row['mse_alone'])} without them"
    difference = describe_difference(row, alone, confidence_level=confidence_level)
    results = join_sentences(
        "With the datasets of other types, the mean squared error (MSE) on "
        f"{format_count(len(types), 'type')} ({format_count(row['predictions'], 'prediction')}) "
        f"was {describe_error(row, confidence_level=confidence_level)}, {difference}.",
        _name_types(types, "lower", "They help on"),
        _name_types(types, "higher", "They do harm on"),
        "Additive effects of models and datasets had "
        f"{format_error(row['mse_additive'])} from the same results.",
    )
    return [methods, results]


def _name_types(types: pd.DataFrame, found: str, text: str) -> str:
    """Name the types on which intervals of differences lie on one side of 0."""
    named = [
        str(row["tested_on"]) for _, row in types.iterrows() if classify_difference(row) == found
    ]
    return f"{text} {join_names(named)}." if named else ""
