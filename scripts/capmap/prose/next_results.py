"""Sentences on which result to run next."""

import pandas as pd

from capmap.prose.words import format_interval, format_value, join_names
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import format_count, quote_name

SHOWN = 3


def describe_next_results(
    next: pd.DataFrame,  # noqa: A002
    *,
    confidence_level: float = PREDICTION_LEVEL,
) -> list[str]:
    """Say which results to run next, and why these.

    Parameters
    ----------
    next : pandas.DataFrame
        The columns of ``comparisons/next.csv``; may be empty.
    confidence_level : float
        Of the prediction intervals, between 0 and 1.

    Returns
    -------
    list of str
        The first result, and how many there are.
    """
    if next.empty:
        return ["No model without a result on a dataset may be near the best one there."]
    first = next.iloc[0]
    interval = format_interval(first["low"], first["high"], confidence_level=confidence_level)
    counts = next["model"].value_counts()
    models = sorted(counts.index[counts == counts.max()])[:SHOWN]
    return [
        f"The result to run next is that of {quote_name(first['model'])} on "
        f"{quote_name(first['dataset'])}, whose gap is predicted as "
        f"{format_value(first['predicted'])}{interval}: of all results that are not there and may "
        "have a gap of 0.1 or less, it is the least certain one.",
        f"The table lists {format_count(len(next), 'result')} of "
        f"{format_count(len(counts), 'model')}, most of them of {join_names(models)}.",
    ]
