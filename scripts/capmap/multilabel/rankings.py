"""A row per model and dataset with its ranks, and how ranks move from top-1 accuracy to ASMA."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.aggregation import FloatArray, round_significant

RANKED = ("top1", "real", "asma")
SUMMARY = {
    "model": "str",
    "dataset": "str",
    **dict.fromkeys(RANKED, "float64"),
    **{f"{metric}_rank": "Int64" for metric in RANKED},
    "seeds": "int64",
}
SHIFTS = {
    "model": "str",
    "dataset_top1": "str",
    "dataset_asma": "str",
    "top1": "float64",
    "asma": "float64",
    "top1_rank": "int64",
    "asma_rank": "int64",
    "shift": "int64",
}
FINEST = 12


def summarize_models(metrics: pd.DataFrame) -> pd.DataFrame:
    """Summarize the metrics of each model on each dataset, and rank the models.

    Parameters
    ----------
    metrics : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed``, ``metric`` and ``value`` (from 0 to 1); a row per
        metric, rows in any order.

    Returns
    -------
    pandas.DataFrame
        Dataset by dataset, the best model by ``asma`` first, ties by name: ``model``, ``dataset``,
        ``top1``, ``real``, ``asma`` (means over seeds; NaN where there is none), ``top1_rank``,
        ``real_rank``, ``asma_rank`` (missing likewise) and ``seeds`` (how many there are).

    Notes
    -----
    Ranks are dense, as in `rank_densely`, among the models that have the metric on the dataset. A
    metric that lacks some of the seeds is averaged over the others. A single label is unknown for
    composed images, so these have no ``top1``.
    """
    known = metrics[metrics["metric"].isin(RANKED)].dropna(subset="value").fillna({"seed": ""})
    keys = ["dataset", "model"]
    summary = pd.pivot_table(
        known.sort_values("value"), index=keys, columns="metric", values="value", aggfunc="mean"
    )
    summary = summary.rename_axis(columns=None).reindex(columns=list(RANKED)).astype("float64")
    for metric in RANKED:
        values = summary[metric].dropna().groupby("dataset")
        ranks = values.transform(lambda own: rank_densely(own.to_numpy()))
        summary[f"{metric}_rank"] = ranks.reindex(summary.index).astype("Int64")
    summary["seeds"] = known.groupby(keys)["seed"].nunique()
    ordered = summary.reset_index().sort_values(["dataset", "asma_rank", "model"])
    return ordered[list(SUMMARY)].astype(SUMMARY).reset_index(drop=True)


def shift_ranks(
    summary: pd.DataFrame, *, dataset_top1: str, dataset_asma: str, images: int | None = None
) -> pd.DataFrame:
    """Compare the ranks of models by top-1 accuracy and by ASMA.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `summarize_models`.
    dataset_top1, dataset_asma : str
        Datasets on which models are ranked by top-1 accuracy and by ASMA; may be the same.
    images : int, optional
        For rounded values, as published: the number of images of `dataset_top1`. By default values
        are exact.

    Returns
    -------
    pandas.DataFrame
        Best ASMA first, ties by name, models that have both values: ``model``, ``dataset_top1``,
        ``dataset_asma``, ``top1``, ``asma``, ``top1_rank``, ``asma_rank`` and ``shift``
        (``top1_rank − asma_rank``: positive for a model that rises).

    Notes
    -----
    Both ranks are dense and among these models.

    Rounding makes ties of models that are apart, and a dense rank counts a tie once. So where one
    of the values is rounded more coarsely, all its later ranks are too low, and every model at the
    end seems to move. With `images`, a tie therefore counts as many ranks as it is expected to have
    hidden, see `rank_densely`. A rounded top-1 accuracy stands for ``images × step`` numbers of
    right images, where ``step`` is the distance of rounded values. A rounded ASMA, a mean over
    subgroups, stands for so many values that models in a tie are taken as different.
    """
    top1 = summary.loc[summary["dataset"] == dataset_top1, ["model", "top1"]].dropna()
    asma = summary.loc[summary["dataset"] == dataset_asma, ["model", "asma"]].dropna()
    table = top1.merge(asma, on="model")
    values, others = table["top1"].to_numpy(np.float64), table["asma"].to_numpy(np.float64)
    hidden = 1.0 if images is None else max(1.0, images * _find_step(values))
    first = rank_densely(values, hidden=hidden)
    last = rank_densely(others, hidden=1.0 if images is None else np.inf)
    shifts = table.assign(
        dataset_top1=dataset_top1,
        dataset_asma=dataset_asma,
        top1_rank=first,
        asma_rank=last,
        shift=first - last,
    ).astype(SHIFTS)
    return shifts[list(SHIFTS)].sort_values(["asma_rank", "model"], ignore_index=True)


def rank_densely(values: npt.ArrayLike, *, hidden: float = 1.0) -> npt.NDArray[np.int64]:
    """Rank numbers from the highest, which is 1; equal numbers share a rank and no rank is empty.

    Parameters
    ----------
    values : array_like, shape (n,)
        Finite numbers. They are equal when 12 significant digits are.
    hidden : float, optional
        How many different numbers a given one may stand for after rounding, from 1 (values are
        exact) to infinity.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Ranks. With rounded values, the next rank leaves out as many as a tie is expected to hide.

    Notes
    -----
    Of k numbers that are each one of h with the same chance, h (1 − (1 − 1/h)^k) are expected to be
    different. That is 1 for exact values (dense ranks) and k for h without end (competition ranks).
    All of a tie have the rank of its first. Sums are rounded to whole ranks.

    Examples
    --------
    >>> rank_densely([0.9, 0.7, 0.9, 0.5]).tolist()
    [1, 2, 1, 3]
    >>> rank_densely([0.9, 0.7, 0.9, 0.5], hidden=np.inf).tolist()
    [1, 3, 1, 4]
    """
    levels, codes, sizes = np.unique(
        -round_significant(values), return_inverse=True, return_counts=True
    )
    is_finite = np.isfinite(hidden)
    counts = hidden * (1 - (1 - 1 / hidden) ** sizes) if is_finite else sizes.astype(np.float64)
    firsts = 1 + np.concatenate([[0.0], np.cumsum(counts)])[: len(levels)]
    return np.asarray(np.rint(firsts).astype(np.int64)[codes])


def _find_step(values: FloatArray) -> float:
    """Distance of rounded values: the last decimal place that one of them uses."""
    for decimals in range(FINEST):
        if np.allclose(values, np.round(values, decimals), rtol=0, atol=10.0**-FINEST):
            return float(10.0**-decimals)
    return float(10.0**-FINEST)
