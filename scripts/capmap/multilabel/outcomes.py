"""Outcomes of a model on each image by every metric, and the file that keeps those of all dumps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.artifacts import open_table
from capmap.multilabel.dumps import Cell
from capmap.multilabel.labels import UNKNOWN, Int64Array, LabelSets
from capmap.multilabel.ranks import Ranks
from capmap.ranking.aggregation import FloatArray

OUTCOMES = {
    "image": "int64",
    "id": "str",
    "labels": "int64",
    "top1": "boolean",
    "real": "boolean",
    "hits": "int64",
}

KINDS = {"str": "string", "int64": "int64", "boolean": "bool"}
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
        ``top1``, ``real`` and ``labelwise``, from 0 to 1; NaN for images to which the metric does
        not apply.
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
        ``top1`` (whether the single label has the highest score), ``real`` (whether the highest
        score is of a label) and ``hits`` (labels among the k highest scores).

    Notes
    -----
    An image without a single label has no ``top1``. An image without labels has 0 hits, and no
    ``real``; its ``top1`` stands.

    Examples
    --------
    >>> from capmap.multilabel.labels import arrange_labels
    >>> labels = arrange_labels([[0, 2]], n_classes=3, single=[0])
    >>> found = score_images(labels, Ranks(np.array([0, 2]), np.array([0])))
    >>> found[["labels", "top1", "real", "hits"]]
       labels  top1  real  hits
    0       2  True  True     1
    """
    n, counts, owners = len(labels), labels.counts, labels.owners
    is_best = np.zeros(n, dtype=bool)
    is_best[owners[ranks.labels == 0]] = True
    return pd.DataFrame(
        {
            "image": np.arange(n),
            "id": np.asarray(labels.images, dtype=object),
            "labels": counts,
            "top1": pd.arrays.BooleanArray(ranks.single == 0, labels.single == UNKNOWN),
            "real": pd.arrays.BooleanArray(is_best, counts == 0),
            "hits": np.bincount(owners[ranks.labels < counts[owners]], minlength=n),
        }
    ).astype(OUTCOMES)


def evaluate_images(outcomes: pd.DataFrame) -> ImageValues:
    """Evaluate the metrics of each image.

    Parameters
    ----------
    outcomes : pandas.DataFrame
        Columns ``labels``, ``top1``, ``real`` and ``hits`` of `score_images`.

    Returns
    -------
    ImageValues
        In the order of the rows.

    Notes
    -----
    With k labels and the k highest scores as the prediction, ``labelwise`` is ``hits / k``. It is
    the image's precision, recall and F1 too, since as many classes are predicted as are true.
    Images without labels have none.
    """
    counts = outcomes["labels"].to_numpy(dtype=np.int64)
    hits = outcomes["hits"].to_numpy(dtype=np.float64)
    return ImageValues(
        labels=counts,
        metrics={
            "top1": _read_flags(outcomes["top1"]),
            "real": _read_flags(outcomes["real"]),
            "labelwise": np.divide(hits, counts, out=np.full(len(hits), np.nan), where=counts > 0),
        },
    )


def _read_flags(column: pd.Series) -> FloatArray:
    flags = pd.array(column.array, dtype="boolean")
    return np.asarray(flags.to_numpy(dtype=np.float64, na_value=np.nan))


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
