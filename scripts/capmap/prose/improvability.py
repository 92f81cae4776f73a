"""Sentences on improvability."""

from collections.abc import Sequence

import pandas as pd

from capmap.prose.words import describe_leader, join_names, join_sentences
from capmap.wording import format_percent, quote_name


def describe_improvability(
    improvability: pd.DataFrame,
    improvability_datasets: pd.DataFrame,
    *,
    without_optimum: Sequence[str],
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say how much of each model's error the best model per dataset would remove."""
    if improvability.empty:
        return ["There is no model whose improvability could be measured."]
    write = "{:z.1f}%".format
    methods = join_sentences(
        "Improvability is the share of a model's error, the distance of its mean score to the "
        "optimum of the metric, that the best model of the dataset does not make, averaged over "
        "datasets. It depends on which models are compared.",
        f"The better bound replaces the unknown optimum of {join_names(without_optimum)}."
        if len(without_optimum)
        else "",
        f"Intervals ({format_percent(confidence_level)}) are percentiles of {n_resamples:,} "
        "resamples of runs."
        if improvability["ci_low"].notna().any()
        else "",
    )
    if len(improvability) == 1:
        name = quote_name(improvability["model"].iloc[0])
        return [methods, f"{name} is the only model, so its improvability is 0."]
    cells = improvability_datasets
    worst = cells.sort_values("improvability", ascending=False, kind="stable").iloc[:1]
    results = join_sentences(
        describe_leader(
            improvability,
            "improvability",
            "the lowest improvability",
            confidence_level=confidence_level,
            write=write,
        ),
        *(
            f"The highest of a single cell is {write(row['improvability'])}, of "
            f"{quote_name(row['model'])} on {quote_name(row['dataset'])}."
            for _, row in worst.iterrows()
            if row["improvability"] > 0
        ),
    )
    return [methods, results]
