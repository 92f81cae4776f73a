"""Sentences on whether results on some datasets help to predict those on others."""

import pandas as pd

from capmap.prose.gap_errors import (
    describe_difference,
    describe_error,
    format_error,
)
from capmap.prose.words import join_sentences
from capmap.wording import format_count, join_words

ONE_OTHER = "one other type"
SHOWN_FAMILIES = 4


def describe_transfer(transfer: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say whether training on some types or families of datasets helps on the others.

    Parameters
    ----------
    transfer : pandas.DataFrame
        The columns of ``capabilities/transfer.csv``: ``kind`` is "type" for a pair of types,
        "types" for all pairs together and for training on all other datasets, and "families" for
        numbers of families. May be empty.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results on types and on families; one sentence where there are too few.
    """
    known = transfer.dropna(subset=["mse", "mse_alone"])
    if known.empty:
        return ["There were too few datasets to train on some and test on others."]
    methods = (
        "On the datasets that were tested, a random half of each family's models was hidden, then "
        "the other half, and predicted by maps of the remaining results there and of those on the "
        "datasets that were trained on. Training helps where the error is lower than without the "
        "latter. Intervals are over models."
    )
    results = [
        _describe_types(known, confidence_level),
        _describe_families(known[known["kind"] == "families"], confidence_level),
    ]
    return [methods, *(paragraph for paragraph in results if paragraph)]


def _describe_types(known: pd.DataFrame, confidence_level: float) -> str:
    together, pairs = known[known["kind"] == "types"], known[known["kind"] == "type"]
    if together.empty:
        return "There were no two types of datasets with datasets enough, or types are not known."
    singles = together[together["trained_on"] == ONE_OTHER]
    if singles.empty:
        return _describe_rest(together.iloc[0], confidence_level)
    row = singles.iloc[0]
    count = pairs["tested_on"].nunique()
    return join_sentences(
        f"Training on one type of datasets and testing on another ({count:,} types, "
        f"{format_count(row['predictions'], 'prediction')}), the mean squared error (MSE) was "
        f"{_describe_row(row, 'without the other type', confidence_level)}.",
        _describe_baseline(row),
    )


def _describe_rest(row: "pd.Series", confidence_level: float) -> str:
    """Say how far datasets of all other types help where only one type has datasets enough."""
    return (
        "No two types had datasets enough to train on one and test on the other. With all datasets "
        f"of other types to train on ({format_count(row['predictions'], 'prediction')}), the mean "
        f"squared error (MSE) was {_describe_row(row, 'without them', confidence_level)}."
    )


def _describe_row(row: "pd.Series", without: str, confidence_level: float) -> str:
    alone = f"the {format_error(row['mse_alone'])} {without}"
    difference = describe_difference(row, alone, confidence_level=confidence_level)
    return f"{describe_error(row, confidence_level=confidence_level)}, {difference}"


def _describe_baseline(row: "pd.Series") -> str:
    """Say how additive effects and training on everything else did."""
    verdict = "more than the map" if row["mse_additive"] > row["mse"] else "no more than the map"
    return (
        f"Additive effects of models and datasets, trained on the same, had "
        f"{format_error(row['mse_additive'])}, {verdict}; a map trained on all other datasets had "
        f"{format_error(row['mse_all'])}."
    )


def _describe_families(families: pd.DataFrame, confidence_level: float) -> str:
    if families.empty:
        return ""
    rows = families.sort_values("train_results", kind="stable")
    last = rows.iloc[-1]
    shown = rows if len(rows) <= SHOWN_FAMILIES else rows.iloc[[0, len(rows) // 2, -1]]
    parts = [f"{format_error(row['mse'])} with {row['trained_on']}" for _, row in shown.iterrows()]
    difference = describe_difference(last, "without any", confidence_level=confidence_level)
    return join_sentences(
        f"On random families of datasets, the MSE was {format_error(last['mse_alone'])} without "
        f"training on others, and {join_words(parts)} to train on.",
        f"With {last['trained_on']} it was {difference}.",
        _describe_baseline(last),
    )
