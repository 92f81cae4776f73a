"""What the entries of a leaderboard are, and their scores and ranks by dimension and dataset."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.artifacts import read_json
from capmap.benchmarks import read_benchmark
from capmap.ranking.aggregation import rank_competitors, summarize_cells
from capmap.ranking.estimates import join_estimates, read_limits
from capmap.ranking.rank_sets import rank_models
from capmap.ranking.resampling import STATISTICS
from capmap.settings.choices import Statistic
from capmap.wording import ALL

ABOUT = ["model", "method", "name", "backbone", "size", "submission"]
PARTS = ("method", "backbone", "submission")
DESCRIBED = ("paper", "code", "license", "hpo_trials", "information", "comments")
COUNTS = ("models", "runs", "datasets")
ORDER = ["method", "name", "model", "dataset"]


def rank_entries(
    exported: pd.DataFrame,
    runs: pd.DataFrame,
    scope: Sequence[str],
    replicates: Sequence[str],
    descriptions: Sequence[str],
    benchmark: Sequence[str],
    *,
    dimension_datasets: Mapping[str, list[str]],
    confidence_level: float,
) -> dict[str, pd.DataFrame]:
    """Rank the entries by method and dimension, and the best of each backbone.

    Of `exported` and normalized runs, with estimates and `replicates` of each dimension; on all
    datasets they are those of the study, by what ranks its models.
    """
    about, _ = _describe(exported, descriptions, benchmark)
    cells, common = summarize_cells(runs), read_json(scope[0])
    statistic = common["rank_by"]
    wanted = {ALL: sorted(set(cells["dataset"])), **dimension_datasets}
    ranked = {}
    for name, members in wanted.items():
        kind, group = ("study", "") if name == ALL else ("dimension", name)
        part = {"kind": kind, "group": group, "unit": common["unit"], "statistic": statistic}
        ranked[name] = rank_dimension(
            join_estimates(replicates, part),
            cells[cells["dataset"].isin(members)],
            about,
            expected=len(set(members)),
            statistic=statistic,
            confidence_level=confidence_level,
            limits=read_limits(common),
        ).assign(dimension=name)
    dimensions = pd.concat(ranked.values(), ignore_index=True)
    return {
        "entries": ranked[ALL],
        "dimensions": dimensions.sort_values("method", kind="stable", ignore_index=True),
        "best": choose_best(ranked[ALL], statistic=statistic),
    }


def rank_dimension(
    estimates: pd.DataFrame,
    cells: pd.DataFrame,
    about: pd.DataFrame,
    *,
    expected: int,
    statistic: Statistic = "iqm",
    confidence_level: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> pd.DataFrame:
    """Rank the entries of one dimension within each method.

    Only entries with all the `expected` datasets are ranked, so no other moves a rank. By method;
    within one the ranked entries by rank, then the others, ties by name.

    ``bootstrap_mean`` is the mean of the replicates and ``bootstrap_sem`` their standard deviation
    (n − 1) divided by the root of their number: the numerical error of ``bootstrap_mean``, which
    shrinks with more replicates and does not say how sure a score is.
    """
    means = {model: own.mean() for model, own in cells.groupby("model")["mean"]}
    draws = [own if len(own) > 1 else np.full(2, np.nan) for own in estimates["replicates"]]
    table = estimates.assign(
        mean=estimates["model"].map(means),
        bootstrap_mean=[own.mean() for own in draws],
        bootstrap_sem=[own.std(ddof=1) / np.sqrt(len(own)) for own in draws],
        expected=expected,
        complete=estimates["datasets"] == expected,
        ranked=estimates["datasets"] == expected,
    ).merge(about, on="model", validate="one_to_one")
    parts = [own for _, own in table.groupby("method")] or [table]
    ranking = pd.concat(
        rank_models(own, statistic, confidence_level=confidence_level, limits=limits)
        for own in parts
    )
    ranking = ranking.sort_values(["method", "rank", "name", "model"], ignore_index=True)
    ranking = ranking.drop(columns=statistic, errors="ignore")
    return ranking.rename(columns={"estimate": statistic})


def choose_best(entries: pd.DataFrame, *, statistic: Statistic = "iqm") -> pd.DataFrame:
    """Choose the best complete entry of each backbone within each method, and rank these anew.

    Of entries whose score is equal to 12 significant digits the one whose submission comes first by
    name is chosen, then the one whose model does. ``submissions`` says how many submissions have
    an entry of this backbone and method. The interval does not know that the best was chosen.
    """
    keys = ["method", "backbone"]
    offered = entries.groupby(keys)["submission"].nunique().rename("submissions").reset_index()
    ranked = entries[entries["complete"]]
    first = ranked[_rank_within(ranked, keys, statistic) == 1]
    table = first.sort_values(["submission", "model"]).drop_duplicates(keys)
    table = table.drop(columns="rank").merge(offered, on=keys, how="left", validate="one_to_one")
    table["rank"] = _rank_within(table, ["method"], statistic)
    return table.sort_values(["method", "rank", "name", "backbone"], ignore_index=True)


def _rank_within(table: pd.DataFrame, keys: list[str], statistic: Statistic) -> "pd.Series[int]":
    """Competition ranks by a statistic among the rows that share the keys."""
    best = STATISTICS[statistic].best
    scores = table.groupby(keys)[statistic]
    return scores.transform(lambda own: rank_competitors(own, best=best)).astype("int64")


def summarize_entries(
    exported: pd.DataFrame,
    scope: Sequence[str],
    replicates: Sequence[str],
    descriptions: Sequence[str],
    benchmark: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """Summarize raw and normalized scores per dataset, and the submissions."""
    about, records = _describe(exported, descriptions, benchmark)
    cells = join_estimates(replicates, {"kind": "dataset"})
    return {
        "raw": summarize_raw(exported, about),
        "normalized": rank_cells(cells, about, statistic=read_json(scope[0])["rank_by"]),
        "submissions": summarize_submissions(exported, records),
    }


def rank_cells(
    cells: pd.DataFrame, about: pd.DataFrame, *, statistic: Statistic = "iqm"
) -> pd.DataFrame:
    """Rank the entries on each dataset within each method, by estimates on single datasets."""
    cells = cells.rename(columns={"group": "dataset", "runs": "seeds", "estimate": statistic})
    table = cells.merge(about, on="model", validate="many_to_one")
    table["rank"] = _rank_within(table, ["method", "dataset"], statistic)
    return table.sort_values(ORDER, ignore_index=True)


def summarize_raw(runs: pd.DataFrame, about: pd.DataFrame) -> pd.DataFrame:
    """Average the submitted scores of each cell in the units of their metric."""
    metrics = runs.drop_duplicates(["model", "dataset"])[["model", "dataset", "metric"]]
    cells = summarize_cells(runs).rename(columns={"n": "seeds"})
    table = cells.merge(metrics, on=["model", "dataset"], validate="one_to_one")
    table = table.merge(about, on="model", validate="many_to_one")
    return table.sort_values(ORDER, ignore_index=True)


def _describe(
    exported: pd.DataFrame, descriptions: Sequence[str], benchmark: Sequence[str]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """What each model is, and what the submissions say of themselves."""
    records = [record for path in descriptions for record in read_json(path)["submissions"]]
    models = {
        key: vars(model) for path in benchmark for key, model in read_benchmark(path).models.items()
    }
    return describe_entries(exported, submissions=records, models=models), records


def describe_entries(
    runs: pd.DataFrame,
    *,
    submissions: Sequence[Mapping[str, Any]],
    models: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    """Say of each model what it is: method, display name, backbone, size and submission.

    A part that the runs of a model do not agree on describes runs, and is left empty; the backbone
    is then the model itself. The benchmark's display name and size (`models`) win over those of the
    entry's own submission, and these over those of the first other submission by name. Without
    any, the name is the backbone.
    """
    groups = runs.groupby("model", sort=True)
    table = groups.size().index.to_frame(index=False)
    for part in PARTS:
        table[part] = ""
        if part in runs:
            is_one = groups[part].nunique(dropna=False).to_numpy() == 1
            table[part] = groups[part].first().where(is_one).fillna("").to_numpy()
    table["backbone"] = table["backbone"].where(table["backbone"] != "", table["model"])
    described: dict[str, dict[str, Mapping[str, str]]] = {}
    for record in sorted(submissions, key=lambda record: str(record["name"])):
        for model in record.get("models", []):
            described.setdefault(model["key"], {})[record["name"]] = model
    names, sizes = [], []
    for backbone, own in zip(table["backbone"], table["submission"], strict=True):
        found = described.get(backbone, {})
        records = [models.get(backbone, {}), found.get(own, {}), *found.values()]
        names.append(_find_first(records, "name") or backbone)
        sizes.append(_find_first(records, "size"))
    return table.assign(name=names, size=sizes)[ABOUT].astype("str")


def _find_first(records: Iterable[Mapping[str, str]], field: str) -> str:
    """First text that stands in a field; empty where there is none."""
    return next((record[field] for record in records if record.get(field)), "")


def summarize_submissions(
    runs: pd.DataFrame, submissions: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """List the submissions by name, with their backbones, runs and datasets and their own words."""
    rows = []
    for record in sorted(submissions, key=lambda record: str(record["name"])):
        own = runs[runs["submission"] == record["name"]]
        counts = (own["backbone"].nunique(), len(own), own["dataset"].nunique())
        words = (str(record.get(name) or "") for name in DESCRIBED)
        rows.append((record["name"], *counts, *words))
    table = pd.DataFrame(rows, columns=["submission", *COUNTS, *DESCRIBED]).astype("str")
    return table.astype(dict.fromkeys(COUNTS, "int64"))
