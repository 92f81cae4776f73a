"""Metrics that others have published, and how many images have how many valid labels."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.errors import ValidationError
from capmap.exports.label_files import read_labels
from capmap.exports.records import TABLES, has_suffix
from capmap.exports.sheets import open_sheet
from capmap.metrics import canonical_name
from capmap.multilabel.dumps import Cell
from capmap.multilabel.metrics import BY_SUBGROUP, METRICS, ORDER
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.settings.choices import SUBGROUPS, Subgroups
from capmap.wording import list_names, quote_name

SEPARATOR = " / "
SUBGROUP = re.compile(r"(.*?\D)\s*([1-9][0-9]{0,8})", re.DOTALL)
KNOWN = {canonical_name(metric): metric for metric in ORDER}
PUBLISHED = {**dict.fromkeys(Cell._fields, "str"), **METRICS, "images": "Int64"}
MORE = "more"
COUNTED = ("dataset", "labels", "images")
KEY = ["model", "dataset", "seed", "metric", "subgroup"]


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
