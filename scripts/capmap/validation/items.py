"""Scores of single test items: their means are the runs, and they themselves are kept beside."""

from typing import NamedTuple

import pandas as pd

from capmap.artifacts import number_rows, pack_names, sort_rows
from capmap.exports.layouts import ITEMS
from capmap.normalization.items import KEY, NO_ITEMS
from capmap.problems import Problem, RowCheck

RUN = ["model", "dataset", "metric", "seed"]
TORN = RowCheck(
    "torn_cluster",
    "cluster",
    "The item {item} of {dataset} is in the cluster {cluster} here and in {_other} elsewhere.",
    "Write one cluster for each item of a dataset.",
)
UNEVEN = RowCheck(
    "uneven_items",
    "item",
    "{model} has {_count} of the {_all} items of {dataset}: its score is the mean of those.",
    "Add the others, or give failed items a score with `failed`.",
    "warning",
)


class Averaged(NamedTuple):
    """Runs, the items that they are means of, and what is wrong with these."""

    runs: pd.DataFrame
    items: pd.DataFrame
    problems: list[Problem]


def average_items(rows: pd.DataFrame) -> Averaged:
    """Average the scores of items to runs.

    Parameters
    ----------
    rows : DataFrame
        A row per run, or per run and item: then with the column item, and perhaps cluster.

    Returns
    -------
    Averaged
        Each run with the mean of its items, at the place of the first of them. Of items a row per
        model, dataset and item, by name: its cluster, which is its own where there are none, and
        the mean score of its runs.
    """
    if "item" not in rows:
        return Averaged(rows, NO_ITEMS.copy(), [])
    if "cluster" not in rows:
        rows = rows.assign(cluster=rows["item"])
    problems = [*_find_torn(rows), *_find_uneven(rows)]
    items = _average(rows, ["model", "dataset", "item"])[[*KEY, "score"]]
    runs = _average(rows, RUN).drop(columns=list(ITEMS))
    return Averaged(runs, sort_rows(items, KEY[:3], "score"), problems)


def _average(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The first row of each set of names, with the mean score; sums depend on their order."""
    numbers = number_rows(rows, names)
    table = pd.DataFrame({"number": numbers, "score": rows["score"].to_numpy()})
    means = table.sort_values(["number", "score"]).groupby("number")["score"].mean()
    first = ~pd.Series(numbers).duplicated().to_numpy()
    return rows[first].assign(score=means.loc[pd.Index(numbers[first])].to_numpy())


def _find_torn(rows: pd.DataFrame) -> list[Problem]:
    """Find items of a dataset that are in two clusters."""
    items = number_rows(rows, ["dataset", "item"])
    clusters = pack_names(rows["cluster"]).cat
    firsts = pd.Series(clusters.codes.to_numpy()).groupby(items).transform("first").to_numpy()
    torn = firsts != clusters.codes.to_numpy()
    others = clusters.categories.to_numpy()[firsts[torn]]
    found = rows[torn].assign(_other=[repr(name) for name in others])
    return TORN.report(found.drop_duplicates(["dataset", "item"]))


def _find_uneven(rows: pd.DataFrame) -> list[Problem]:
    """Find models that lack items of a dataset which others have."""
    items = number_rows(rows, ["dataset", "item"])
    first = ~rows.duplicated(["dataset", "model"]).to_numpy()
    counts = []
    for names in (["dataset", "model"], ["dataset"]):
        numbers = number_rows(rows, names)
        pairs = pd.DataFrame({"cell": numbers, "item": items}).drop_duplicates()
        counts.append(pairs.groupby("cell").size().loc[pd.Index(numbers[first])].to_numpy())
    is_uneven = counts[0] < counts[1]
    table = rows[first].assign(_count=counts[0], _all=counts[1])
    return UNEVEN.report(table[is_uneven])
