"""Sentences on how many runs are enough."""

import pandas as pd

from capmap.prose.words import format_share, format_span, join_sentences
from capmap.wording import format_count, format_percent, join_words, quote_name


def describe_sample_size(
    seed_widths: pd.DataFrame,
    next_seeds: pd.DataFrame,
    detectable: pd.DataFrame,
    *,
    interval: str,
    confidence_level: float,
) -> list[str]:
    """Say which differences so many runs detect, and where one more run helps most."""
    if not seed_widths["width"].notna().any():
        return ["The number of runs needed is unknown: no model has two runs on the same dataset."]
    quantile = "Student's t" if interval == "calibrated" else "normal"
    methods = join_sentences(
        f"Expected widths are those of the {format_percent(confidence_level)} {interval} interval "
        "over runs of a model's interquartile mean (IQM), from winsorized variances over runs and "
        f"a {quantile} quantile.",
        "Minimum detectable differences have a power of 80%, with the one-sided upper 80% limit of "
        "the variance.",
        "The next run follows Neyman allocation.",
        "Runs are assumed independent, with normal noise.",
    )
    results = join_sentences(
        *_describe_detectable(detectable, confidence_level),
        _describe_widths(seed_widths),
        _describe_next(next_seeds),
    )
    return [methods, results]


def _describe_detectable(detectable: pd.DataFrame, confidence_level: float) -> list[str]:
    level = f"{format_percent(1 - confidence_level)} level"
    return [
        f"With {row['seeds']:,.0f} runs per dataset, the minimum detectable difference in IQM is "
        f"{row['difference']:.3f}, or {row['difference_all']:.3f} allowing for all pairs ({level})."
        for _, row in detectable.iloc[:2].iloc[-1:].iterrows()
    ]


def _describe_widths(seed_widths: pd.DataFrame) -> str:
    spans = seed_widths.groupby("seeds")["width"].agg(["min", "max"])
    parts = [
        f"{format_span(row['min'], row['max'])} with {seeds}"
        for seeds, row in spans.iloc[[0, -1]].iterrows()
    ]
    return f"The expected interval width is {join_words(parts)} runs per dataset."


def _describe_next(next_seeds: pd.DataFrame) -> str:
    if next_seeds.empty:
        return "No cell is known where one more run helps."
    row = next_seeds.iloc[0]
    return (
        f"One more run helps most for {quote_name(row['model'])} on {quote_name(row['dataset'])} "
        f"({format_count(row['runs'], 'run')} now), which lowers the sum of variances by "
        f"{format_share(row['share'])}."
    )
