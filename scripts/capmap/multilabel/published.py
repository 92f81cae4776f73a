"""Published summaries: metrics that others computed, from columns named ``dataset / metric``."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.artifacts import read_parquet
from capmap.errors import ValidationError
from capmap.exports.label_files import read_labels
from capmap.metrics import canonical_name
from capmap.multilabel.metrics import BY_SUBGROUP, ORDER
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.wording import count_things, find_nearest, list_names, quote_name

SEPARATOR = " / "
SUBGROUP = re.compile(r"(.*?\D)\s*([0-9]{1,9})", re.DOTALL)
SPELLINGS = {
    "top1": ("top1", "top1 accuracy", "top1 acc", "accuracy", "acc"),
    "real": ("real", "real accuracy", "real acc", "real labels"),
    "asma": ("asma", "average subgroup multi-label accuracy"),
    "labelwise": ("labelwise", "label-wise accuracy"),
    "subgroup": ("subgroup", "subgroup accuracy"),
    "real_subgroup": ("real subgroup", "real subgroup accuracy"),
}
KNOWN = {canonical_name(name): metric for metric, names in SPELLINGS.items() for name in names}
PUBLISHED = {
    "model": "str",
    "dataset": "str",
    "seed": "str",
    "metric": "str",
    "subgroup": "Int64",
    "value": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "images": "Int64",
}
KEY = ["model", "dataset", "seed", "metric", "subgroup"]


def read_metrics(exported: pd.DataFrame, scores: Sequence[str]) -> pd.DataFrame:
    """Read the metrics of all dumps, or those that were published, which a study has as runs."""
    if not scores:
        return split_published(exported)
    return pd.concat([read_parquet(path) for path in scores], ignore_index=True)


def count_labels(labels: Sequence[str], datasets: Sequence[str]) -> list[dict[str, Any]]:
    """Count in files of labels how many images have how many valid labels."""
    counted = []
    for path, dataset in zip(labels, datasets, strict=True):
        counts = Counter(len({*image}) for image in read_labels(path).sets)
        images = {str(count): counts[count] for count in sorted(counts)}
        counted.append({"dataset": dataset, "seed": "", "labels": images})
    return counted


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
    Names are split at the last `` / ``. Metrics are known by their usual names, whatever their case
    and separators: ``top-1``, ``Top1 accuracy``, ``ReaL``. The accuracy of a subgroup has its
    number of labels at the end: ``PatchML / subgroup 3``, ``ImageNetV1 / ReaL subgroup 2``.

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
    names = sorted(known["dataset"].unique())
    parts = _split_names(names)
    _require_one_column(names, parts)
    codes = pd.Categorical(known["dataset"], categories=names).codes
    rows = [parts[code] for code in codes]
    table = pd.DataFrame(
        {
            "model": known["model"].to_numpy(),
            "dataset": [dataset for dataset, _, _ in rows],
            "seed": known["seed"].to_numpy() if "seed" in known else "",
            "metric": [metric for _, metric, _ in rows],
            "subgroup": pd.array([subgroup for _, _, subgroup in rows], dtype="Int64"),
            "value": _take_fractions(known),
            "ci_low": np.nan,
            "ci_high": np.nan,
            "images": pd.array([pd.NA] * len(rows), dtype="Int64"),
        }
    ).astype(PUBLISHED)
    return table.sort_values(KEY, kind="stable", ignore_index=True)


def share_images(label_counts: pd.DataFrame) -> pd.DataFrame:
    """Add to counts of images per number of labels their share of the dataset.

    Parameters
    ----------
    label_counts : pandas.DataFrame
        Columns ``dataset``, ``labels`` (the number as text, or ``more``) and ``images``.

    Returns
    -------
    pandas.DataFrame
        The same rows with ``share``: of the dataset's images that have labels, so it is NaN for 0
        labels, and where no image has any.

    Examples
    --------
    >>> counts = pd.DataFrame({"dataset": "a", "labels": ["0", "1", "more"], "images": [2, 3, 1]})
    >>> share_images(counts)["share"].tolist()
    [nan, 0.75, 0.25]
    """
    is_labeled = label_counts["labels"].astype("str") != "0"
    labeled = label_counts["images"].where(is_labeled)
    totals = labeled.groupby(label_counts["dataset"]).transform("sum")
    return label_counts.assign(share=labeled / totals.where(totals > 0))


def _split_names(names: Sequence[str]) -> list[tuple[str, str, int | None]]:
    """Dataset, metric and subgroup of each name; all names with a fault are reported at once."""
    plain = [name for name in names if not all(map(str.strip, _part(name)))]
    found = [(_part(name)[0].strip(), *_read_metric(_part(name)[1])) for name in names]
    unknown = sorted({_part(name)[1] for name, row in zip(names, found, strict=True) if not row[1]})
    if plain:
        raise ValidationError(
            f"{count_things(len(plain), 'column')} without dataset and metric: "
            f"{list_names(plain)}. Published metrics are read from columns named 'dataset / "
            "metric': set header_rows: 2, or write the names like 'ImageNetV1 / top1'."
        )
    if unknown:
        near = find_nearest(unknown[0], [name for own in SPELLINGS.values() for name in own])
        hint = f" Did you mean {quote_name(near)}?" if near else ""
        raise ValidationError(
            f"{count_things(len(unknown), 'unknown metric')} of published tables: "
            f"{list_names(unknown)}.{hint} There are {', '.join(ORDER)}; subgroup and "
            "real_subgroup end in their number of labels, such as 'subgroup 3'."
        )
    return found


def _part(name: str) -> tuple[str, str]:
    dataset, _, metric = name.rpartition(SEPARATOR)
    return dataset, metric


def _read_metric(text: str) -> tuple[str, int | None]:
    """The metric that a text names, empty if none, and its number of labels."""
    numbered = SUBGROUP.fullmatch(text.strip())
    ending = KNOWN.get(canonical_name(numbered[1]), "") if numbered else ""
    if numbered and ending in BY_SUBGROUP:
        return (ending, int(numbered[2])) if int(numbered[2]) else ("", None)
    metric = KNOWN.get(canonical_name(text), "")
    return ("" if metric in BY_SUBGROUP else metric), None


def _require_one_column(names: Sequence[str], parts: list[tuple[str, str, int | None]]) -> None:
    first: dict[tuple[str, str, int | None], str] = {}
    for name, part in zip(names, parts, strict=True):
        other = first.setdefault(part, name)
        if other != name:
            raise ValidationError(
                f"The columns {quote_name(other)} and {quote_name(name)} are the same metric of "
                "the same dataset. Leave one of them out."
            )


def _take_fractions(known: pd.DataFrame) -> FloatArray:
    """Values from 0 to 1, divided by 100 where the table is in percent."""
    values = known["score"].to_numpy(dtype=np.float64)
    if not ((values >= 0) & (values <= 100)).all():
        place = int(np.flatnonzero(~((values >= 0) & (values <= 100)))[0])
        row = known.iloc[place]
        raise ValidationError(
            f"{quote_name(row['dataset'])} of {quote_name(row['model'])} is {values[place]:g}. "
            "Published metrics are from 0 to 1, or from 0 to 100 in percent."
        )
    if not (values > 1).any():
        return values
    highest = known.groupby("dataset", observed=True)["score"].max()
    mixed = sorted(highest[(highest > 0) & (highest <= 1)].index)
    if mixed:
        raise ValidationError(
            f"{list_names(mixed)}: no value above 1, while other columns are in percent. Write all "
            "values in percent, or, if these are right, all from 0 to 1."
        )
    return round_significant(values / 100)
