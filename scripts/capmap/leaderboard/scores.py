"""Scores of entries by dataset and by dimension, their replicates and ranks, and the best ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.artifacts import read_json
from capmap.benchmarks import read_benchmark
from capmap.leaderboard.entries import describe_entries, summarize_submissions
from capmap.normalization import find_limits
from capmap.ranking.aggregation import FloatArray, rank_competitors, summarize_cells
from capmap.ranking.estimates import join_estimates
from capmap.ranking.ranks import rank_models
from capmap.ranking.statistics import STATISTICS
from capmap.settings.choices import Statistic
from capmap.wording import ALL

ENTRY = ["method", "model", "name", "submission"]
RAW_COLUMNS = [*ENTRY, "dataset", "metric", "seeds", "mean", "sem"]
ORDER = ["method", "name", "model", "dataset"]


def rank_cells(
    cells: pd.DataFrame, about: pd.DataFrame, *, statistic: Statistic = "iqm"
) -> pd.DataFrame:
    """Rank the entries on each dataset within each method.

    Parameters
    ----------
    cells : pandas.DataFrame
        Single datasets, as `estimate_models` returns them.
    about : pandas.DataFrame
        What each model is, as `describe_entries` returns it.
    statistic : {"iqm", "mean", "median", "optimality_gap"}, optional
        What `cells` hold.

    Returns
    -------
    pandas.DataFrame
        By method, name, model and dataset: ``method``, ``model``, ``name``, ``submission``,
        ``dataset``, ``seeds``, the statistic, ``ci_low``, ``ci_high`` and ``rank``, the competition
        rank among the entries of the method with runs on the dataset.

    Notes
    -----
    The interquartile mean cuts ``int(0.25 n)`` of n runs from each end, so five seeds keep the
    middle three, and up to three seeds have their plain mean. A cell with one run has no interval.
    """
    cells = cells.rename(columns={"group": "dataset", "runs": "seeds", "estimate": statistic})
    cells = cells[["model", "dataset", "seeds", statistic, "ci_low", "ci_high"]]
    table = cells.merge(about, on="model", validate="many_to_one")
    table["rank"] = _rank_within(table, ["method", "dataset"], statistic)
    columns = [*ENTRY, "dataset", "seeds", statistic, "ci_low", "ci_high", "rank"]
    return table.sort_values(ORDER, ignore_index=True)[columns]


def summarize_raw(runs: pd.DataFrame, about: pd.DataFrame) -> pd.DataFrame:
    """Average the scores of each cell in the units of their metric.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``metric`` and ``score`` as they were submitted, before any
        transform; a row per run.
    about : pandas.DataFrame
        What each model is, as `describe_entries` returns it.

    Returns
    -------
    pandas.DataFrame
        By method, name, model and dataset: ``method``, ``model``, ``name``, ``submission``,
        ``dataset``, ``metric``, ``seeds``, ``mean`` and ``sem``, the sample standard deviation
        (n − 1) over the root of the number of seeds. A single seed has no ``sem``.
    """
    metrics = runs.groupby(["model", "dataset"])["metric"].first().reset_index()
    cells = summarize_cells(runs).rename(columns={"n": "seeds"})
    table = cells.merge(metrics, on=["model", "dataset"], validate="one_to_one")
    table = table.merge(about, on="model", validate="many_to_one")
    return table.sort_values(ORDER, ignore_index=True)[RAW_COLUMNS]


def rank_dimension(
    estimates: pd.DataFrame,
    cells: pd.DataFrame,
    about: pd.DataFrame,
    *,
    dimension: str,
    statistic: Statistic = "iqm",
    members: Sequence[str] | None,
    confidence_level: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> pd.DataFrame:
    """Rank the entries of one dimension within each method.

    Parameters
    ----------
    estimates : pandas.DataFrame
        Rows of one dimension and statistic, as `estimate_models` returns them, in any order.
    cells : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``mean``, a row per model and dataset with runs.
    about : pandas.DataFrame
        What each model is, as `describe_entries` returns it.
    dimension : str
        Its name.
    statistic : {"iqm", "mean", "median", "optimality_gap"}, optional
        What `estimates` hold and entries are ranked by.
    members : sequence of str, optional
        The dimension's datasets; None stands for all on which some model has runs. Only an entry
        that has all of them is ranked.
    confidence_level : float
        Of rank intervals and tie groups, between 0 and 1.
    limits : tuple of float, optional
        What scores can be, from `find_limits`.

    Returns
    -------
    pandas.DataFrame
        The columns of `about`, ``dimension``, the statistic, ``ci_low``, ``ci_high``, ``mean`` (of
        the dataset means, unless that is the statistic), ``bootstrap_mean``, ``bootstrap_sem``,
        ``runs``, ``datasets``, ``rank``, ``rank_low``, ``rank_high``, ``tie_group``, ``expected``
        (datasets) and ``complete`` (bool).
        By method; within one the complete entries by rank, then the others, ties by name.

    Notes
    -----
    Only complete entries of one method are ranked against each other (`rank_models`), so no
    entry without the necessary datasets moves a rank. Rank, rank interval and ties of the others
    are empty, as are rank interval and ties of complete entries without an interval.

    ``bootstrap_mean`` is the mean of the replicates and ``bootstrap_sem`` their standard deviation
    (n − 1) divided by the root of their number. That is the numerical error of ``bootstrap_mean``;
    it shrinks with more replicates and does not say how sure a score is. Both are empty without an
    interval, the second also with one replicate. A dataset that is named twice counts once.
    """
    wanted = set(cells["dataset"] if members is None else members)
    own = cells[cells["dataset"].isin(wanted)].sort_values(["model", "dataset"])
    table = estimates.merge(about, on="model", validate="one_to_one")
    is_complete = table["datasets"] == len(wanted)
    table = table.assign(
        mean=table["model"].map({name: part.mean() for name, part in own.groupby("model")["mean"]}),
        bootstrap_mean=[_average(row) for row in table["replicates"]],
        bootstrap_sem=[_numerical_error(row) for row in table["replicates"]],
        expected=len(wanted),
        complete=is_complete,
        ranked=is_complete,
    )
    ranking = pd.concat(
        rank_models(own, statistic, confidence_level=confidence_level, limits=limits)
        for own in [table.iloc[:0], *(own for _, own in table.groupby("method"))]
    )
    ranking = ranking.sort_values(["method", "rank", "name", "model"], ignore_index=True)
    ranking = ranking.drop(columns=statistic, errors="ignore").assign(dimension=dimension)
    return ranking.rename(columns={"estimate": statistic})


def join_dimensions(rankings: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join the rankings of dimensions, in their order, to one table that goes by method first."""
    table = pd.concat(rankings, ignore_index=True)
    return table.sort_values("method", kind="stable", ignore_index=True)


def _average(replicates: FloatArray) -> float:
    return float(replicates.mean()) if len(replicates) else np.nan


def _numerical_error(replicates: FloatArray) -> float:
    count = len(replicates)
    return float(replicates.std(ddof=1)) / np.sqrt(count) if count > 1 else np.nan


def choose_best(entries: pd.DataFrame, *, statistic: Statistic = "iqm") -> pd.DataFrame:
    """Choose the best complete entry of each backbone within each method, and rank these anew.

    Parameters
    ----------
    entries : pandas.DataFrame
        Columns ``method``, ``model``, ``name``, ``backbone``, ``size``, ``submission``, the
        statistic, ``ci_low``, ``ci_high`` and ``complete``, a row per entry.
    statistic : {"iqm", "mean", "median", "optimality_gap"}, optional
        What ranks them.

    Returns
    -------
    pandas.DataFrame
        By method, rank and name: ``method``, ``rank`` (competition rank), ``backbone``, ``name``,
        ``size``, ``submission``, the statistic, ``ci_low``, ``ci_high`` and ``submissions``: how
        many submissions have an entry of this backbone and method, complete or not.

    Notes
    -----
    Of entries whose score is equal to 12 significant digits the one whose submission comes first by
    name is chosen, then the one whose model does. A backbone without a complete entry has no row.
    The interval is that of the chosen entry; it does not know that the best of several was chosen,
    so for a backbone with many submissions the score is on the high side.
    """
    keys = ["method", "backbone"]
    offered = entries.groupby(keys)["submission"].nunique().rename("submissions").reset_index()
    ranked = entries[entries["complete"]]
    first = ranked[_rank_within(ranked, keys, statistic) == 1]
    table = first.sort_values(["submission", "model"]).drop_duplicates(keys)
    table = table.merge(offered, on=keys, how="left", validate="one_to_one")
    table["rank"] = _rank_within(table, ["method"], statistic)
    table = table.astype({"submissions": "int64"})
    about = ["method", "rank", "backbone", "name", "size", "submission"]
    columns = [*about, statistic, "ci_low", "ci_high", "submissions"]
    return table.sort_values(["method", "rank", "name", "backbone"], ignore_index=True)[columns]


def _rank_within(table: pd.DataFrame, keys: list[str], statistic: Statistic) -> "pd.Series[int]":
    """Competition ranks by a statistic among the rows that share the keys."""
    ranks = pd.Series(0, index=table.index, dtype="int64")
    for _, own in table.groupby(keys):
        ranks[own.index] = rank_competitors(own[statistic], best=STATISTICS[statistic].best)
    return ranks


def rank_entries(
    exported: pd.DataFrame,
    runs: pd.DataFrame,
    ranking: pd.DataFrame,
    bounds: pd.DataFrame,
    replicates: Sequence[str],
    descriptions: Sequence[str],
    benchmark: Sequence[str],
    *,
    dimension_datasets: Mapping[str, list[str]],
    confidence_level: float,
) -> dict[str, pd.DataFrame]:
    """Rank the entries by method and dimension, and the best of each backbone.

    Parameters
    ----------
    exported, runs : pandas.DataFrame
        Runs as exported, and normalized.
    ranking : pandas.DataFrame
        The ranking, which says what ranks the models.
    bounds : pandas.DataFrame
        The bounds of the datasets.
    replicates : sequence of str
        Files of estimates and replicates of each dimension.
    descriptions, benchmark : sequence of str
        The file of what submissions say of themselves, and the definition of the benchmark, if any.
    dimension_datasets : mapping of str to list of str
        The datasets of each dimension.
    confidence_level
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``entries``, ``dimensions`` and ``best``.
    """
    about, _ = _describe(exported, descriptions, benchmark)
    cells, (unit, statistic) = summarize_cells(runs), ranking[["unit", "statistic"]].iloc[0]
    limits = find_limits(bounds, runs)
    # On all datasets they are those of the study.
    own = {"kind": "study", "group": "", "unit": unit, "statistic": statistic}
    ranked = {
        name: rank_dimension(
            join_estimates(
                replicates, own if name == ALL else {**own, "kind": "dimension", "group": name}
            ),
            cells,
            about,
            dimension=name,
            statistic=statistic,
            members=members,
            confidence_level=confidence_level,
            limits=limits,
        )
        for name, members in {ALL: None, **dimension_datasets}.items()
    }
    return {
        "entries": ranked[ALL],
        "dimensions": join_dimensions(ranked.values()),
        "best": choose_best(ranked[ALL], statistic=statistic),
    }


def summarize_entries(
    exported: pd.DataFrame,
    ranking: pd.DataFrame,
    replicates: Sequence[str],
    descriptions: Sequence[str],
    benchmark: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """Summarize raw and normalized scores per dataset, and the submissions.

    Parameters
    ----------
    exported : pandas.DataFrame
        Runs as exported.
    ranking : pandas.DataFrame
        The ranking, which says what ranks the models.
    replicates : sequence of str
        Files of estimates on each dataset.
    descriptions, benchmark : sequence of str
        The file of what submissions say of themselves, and the definition of the benchmark, if any.

    Returns
    -------
    dict
        The tables ``raw``, ``normalized`` and ``submissions``.
    """
    about, records = _describe(exported, descriptions, benchmark)
    cells = join_estimates(replicates, {"kind": "dataset"})
    return {
        "raw": summarize_raw(exported, about),
        "normalized": rank_cells(cells, about, statistic=ranking["statistic"].iloc[0]),
        "submissions": summarize_submissions(exported, records),
    }


def _describe(
    exported: pd.DataFrame, descriptions: Sequence[str], benchmark: Sequence[str]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """What each model is, and what the submissions say of themselves."""
    records = [record for path in descriptions for record in read_json(path)["submissions"]]
    models = {
        key: vars(model) for path in benchmark for key, model in read_benchmark(path).models.items()
    }
    return describe_entries(exported, submissions=records, models=models), records
