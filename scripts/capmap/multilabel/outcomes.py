"""Outcomes of a model on each image, and the file that keeps those of all dumps."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.artifacts import open_table
from capmap.errors import ValidationError
from capmap.multilabel.dumps import Cell
from capmap.multilabel.metrics import MEANS
from capmap.wording import quote_name

Int64Array = npt.NDArray[np.int64]
Scores = npt.NDArray[np.floating[Any]]

BLOCK_CELLS = 1 << 18
SCHEMA = pa.schema(
    [(name, pa.string()) for name in (*Cell._fields, "id")]
    + [("labels", pa.int64()), *((metric, pa.float64()) for metric in MEANS)]
)


class Ranks(NamedTuple):
    """What the scores of a model say of the images.

    Parameters
    ----------
    best : numpy.ndarray of int64, shape (images,)
        The class with the highest score of each image.
    labels : numpy.ndarray of int64, shape (labels,)
        Rank of each label among all classes, image after image; 0 is the highest score.
    flat : int
        How many images have the same score for all classes.
    """

    best: Int64Array
    labels: Int64Array
    flat: int


def rank_labels(scores: Scores, sets: Sequence[Sequence[int]], names: Sequence[str] = ()) -> Ranks:
    """Rank the labels of each image among all classes by score.

    Parameters
    ----------
    scores : numpy.ndarray of float16, float32 or float64, shape (images, classes)
        Scores of any scale (logits or probabilities), also memory-mapped. Infinite scores have
        their place in the order.
    sets : sequence of sequences of int, shape (images, labels of the image)
        The labels of the same images, places in the class list.
    names : sequence of str, optional
        Ids of the images, for messages.

    Returns
    -------
    Ranks

    Raises
    ------
    ValidationError
        If a score is NaN. The first image with one, and its first class, are named.

    Notes
    -----
    The rank of class l is the number of classes with a higher score, and of classes before l with
    the same score: in a tie the lowest class index wins. Scores are compared as they are stored;
    float16 is widened to float32, which changes no order.

    Examples
    --------
    >>> rank_labels(np.array([[0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]), [[1, 2], []]).labels.tolist()
    [2, 0]
    """
    n, n_classes = scores.shape
    counts = [len(labels) for labels in sets]
    owners = np.repeat(np.arange(n), counts)
    classes = np.fromiter(chain.from_iterable(sets), dtype=np.int64)
    best, ranks = np.empty(n, dtype=np.int64), np.empty(len(classes), dtype=np.int64)
    step, flat, places = max(BLOCK_CELLS // n_classes, 1), 0, np.arange(n_classes)
    kind = np.promote_types(scores.dtype, np.float32).newbyteorder("=")
    for first in range(0, n, step):
        rows = np.ascontiguousarray(scores[first : first + step], dtype=kind)
        if np.isnan(rows.min()):
            _refuse_nan(rows, first, names)
        flat += int((rows == rows[:, :1]).all(axis=1).sum()) if n_classes > 1 else 0
        best[first : first + step] = rows.argmax(axis=1)
        block = slice(*np.searchsorted(owners, [first, first + step]))
        own, wanted = rows[owners[block] - first], classes[block, None]
        level = np.take_along_axis(own, wanted, axis=1)
        is_ahead = (own > level) | ((own == level) & (places < wanted))
        ranks[block] = np.count_nonzero(is_ahead, axis=1)
    return Ranks(best, ranks, flat)


def _refuse_nan(rows: Scores, first: int, names: Sequence[str]) -> None:
    row, column = np.argwhere(np.isnan(rows))[0].tolist()
    raise ValidationError(
        f"The score of class {column} is NaN for {name_image(names, first + row)}. "
        "NaN has no place in an order: correct the scores and write the file again."
    )


def name_image(names: Sequence[str], place: int) -> str:
    """Name an image by its number in the order of the scores, and by its id where it has one."""
    return f"image {place + 1}" + (f" ({quote_name(names[place])})" if names else "")


def score_images(
    ranks: Ranks,
    sets: Sequence[Sequence[int]],
    *,
    single: Sequence[int] | None = None,
    names: Sequence[str] = (),
) -> pd.DataFrame:
    """Score each image by the ranks of its labels.

    Parameters
    ----------
    ranks : Ranks
        From `rank_labels`.
    sets : sequence of sequences of int
        The labels of the images, each label once.
    single : sequence of int, optional
        The single label of each image.
    names : sequence of str, optional
        Ids of the images.

    Returns
    -------
    pandas.DataFrame
        A row per image, by id where there are ids and else in order: ``id``, ``labels`` (how many,
        k), ``top1`` (1 if the single label has the highest score, else 0), ``real`` (1 if the
        highest score is of a label, else 0) and ``labelwise`` (share of the labels among the k
        highest scores).

    Notes
    -----
    With the k highest scores as the prediction, ``labelwise`` is the image's precision, recall and
    F1 too, since as many classes are predicted as are true. Images without labels have no ``real``
    and no ``labelwise``.

    Examples
    --------
    >>> sets = [[0, 2]]
    >>> found = score_images(rank_labels(np.array([[0.9, 0.8, 0.1]]), sets), sets, single=[0])
    >>> found[["labels", "top1", "real", "labelwise"]]
       labels  top1  real  labelwise
    0       2   1.0   1.0        0.5
    """
    counts = np.array([len(labels) for labels in sets], dtype=np.int64)
    owners = np.repeat(np.arange(len(sets)), counts)
    is_labeled = counts > 0
    hits = np.bincount(owners[ranks.labels < counts[owners]], minlength=len(sets))
    is_best = np.bincount(owners[ranks.labels == 0], minlength=len(sets))
    table = pd.DataFrame(
        {
            "id": np.array(names or [""] * len(sets), dtype=object),
            "labels": counts,
            "top1": np.nan if single is None else np.equal(ranks.best, single).astype(float),
            "real": np.where(is_labeled, is_best, np.nan),
            "labelwise": np.where(is_labeled, hits / np.maximum(counts, 1), np.nan),
        }
    )
    return table.sort_values("id", kind="stable", ignore_index=True)


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
        table = pa.Table.from_pandas(outcomes.assign(**cell._asdict()), SCHEMA)
        self._writer.write_table(table, row_group_size=len(outcomes))

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
        for path in sorted(map(str, paths)):
            with open_table(path) as file:
                for group in range(file.num_row_groups):
                    head = file.read_row_group(group, columns=list(Cell._fields)).slice(0, 1)
                    self._places[Cell(**head.to_pylist()[0])] = (path, group)

    def list_models(self, dataset: str) -> list[str]:
        """List the models that have a dataset, by name."""
        return sorted({cell.model for cell in self._places if cell.dataset == dataset})

    def list_seeds(self, models: Iterable[str], dataset: str) -> list[str]:
        """List the seeds of a dataset that all of some models have."""
        own = [
            {cell.seed for cell in self._places if cell[:2] == (model, dataset)} for model in models
        ]
        return sorted(set.intersection(*own)) if own else []

    def read(self, model: str, dataset: str, seeds: Sequence[str]) -> pd.DataFrame:
        """Read a model's outcomes on the images of a dataset, seed after seed."""
        tables = []
        for seed in seeds:
            path, group = self._places[Cell(model, dataset, seed)]
            with open_table(path) as file:
                tables.append(file.read_row_group(group, columns=["labels", *MEANS]).to_pandas())
        images: pd.DataFrame = pd.concat(tables, ignore_index=True)
        return images
