"""What each entry scores on each dataset: raw means with errors, normalized with intervals."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from capmap.aggregation import rank_competitors, summarize_cells
from capmap.bootstrap.models import Options, bootstrap_model

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
