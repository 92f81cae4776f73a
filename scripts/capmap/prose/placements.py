"""Sentences on models that were placed on a map by few results."""

import pandas as pd

from capmap.prose.gap_errors import describe_difference, format_error
from capmap.prose.words import (
    format_interval,
    format_share,
    format_span,
    format_value,
    join_names,
    join_sentences,
)
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import format_count, format_percent, join_words, quote_name

TOLERANCE = 0.04
WIDE = 0.5
FEWEST_MODELS = 10


def describe_placements(
    placements: pd.DataFrame,
    error_curve: pd.DataFrame,
    *,
    confidence_level: float = PREDICTION_LEVEL,
) -> list[str]:
    """Say where models with few results stand, and how well such placing works.

    Parameters
    ----------
    placements, error_curve : pandas.DataFrame
        The columns of ``capabilities/placements.csv`` and ``capabilities/error_curve.csv``; either
        may be empty.
    confidence_level : float
        Of all intervals, between 0 and 1.

    Returns
    -------
    list of str
        Placements, then errors with few results.
    """
    return [
        _describe_placements(placements, confidence_level),
        _describe_curve(error_curve, confidence_level),
    ]


def _describe_placements(placements: pd.DataFrame, confidence_level: float) -> str:
    if placements.empty:
        return "No model was left out of the map that has a result on one of its datasets."
    count, results = len(placements), format_span(placements["results"], "result")
    were, each = ("was", "") if count == 1 else ("were", " each")
    shown = placements.sort_values(["mean_gap", "model"], kind="stable")
    known = shown.dropna(subset="mean_gap")
    return join_sentences(
        f"{format_count(count, 'model')} with too few results for the map {were} placed on it "
        f"without moving what is there, by {results}{each}.",
        _describe_best(known, confidence_level),
        _describe_uncertain(known),
    )


def _describe_best(known: pd.DataFrame, confidence_level: float) -> str:
    if known.empty:
        return ""
    row = known.iloc[0]
    # The interval of the lowest of several would have to allow for its choice.
    lowest, ends = "The lowest", ""
    if len(known) == 1:
        limits = row["mean_gap_low"], row["mean_gap_high"]
        lowest, ends = "The", format_interval(*limits, confidence_level=confidence_level)
    return (
        f"{lowest} mean gap to expect over the datasets of the map was "
        f"{format_value(row['mean_gap'])}{ends}, of {quote_name(row['model'])} (from "
        f"{format_count(row['results'], 'result')})."
    )


def _describe_uncertain(known: pd.DataFrame) -> str:
    """Name the models whose mean gap may be anywhere in half of the scale or more."""
    widths = known["mean_gap_high"] - known["mean_gap_low"]
    wide = known.loc[widths > WIDE, "model"].tolist()
    if not wide:
        return ""
    return (
        f"Of {join_names(wide)} little is known: the interval of the mean gap is wider than "
        f"{WIDE:g}."
    )


def _describe_curve(curve: pd.DataFrame, confidence_level: float) -> str:
    """Say what the error is with few results, and with how many it is that of the most."""
    if curve.empty:
        return "No model had results enough to hide some of them and predict these."
    rows = curve.sort_values("results")
    parts = [
        f"{format_error(row['mse'])} with {format_count(row['results'], 'result')}"
        for _, row in (rows.iloc[[0, -1]] if len(rows) > 1 else rows).iterrows()
    ]
    first, last = rows.iloc[0], rows.iloc[-1]
    additive = "that of additive effects"
    return join_sentences(
        "As a check, models on the map were left with few of their results, and the others were "
        f"predicted: the mean squared error was {join_words(parts)} known. With "
        f"{format_count(first['results'], 'result')} it was "
        f"{describe_difference(first, additive, confidence_level=confidence_level)}"
        f" ({format_count(first['models'], 'model')}).",
        _describe_coverage(first, confidence_level),
        f"Models with more than {format_count(last['results'], 'result')} are "
        f"{last['models']:.0f} of these, so that points of the curve are not of the same models."
        if last["models"] < first["models"]
        else "",
    )


def _describe_coverage(row: "pd.Series", confidence_level: float) -> str:
    if pd.isna(row["coverage"]):
        return ""
    verdict = "about as many as should"
    if abs(row["coverage"] - confidence_level) > TOLERANCE:
        is_wide = row["coverage"] > confidence_level
        verdict = f"so they are too {'wide' if is_wide else 'narrow'}"
    if row["models"] < FEWEST_MODELS:
        verdict = "of too few models to judge them by"
    return (
        f"{format_share(row['coverage'])} of the hidden results lay within their "
        f"{format_percent(confidence_level)} prediction intervals, {verdict}; these were "
        f"{row['width']:.2f} wide on average, while the gaps on a dataset span 1."
    )
