"""How far a ranking depends on how scores are bounded and averaged, and on single datasets."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.ranking import choose_ranked
from capmap.ranking.aggregation import (
    TRIMMED,
    compute_kendall_tau,
    order_runs,
    round_significant,
    summarize_cells,
)
from capmap.ranking.resampling import evaluate_statistic, repeat_datasets, stratify_runs
from capmap.settings.choices import Cut

BOUNDS = ("configured", "observed", "ranks")
AGREEMENT = ["aggregation", "bounds", "left_out", "kendall_tau", "best", "models"]
SPANS = ["model", "aggregation", "bounds", "rank", "rank_low", "rank_high", "shift"]


def check_robustness(
    runs: pd.DataFrame, ranking: pd.DataFrame, *, cut: Cut = "exact"
) -> dict[str, pd.DataFrame]:
    """Rank the models by other averages and bounds, on all datasets and without each in turn.

    ``robustness`` compares each of these rankings with the reported one, by Kendall's tau-b over
    the models that have a score. ``robustness_ranks`` has the ranks of each model on all datasets,
    their range over leaving out one, and the shift from the reported rank.
    """
    ordered = choose_ranked(ranking).sort_values(["rank", "model"]).set_index("model")
    reported = ordered["rank"].astype("float64")
    found = {bounds: rank_models(runs, bounds, cut) for bounds in BOUNDS}
    rows, spans = [], []
    for average, bounds in product(AVERAGES, BOUNDS):
        ranks = found[bounds][average].reindex(reported.index)
        for left_out, own in ranks.items():
            known = own.dropna()
            tau = compute_kendall_tau(reported[known.index].to_numpy(), known.to_numpy())
            first = "".join(known.index[known == 1][:1])
            rows.append((average, bounds, left_out, tau, first, len(known)))
        ends = {"rank_low": ranks.min(axis=1), "rank_high": ranks.max(axis=1)}
        span = pd.DataFrame({"rank": ranks[""], **ends, "shift": ranks[""] - reported})
        span = span.where(ranks[""].notna()).astype("Int64").reset_index()
        spans.append(span.assign(aggregation=average, bounds=bounds, place=span.index))
    table = pd.concat(spans).sort_values("place", kind="stable")[SPANS]
    return {"robustness": pd.DataFrame(rows, columns=AGREEMENT), "robustness_ranks": table}


def rank_models(runs: pd.DataFrame, bounds: str, cut: Cut) -> dict[str, pd.DataFrame]:
    """Rank models (rows) by each average, on all datasets (column "") and without each of them.

    Configured bounds leave scores as they are. Observed ones make the lowest run of a dataset 0 and
    the highest 1. Of ranks the best of a dataset is 1 and the worst 0: ranks of cells, or of runs
    for the interquartile mean. Datasets on which bounds mean nothing are left out.
    """
    names = ["", *sorted(runs["dataset"].unique())]
    if bounds == "observed":
        rounded = pd.Series(round_significant(runs["score"]), runs.index).groupby(runs["dataset"])
        low, high = rounded.transform("min"), rounded.transform("max")
        runs = runs.assign(score=(runs["score"] - low) / (high - low))[high > low]
    elif bounds == "ranks":
        rivals = runs.groupby("dataset", observed=True)["model"].transform("nunique")
        runs = order_runs(runs[rivals > 1])
    cells = summarize_cells(runs)
    if bounds == "ranks":
        runs, cells = _rank_column(runs, "score"), _rank_column(cells, "mean")
    means = cells.pivot_table(index="model", columns="dataset", values="mean", observed=True)
    parts = {name: means.drop(columns=name, errors="ignore") for name in names}
    ranks = {
        kind: _rank(pd.DataFrame({name: average(own) for name, own in parts.items()}))
        for kind, average in AGGREGATIONS.items()
    }
    return {**ranks, "iqm": _rank(_average_runs(runs, names, cut))}


def _trim(means: pd.DataFrame) -> "pd.Series[float]":
    """Mean of each row's cells without as many of the lowest and highest as fit into a quarter."""
    size = means.notna().sum(axis=1).to_numpy()[:, None]
    cut, place = (TRIMMED * size).astype(np.intp), np.arange(means.shape[1])
    ascending = pd.DataFrame(np.sort(means, axis=1), index=means.index)
    return ascending.where((place >= cut) & (place < size - cut)).mean(axis=1)


AGGREGATIONS: Mapping[str, Callable[[pd.DataFrame], "pd.Series[float]"]] = {
    "mean": lambda means: means.mean(axis=1),
    "trimmed_mean": _trim,
    "median": lambda means: means.median(axis=1),
}
AVERAGES = (*AGGREGATIONS, "iqm")


def _rank(scores: pd.DataFrame) -> pd.DataFrame:
    rounded = pd.DataFrame(round_significant(scores), scores.index, scores.columns)
    return rounded.rank(method="min", ascending=False)


def _rank_column(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Turn a column into ranks within its dataset, from 0 (worst) to 1 (best)."""
    values = pd.Series(round_significant(table[column]), index=table.index)
    groups = values.groupby(table["dataset"])
    shares = (groups.rank(method="average") - 1) / (groups.transform("size") - 1)
    return table.assign(**{column: shares})


def _average_runs(runs: pd.DataFrame, names: list[str], cut: Cut) -> pd.DataFrame:
    """Interquartile mean of each model on all its datasets, and without each of them."""
    table, left_out = {}, np.array(names, dtype=object)
    for model, own in runs.groupby("model", sort=True, observed=True):
        datasets = np.array(sorted(own["dataset"].unique()), dtype=object)
        strata = stratify_runs(own["score"], own["dataset"].tolist(), cut=cut)
        times = (datasets[:, None] != left_out).astype(np.intp)
        with np.errstate(invalid="ignore"):
            table[model] = evaluate_statistic("iqm", strata, repeat_datasets(strata, times))
    return pd.DataFrame(table, index=names, dtype="float64").T


def find_facts(robustness: pd.DataFrame) -> dict[str, Any]:
    """Who is first in most variations, and which variation changes the order most."""
    best = robustness.loc[robustness["best"] != "", "best"].dropna()
    counts = best.value_counts()
    known = robustness.fillna({"left_out": ""}).dropna(subset="kendall_tau")
    return {
        "models": int(robustness["models"].max()) if len(robustness) else 0,
        "variations": len(best),
        "first": sorted(counts.index[counts == counts.max()]),
        "times": int(counts.max()) if len(counts) else 0,
        "worst": known.nsmallest(1, "kendall_tau").to_dict("records"),
    }


ANALYSIS = Analysis(
    question="What would change the order?",
    position=80,
    default=True,
    tables={
        "robustness": Table(
            "Agreement with the reported ranking under other aggregations, bounds and datasets.",
            " ".join(AGREEMENT),
            best={"kendall_tau": "max"},
        ),
        "robustness_ranks": Table(
            "Rank of each model by aggregation and bounds, with its range over leave-one-out.",
            " ".join(SPANS),
        ),
    },
    steps={"check_robustness": Step(check_robustness, pairs=True)},
    find_facts=find_facts,
    meanings={
        "aggregation": "How scores were averaged over datasets.",
        "bounds": "Between which bounds scores were normalized.",
        "robustness_ranks.shift": "This rank less the reported one.",
    },
)
