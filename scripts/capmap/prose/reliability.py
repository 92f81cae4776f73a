"""Sentences on how reliable a ranking is."""

import math

import pandas as pd

from capmap.prose.words import (
    format_interval,
    format_share,
    format_value,
    join_names,
    join_sentences,
)
from capmap.wording import format_count, format_percent, join_words

COMPONENTS = {
    "model": "between models",
    "dataset": "between datasets",
    "model x dataset": "in how models differ from dataset to dataset",
    "run": "between runs",
}
RELIABLE = 0.9
SHOWN_CLUSTERS = 5


def describe_reliability(
    variance_components: pd.DataFrame,
    generalizability: pd.DataFrame,
    effective_datasets: pd.DataFrame,
    dataset_clusters: pd.DataFrame,
    *,
    confidence_level: float,
) -> list[str]:
    """Say what scores vary with, and how many datasets a reliable ranking needs.

    Parameters
    ----------
    variance_components, generalizability, effective_datasets : pandas.DataFrame
        The columns of the tables of these names.
    dataset_clusters : pandas.DataFrame
        The columns of the table of that name.
    confidence_level : float
        Of intervals and clusters, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results.
    """
    row = effective_datasets.iloc[0]
    clusters = describe_clusters(dataset_clusters, confidence_level)
    if generalizability.empty:
        nothing = "Reliability needs two models and two datasets on which both have runs."
        return [nothing, clusters]
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
    return [methods, results, clusters]


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


def describe_clusters(dataset_clusters: pd.DataFrame, confidence_level: float) -> str:
    """Say which datasets order models alike."""
    if dataset_clusters.empty:
        return "Clusters of datasets need 8 models and 4 datasets without empty cells."
    known = dataset_clusters.dropna(subset="cluster")
    methods = (
        f"{format_count(len(dataset_clusters), 'dataset')} without empty cells were joined by "
        "average linkage as long as their correlation over models is higher than chance makes it "
        "among equally correlated ones."
    )
    if known.empty:
        nothing = "No stable cluster orders models more alike than datasets do on average"
        return f"{methods} {nothing} ({format_percent(1 - confidence_level)} level)."
    groups = [own for _, own in known.groupby("cluster")]
    named = [
        f"{join_names(own['dataset'])} (stability {own['stability'].iloc[0]:.2f})"
        for own in groups[:SHOWN_CLUSTERS]
    ]
    rest = len(groups) - len(named)
    order = "orders" if len(groups) == 1 else "order"
    return join_sentences(
        methods,
        f"{format_count(len(groups), 'stable cluster')} {order} models more alike than datasets do "
        f"on average: {'; '.join(named)}{f'; and {rest} more' if rest else ''}.",
        f"The probability of any false cluster is at most {format_percent(1 - confidence_level)}; "
        "stability is the mean Jaccard similarity over resampled models.",
    )
