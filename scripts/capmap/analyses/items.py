"""Differences between models on the same test items, and how many items it takes to see them."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.ranking import choose_ranked
from capmap.ranking.aggregation import FloatArray, Pairs, list_pairs
from capmap.ranking.clusters import FEWEST_CLUSTERS, Sheet, arrange_items, bound_flat, spread_items

# Share of studies that are to find a difference that there is.
POWER = 0.8
COLUMNS = [
    *("model_a", "model_b", "dataset", "items", "clusters", "mean_difference"),
    *("ci_low", "ci_high", "better", "worse", "mcnemar_p", "needed"),
]
NUMBERS = ["items", "clusters", "mean_difference", "variance", "freedom"]
NUMBERS += ["better", "worse", "mcnemar_p"]


def compare_items(
    items: pd.DataFrame, runs: pd.DataFrame, *, confidence_level: float
) -> pd.DataFrame:
    """Compare every pair of models item by item, on each dataset and on all.

    Parameters
    ----------
    items : pandas.DataFrame
        Normalized scores of items.
    runs : pandas.DataFrame
        Normalized runs, which say what models there are.
    confidence_level : float
        Of intervals.

    Returns
    -------
    pandas.DataFrame
        The table ``item_pairs``: rows of all datasets first, whose name is empty.

    Notes
    -----
    Differences are of the items that both models have; datasets weigh the same. The variance is
    that of `spread_items`, of differences that are all the same that of `bound_flat`. McNemar's
    exact test is for right and wrong without clusters. ``needed`` items show a difference as large
    as the one found in 80% of studies, in the mix of datasets and clusters that there is.
    """
    models = sorted(map(str, runs["model"].unique()))
    pairs = list_pairs(len(models))
    sheets = arrange_items(items[items["model"].isin(models)], models)
    parts = {name: _compare_on(sheet, pairs) for name, sheet in sheets.items()}
    tables = [_join(parts.values(), len(pairs.first)).assign(dataset="")] if parts else []
    tables += [own.assign(dataset=name) for name, own in parts.items()]
    if not tables:
        return pd.DataFrame(columns=COLUMNS)
    names = np.array(models, dtype=object)
    table = pd.concat(
        [own.assign(model_a=names[pairs.first], model_b=names[pairs.second]) for own in tables]
    )
    error, freedom = np.sqrt(table["variance"]), table["freedom"].to_numpy()
    reach = scipy.special.stdtrit(freedom, (1 + confidence_level) / 2)
    found = table["mean_difference"]
    ratio = (reach + scipy.special.stdtrit(freedom, POWER)) * error / found.where(found != 0)
    table = table.assign(
        ci_low=found - reach * error,
        ci_high=found + reach * error,
        needed=np.ceil(table["items"] * ratio**2),
    )
    return table[COLUMNS].reset_index(drop=True)


def _compare_on(sheet: Sheet, pairs: Pairs) -> pd.DataFrame:
    """Compare pairs on a dataset, a row each; those without an item in common have no numbers."""
    values = np.unique(sheet.scores[~np.isnan(sheet.scores)])
    is_plain = len(values) <= 2 and len(sheet.starts) == sheet.scores.shape[1]
    rows = []
    for model in range(len(sheet.scores) - 1):
        apart = sheet.scores[model] - sheet.scores[model + 1 :]
        spread = spread_items(apart, sheet.starts)
        shared = (~np.isnan(apart)).sum(axis=1)
        variance = (spread.parts**2).sum(axis=1)
        variance = np.where(variance > 0, variance, bound_flat(sheet.scores, spread.clusters))
        mean = np.nansum(apart, axis=1) / np.where(shared, shared, np.nan)
        better, worse = (apart > 0).sum(axis=1), (apart < 0).sum(axis=1)
        p = np.minimum(2 * scipy.special.bdtr(np.minimum(better, worse), better + worse, 0.5), 1)
        p = np.where(is_plain & (shared > 0), p, np.nan)
        columns = shared, spread.clusters, mean, variance, spread.freedom, better, worse, p
        rows.append(np.column_stack(columns))
    table = np.concatenate(rows) if rows else np.empty((len(pairs.first), len(NUMBERS)))
    return pd.DataFrame(table, columns=NUMBERS)


def _join(tables: Any, pairs: int) -> pd.DataFrame:
    """Compare pairs on all datasets that both models have."""
    stacks: dict[str, FloatArray] = {
        name: np.stack([own[name].to_numpy() for own in tables]) for name in NUMBERS
    }
    shared = stacks["items"] > 0
    n = np.where(shared.any(axis=0), shared.sum(axis=0), np.nan)
    variances = np.where(shared, stacks["variance"], 0)
    total = variances.sum(axis=0)
    spread = np.where(shared, variances**2 / stacks["freedom"], 0).sum(axis=0)
    counts = {name: stacks[name].sum(axis=0) for name in ("items", "clusters", "better", "worse")}
    return pd.DataFrame(
        counts
        | {
            "mean_difference": np.where(shared, stacks["mean_difference"], 0).sum(axis=0) / n,
            "variance": total / n**2,
            "freedom": total**2 / spread,
            "mcnemar_p": np.full(pairs, np.nan),
        }
    )


def find_facts(item_pairs: pd.DataFrame, ranking: pd.DataFrame) -> dict[str, Any]:
    """How far the leader is ahead of the next model, and how many neighbours differ at all."""
    order = choose_ranked(ranking)["model"].tolist()
    table = item_pairs[item_pairs["dataset"].isna()]
    apart = table.loc[(table["ci_low"] > 0) | (table["ci_high"] < 0), ["model_a", "model_b"]]
    differing = {*apart.itertuples(index=False, name=None)}
    neighbours = [(min(pair), max(pair)) for pair in pairwise(order)]
    own = table[table["model_a"].isin(order[:2]) & table["model_b"].isin(order[:2])]
    few = item_pairs[item_pairs["dataset"].notna() & item_pairs["clusters"].lt(FEWEST_CLUSTERS)]
    facts: dict[str, Any] = {
        "pairs": len(table),
        "neighbours": len(neighbours),
        "apart": sum(pair in differing for pair in neighbours),
        "few": sorted(few["dataset"].unique()),
        "fewest": FEWEST_CLUSTERS,
        "closest": {},
        "is_clustered": bool((table["clusters"] < table["items"]).any()),
        "power": POWER,
    }
    if len(own) and own["items"].iloc[0] > 0:
        row = own.iloc[0]
        sign = 1 if row["model_a"] == order[0] else -1
        ends = sorted([sign * row["ci_low"], sign * row["ci_high"]])
        facts["closest"] = {
            "models": order[:2],
            "difference": sign * row["mean_difference"],
            "ends": ends,
            "items": int(row["items"]),
            "clusters": int(row["clusters"]),
            "needed": 0 if np.isnan(row["needed"]) else int(row["needed"]),
        }
    return facts


ANALYSIS = Analysis(
    question="What do single test items say?",
    position=15,
    default=True,
    needs="columns/item",
    tables={
        "item_pairs": Table(
            "Every pair of models on the test items that both have, on all datasets (first, "
            "without a name) and on each: mean difference with its interval, paired by item, and "
            "the items that it takes to see such a difference in 80% of studies. Intervals are of "
            "one pair alone.",
            " ".join(COLUMNS),
        ),
    },
    figures={
        "item_differences": Figure(
            "Mean difference of every model to the first one on the same items, with intervals.",
            draw="capmap.figures.comparison:draw_item_differences",
        )
    },
    steps={"compare_items": Step(compare_items, pairs=True)},
    find_facts=find_facts,
    meanings={
        "better": "Items on which the first model is better.",
        "clusters": "Number of clusters of these items.",
        "items": "Number of items that both models have.",
        "mcnemar_p": "p-value of McNemar's exact test, for right and wrong without clusters.",
        "item_pairs.mean_difference": "Mean difference of normalized scores, paired by item.",
        "needed": "Number of items that show such a difference in 80% of studies.",
        "worse": "Items on which the first model is worse.",
    },
)
