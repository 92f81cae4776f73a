"""Sentences on which datasets order models alike, and how few give the ranking of all."""

import pandas as pd

from capmap.prose.words import format_interval, format_value, join_names, join_sentences
from capmap.wording import format_count, format_percent

WANTED = 0.9
SHOWN_CLUSTERS = 5


def describe_clusters(dataset_clusters: pd.DataFrame, *, confidence_level: float) -> str:
    """Say which datasets order models alike.

    Parameters
    ----------
    dataset_clusters : pandas.DataFrame
        The columns of the table of that name.
    confidence_level : float
        Of the clusters, between 0 and 1.
    """
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


def describe_reduction(
    reduction: pd.DataFrame, reduced_datasets: pd.DataFrame, *, confidence_level: float
) -> str:
    """Say how few datasets give the ranking of all, and whether others would do as well.

    Parameters
    ----------
    reduction, reduced_datasets : pandas.DataFrame
        The columns of the tables of these names.
    confidence_level : float
        Of the intervals, between 0 and 1.
    """
    if reduction.empty:
        return (
            "A choice of few datasets needs 8 models whose levels differ, and 3 datasets; any two "
            "models have to be connected by datasets in common."
        )
    methods = (
        "Datasets were chosen one by one on half of the models, so that their mean scores "
        "correlate most with the mean of all; Kendall's tau of the two rankings is that of the "
        "other half."
    )
    enough = reduction[reduction["kendall_tau"] >= WANTED]
    most = int(reduction["datasets"].max())
    row = (enough if len(enough) else reduction).iloc[0 if len(enough) else -1]
    size = int(row["datasets"])
    ends = format_interval(row["ci_low"], row["ci_high"], confidence_level=confidence_level)
    first = "The first dataset" if size == 1 else f"The first {size:,} datasets"
    names = join_names(reduced_datasets["dataset"].head(size))
    return join_sentences(
        methods,
        f"{first} ({names}) {'gives' if size == 1 else 'give'} a tau of "
        f"{format_value(row['kendall_tau'])}{ends}."
        if len(enough)
        else f"Up to {format_count(most, 'dataset')}, no number gives the wanted {WANTED:g}: with "
        f"{most:,} tau is {format_value(row['kendall_tau'])}{ends}.",
        _describe_certainty(reduction),
        _compare_random(row, confidence_level),
    )


def _describe_certainty(reduction: pd.DataFrame) -> str:
    """From how many datasets on tau is high enough at the level: larger numbers come first."""
    falls_short = reduction.loc[reduction["ci_low"] < WANTED, "datasets"].max()
    sure = reduction.loc[~(reduction["datasets"] <= falls_short), "datasets"]
    if sure.empty or len(sure) == 1 < len(reduction):
        return "" if sure.empty else f"No smaller number than all surely gives {WANTED:g}."
    least = format_count(int(sure.min()), "dataset")
    return f"The whole interval is above {WANTED:g} from {least} on."


def _compare_random(row: "pd.Series[float]", confidence_level: float) -> str:
    ends = format_interval(
        row["difference_low"], row["difference_high"], confidence_level=confidence_level
    )
    random = f"As many random datasets give {format_value(row['kendall_tau_random'])} on average"
    if row["difference_low"] > 0:
        return f"{random}, {format_value(row['difference'])} less{ends}."
    return (
        f"{random}, so the choice was not shown to beat a random one: the difference is "
        f"{format_value(row['difference'])}{ends}."
    )
