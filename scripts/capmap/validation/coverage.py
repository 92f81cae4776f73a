"""Cells without runs, and cells with few."""

from collections.abc import Collection
from typing import Literal

import pandas as pd

from capmap.normalization.rules import Incomplete
from capmap.normalization.selection import find_missing
from capmap.problems import Problem
from capmap.validation.places import Row, blame_group, list_rows
from capmap.wording import count_things, list_names, quote_name

CONSEQUENCES = {
    "error": "Add the runs, or choose incomplete: drop_models, drop_datasets or keep.",
    "drop_models": "The model is left out (incomplete: drop_models).",
    "drop_datasets": "The dataset is left out (incomplete: drop_datasets).",
    "keep": "It is scored on what it has (incomplete: keep).",
}


def find_incomplete(
    runs: pd.DataFrame, counts: pd.DataFrame, *, policy: Incomplete
) -> list[Problem]:
    """Find models, or datasets, with empty cells.

    Parameters
    ----------
    runs : DataFrame
        The runs that are analysed.
    counts : DataFrame
        Their number in each cell, of `count_runs`.
    policy : {"error", "drop_models", "drop_datasets", "keep"}
        With "error" they are errors, else warnings. Datasets are listed where datasets are
        dropped, models otherwise.

    Returns
    -------
    list of Problem
        One per model or dataset, at its first row, with what it lacks; and an error when nothing
        is left.
    """
    kind: Literal["model", "dataset"]
    kind, other = ("dataset", "model") if policy == "drop_datasets" else ("model", "dataset")
    table = counts.T if kind == "dataset" else counts
    missing = find_missing(table)
    problems = [
        blame_group(
            row,
            "incomplete",
            f"The {kind} {quote_name(name)} has no run for "
            f"{count_things(len(missing[name]), other)}: {list_names(missing[name])}.",
            CONSEQUENCES[policy],
            severity="error" if policy == "error" else "warning",
            value=name,
        )
        for name, row in _find_first_rows(runs, kind, missing)
    ]
    if policy.startswith("drop") and missing and len(missing) == len(table):
        problems.append(
            Problem(
                code="nothing_left",
                reason=f"No {kind} has a run for every {other}, so incomplete: {policy} leaves "
                "nothing.",
                remedy="Choose another policy, or select models and datasets that are complete.",
            )
        )
    return problems


def find_few_seeds(runs: pd.DataFrame, counts: pd.DataFrame, *, min_seeds: int) -> list[Problem]:
    """Find cells with fewer runs than wanted, and models without a second run anywhere.

    Parameters
    ----------
    runs : DataFrame
        The runs that are analysed.
    counts : DataFrame
        Their number in each cell, of `count_runs`.
    min_seeds : int
        Runs that each cell that is not empty should have.

    Returns
    -------
    list of Problem
        Warnings: "few_seeds" per model, at its first row, and at most one "one_seed".
    """
    table = counts.to_numpy()
    few = (table > 0) & (table < min_seeds)
    datasets = {
        str(model): counts.columns[cells].tolist()
        for model, cells in zip(counts.index, few, strict=True)
        if cells.any()
    }
    problems = [
        blame_group(
            row,
            "few_seeds",
            f"The model {quote_name(model)} has fewer than {min_seeds} runs on "
            f"{count_things(len(datasets[model]), 'dataset')}: {list_names(datasets[model])}.",
            "Add runs with further seeds, or lower min_seeds.",
            severity="warning",
            value=model,
        )
        for model, row in _find_first_rows(runs, "model", datasets)
    ]
    single = counts.index[table.max(axis=1, initial=0) <= 1].tolist()
    if single:
        everyone = len(single) == len(counts)
        who = "Every model has" if everyone else f"Some models ({list_names(single)}) have"
        problems.append(
            Problem(
                code="one_seed",
                reason=f"{who} one run per dataset, so no interval over seeds can be given.",
                remedy="Add runs with further seeds to learn how sure the ranking is.",
                severity="warning",
            )
        )
    return problems


def _find_first_rows(
    runs: pd.DataFrame, kind: Literal["model", "dataset"], names: Collection[str]
) -> list[tuple[str, Row]]:
    firsts = runs[runs[kind].isin(list(names))].drop_duplicates(kind)
    return [(getattr(row, kind), row) for row in list_rows(firsts)]
