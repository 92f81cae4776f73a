"""Sentences on how many runs are enough."""

import pandas as pd

from capmap.prose.words import (
    PER_MODEL,
    format_count,
    format_percent,
    format_value,
    join_sentences,
    join_words,
    tell_policy,
    tell_unused,
)
from capmap.wording import quote_name

SHOWN_CELLS = 3


def describe_sample_size(
    seed_widths: pd.DataFrame,
    next_seeds: pd.DataFrame,
    *,
    confidence_level: float,
    missing: str,
    cells_unused: int,
) -> list[str]:
    """Say how wide intervals would be with more runs, and where one more run would help most.

    Parameters
    ----------
    seed_widths, next_seeds : pandas.DataFrame
        The columns of ``tables/seed_widths.csv`` and ``tables/next_seeds.csv``.
    confidence_level : float
        Of the intervals, between 0 and 1.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    cells_unused : int
        Cells with runs that the policy left out.

    Returns
    -------
    list of str
        Methods, then results.
    """
    models = seed_widths["model"].nunique()
    if not seed_widths["width"].notna().any():
        return [
            f"How many runs would be enough could not be said for {format_count(models, 'model')}: "
            "no model had two runs on the same dataset, so nothing showed how much runs vary."
        ]
    level = format_percent(confidence_level)
    methods = join_sentences(
        f"The full width of the {level} interval of each model's interquartile mean (IQM) was "
        "foretold from the variances over runs (winsorized at the cut of the IQM, datasets "
        "weighing the same) for other numbers of runs per dataset, with Student's t quantile.",
        "A dataset with a single run of a model borrowed the variance pooled over the model's "
        "other datasets, or over the other models.",
        "The chance that two models are in the wrong order was taken as the normal tail area "
        "beyond their difference in IQM over its standard error; summed over all pairs, this is "
        "the number of misordered pairs to expect.",
        tell_policy(missing, subject="Each model was measured", own=PER_MODEL),
        tell_unused(cells_unused),
        "Runs were assumed independent, with normal noise; each cell was looked at alone.",
    )
    return [methods, join_sentences(_tell_widths(seed_widths), _tell_advice(next_seeds, models))]


def _tell_widths(seed_widths: pd.DataFrame) -> str:
    expected = seed_widths.groupby("seeds")["width"].median()
    now = seed_widths.drop_duplicates("model")["width_now"].median()
    parts = [f"{format_value(width)} with {seeds} runs" for seeds, width in expected.items()]
    present = "" if pd.isna(now) else f", against {format_value(now)} with the present runs"
    models = seed_widths["model"].nunique()
    if models == 1:
        return f"The width to expect was {join_words(parts)} per dataset{present}."
    return f"The median width to expect was {join_words(parts)} per dataset{present}."


def _tell_advice(next_seeds: pd.DataFrame, models: int) -> str:
    if models < 2:
        return "With a single model there was no order to improve."
    if next_seeds.empty:
        return "No single further run was expected to put any pair of models into the right order."
    top = next_seeds.iloc[0]
    misordered = top["gain"] / top["share"]
    pairs = format_count(models * (models - 1) // 2, "pair")
    parts = [
        f"{quote_name(row['model'])} on {quote_name(row['dataset'])} "
        f"({format_count(row['runs'], 'run')} now; {format_percent(row['share'])} of them)"
        for _, row in next_seeds.head(SHOWN_CELLS).round({"share": 3}).iterrows()
    ]
    cells = "cell" if len(parts) == 1 else "cells"
    return (
        f"Of {pairs}, an expected {format_value(misordered)} stood in the wrong order. One more "
        f"run would lower this number most in the {cells} {join_words(parts)}."
    )
