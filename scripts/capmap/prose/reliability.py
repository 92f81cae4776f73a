"""Sentences on how reliable a ranking is."""

import pandas as pd

from capmap.prose.words import format_interval, format_value, join_names, join_sentences, join_some
from capmap.wording import format_count, format_percent

RELIABLE = 0.9


def describe_reliability(
    generalizability: pd.DataFrame,
    effective_datasets: pd.DataFrame,
    dataset_clusters: pd.DataFrame,
    *,
    confidence_level: float,
) -> list[str]:
    """Say how reliable the ranking is, and how many datasets a reliable one needs."""
    row = effective_datasets.iloc[0]
    clusters = describe_clusters(dataset_clusters, confidence_level)
    if generalizability.empty:
        nothing = "Reliability needs two models and two datasets that both have."
        return [join_sentences(nothing, clusters)]
    methods = (
        "Variance components of mean normalized scores, on the datasets that all models have, come "
        "from the analysis of variance with random models and datasets. The generalizability "
        "coefficient is the expected squared correlation of mean scores with those over infinitely "
        "many such datasets (interval: McGraw and Wong 1996). Clusters are those of average "
        "linkage."
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
        clusters,
    )
    return [methods, results]


def _describe_need(generalizability: pd.DataFrame) -> str:
    """The fewest listed datasets, with as many runs, that would make the ranking reliable."""
    now, more = generalizability.iloc[0], generalizability.iloc[1:]
    enough = more[(more["relative"] >= RELIABLE) & (more["seeds"] == now["seeds"])]
    if not now["relative"] < RELIABLE or enough.empty:
        return ""
    row = enough.sort_values("datasets").iloc[0]
    return (
        f"With {format_count(row['datasets'], 'dataset')}, {format_value(row['relative'])} is "
        "expected."
    )


def describe_clusters(dataset_clusters: pd.DataFrame, confidence_level: float) -> str:
    """Say which datasets order models alike."""
    if dataset_clusters.empty:
        return ""
    level = f"{format_percent(1 - confidence_level)} level"
    known = dataset_clusters.dropna(subset="cluster")
    if known.empty:
        return f"No stable cluster of datasets orders models alike ({level})."
    groups = [own for _, own in known.groupby("cluster")]
    named = [join_names([own["closest"].iloc[0]]) for own in groups]
    order = "orders" if len(groups) == 1 else "order"
    return (
        f"{format_count(len(groups), 'stable cluster')} of datasets {order} models alike "
        f"({level}), around {join_some(named)}."
    )
