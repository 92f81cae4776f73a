"""Scores of entries by dataset and by dimension, their replicates and ranks, and the best ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from capmap.artifacts import read_json, read_parquet
from capmap.benchmarks import read_benchmark
from capmap.leaderboard.entries import ENTRY_COLUMNS, describe_entries, summarize_submissions
from capmap.ranking.aggregation import FloatArray, rank_competitors, summarize_cells
from capmap.ranking.models import Options, bootstrap_model
from capmap.ranking.ranks import rank_estimates
from capmap.ranking.resampling import DatasetPool

CELLS = {
    "model": "str",
    "dataset": "str",
    "seeds": "int64",
    "iqm": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
}
RAW_COLUMNS = ["method", "model", "name", "submission", "dataset", "metric", "seeds", "mean", "sem"]
NORMALIZED_COLUMNS = [
    *("method", "model", "name", "submission", "dataset"),
    *("seeds", "iqm", "ci_low", "ci_high", "rank"),
]
ORDER = ["method", "name", "model", "dataset"]

ALL = "All"
ESTIMATES = {
    "model": "str",
    "dimension": "str",
    "iqm": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "mean": "float64",
    "bootstrap_mean": "float64",
    "bootstrap_sem": "float64",
    "runs": "int64",
    "datasets": "int64",
}
DIMENSION_COLUMNS = [
    *("method", "dimension", "rank", "model", "name", "submission", "iqm", "ci_low", "ci_high"),
    *("rank_low", "rank_high", "ties", "bootstrap_mean", "bootstrap_sem"),
    *("runs", "datasets", "expected", "complete"),
]
RANKED = {
    "rank": "Int64",
    "rank_low": "Int64",
    "rank_high": "Int64",
    "ties": "str",
    "expected": "int64",
    "complete": "bool",
}
ROUNDING = 1e-9

BEST_COLUMNS = [
    *("method", "rank", "backbone", "name", "size", "submission"),
    *("iqm", "ci_low", "ci_high", "submissions"),
]


def bootstrap_cells(
    runs: pd.DataFrame, *, options: Options, make_rng: Callable[[str, str], np.random.Generator]
) -> pd.DataFrame:
    """Estimate the interquartile mean of each cell's runs with its interval.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, finite), a row per run.
    options : Options
        How to bootstrap, with ``unit="runs"``: a cell has one dataset only.
    make_rng : callable
        Makes the random generator of a dataset and a model.

    Returns
    -------
    pandas.DataFrame
        By model and dataset: ``model``, ``dataset``, ``seeds``, ``iqm``, ``ci_low``, ``ci_high``.
        A cell with one run has no interval.

    Notes
    -----
    The interquartile mean cuts ``int(0.25 n)`` of n runs from each end, so five seeds keep the
    middle three, and up to three seeds have their plain mean.
    """
    rows = []
    for (model, dataset), own in runs.groupby(["model", "dataset"], sort=True):
        [found] = bootstrap_model(
            own["score"],
            own["dataset"].tolist(),
            statistics=["iqm"],
            options=options,
            rng=make_rng(str(dataset), str(model)),
        )
        rows.append((model, dataset, len(own), found.estimate, found.low, found.high))
    return pd.DataFrame(rows, columns=list(CELLS)).astype(CELLS)


def rank_cells(cells: pd.DataFrame, about: pd.DataFrame) -> pd.DataFrame:
    """Rank the entries on each dataset within each method.

    Parameters
    ----------
    cells : pandas.DataFrame
        As `bootstrap_cells` returns it.
    about : pandas.DataFrame
        What each model is, as `describe_entries` returns it.

    Returns
    -------
    pandas.DataFrame
        By method, name, model and dataset: ``method``, ``model``, ``name``, ``submission``,
        ``dataset``, ``seeds``, ``iqm``, ``ci_low``, ``ci_high`` and ``rank``, the competition rank
        among the entries of the method with runs on the dataset.
    """
    table = cells.merge(about, on="model", validate="many_to_one")
    ranks = pd.Series(0, index=table.index, dtype="int64")
    for _, own in table.groupby(["method", "dataset"]):
        ranks[own.index] = rank_competitors(own["iqm"])
    return table.assign(rank=ranks).sort_values(ORDER, ignore_index=True)[NORMALIZED_COLUMNS]


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


def bootstrap_dimensions(
    runs: pd.DataFrame,
    dimensions: Mapping[str, Sequence[str]],
    *,
    options: Options,
    make_rng: Callable[..., np.random.Generator],
    datasets: Sequence[str] = (),
) -> pd.DataFrame:
    """Estimate the interquartile mean of each model in each dimension.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, finite), a row per run.
    dimensions : mapping of str to sequence of str
        The datasets of each dimension. The dimension ``All`` holds every dataset, unless it is
        given here.
    options : Options
        How to bootstrap.
    make_rng : callable
        Makes a random generator: ``make_rng(dimension)`` draws a dimension's datasets,
        ``make_rng(dimension, model)`` a model's runs.
    datasets : sequence of str, optional
        The study's datasets; needed for ``unit="runs_and_datasets"`` and only then.

    Returns
    -------
    pandas.DataFrame
        A row per dimension and model with runs in it, by dimension (``All`` first, then in the
        order given) and name: ``model``, ``dimension``, ``iqm``, ``ci_low``, ``ci_high``, ``mean``
        (of the dataset means), ``bootstrap_mean``, ``bootstrap_sem``, ``runs``, ``datasets``,
        ``dataset_names`` (sorted list) and ``replicates`` (array; empty without an interval).

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    ``bootstrap_mean`` is the mean of the replicates and ``bootstrap_sem`` their standard deviation
    (n − 1) divided by the root of their number. That is the numerical error of ``bootstrap_mean``;
    it shrinks with more replicates and does not say how sure a score is. Both are empty without an
    interval, the second also with one replicate. A dataset that is named twice counts once.
    """
    rows = []
    for dimension, members in list_dimensions(dimensions).items():
        own = runs if members is None else runs[runs["dataset"].isin(members)]
        names = [name for name in datasets if members is None or name in members]
        for model, scores in own.groupby("model", sort=True):
            pool = DatasetPool(names, make_rng(dimension)) if names else None
            found = _estimate(scores, options, make_rng(dimension, str(model)), pool)
            rows.append({"model": model, "dimension": dimension, **found})
    table = pd.DataFrame(rows, columns=[*ESTIMATES, "dataset_names", "replicates"])
    return table.astype(ESTIMATES)


def list_dimensions(
    dimensions: Mapping[str, Sequence[str]],
) -> dict[str, Sequence[str] | None]:
    """List dimensions with their datasets, ``All`` first; None stands for every dataset.

    Examples
    --------
    >>> list_dimensions({"Core": ["a", "b"]})
    {'All': None, 'Core': ['a', 'b']}
    """
    return {ALL: None, **dimensions}


def count_expected(estimates: pd.DataFrame, members: Sequence[str] | None) -> int:
    """Number of datasets of a dimension: those listed, or all on which some model has runs.

    Examples
    --------
    >>> table = pd.DataFrame({"dataset_names": [["a", "b"], ["b", "c"]]})
    >>> count_expected(table, None), count_expected(table, ["a", "x"])
    (3, 2)
    """
    if members is not None:
        return len(set(members))
    return len({name for names in estimates["dataset_names"] for name in names})


def rank_dimension(
    estimates: pd.DataFrame,
    about: pd.DataFrame,
    *,
    expected: int,
    complete: float,
    confidence_level: float,
) -> pd.DataFrame:
    """Rank the entries of one dimension within each method.

    Parameters
    ----------
    estimates : pandas.DataFrame
        Rows of one dimension, as `bootstrap_dimensions` returns them, in any order.
    about : pandas.DataFrame
        What each model is, as `describe_entries` returns it.
    expected : int
        Number of datasets of the dimension.
    complete : float
        Share of these datasets that an entry needs in order to be ranked, from 0 to 1.
    confidence_level : float
        Of rank intervals and tie groups, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        `estimates` without ``dataset_names`` and ``replicates``, with the columns of `about`, and
        ``rank``, ``rank_low``, ``rank_high``, ``ties``, ``expected`` and ``complete`` (bool).
        By method; within one the complete entries by rank, then the others, ties by name.

    Notes
    -----
    Only complete entries of one method are ranked against each other (`rank_estimates`), so no
    entry without the necessary datasets moves a rank. Rank, rank interval and ties of the others
    are empty, as are rank interval and ties of complete entries without an interval.
    """
    table = estimates.merge(about, on="model", validate="one_to_one")
    enough = table["datasets"] >= complete * expected - ROUNDING
    missing = pd.array([pd.NA] * len(table), dtype="Int64")
    table = table.assign(rank=missing, rank_low=missing, rank_high=missing, ties="")
    table = table.assign(expected=expected, complete=enough).astype(RANKED)
    parts = [table.iloc[:0]]
    for _, group in table.groupby("method", sort=True):
        if group["complete"].any():
            parts.append(_rank_complete(group[group["complete"]], confidence_level))
        if not group["complete"].all():
            parts.append(group[~group["complete"]].sort_values(["name", "model"]))
    ranking = pd.concat([part.astype(RANKED) for part in parts], ignore_index=True)
    return ranking.drop(columns=["dataset_names", "replicates"])


def join_dimensions(rankings: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join the rankings of dimensions, in their order, to one table that goes by method first."""
    table = pd.concat(rankings, ignore_index=True)
    return table.sort_values("method", kind="stable", ignore_index=True)


def _rank_complete(entries: pd.DataFrame, confidence_level: float) -> pd.DataFrame:
    ranking = rank_estimates(
        entries.rename(columns={"iqm": "estimate"}),
        entries["replicates"].tolist(),
        confidence_level=confidence_level,
    )
    ranking = ranking.rename(columns={"estimate": "iqm"})
    return ranking.sort_values(["rank", "name", "model"])


def _estimate(
    runs: pd.DataFrame, options: Options, rng: np.random.Generator, pool: DatasetPool | None
) -> dict[str, object]:
    [found] = bootstrap_model(
        runs["score"],
        runs["dataset"].tolist(),
        statistics=["iqm"],
        options=options,
        rng=rng,
        pool=pool,
    )
    cells = summarize_cells(runs)
    mean, sem = _summarize_replicates(found.replicates)
    return {
        "iqm": found.estimate,
        "ci_low": found.low,
        "ci_high": found.high,
        "mean": float(cells["mean"].mean()),
        "bootstrap_mean": mean,
        "bootstrap_sem": sem,
        "runs": len(runs),
        "datasets": len(cells),
        "dataset_names": cells["dataset"].tolist(),
        "replicates": found.replicates,
    }


def _summarize_replicates(replicates: FloatArray) -> tuple[float, float]:
    count = len(replicates)
    mean = float(replicates.mean()) if count else np.nan
    sem = float(replicates.std(ddof=1)) / np.sqrt(count) if count > 1 else np.nan
    return mean, sem


def choose_best(entries: pd.DataFrame) -> pd.DataFrame:
    """Choose the best complete entry of each backbone within each method, and rank these anew.

    Parameters
    ----------
    entries : pandas.DataFrame
        Columns ``method``, ``model``, ``name``, ``backbone``, ``size``, ``submission``, ``iqm``,
        ``ci_low``, ``ci_high`` and ``complete``, a row per entry.

    Returns
    -------
    pandas.DataFrame
        By method, rank and name: ``method``, ``rank`` (competition rank by IQM), ``backbone``,
        ``name``, ``size``, ``submission``, ``iqm``, ``ci_low``, ``ci_high`` and ``submissions``:
        how many submissions have an entry of this backbone and method, complete or not.

    Notes
    -----
    Of entries whose IQM is equal to 12 significant digits the one whose submission comes first by
    name is chosen, then the one whose model does. A backbone without a complete entry has no row.
    The interval is that of the chosen entry; it does not know that the best of several was chosen,
    so for a backbone with many submissions the score is on the high side.
    """
    keys = ["method", "backbone"]
    offered = entries.groupby(keys)["submission"].nunique().rename("submissions").reset_index()
    chosen = []
    for _, own in entries[entries["complete"]].groupby(keys, sort=True):
        first = own[rank_competitors(own["iqm"]) == 1]
        chosen.append(first.sort_values(["submission", "model"]).iloc[[0]])
    table = pd.concat([entries.iloc[:0], *chosen], ignore_index=True)
    table = table.merge(offered, on=keys, how="left", validate="one_to_one")
    ranks = pd.Series(0, index=table.index, dtype="int64")
    for _, own in table.groupby("method"):
        ranks[own.index] = rank_competitors(own["iqm"])
    table = table.assign(rank=ranks).astype({"submissions": "int64"})
    table = table.sort_values(["method", "rank", "name", "backbone"], ignore_index=True)
    ranking: pd.DataFrame = table[BEST_COLUMNS]
    return ranking


def rank_entries(
    exported: pd.DataFrame,
    estimates: Sequence[str],
    descriptions: Sequence[str],
    benchmark: Sequence[str],
    *,
    dimension_datasets: Mapping[str, list[str]],
    complete: float,
    confidence_level: float,
) -> dict[str, pd.DataFrame]:
    """Rank the entries by method and dimension, and the best of each backbone.

    Parameters
    ----------
    exported : pandas.DataFrame
        Runs as exported.
    estimates : sequence of str
        Files of estimates and replicates of each dimension.
    descriptions, benchmark : sequence of str
        The file of what submissions say of themselves, and the definition of the benchmark, if any.
    dimension_datasets : mapping of str to list of str
        The datasets of each dimension.
    complete
        As in the setting `leaderboard`.
    confidence_level
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``entries``, ``dimensions`` and ``best``.
    """
    records = [record for path in descriptions for record in read_json(path)["submissions"]]
    models = {
        key: vars(model) for path in benchmark for key, model in read_benchmark(path).models.items()
    }
    about = describe_entries(exported, submissions=records, models=models)
    ranked = {}
    for name, members in list_dimensions(dimension_datasets).items():
        own = _read_dimension(estimates, name)
        ranked[name] = rank_dimension(
            own,
            about,
            expected=count_expected(own, members),
            complete=complete,
            confidence_level=confidence_level,
        )
    overall = ranked[ALL][ENTRY_COLUMNS]
    return {
        "entries": overall,
        "dimensions": join_dimensions(ranked.values()),
        "best": choose_best(overall),
    }


def summarize_entries(
    exported: pd.DataFrame,
    cells: pd.DataFrame,
    descriptions: Sequence[str],
    benchmark: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """Summarize raw and normalized scores per dataset, and the submissions.

    Parameters
    ----------
    exported : pandas.DataFrame
        Runs as exported.
    cells : pandas.DataFrame
        Estimates of the normalized score of each cell.
    descriptions, benchmark : sequence of str
        The file of what submissions say of themselves, and the definition of the benchmark, if any.

    Returns
    -------
    dict
        The tables ``raw``, ``normalized`` and ``submissions``.
    """
    records = [record for path in descriptions for record in read_json(path)["submissions"]]
    models = {
        key: vars(model) for path in benchmark for key, model in read_benchmark(path).models.items()
    }
    about = describe_entries(exported, submissions=records, models=models)
    return {
        "raw": summarize_raw(exported, about),
        "normalized": rank_cells(cells, about),
        "submissions": summarize_submissions(exported, records),
    }


def _read_dimension(paths: Sequence[str], name: str) -> pd.DataFrame:
    """Read the rows of one dimension: the replicates of all together could be too much at once."""
    tables = [read_parquet(path, where={"dimension": name}) for path in paths]
    return pd.concat(tables, ignore_index=True)
