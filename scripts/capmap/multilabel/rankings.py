"""Ranks of models by every metric, and how they move from one metric or dataset to another."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import read_json, read_parquet
from capmap.errors import ValidationError
from capmap.exports.label_files import read_labels
from capmap.exports.records import TABLES, has_suffix
from capmap.exports.sheets import open_sheet
from capmap.metrics import canonical_name
from capmap.multilabel.dumps import Cell
from capmap.multilabel.metrics import BY_SUBGROUP, METRICS, ORDER
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.settings.choices import SUBGROUPS, LabelMetric, Subgroups
from capmap.wording import list_names, quote_name

SEPARATOR = " / "
SUBGROUP = re.compile(r"(.*?\D)\s*([1-9][0-9]{0,8})", re.DOTALL)
KNOWN = {canonical_name(metric): metric for metric in ORDER}
PUBLISHED = {**dict.fromkeys(Cell._fields, "str"), **METRICS, "images": "Int64"}
MORE = "more"
COUNTED = ("dataset", "labels", "images")
KEY = ["model", "dataset", "seed", "metric", "subgroup"]
RANKED = ("top1", "real", "asma")
# Shares of right images, of which a rounded value stands for few.
SHARES = ("top1", "real")
SUMMARY = {
    "model": "str",
    "dataset": "str",
    **dict.fromkeys(RANKED, "float64"),
    **{f"{metric}_rank": "Int64" for metric in RANKED},
    "seeds": "int64",
}
SHIFTS = {
    "model": "str",
    **dict.fromkeys(("metric_a", "dataset_a", "metric_b", "dataset_b"), "str"),
    **dict.fromkeys(("value_a", "value_b"), "float64"),
    **dict.fromkeys(("rank_a", "rank_b", "shift"), "int64"),
}
FINEST = 12

# A metric and a dataset.
Column = tuple[str, str]


def split_published(runs: pd.DataFrame) -> pd.DataFrame:
    """Turn a study of published metrics into the table of metrics.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` (named ``dataset / metric``, such as ``ImageNetV1 / top-1``),
        ``score`` (from 0 to 1, or in percent) and perhaps ``seed``; rows in any order.

    Returns
    -------
    pandas.DataFrame
        By model, dataset, seed, metric and subgroup: ``model``, ``dataset``, ``seed`` (empty where
        there is none), ``metric``, ``subgroup`` (missing for metrics of a whole dataset), ``value``
        (from 0 to 1), ``ci_low``, ``ci_high`` and ``images``, which are not known.

    Raises
    ------
    ValidationError
        If a name has no metric, or one that is not known; if two columns of a dataset mean one
        metric; or if values are not from 0 to 1 or to 100, or on both scales.

    Notes
    -----
    Names are split at the last `` / ``. Metrics are known whatever their case and separators:
    ``top-1``, ``ReaL``. The accuracy of a subgroup has its number of labels at the end: ``PatchML /
    subgroup 3``, ``ImageNetV1 / real subgroup 2``.

    All values are taken as percent when one is above 1, since a table has one scale. A column whose
    values all lie between 0 and 1 while others do not is refused, unless they are all 0. Missing
    scores are left out.

    Examples
    --------
    >>> rows = [("A", "V1 / Top-1", 80.5), ("A", "V1 / subgroup 2", 66.0)]
    >>> found = split_published(pd.DataFrame(rows, columns=["model", "dataset", "score"]))
    >>> found[["dataset", "metric", "subgroup", "value"]]
      dataset    metric  subgroup  value
    0      V1  subgroup         2  0.660
    1      V1      top1      <NA>  0.805
    """
    known = runs.dropna(subset="score")
    parts = {name: _split_name(name) for name in sorted(known["dataset"].unique())}
    firsts = {part: name for name, part in reversed(parts.items())}
    if again := [name for name, part in parts.items() if firsts[part] != name]:
        raise ValidationError(
            f"The columns {quote_name(firsts[parts[again[0]]])} and {quote_name(again[0])} are the "
            "same metric of the same dataset. Leave one of them out."
        )
    rows = [parts[name] for name in known["dataset"]]
    table = pd.DataFrame(rows, columns=["dataset", "metric", "subgroup"]).assign(
        model=known["model"].to_numpy(),
        seed=known["seed"].to_numpy() if "seed" in known else "",
        value=_take_fractions(known),
        ci_low=np.nan,
        ci_high=np.nan,
    )
    ordered = table.reindex(columns=list(PUBLISHED)).astype(PUBLISHED)
    return ordered.sort_values(KEY, kind="stable", ignore_index=True)


def _split_name(name: str) -> tuple[str, str, int | None]:
    """Dataset, metric and number of labels of a column."""
    dataset, _, text = name.rpartition(SEPARATOR)
    numbered = SUBGROUP.fullmatch(text.strip())
    metric = KNOWN.get(canonical_name(text), "")
    ending = KNOWN.get(canonical_name(numbered[1]), "") if numbered else ""
    if dataset.strip() and numbered and ending in BY_SUBGROUP:
        return dataset.strip(), ending, int(numbered[2])
    if not dataset.strip() or not metric or metric in BY_SUBGROUP:
        raise ValidationError(
            f"{quote_name(name)} is no column 'dataset / metric' of published metrics, such as "
            f"'ImageNetV1 / top1'. The metrics are {', '.join(ORDER)}; subgroup and real_subgroup "
            "end in their number of labels, such as 'subgroup 3'. Set header_rows: 2, or correct "
            "the name."
        )
    return dataset.strip(), metric, None


def _take_fractions(known: pd.DataFrame) -> FloatArray:
    """Values from 0 to 1, divided by 100 where the table is in percent."""
    values = known["score"].to_numpy(dtype=np.float64)
    wrong = known[~known["score"].between(0, 100)]
    if len(wrong):
        name, model, value = wrong.iloc[0][["dataset", "model", "score"]]
        raise ValidationError(
            f"{quote_name(name)} of {quote_name(model)} is {value:g}. Published metrics are from 0 "
            "to 1, or from 0 to 100 in percent. Correct it, or leave the column out."
        )
    highest = known.groupby("dataset", observed=True)["score"].max()
    if not (highest > 1).any():
        return values
    if mixed := sorted(highest[(highest > 0) & (highest <= 1)].index):
        raise ValidationError(
            f"{list_names(mixed)}: no value above 1, while other columns are in percent. Write all "
            "values in percent, or, if these are right, all from 0 to 1."
        )
    return round_significant(values / 100)


def count_labels(path: str, dataset: str, shown: str) -> dict[str, Any]:
    """Count in a file of labels how many images have how many, or read printed numbers of them.

    Parameters
    ----------
    path : str
        Labels of images, or a table of ``dataset``, ``labels`` (a number, or ``more``) and
        ``images``.
    dataset, shown : str
        The dataset as the table has it, and for readers.
    """
    if not has_suffix(path, TABLES) or not {*COUNTED} <= {*open_sheet(path, wanted=()).columns}:
        counts = Counter(len({*image}) for image in read_labels(path).sets)
        images = {str(count): counts[count] for count in sorted(counts)}
        return {"dataset": shown, "seed": "", "labels": images}
    cells = open_sheet(path, wanted=COUNTED).read_cells(COUNTED)
    columns = (cells.columns[name].to_pylist() for name in COUNTED)
    printed = {}
    for line, (name, labels, number) in enumerate(zip(*columns, strict=True), start=2):
        if not number.isdecimal() or not (labels.isdecimal() or labels == MORE):
            raise ValidationError(
                f"{path}, line {line}: {quote_name(labels)} labels of {quote_name(number)} images. "
                "Write whole numbers, and `more` for all numbers of labels beyond."
            )
        if name == dataset:
            printed[labels] = int(number)
    if not printed:
        raise ValidationError(
            f"{path}: there are no images of {quote_name(dataset)}. Add them, or leave the dataset "
            "out of multilabel.labels."
        )
    return {"dataset": shown, "seed": "", "labels": printed}


def pool_label_counts(facts: Sequence[Mapping[str, Any]], *, subgroups: Subgroups) -> pd.DataFrame:
    """Count the images of each dataset by their number of labels, over all seeds.

    Parameters
    ----------
    facts : sequence of mapping
        What is known of dumps; all of one dataset and seed have the same images.
    subgroups : mapping of str to sequence of int
        Numbers of labels over which the ASMA of each dataset averages, by default those of the
        paper. Images with more labels than the largest are counted together.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``labels`` (0 to the largest and ``more``, as text) and ``images``, by dataset,
        with the columns of `share_images`.
    """
    firsts = {(fact["dataset"], fact["seed"]): fact["labels"] for fact in facts}
    rows = []
    for dataset in sorted({name for name, _ in firsts}):
        largest = max(subgroups.get(dataset, SUBGROUPS))
        images = dict.fromkeys([*map(str, range(largest + 1)), MORE], 0)
        for (name, _), labels in firsts.items():
            for count, number in labels.items() if name == dataset else ():
                images[count if count in images else MORE] += number
        rows += [(dataset, count, number) for count, number in images.items()]
    table = pd.DataFrame(rows, columns=["dataset", "labels", "images"])
    table = table.astype({"dataset": "str", "labels": "str", "images": "int64"})
    return share_images(table).astype({"share": "float64", "share_more": "float64"})


def share_images(label_counts: pd.DataFrame) -> pd.DataFrame:
    """Add to counts of images per number of labels their share of the dataset.

    Parameters
    ----------
    label_counts : pandas.DataFrame
        Columns ``dataset``, ``labels`` (the number as text, ascending, or ``more``) and ``images``.

    Returns
    -------
    pandas.DataFrame
        The same rows with ``share``, of the dataset's images that have labels, and ``share_more``,
        of those with more labels. Both are NaN for 0 labels, and where no image has any.

    Examples
    --------
    >>> counts = pd.DataFrame({"dataset": "a", "labels": ["0", "1", "more"], "images": [2, 3, 1]})
    >>> share_images(counts)[["share", "share_more"]].to_numpy().tolist()
    [[nan, nan], [0.75, 0.25], [0.25, 0.0]]
    """
    is_labeled = label_counts["labels"].astype("str") != "0"
    labeled = label_counts["images"].where(is_labeled)
    groups = labeled.groupby(label_counts["dataset"])
    totals = groups.transform("sum").where(lambda total: total > 0)
    more = totals - groups.cumsum()
    return label_counts.assign(share=labeled / totals, share_more=more / totals)


def average_metrics(metrics: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Average metrics of whole datasets over seeds.

    Parameters
    ----------
    metrics : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed``, ``metric`` and ``value`` (from 0 to 1); a row per
        metric, rows in any order.
    names : sequence of str
        Which metrics.

    Returns
    -------
    pandas.DataFrame
        By dataset and model, its index: a column per metric, NaN where there is none. A metric that
        lacks some of the seeds is averaged over the others.
    """
    known = metrics[metrics["metric"].isin(list(names))].dropna(subset="value")
    table = pd.pivot_table(
        known.sort_values("value"),
        index=["dataset", "model"],
        columns="metric",
        values="value",
        aggfunc="mean",
    )
    return table.rename_axis(columns=None).reindex(columns=list(names)).astype("float64")


def summarize_models(
    metrics: pd.DataFrame, *, images: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Summarize the metrics of each model on each dataset, and rank the models.

    Parameters
    ----------
    metrics : pandas.DataFrame
        As `average_metrics` takes them.
    images : mapping of str to int, optional
        As `shift_ranks` takes it.

    Returns
    -------
    pandas.DataFrame
        Dataset by dataset, the best model by ``asma`` first, ties by name: ``model``, ``dataset``,
        ``top1``, ``real``, ``asma`` (means over seeds; NaN where there is none), ``top1_rank``,
        ``real_rank``, ``asma_rank`` (missing likewise) and ``seeds`` (how many there are).

    Notes
    -----
    Ranks are those of `shift_ranks`, here among all models that have the metric on the dataset. A
    single label is unknown for composed images, so these have no ``top1``.
    """
    summary = average_metrics(metrics, RANKED)
    for metric in RANKED:
        ranks = (
            summary[metric].dropna().groupby("dataset").transform(_rank, summary, metric, images)
        )
        summary[f"{metric}_rank"] = ranks.reindex(summary.index).astype("Int64")
    known = metrics[metrics["metric"].isin(RANKED)].dropna(subset="value").fillna({"seed": ""})
    summary["seeds"] = known.groupby(["dataset", "model"])["seed"].nunique()
    ordered = summary.reset_index().sort_values(["dataset", "asma_rank", "model"])
    return ordered[list(SUMMARY)].astype(SUMMARY).reset_index(drop=True)


def shift_ranks(
    values: pd.DataFrame, first: Column, second: Column, *, images: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Compare the ranks of models by two metrics or on two datasets.

    Parameters
    ----------
    values : pandas.DataFrame
        From `average_metrics`.
    first, second : (str, str)
        Metric and dataset by which models are ranked.
    images : mapping of str to int, optional
        For rounded values, as published: the number of images of datasets. By default values are
        exact.

    Returns
    -------
    pandas.DataFrame
        The best by `second` first, ties by name, models that have both values: ``model``,
        ``metric_a``, ``dataset_a``, ``metric_b``, ``dataset_b``, ``value_a``, ``value_b``,
        ``rank_a``, ``rank_b`` and ``shift`` (``rank_a − rank_b``: positive for a model that rises).

    Notes
    -----
    Ranks are dense (1, 2, 2, 3) and among these models.

    Rounding makes ties of models that are apart, and a dense rank counts a tie once. So where one
    of the values is rounded more coarsely, all its later ranks are too low, and every model at the
    end seems to move. With `images`, a tie therefore counts as many ranks as it is expected to have
    hidden, see `rank_densely`. A rounded share of right images (top-1 and ReaL accuracy) stands for
    ``images × step`` numbers of right images, where ``step`` is the distance of rounded values;
    where `images` lacks its dataset, all metrics on that are taken as exact. Other metrics are
    means over images or subgroups, whose rounded values stand for so many that all models of a tie
    differ.
    """
    sides = {}
    for side, (metric, dataset) in (("a", first), ("b", second)):
        is_own = values.index.get_level_values("dataset") == dataset
        sides[f"value_{side}"] = values.loc[is_own, metric].dropna().droplevel("dataset")
    table = pd.DataFrame(sides).dropna().rename_axis("model").reset_index()
    for side, (metric, dataset) in (("a", first), ("b", second)):
        own = table[f"value_{side}"].rename(dataset)
        table[f"metric_{side}"], table[f"dataset_{side}"] = metric, dataset
        table[f"rank_{side}"] = _rank(own, values, metric, images)
    table["shift"] = table["rank_a"] - table["rank_b"]
    ordered = table[list(SHIFTS)].astype(SHIFTS).sort_values(["rank_b", "model"])
    return ordered.reset_index(drop=True)


def _rank(
    own: "pd.Series[float]", known: pd.DataFrame, metric: str, images: Mapping[str, int] | None
) -> npt.NDArray[np.int64]:
    """Dense ranks of the values on the dataset that they are called after, with hidden ones."""
    dataset, values = str(own.name), np.asarray(own, dtype=np.float64)
    hidden = 1.0
    if images and dataset in images and metric in SHARES:
        hidden = max(1.0, images[dataset] * _find_step(values))
    elif images and metric not in SHARES:
        rows = known[known.index.get_level_values("dataset") == dataset]
        is_alone = rows.reindex(columns=list(SHARES)).isna().all(axis=None)
        hidden = np.inf if dataset in images or is_alone else 1.0
    return rank_densely(values, hidden=hidden)


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


def shift_all_ranks(
    metrics: pd.DataFrame,
    *,
    rank_by: LabelMetric = "asma",
    images: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """Compare ranks for all pairs of metric and dataset.

    Parameters
    ----------
    metrics : pandas.DataFrame
        As `average_metrics` takes them.
    rank_by : str, optional
        The metric that is set against top-1 accuracy first.
    images : mapping of str to int, optional
        As `shift_ranks` takes it.

    Returns
    -------
    pandas.DataFrame
        The rows of `shift_ranks`: first pairs of two metrics, top-1 accuracy and `rank_by` before
        others, then pairs of two datasets; by name of the datasets.
    """
    names = sorted({*RANKED, rank_by}, key=ORDER.index)
    values = average_metrics(metrics, names)
    known = [
        (name, str(key))
        for name in names
        for key in sorted({d for d, _ in values[name].dropna().index})
    ]
    pairs = sorted(
        combinations(known, 2),
        key=lambda pair: (pair[0][0] == pair[1][0], {pair[0][0], pair[1][0]} != {"top1", rank_by}),
    )
    empty = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in SHIFTS.items()})
    tables = [shift_ranks(values, first, second, images=images) for first, second in pairs]
    return pd.concat([empty, *tables], ignore_index=True).astype(SHIFTS)


def summarize_metrics(
    exported: pd.DataFrame,
    scores: Sequence[str],
    facts: Sequence[str],
    labels: Sequence[str],
    *,
    counted: Sequence[Sequence[str]],
    rank_by: LabelMetric,
    subgroups: Subgroups,
    images: Mapping[str, int],
) -> dict[str, pd.DataFrame]:
    """Read the metrics, rank the models by them, and count the labels of images.

    Parameters
    ----------
    exported : pandas.DataFrame
        The runs of a study, which are the metrics where these were published.
    scores : sequence of str
        Files of the metrics of dumps; none where they were published.
    facts : sequence of str
        Files of what was found in dumps.
    labels : sequence of str
        Files of the valid labels of published metrics, or of their printed numbers.
    counted : sequence of (str, str)
        The dataset of each file, as configured and for readers.
    subgroups : mapping of str to sequence of int
        Numbers of labels over which the ASMA of each dataset averages.
    rank_by, images
        As in the setting `multilabel`.

    Returns
    -------
    dict
        The tables ``metrics`` (by model, dataset and seed, then in their usual order),
        ``summary``, ``rank_shift`` and ``label_counts``.
    """
    tables = [read_parquet(path) for path in scores]
    metrics = pd.concat(tables) if tables else split_published(exported)
    metrics["place"] = metrics["metric"].map(ORDER.index)
    metrics = metrics.sort_values(["model", "dataset", "seed", "place", "subgroup"])
    known: list[Any] = [fact for path in facts for fact in read_json(path)["dumps"]]
    known += [count_labels(path, *names) for path, names in zip(labels, counted, strict=True)]
    # Values of published metrics are rounded.
    rounded = None if tables else images
    return {
        "metrics": metrics[list(PUBLISHED)].astype(PUBLISHED),
        "summary": summarize_models(metrics, images=rounded),
        "rank_shift": shift_all_ranks(metrics, rank_by=rank_by, images=rounded),
        "label_counts": pool_label_counts(known, subgroups=subgroups),
    }
