"""Sentences on how many runs are enough."""

import pandas as pd

from capmap.prose.words import (
    PER_MODEL,
    describe_policy,
    format_share,
    format_value,
    join_sentences,
)
from capmap.wording import format_count, format_percent, join_words, quote_name

SHOWN_CELLS = 3
FEWEST = 0.05


def describe_sample_size(
    seed_widths: pd.DataFrame,
    next_seeds: pd.DataFrame,
    *,
    interval: str,
    confidence_level: float,
    missing: str,
    cells_unused: int,
) -> list[str]:
    """Say how wide intervals would be with more runs, and where one more run would help most.

    Parameters
    ----------
    seed_widths, next_seeds : pandas.DataFrame
        The columns of ``tables/seed_widths.csv`` and ``tables/next_seeds.csv``.
    interval : {"percentile", "basic", "bca", "calibrated"}
        Kind of interval whose width is foretold.
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
    kind = "BCa" if interval == "bca" else interval
    quantile = "Student's t" if interval == "calibrated" else "normal"
    methods = join_sentences(
        f"The full width of the {format_percent(confidence_level)} {kind} interval over runs of "
        "each model's interquartile mean (IQM) was predicted from the winsorized variances over "
        f"runs (pooled for single runs) and a {quantile} quantile.",
        _describe_order(models),
        describe_policy(
            missing, subject="Each model was measured", own=PER_MODEL, cells_unused=cells_unused
        ),
        "Runs were assumed independent, with normal noise.",
    )
    results = join_sentences(
        _describe_widths(seed_widths, models), _describe_advice(next_seeds, models)
    )
    return [methods, results]


def _describe_order(models: int) -> str:
    if models < 2:
        return ""
    return (
        "The number of pairs expected in the wrong order sums the normal tails beyond each "
        "difference in IQM over its standard error."
    )


def _describe_widths(seed_widths: pd.DataFrame, models: int) -> str:
    expected = seed_widths.groupby("seeds")["width"].median()
    now = seed_widths.drop_duplicates("model")["width_now"].median()
    parts = [f"{format_value(width)} with {seeds}" for seeds, width in expected.items()]
    present = "" if pd.isna(now) else f", against {format_value(now)} with the present runs"
    median = "median " if models > 1 else ""
    return f"The {median}width to expect was {join_words(parts)} runs per dataset{present}."


def _describe_advice(next_seeds: pd.DataFrame, models: int) -> str:
    if models < 2:
        return "With a single model there was no order to improve."
    if next_seeds.empty:
        return "One more run was not expected to put any pair into the right order."
    pairs = format_count(models * (models - 1) // 2, "pair")
    misordered = next_seeds["gain"].iloc[0] / next_seeds["share"].iloc[0]
    if misordered < FEWEST:
        return f"Of {pairs}, fewer than {FEWEST:g} were expected in the wrong order."
    parts = [
        f"by {format_share(row['share'])} for {quote_name(row['model'])} on "
        f"{quote_name(row['dataset'])} ({format_count(row['runs'], 'run')} now)"
        for _, row in next_seeds.head(SHOWN_CELLS).iterrows()
    ]
    return (
        f"Of {pairs}, an expected {format_value(misordered)} stood in the wrong order. One more "
        f"run would lower it {join_words(parts)}."
    )
