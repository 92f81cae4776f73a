"""Ranks of models by every metric, and how they move from top-1 accuracy to ASMA."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import read_json
from capmap.errors import ValidationError
from capmap.multilabel.gathering import pool_label_counts
from capmap.multilabel.metrics import ORDER
from capmap.multilabel.published import PUBLISHED
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.settings.choices import Subgroups
from capmap.wording import find_nearest, list_names, quote_name

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


def arrange_metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """Sort metrics by model, dataset and seed, then in their usual order and by subgroup.

    Parameters
    ----------
    scores : pandas.DataFrame
        The columns of `capmap.multilabel.published.PUBLISHED`.

    Returns
    -------
    pandas.DataFrame
        The same rows and columns.
    """
    places = {name: place for place, name in enumerate(ORDER)}
    keys = ["model", "dataset", "seed", "place", "subgroup"]
    table = scores.assign(place=scores["metric"].map(places))
    return table.sort_values(keys, ignore_index=True)[list(PUBLISHED)].astype(PUBLISHED)


def shift_all_ranks(
    summary: pd.DataFrame, *, images: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Compare ranks by top-1 accuracy and by ASMA for all pairs of datasets that have them.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `summarize_models`.
    images : mapping of str to int, optional
        Number of images of the datasets whose top-1 accuracies are rounded, as published ones are.
        By default values are exact.

    Returns
    -------
    pandas.DataFrame
        The rows of `shift_ranks`, by ``dataset_top1`` and
        ``dataset_asma``. Where ``dataset_top1`` is in `images`, ties count the ranks that rounding
        is expected to have hidden; elsewhere ranks are plain dense ranks.

    Raises
    ------
    ValidationError
        If `images` names a dataset without top-1 accuracies.
    """
    known = images or {}
    sides = [
        sorted(set(summary.loc[summary[metric].notna(), "dataset"])) for metric in ("top1", "asma")
    ]
    _require_known(known, sides[0])
    tables = [
        shift_ranks(summary, dataset_top1=first, dataset_asma=second, images=known.get(first))
        for first, second in product(*sides)
    ]
    if not tables:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in SHIFTS.items()})
    return pd.concat(tables, ignore_index=True)


def list_datasets(scores: pd.DataFrame, first: Sequence[str] = ()) -> list[str]:
    """List the datasets, those in `first` in their order and the others by name."""
    known = set(scores["dataset"])
    return [name for name in first if name in known] + sorted(known - set(first))


def _require_known(images: Mapping[str, int], datasets: Sequence[str]) -> None:
    unknown = sorted(set(images) - set(datasets))
    if unknown:
        near = find_nearest(unknown[0], list(datasets))
        hint = f" Did you mean {quote_name(near)}?" if near else ""
        raise ValidationError(
            f"multilabel.images: there is no top-1 accuracy on {list_names(unknown)}.{hint} Name "
            "datasets with published top-1 accuracies, or leave it out."
        )


def summarize_metrics(
    evaluated: pd.DataFrame,
    facts: Sequence[str],
    *,
    subgroups: Subgroups,
    images: Mapping[str, int],
) -> dict[str, pd.DataFrame]:
    """Arrange the metrics, rank the models by them, and count the labels of images.

    Parameters
    ----------
    evaluated : pandas.DataFrame
        Metrics of each model, dataset and seed.
    facts : sequence of str
        Files of what was found in dumps, or in labels of published metrics.
    subgroups : mapping of str to sequence of int
        Numbers of labels over which the ASMA of each dataset averages.
    images
        As in the setting `multilabel`.

    Returns
    -------
    dict
        The tables ``metrics``, ``summary``, ``rank_shift`` and ``label_counts``.
    """
    known = [fact for path in facts for fact in read_json(path)["dumps"]]
    values = arrange_metrics(evaluated)
    # Of published metrics the images are not known.
    is_published = bool(evaluated["images"].isna().all())
    models = summarize_models(values)
    return {
        "metrics": values,
        "summary": models,
        "rank_shift": shift_all_ranks(models, images=images if is_published else None),
        "label_counts": pool_label_counts(known, subgroups=subgroups),
    }
