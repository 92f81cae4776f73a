"""Metrics of models as tables: means, ranks and their shifts, labels of images, and drops.

A drop of a metric from one dataset to another is split into label mix and accuracy within groups.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import read_json, read_parquet
from capmap.errors import ValidationError
from capmap.exports.label_files import read_labels
from capmap.exports.records import TABLES, has_suffix
from capmap.exports.sheets import open_sheet
from capmap.metrics import canonical_name
from capmap.multilabel.evaluation import (
    BY_SUBGROUP,
    MEANS,
    METRICS,
    ORDER,
    MakeRng,
    bound_estimate,
    list_samples,
    name_stream,
    read_outcomes,
    resample_strata,
)
from capmap.patterns import Cell
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.rng import make_stream
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
# Shares of right images, of which a rounded value stands for few, and whose drops are split.
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
# The two parts of a drop.
PARTS = ("mix", "within")
SPLITS = [f"{part}{end}" for part in PARTS for end in ("", "_low", "_high")]
DROPS = {
    **dict.fromkeys(("model", "metric", "subgroup", "dataset_a", "dataset_b"), "str"),
    "subgroup": "Int64",
    **dict.fromkeys(("value_a", "value_b", "difference", "ci_low", "ci_high"), "float64"),
    "images": "Int64",
    **dict.fromkeys(SPLITS, "float64"),
}
CELL = ["model", "metric", "subgroup"]
OF_PAIR = [name for name in DROPS if name not in ("model", "dataset_a", "dataset_b")]
MEAN = ""


def split_published(runs: pd.DataFrame) -> pd.DataFrame:
    """Turn a study of published metrics into the table of metrics.

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

    A table of ``dataset``, ``labels`` (a number, or ``more``) and ``images`` has printed numbers;
    `dataset` is called as there, and `shown` for readers.
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

    Those with more labels than the largest subgroup are counted together, as ``more``.
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
    """Add to counts of images per number of labels their share of the images with labels.

    ``share_more`` is that of images with more labels. Both are NaN for 0 labels.

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
    """Average metrics of whole datasets over seeds: a column each, by dataset and model.

    A metric that lacks some of the seeds is averaged over the others.
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
    """Compare the ranks of models by two metrics or on two datasets: the best by the second first.

    Ranks are dense (1, 2, 2, 3) and among the models with both; a positive shift is a rise.

    Rounding makes ties of models that are apart, and a dense rank counts a tie once. So where one
    of the values is rounded more coarsely, all its later ranks are too low, and every model at the
    end seems to move. With numbers of `images` by dataset, a tie therefore counts as many ranks as
    it is expected to have hidden, see `rank_densely`. A rounded share of right images (top-1 and
    ReaL accuracy) stands for ``images × step`` numbers of right images, where ``step`` is the
    distance of rounded values; where `images` lacks its dataset, all metrics on that are taken as
    exact. Other metrics are means over images or subgroups, whose rounded values stand for so many
    that all models of a tie differ.
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

    Numbers are equal when 12 significant digits are. After rounding a given one may stand for
    `hidden` different ones, from 1 (exact) to infinity; the next rank then leaves out as many as a
    tie is expected to hide. Of k numbers that are each one of h with the same chance, h (1 − (1 −
    1/h)^k) are expected to be different. That is 1 for exact values (dense ranks) and k for h
    without end (competition ranks). All of a tie have the rank of its first. Sums are rounded to
    whole ranks.

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
    """Compare ranks for all pairs of metric and dataset, top-1 accuracy and `rank_by` first.

    Pairs of two metrics come before pairs of two datasets, each by name of the datasets.
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
    """Read the metrics, rank the models by them, and count the labels of images."""
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


def subtract_datasets(metrics: pd.DataFrame, *, dataset_a: str, dataset_b: str) -> pd.DataFrame:
    """Subtract each model's metrics on one dataset from those on another.

    First the means over models, whose ``model`` is empty. Only models with the metric on both
    datasets count, also in its means.

    There are no intervals. Those of an evaluation are over images, which published numbers do not
    give. One over models would be of another kind, and too short: published models are no random
    sample, and many are relatives (sizes, resolutions and recipes of one architecture).
    """
    own = [_average_seeds(metrics, name) for name in (dataset_a, dataset_b)]
    models = own[0].merge(own[1], on=CELL, suffixes=("_a", "_b"))
    means = models.groupby(CELL[1:], dropna=False)[["value_a", "value_b"]].mean().reset_index()
    table = pd.concat([means.assign(model=MEAN), models.sort_values(CELL)], ignore_index=True)
    table = table.assign(
        dataset_a=dataset_a,
        dataset_b=dataset_b,
        difference=table["value_a"] - table["value_b"],
    )
    return table.reindex(columns=list(DROPS)).astype(DROPS)


def _average_seeds(metrics: pd.DataFrame, dataset: str) -> pd.DataFrame:
    own = metrics[metrics["dataset"] == dataset].dropna(subset="value").sort_values("value")
    cells = own.groupby(CELL, dropna=False)["value"].mean().reset_index()
    return cells.astype({name: DROPS[name] for name in CELL} | {"value": "float64"})


class Mix(NamedTuple):
    """Images by number of labels, observed and in resamples.

    Parameters
    ----------
    shares : numpy.ndarray, shape (1 + resamples, groups)
        Shares of the images; the first row is what was observed.
    accuracies : numpy.ndarray, shape (1 + resamples, groups)
        Means of their values, NaN where there is no image.
    """

    shares: FloatArray
    accuracies: FloatArray


def split_drop(first: Mix, second: Mix) -> dict[str, FloatArray]:
    """Split the difference of two accuracies into that of the label mix and that within groups.

    Kitagawa's decomposition: with shares p and accuracies a of each number of labels, ``mix`` is
    the sum of (p_A − p_B) (a_A + a_B) / 2, and ``within`` that of (p_A + p_B) / 2 (a_A − a_B). A
    number of labels that only one of the datasets has is part of the mix alone.

    Kitagawa, E. M. (1955). Components of a difference between two rates. Journal of the American
    Statistical Association 50, 1168–1194.

    Examples
    --------
    >>> first = Mix(np.array([[0.9, 0.1]]), np.array([[0.8, 0.4]]))
    >>> second = Mix(np.array([[0.5, 0.5]]), np.array([[0.7, 0.4]]))
    >>> {name: value.round(3).tolist() for name, value in split_drop(first, second).items()}
    {'mix': [0.14], 'within': [0.07]}
    """
    (p, a), (q, b) = first, second
    known_a = np.where(np.isnan(a), np.nan_to_num(b), a)
    known_b = np.where(np.isnan(b), np.nan_to_num(a), b)
    return {
        "mix": ((p - q) * (known_a + known_b) / 2).sum(axis=1),
        "within": ((p + q) / 2 * (known_a - known_b)).sum(axis=1),
    }


def draw_mix(
    images: pd.DataFrame, metric: str, groups: int, n_resamples: int, rng: np.random.Generator
) -> Mix:
    """Resample images with their numbers of labels; those from the last group on are one group."""
    known = images.dropna(subset=metric)
    labels = known["labels"].clip(upper=groups - 1)
    cells = known.groupby([labels, metric]).size()
    counts = cells.to_numpy()
    group, value = (cells.index.get_level_values(level).to_numpy() for level in (0, 1))
    drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=n_resamples)
    shares = np.vstack([counts, drawn]) / counts.sum()
    is_own = (group[:, None] == np.arange(groups)).astype(np.float64)
    totals = shares @ is_own
    sums = shares @ (value[:, None] * is_own)
    accuracies = np.divide(sums, totals, out=np.full(totals.shape, np.nan), where=totals > 0)
    return Mix(totals, accuracies)


def compare_dataset_pair(
    images: tuple[pd.DataFrame, pd.DataFrame],
    *,
    subgroups: tuple[Sequence[int], Sequence[int]],
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
    seeds: int = 1,
) -> pd.DataFrame:
    """Compare a model's metrics on two datasets, first less second.

    The images of the two datasets are drawn independently: for ASMA within each subgroup, for the
    parts of a difference from all of a dataset, so that the shares of the numbers of labels vary
    too. There is no interval where one of the two values has none, see `estimate_metrics`. `seeds`
    is how many of them the images are of, of the dataset with more of them, see `bound_estimate`.
    """
    others = dict(list_samples(images[1], subgroups[1]))
    groups = max(map(max, subgroups)) + 2
    rows = []
    for target, sample in list_samples(images[0], subgroups[0]):
        if target not in others:
            continue
        other = others[target]
        one, two = sample.estimate(), other.estimate()
        bound = None
        if sample.has_enough(seeds) and other.has_enough(seeds):
            bound = partial(bound_estimate, confidence_level=confidence_level, seeds=seeds)
        ends = (np.nan, np.nan)
        if bound:
            # The sum of the means of all strata is the difference.
            strata = [own[::-1] * (-1 / len(other.strata)) for own in other.strata]
            strata += [own * (1 / len(sample.strata)) for own in sample.strata]
            drawn = resample_strata(strata, n_resamples, make_rng(*name_stream(target)))
            ends = bound(one - two, drawn.sum(axis=0))
        parts = dict.fromkeys(SPLITS, np.nan)
        if target[0] in SHARES:
            mixes = [
                draw_mix(own, target[0], groups, n_resamples, make_rng(target[0], side))
                for own, side in zip(images, "ab", strict=True)
            ]
            for part, values in split_drop(*mixes).items():
                parts[part] = float(values[0])
                if bound:
                    parts[f"{part}_low"], parts[f"{part}_high"] = bound(parts[part], values[1:])
        total = sample.images + other.images
        rows.append((*target, one, two, one - two, *ends, total, *parts.values()))
    return pd.DataFrame(rows, columns=OF_PAIR)


def _read_mean(
    outcomes: Sequence[str], models: Sequence[str], dataset: str, seeds: Sequence[str]
) -> pd.DataFrame:
    """Mean over models of their values on each image, with one model in memory at a time."""
    first = read_outcomes(outcomes, models[0], dataset, seeds)
    sums = first[[*MEANS]].copy()
    for model in models[1:]:
        sums += read_outcomes(outcomes, model, dataset, seeds)[[*MEANS]]
    return pd.concat([first[["labels"]], sums / len(models)], axis=1)


def compare_predictions(
    metrics: pd.DataFrame,
    outcomes: Sequence[str],
    *,
    study: str,
    compare: Sequence[str],
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Compare the first two datasets of which there are metrics, those in `compare` first.

    Models that have both datasets, and their mean, whose ``model`` is empty. It is over the seeds
    that all models have on a dataset, and is left out where there is none. Its interval is over
    images: the models are taken as they are. Published metrics have no `outcomes` of images.
    """
    known = sorted(set(metrics["dataset"]))
    pair = [name for name in dict.fromkeys([*compare, *known]) if name in known][:2]
    tables = [pd.DataFrame(columns=list(DROPS)).astype(DROPS)]
    if len(pair) < 2:
        return tables[0]
    if not outcomes:
        return subtract_datasets(metrics, dataset_a=pair[0], dataset_b=pair[1])
    seeded = metrics.fillna({"seed": ""}).groupby(["model", "dataset"])["seed"]
    cells: dict[Any, set[str]] = seeded.agg(set).to_dict()
    models = sorted({model for model, _ in cells if {(model, name) for name in pair} <= {*cells}})
    groups = [(MEAN, models), *((model, [model]) for model in models)] if models else []
    for name, group in groups:
        seeds = [
            sorted(set[str].intersection(*(cells[model, dataset] for model in group)))
            for dataset in pair
        ]
        if not all(seeds):
            continue
        first, second = (
            _read_mean(outcomes, group, dataset, own)
            for dataset, own in zip(pair, seeds, strict=True)
        )
        # The mean over one model is that model.
        stream = "degradation", *pair, MEAN if len(models) == 1 else name
        table = compare_dataset_pair(
            (first, second),
            subgroups=(subgroups[pair[0]], subgroups[pair[1]]),
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            make_rng=partial(make_stream, seed, study, *stream),
            seeds=max(map(len, seeds)),
        )
        tables.append(table.assign(model=name, dataset_a=pair[0], dataset_b=pair[1]))
    return pd.concat(tables, ignore_index=True)[list(DROPS)].astype(DROPS)
