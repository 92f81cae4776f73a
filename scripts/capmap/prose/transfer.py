"""Sentences on whether results on other types of datasets help to predict those on one."""

import pandas as pd

from capmap.prose.words import describe_error, format_error, join_names, join_sentences


def describe_transfer(transfer: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say whether other types of datasets help to predict results on one."""
    known = transfer.dropna(subset=["mse", "mse_alone"])
    if known.empty:
        return ["No type of datasets is known that has enough datasets."]
    methods = (
        "On the datasets of each type, each half of the results is predicted from the other half, "
        "with and without the results on other types. Intervals are over models, each type alone."
    )
    row, types = known.iloc[-1], known.iloc[:-1]
    helped = types.loc[types["difference_high"] < 0, "tested_on"]
    harmed = types.loc[types["difference_low"] > 0, "tested_on"]
    results = join_sentences(
        f"With the datasets of other types the mean squared error is {format_error(row['mse'])}, "
        f"without them {format_error(row['mse_alone'])}; the difference is "
        f"{describe_error(row, 'difference', confidence_level=confidence_level)}.",
        f"They help on {join_names(helped)}." if len(helped) else "",
        f"They do harm on {join_names(harmed)}." if len(harmed) else "",
        f"Additive effects have an error of {format_error(row['mse_additive'])}.",
    )
    return [methods, results]
