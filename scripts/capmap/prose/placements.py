"""Sentences on models that are placed on a map by few results."""

import pandas as pd

from capmap.prose.words import (
    describe_error,
    format_error,
    format_interval,
    format_share,
    format_value,
    join_sentences,
)
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import format_count, format_percent, quote_name


def describe_placements(
    placements: pd.DataFrame,
    error_curve: pd.DataFrame,
    *,
    confidence_level: float = PREDICTION_LEVEL,
) -> list[str]:
    """Say where models with few results stand, and how well such placing works."""
    methods = (
        "Models with too few results for the map are placed on it without moving what is there. As "
        "a check, models on the map keep few of their results, and the others are predicted."
    )
    return [
        methods,
        join_sentences(
            _describe_placements(placements, confidence_level),
            _describe_curve(error_curve, confidence_level),
        ),
    ]


def _describe_placements(placements: pd.DataFrame, confidence_level: float) -> str:
    if placements.empty:
        return "No model outside the map has a result on one of its datasets."
    count = format_count(len(placements), "model is", "models are")
    known = placements.dropna(subset="mean_gap").sort_values(["mean_gap", "model"], kind="stable")
    if known.empty:
        return f"{count} placed."
    row = known.iloc[0]
    # The interval of the lowest of several would have to allow for its choice.
    lowest, ends = "the lowest", ""
    if len(known) == 1:
        limits = row["mean_gap_low"], row["mean_gap_high"]
        lowest, ends = "the", format_interval(*limits, confidence_level=confidence_level)
    return (
        f"{count} placed; {lowest} expected mean gap is {format_value(row['mean_gap'])}{ends}, of "
        f"{quote_name(row['model'])} (from {format_count(row['results'], 'result')})."
    )


def _describe_curve(curve: pd.DataFrame, confidence_level: float) -> str:
    """Say what the error is with the fewest and the most results."""
    if curve.empty:
        return "No model has enough results to hide some of them."
    rows = curve.sort_values("results")
    first, last = rows.iloc[0], rows.iloc[-1]
    more = ""
    if len(rows) > 1:
        more = f", and {format_error(last['mse'])} with {format_count(last['results'], 'result')}"
    coverage = ""
    if pd.notna(first["coverage"]):
        level = format_percent(confidence_level)
        coverage = f"{level} prediction intervals hold {format_share(first['coverage'])} of them."
    return join_sentences(
        f"With {format_count(first['results'], 'result')}, the mean squared error of hidden "
        f"results is {describe_error(first, 'mse', confidence_level=confidence_level)}, against "
        f"{format_error(first['mse_additive'])} of additive effects{more}.",
        coverage,
    )
