"""Sentences on how many runs are enough."""

import pandas as pd

from capmap.prose.words import (
    format_share,
    format_value,
    join_sentences,
)
from capmap.wording import format_count, format_percent, join_words, quote_name

SHOWN_CELLS = 3
FEWEST = 0.05


def describe_sample_size(
    seed_widths: pd.DataFrame,
    next_seeds: pd.DataFrame,
    detectable: pd.DataFrame,
    *,
    interval: str,
    confidence_level: float,
    misordered: float,
) -> list[str]:
    """Say how wide intervals would be with more runs, and where one more run would help most.

    Parameters
    ----------
    seed_widths, next_seeds, detectable : pandas.DataFrame
        The columns of the tables of these names.
    interval : {"percentile", "calibrated"}
        Kind of interval whose width is foretold.
    confidence_level : float
        Of the intervals, between 0 and 1.
    misordered : float
        Pairs expected in the wrong order.

    Returns
    -------
    list of str
        Methods, then results.
    """
    models = seed_widths["model"].nunique()
    if not seed_widths["width"].notna().any():
        return [
            f"How many runs would be enough could not be said for {format_count(models, 'model')}: "
            "no model had two runs on the same dataset, so nothing showed how much runs vary."
        ]
    quantile = "Student's t" if interval == "calibrated" else "normal"
    methods = join_sentences(
        f"The full width of the {format_percent(confidence_level)} {interval} interval over runs "
        "of each model's interquartile mean (IQM) was predicted from the winsorized variances over "
        f"runs (pooled for single runs) and a {quantile} quantile.",
        _describe_order(models),
        ""
        if detectable.empty
        else "Differences to be found are those of Student's t with the one-sided upper "
        "80% limit of the variance, as the runs may show too small a one.",
        "Where further runs help follows from Neyman allocation, with standard deviations pooled "
        "over models.",
        "Each model was measured on the datasets that it had runs on.",
        "Runs were assumed independent, with normal noise.",
    )
    results = join_sentences(
        _describe_widths(seed_widths, models),
        _describe_detectable(detectable, confidence_level),
        _describe_misordered(misordered, models),
        _describe_advice(next_seeds),
    )
    return [methods, results]


def _describe_order(models: int) -> str:
    if models < 2:
        return ""
    return (
        "The number of pairs expected in the wrong order sums the normal tails beyond each "
        "difference in IQM over its standard error."
    )


def _describe_widths(seed_widths: pd.DataFrame, models: int) -> str:
    expected = seed_widths.groupby("seeds")["width"].median()
    now = seed_widths.drop_duplicates("model")["width_now"].median()
    parts = [f"{format_value(width)} with {seeds}" for seeds, width in expected.items()]
    present = "" if pd.isna(now) else f", against {format_value(now)} with the present runs"
    median = "median " if models > 1 else ""
    return f"The {median}width to expect was {join_words(parts)} runs per dataset{present}."


def _describe_detectable(detectable: pd.DataFrame, confidence_level: float) -> str:
    if detectable.empty:
        return ""
    row = detectable.iloc[:2].iloc[-1]
    return (
        f"With {row['seeds']:,.0f} runs per dataset, about 80% of studies or more find two models "
        f"{format_value(row['difference'])} apart, or {format_value(row['difference_all'])} "
        f"allowing for all pairs at the {format_percent(confidence_level)} level."
    )


def _describe_misordered(misordered: float, models: int) -> str:
    if models < 2:
        return "With a single model there was no order to improve."
    pairs = format_count(models * (models - 1) // 2, "pair")
    if misordered < FEWEST:
        return f"Of {pairs}, fewer than {FEWEST:g} were expected in the wrong order."
    return (
        f"Of {pairs}, an expected {format_value(misordered)} stood in the wrong order, if either "
        "order of a pair was as likely before."
    )


def _describe_advice(next_seeds: pd.DataFrame) -> str:
    if next_seeds.empty:
        return "No cell is known where one more run would help."
    parts = [
        f"by {format_share(row['share'])} for {quote_name(row['model'])} on "
        f"{quote_name(row['dataset'])} ({format_count(row['runs'], 'run')} now)"
        for _, row in next_seeds.head(SHOWN_CELLS).iterrows()
    ]
    return f"One more run would lower the sum of the models' variances {join_words(parts)}."
