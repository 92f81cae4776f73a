"""Sentences on how reliable a ranking is."""

import pandas as pd

from capmap.prose.words import format_interval, format_value, join_sentences
from capmap.wording import format_count


def describe_reliability(
    generalizability: pd.DataFrame,
    effective_datasets: pd.DataFrame,
    *,
    confidence_level: float,
) -> list[str]:
    """Say how reliable the ranking is, and how many datasets a reliable one needs."""
    row = effective_datasets.iloc[0]
    if generalizability.empty:
        nothing = "Reliability needs two models and two datasets that both have."
        return [nothing]
    methods = (
        "Variance components of mean normalized scores, on the datasets that all models have, come "
        "from the analysis of variance with random models and datasets. The generalizability "
        "coefficient is the expected squared correlation of mean scores with those over infinitely "
        "many such datasets (interval: McGraw and Wong 1996)."
    )
    now = generalizability.iloc[0]
    ends = format_interval(now["ci_low"], now["ci_high"], confidence_level=confidence_level)
    results = join_sentences(
        f"The ranking by mean scores has a generalizability coefficient of "
        f"{format_value(now['relative'])}{ends} on {format_count(now['datasets'], 'dataset')}.",
        _describe_need(generalizability),
        f"Beyond models' overall levels, they count as {row['effective']:.1f} effective datasets."
        if pd.notna(row["effective"])
        else "",
    )
    return [methods, results]


def _describe_need(generalizability: pd.DataFrame) -> str:
    """The fewest datasets, with as many runs, that would make the ranking reliable."""
    if len(generalizability) < 2:
        return ""
    row = generalizability.iloc[1]
    return (
        f"With {format_count(row['datasets'], 'dataset')}, {format_value(row['relative'])} is "
        "expected."
    )
