"""Sentences on improvability."""

from collections.abc import Sequence

import pandas as pd

from capmap.prose.words import (
    PER_MODEL,
    format_count,
    format_percent,
    join_names,
    join_sentences,
    tell_no_interval,
    tell_policy,
    tell_unused,
)
from capmap.wording import quote_name


def describe_improvability(
    improvability: pd.DataFrame,
    improvability_datasets: pd.DataFrame,
    *,
    missing: str,
    left_out: Sequence[str],
    clipped: int,
    n_resamples: int,
    confidence_level: float,
    cells_unused: int,
) -> list[str]:
    """Say how much of each model's error the best model per dataset would remove.

    Parameters
    ----------
    improvability, improvability_datasets : pandas.DataFrame
        The columns of ``tables/improvability.csv`` and ``tables/improvability_datasets.csv``.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    left_out : sequence of str
        Datasets whose metric has no known optimum, measured from their configured best bound.
    clipped : int
        Cells with scores beyond the optimum, whose error counts as 0.
    n_resamples : int
        Number of bootstrap resamples.
    confidence_level : float
        Of the intervals, between 0 and 1.
    cells_unused : int
        Cells with runs that were left out.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if improvability.empty:
        return ["There was no model whose improvability could be measured."]
    level = format_percent(confidence_level)
    datasets = improvability_datasets["dataset"].nunique()
    methods = join_sentences(
        "Improvability is the part of a model's error that the model with the least error on the "
        f"dataset does not make, in percent, averaged over {format_count(datasets, 'dataset')}; 0 "
        "is best. The error is the distance of the mean score to the optimum of the metric.",
        _tell_fallback(left_out),
        _tell_clipped(clipped),
        tell_policy(missing, subject="Each model was measured", own=PER_MODEL),
        tell_unused(cells_unused),
        f"The {level} intervals were percentiles of {n_resamples:,} bootstrap resamples of the "
        "runs within each dataset, with the best model found anew in each. They say how the "
        "value would vary with other runs on these same datasets.",
    )
    results = join_sentences(
        _tell_leader(improvability, confidence_level),
        _tell_worst(improvability_datasets),
        tell_no_interval(improvability),
        "Improvability depends on which other models are present.",
    )
    return [methods, results]


def _tell_fallback(datasets: Sequence[str]) -> str:
    if not datasets:
        return ""
    where = "a dataset" if len(datasets) == 1 else format_count(len(datasets), "dataset")
    return (
        f"On {where} without a known optimum ({join_names(datasets)}), the better bound of the "
        "normalization took its place."
    )


def _tell_clipped(cells: int) -> str:
    if not cells:
        return ""
    counts = "counted as an error" if cells == 1 else "counted as errors"
    return f"{format_count(cells, 'score')} beyond the optimum {counts} of 0."


def _tell_leader(table: pd.DataFrame, confidence_level: float) -> str:
    known = table.dropna(subset=["improvability"]).sort_values("improvability", kind="stable")
    if known.empty:
        return "No improvability could be measured."
    leader = known.iloc[0]
    first = known.loc[known["rank"] == leader["rank"], "model"]
    value = f"{leader['improvability']:z.1f}%"
    if len(table) == 1:
        return f"{quote_name(leader['model'])} was the only model, which makes its improvability 0."
    if len(first) > 1:
        return f"{join_names(first)} shared the lowest improvability, {value}."
    interval = ""
    if pd.notna(leader["ci_low"]):
        level = format_percent(confidence_level)
        interval = f" ({level} interval {leader['ci_low']:z.1f}% to {leader['ci_high']:z.1f}%)"
    return f"{quote_name(leader['model'])} had the lowest improvability, {value}{interval}."


def _tell_worst(cells: pd.DataFrame) -> str:
    if cells.empty or not cells["improvability"].max() > 0:
        return ""
    row = cells.sort_values("improvability", ascending=False, kind="stable").iloc[0]
    return (
        f"The highest of a single cell was {row['improvability']:.1f}%, of "
        f"{quote_name(row['model'])} on {quote_name(row['dataset'])}."
    )
