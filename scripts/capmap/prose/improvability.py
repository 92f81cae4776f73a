"""Sentences on improvability."""

from collections.abc import Sequence

import pandas as pd

from capmap.prose.words import (
    describe_leader,
    describe_no_interval,
    join_names,
    join_sentences,
)
from capmap.wording import format_count, format_percent, quote_name


def describe_improvability(
    improvability: pd.DataFrame,
    improvability_datasets: pd.DataFrame,
    *,
    without_optimum: Sequence[str],
    clipped: int,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say how much of each model's error the best model per dataset would remove.

    Parameters
    ----------
    improvability, improvability_datasets : pandas.DataFrame
        The columns of ``comparisons/improvability.csv`` and of
        ``comparisons/improvability_datasets.csv``.
    without_optimum : sequence of str
        Datasets whose metric has no known optimum, measured from their configured best bound.
    clipped : int
        Cells with scores beyond the optimum, whose error counts as 0.
    n_resamples : int
        Number of bootstrap resamples.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if improvability.empty:
        return ["There was no model whose improvability could be measured."]
    datasets = improvability_datasets["dataset"].nunique()
    methods = join_sentences(
        "Improvability is the percentage of a model's error (distance of its mean score to the "
        "metric's optimum) that the best model on the dataset does not make, averaged over "
        f"{format_count(datasets, 'dataset')}.",
        _describe_fallback(without_optimum),
        _describe_clipped(clipped),
        "Each model was measured on the datasets that it had runs on.",
        _describe_intervals(improvability, n_resamples, confidence_level),
    )
    results = join_sentences(
        _describe_first(improvability, datasets, confidence_level),
        _describe_worst(improvability_datasets),
        describe_no_interval(improvability),
        "Improvability depends on which other models are present.",
    )
    return [methods, results]


def _describe_fallback(datasets: Sequence[str]) -> str:
    if not datasets:
        return ""
    where = "a dataset" if len(datasets) == 1 else format_count(len(datasets), "dataset")
    return (
        f"On {where} without a known optimum ({join_names(datasets)}), the better bound of the "
        "normalization took its place."
    )


def _describe_clipped(cells: int) -> str:
    if not cells:
        return ""
    counts = "counted as an error" if cells == 1 else "counted as errors"
    return f"{format_count(cells, 'score')} beyond the optimum {counts} of 0."


def _describe_intervals(table: pd.DataFrame, n_resamples: int, confidence_level: float) -> str:
    if not table["ci_low"].notna().any():
        return ""
    return (
        f"The {format_percent(confidence_level)} intervals were percentiles of {n_resamples:,} "
        "bootstrap resamples of the runs within each dataset, the best model found anew in each, "
        "stretched where they would miss the estimate. They show the spread of the resamples, and "
        "hold the true value more seldom, as the best of noisy models looks better than it is."
    )


def _describe_first(table: pd.DataFrame, datasets: int, confidence_level: float) -> str:
    if len(table) == 1:
        name = quote_name(table["model"].iloc[0])
        return f"{name} was the only model, which makes its improvability 0."
    return describe_leader(
        table,
        "improvability",
        "the lowest improvability",
        total=datasets,
        confidence_level=confidence_level,
        over="runs",
        write="{:z.1f}%".format,
    )


def _describe_worst(cells: pd.DataFrame) -> str:
    if not cells["improvability"].max() > 0:
        return ""
    row = cells.sort_values("improvability", ascending=False, kind="stable").iloc[0]
    return (
        f"The highest of a single cell was {row['improvability']:.1f}%, of "
        f"{quote_name(row['model'])} on {quote_name(row['dataset'])}."
    )
