"""Sentences on which result to run next."""

import pandas as pd

from capmap.prose.words import format_interval, format_value
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import format_count, quote_name


def describe_next_results(
    next: pd.DataFrame,  # noqa: A002
    *,
    confidence_level: float = PREDICTION_LEVEL,
) -> list[str]:
    """Say which results to run next."""
    if next.empty:
        return ["No missing result may be near the best one of its dataset."]
    methods = (
        "Of the missing results with a gap of 0.1 or less in their prediction interval, those with "
        "the widest intervals are run first."
    )
    first = next.iloc[0]
    interval = format_interval(first["low"], first["high"], confidence_level=confidence_level)
    results = (
        f"The result to run next is that of {quote_name(first['model'])} on "
        f"{quote_name(first['dataset'])}, with a predicted gap of "
        f"{format_value(first['predicted'])}{interval}. The table lists "
        f"{format_count(len(next), 'result')}."
    )
    return [methods, results]
