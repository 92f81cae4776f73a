"""Sentences on how reliable a ranking is."""

import math

import pandas as pd

from capmap.prose.words import (
    format_interval,
    format_share,
    format_value,
    join_sentences,
)
from capmap.wording import format_count, join_words

COMPONENTS = {
    "model": "between models",
    "dataset": "between datasets",
    "model x dataset": "in how models differ from dataset to dataset",
    "run": "between runs",
}
RELIABLE = 0.9


def describe_reliability(
    variance_components: pd.DataFrame,
    generalizability: pd.DataFrame,
    effective_datasets: pd.DataFrame,
    *,
    confidence_level: float,
) -> list[str]:
    """Say what scores vary with, and how many datasets a reliable ranking needs.

    Parameters
    ----------
    variance_components, generalizability, effective_datasets : pandas.DataFrame
        The columns of the tables of these names.
    confidence_level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results.
    """
    row = effective_datasets.iloc[0]
    if generalizability.empty:
        nothing = "Reliability needs two models and two datasets on which both have runs."
        return [nothing]
    methods = join_sentences(
        f"Normalized mean scores of {format_count(int(row['models']), 'model')} on the "
        f"{format_count(int(row['datasets']), 'dataset')} that all had runs on "
        f"({format_count(int(row['cells_unused']), 'cell')} left out) were split into variance "
        "components by the analysis of variance with random models and datasets.",
        "The generalizability coefficient is the squared correlation to expect of mean scores with "
        "those over infinitely many such datasets; its interval is that of an intraclass "
        "correlation (McGraw and Wong 1996).",
    )
    known = variance_components.dropna(subset="share")
    shares = [
        f"{format_share(share)} {COMPONENTS[name]}"
        for name, share in zip(known["component"], known["share"], strict=True)
    ]
    now = generalizability.iloc[0]
    ends = format_interval(now["ci_low"], now["ci_high"], confidence_level=confidence_level)
    results = join_sentences(
        f"Of the variance of scores, {join_words(shares)}." if shares else "",
        f"The ranking by mean scores has a generalizability coefficient of "
        f"{format_value(now['relative'])}{ends}.",
        _describe_need(now),
        _describe_effective(row),
    )
    return [methods, results]


def _describe_need(now: "pd.Series[float]") -> str:
    """How many datasets would make it reliable, by the Spearman–Brown formula."""
    if not 0 < now["relative"] < 1 or now["ci_low"] <= 0:
        return ""
    single = now["relative"] / (1 - now["relative"]) / now["datasets"]
    needed = math.ceil(round(RELIABLE / (1 - RELIABLE) / single, 6))
    return (
        f"With as many runs, about {format_count(needed, 'dataset')} would be expected to give "
        f"{RELIABLE:g}."
    )


def _describe_effective(row: "pd.Series[float]") -> str:
    if pd.isna(row["effective"]):
        return ""
    return (
        f"Beyond models' overall levels, the effective number of the {int(row['datasets']):,} "
        f"datasets is {row['effective']:.1f}, and would be about "
        f"{row['effective_independent']:.1f} if they were independent."
    )
