"""Outcomes of a model on each image by every metric, and the file that keeps those of all dumps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.artifacts import open_table
from capmap.multilabel.dumps import Cell
from capmap.multilabel.labels import UNKNOWN, Int64Array, LabelSets
from capmap.multilabel.ranks import Ranks
from capmap.ranking.aggregation import FloatArray

TOP = 5
OUTCOMES = {
    "image": "int64",
    "id": "str",
    "labels": "int64",
    "top1": "boolean",
    "top5": "boolean",
    "real": "boolean",
    "hits": "Int64",
    "lrap": "float64",
}

KINDS = {"str": "string", "int64": "int64", "Int64": "int64", "boolean": "bool"}
SCHEMA = pa.schema(
    [(name, pa.string()) for name in Cell._fields]
    + [(name, pa.type_for_alias(KINDS.get(kind, kind))) for name, kind in OUTCOMES.items()]
)


@dataclass(frozen=True)
class ImageValues:
    """A number per image for each metric that is a mean over images.

    Parameters
    ----------
    labels : numpy.ndarray of int64, shape (images,)
        Number of labels of each image.
    metrics : mapping of str to numpy.ndarray, each of shape (images,)
        ``top1``, ``top5``, ``real``, ``labelwise``, ``jaccard`` and ``lrap``, from 0 to 1; NaN for
        images to which the metric does not apply.
    """

    labels: Int64Array
    metrics: Mapping[str, FloatArray]


def score_images(labels: LabelSets, ranks: Ranks) -> pd.DataFrame:
    """Score each image by the ranks of its labels.

    Parameters
    ----------
    labels : LabelSets
        The labels of the images.
    ranks : Ranks
        Their ranks among a model's scores.

    Returns
    -------
    pandas.DataFrame
        A row per image, in order: ``image`` (its place, from 0), ``id``, ``labels`` (how many, k),
        ``top1`` and ``top5`` (whether the single label is among the highest one or five scores),
        ``real`` (whether the highest score is of a label), ``hits`` (labels among the k highest
        scores) and ``lrap`` (label-ranking average precision).

    Notes
    -----
    An image without a single label has no ``top1`` and ``top5``. An image without labels has 0
    hits, and no ``real`` and ``lrap``; its ``top1`` and ``top5`` stand.

    The label-ranking average precision is the mean over the labels of the share of labels among the
    classes down to that label. Ties between scores were resolved by the ranks, so it is not lowered
    by them as in scikit-learn, which gives equal scores the worst of their ranks.

    Where only the highest classes are listed, ``top5`` is missing with fewer than five of them,
    ``hits`` for images with more labels than that, and ``lrap`` always.

    References
    ----------
    Schapire, R. E., & Singer, Y. (2000). BoosTexter. Machine Learning 39, 135–168.

    Examples
    --------
    >>> from capmap.multilabel.labels import arrange_labels
    >>> labels = arrange_labels([[0, 2]], n_classes=3, single=[0])
    >>> found = score_images(labels, Ranks(np.array([0, 2]), np.array([0]), 3))
    >>> found[["labels", "top1", "real", "hits", "lrap"]]  # lrap is (1/1 + 2/3) / 2
       labels  top1  real  hits      lrap
    0       2  True  True     1  0.833333
    """
    n, counts, owners = len(labels), labels.counts, labels.owners
    is_labeled, is_single = counts > 0, labels.single != UNKNOWN
    is_whole = ranks.depth == labels.n_classes
    is_shallow = np.full(n, ranks.depth < min(TOP, labels.n_classes))
    span = ranks.depth + 1
    ordered = np.sort(owners * span + ranks.labels) - owners * span
    places = np.arange(1, len(ordered) + 1) - np.repeat(labels.offsets[:-1], counts)
    hits = np.bincount(owners[ranks.labels < counts[owners]], minlength=n)
    precision = np.bincount(owners, weights=places / (ordered + 1), minlength=n)
    best = np.full(n, labels.n_classes, dtype=np.int64)
    best[is_labeled] = ordered[labels.offsets[:-1][is_labeled]]
    return pd.DataFrame(
        {
            "image": np.arange(n),
            "id": np.asarray(labels.images, dtype=object),
            "labels": counts,
            "top1": pd.arrays.BooleanArray(ranks.single == 0, ~is_single),
            "top5": pd.arrays.BooleanArray(ranks.single < TOP, ~is_single | is_shallow),
            "real": pd.arrays.BooleanArray(best == 0, ~is_labeled),
            "hits": pd.arrays.IntegerArray(hits, counts > ranks.depth),
            "lrap": np.divide(
                precision, counts, out=np.full(n, np.nan), where=is_labeled & is_whole
            ),
        }
    ).astype(OUTCOMES)


def evaluate_images(outcomes: pd.DataFrame) -> ImageValues:
    """Evaluate the metrics of each image.

    Parameters
    ----------
    outcomes : pandas.DataFrame
        Columns ``labels``, ``top1``, ``top5``, ``real``, ``hits`` and ``lrap`` of `score_images`.

    Returns
    -------
    ImageValues
        In the order of the rows.

    Notes
    -----
    With k labels and the k highest scores as the prediction, ``labelwise`` is ``hits / k``. It is
    the image's precision, recall and F1 too, since as many classes are predicted as are true.
    ``jaccard`` is ``hits / (2 k − hits)``. Images without labels or hits have neither.
    """
    counts = outcomes["labels"].to_numpy(dtype=np.int64)
    hits = outcomes["hits"].to_numpy(dtype=np.float64, na_value=np.nan)
    return ImageValues(
        labels=counts,
        metrics={
            "top1": _read_flags(outcomes["top1"]),
            "top5": _read_flags(outcomes["top5"]),
            "real": _read_flags(outcomes["real"]),
            "labelwise": _divide(hits, counts),
            "jaccard": _divide(hits, 2 * counts - hits),
            "lrap": outcomes["lrap"].to_numpy(dtype=np.float64, na_value=np.nan),
        },
    )


def _read_flags(column: pd.Series) -> FloatArray:
    flags = pd.array(column.array, dtype="boolean")
    return np.asarray(flags.to_numpy(dtype=np.float64, na_value=np.nan))


def _divide(numbers: FloatArray, divisors: npt.NDArray[np.number]) -> FloatArray:
    empty = np.full(len(numbers), np.nan)
    return np.asarray(np.divide(numbers, divisors, out=empty, where=divisors > 0))


class OutcomeWriter:
    """Writes the outcomes of one dump after the other to a Parquet file, a row group each.

    Parameters
    ----------
    stream : binary file
        Where to write.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._writer = pq.ParquetWriter(
            stream, SCHEMA, compression="zstd", write_page_checksum=True
        )

    def write(self, cell: Cell, outcomes: pd.DataFrame) -> None:
        """Write the outcomes of a dump, from `score_images`."""
        columns: dict[str, Any] = {
            name: pa.array([value] * len(outcomes), pa.string())
            for name, value in cell._asdict().items()
        }
        for name in OUTCOMES:
            columns[name] = pa.array(outcomes[name], SCHEMA.field(name).type, from_pandas=True)
        self._writer.write_table(
            pa.table(columns, schema=SCHEMA), row_group_size=max(len(outcomes), 1)
        )

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()


class OutcomeFiles:
    """The outcomes of a study.

    Parameters
    ----------
    paths : iterable of path-like
        Files that `OutcomeWriter` wrote.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._places: dict[Cell, tuple[str, int]] = {}
        self._seeds: dict[tuple[str, str], set[str]] = {}
        for path in sorted(map(str, paths)):
            with open_table(path) as file:
                for group in range(file.num_row_groups):
                    head = file.read_row_group(group, columns=list(Cell._fields)).slice(0, 1)
                    for row in head.to_pylist():
                        cell = Cell(**row)
                        self._places[cell] = (path, group)
                        self._seeds.setdefault((cell.model, cell.dataset), set()).add(cell.seed)

    @property
    def datasets(self) -> list[str]:
        """The datasets that any model has, by name."""
        return sorted({cell.dataset for cell in self._places})

    def list_models(self, dataset: str) -> list[str]:
        """List the models that have a dataset, by name."""
        return sorted({cell.model for cell in self._places if cell.dataset == dataset})

    def list_seeds(self, models: Iterable[str], dataset: str) -> list[str]:
        """List the seeds of a dataset that all of some models have."""
        own = [self._seeds.get((model, dataset), set()) for model in models]
        return sorted(set.intersection(*own)) if own else []

    def read(self, model: str, dataset: str, seeds: Sequence[str]) -> tuple[ImageValues, list[str]]:
        """Read a model's values on the images of a dataset, and the ids of the images.

        Parameters
        ----------
        model, dataset : str
            Whose outcomes.
        seeds : sequence of str
            The seeds, whose images are put one after the other; one or more.

        Returns
        -------
        ImageValues, list of str
            An id has the seed in front where there is one, since each seed has images of its own.
        """
        tables = []
        for seed in seeds:
            path, group = self._places[Cell(model, dataset, seed)]
            with open_table(path) as file:
                tables.append(file.read_row_group(group))
        table = pa.concat_tables(tables).to_pandas(types_mapper=_choose_type)
        ids = [
            f"{seed}/{name}" if name and seed else name
            for seed, name in zip(table["seed"].tolist(), table["id"].tolist(), strict=True)
        ]
        return evaluate_images(table), ids


def _choose_type(kind: pa.DataType) -> Any:
    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    return pd.Int64Dtype() if pa.types.is_integer(kind) else None
