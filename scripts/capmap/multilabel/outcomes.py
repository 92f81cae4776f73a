"""Outcomes of a model on each image by every metric, and the file that keeps those of all dumps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from capmap.ranking.aggregation import FloatArray
from capmap.wording import count_things, quote_name

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

UNKNOWN = -1
Scores = npt.NDArray[np.floating[Any]]

BLOCK_BYTES = 1 << 21
LANES = 8
LARGEST_TALLY = 255
TYPES = ("float16", "float32", "float64")
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


class Pairs(NamedTuple):
    """Images with one class each, in the order of the images and then of the classes.

    Parameters
    ----------
    images, classes : numpy.ndarray of int64, shape (pairs,)
        The image and the class of each pair.
    labels : numpy.ndarray of int64, shape (labels,)
        Place of each label among the pairs.
    single : numpy.ndarray of int64, shape (images,)
        Place of each image's single label among the pairs; without meaning where it has none.
    """

    images: Int64Array
    classes: Int64Array
    labels: Int64Array
    single: Int64Array


@dataclass(frozen=True)
class LabelSets:
    """The label set of each image, one after another.

    Parameters
    ----------
    images : list of str
        Ids of the images; empty strings where images are known by their order only.
    offsets : numpy.ndarray of int64, shape (images + 1,)
        Where the labels of each image begin in `classes`, and where the last ones end.
    classes : numpy.ndarray of int32, shape (labels,)
        Classes from 0 to ``n_classes − 1``, ascending and different within an image.
    single : numpy.ndarray of int32, shape (images,)
        The single label of each image; −1 where there is none.
    n_classes : int
        Number of classes.
    merged : int, optional
        How many labels were given more than once for an image and are counted once.
    """

    images: list[str]
    offsets: Int64Array
    classes: Int32Array
    single: Int32Array
    n_classes: int
    merged: int = 0

    def __len__(self) -> int:
        return len(self.images)

    @cached_property
    def counts(self) -> Int64Array:
        """Number of labels of each image."""
        return np.diff(self.offsets)

    @cached_property
    def owners(self) -> Int64Array:
        """Image of each label."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.counts)

    @cached_property
    def pairs(self) -> Pairs:
        """Each image with each class whose rank is wanted, at least one for every image.

        These are its labels and its single label. An image without any stands with class 0, so that
        its scores are looked at.
        """
        firsts = np.arange(len(self), dtype=np.int64) * self.n_classes
        labels = np.repeat(firsts, self.counts) + self.classes
        single = firsts + np.maximum(self.single, 0)
        is_needed = (self.single != UNKNOWN) | (self.counts == 0)
        keys = np.unique(np.concatenate([labels, single[is_needed]]))
        images, classes = np.divmod(keys, self.n_classes)
        return Pairs(images, classes, np.searchsorted(keys, labels), np.searchsorted(keys, single))


def arrange_labels(
    sets: Sequence[Sequence[int]],
    *,
    n_classes: int,
    single: npt.ArrayLike | None = None,
    images: Sequence[str] | None = None,
) -> LabelSets:
    """Arrange label sets and single labels of the same images, and refuse what no class is.

    Parameters
    ----------
    sets : sequence of sequences of int, shape (images, labels of the image)
        Valid labels of each image in any order; may be empty.
    n_classes : int
        Number of classes, one or more.
    single : array_like of int, shape (images,), optional
        Single label of each image; −1 where there is none. By default no image has one.
    images : sequence of str, shape (images,), optional
        Ids of the images, each once, or empty strings. By default the images are known by their
        order only.

    Returns
    -------
    LabelSets
        The images in the order given.

    Raises
    ------
    ValidationError
        If a label is negative or not below `n_classes`.

    Notes
    -----
    A label that stands twice in a set is one label: the set counts it once, and `LabelSets.merged`
    counts what was merged.

    Examples
    --------
    >>> labels = arrange_labels([[2, 0, 2], []], n_classes=3, single=[0, 1])
    >>> labels.counts.tolist(), labels.classes.tolist(), labels.merged
    ([2, 0], [0, 2], 1)
    """
    n = len(sets)
    names = [""] * n if images is None else list(images)
    alone = np.full(n, UNKNOWN) if single is None else np.asarray(single, dtype=np.int64)
    sizes = np.fromiter(map(len, sets), dtype=np.int64, count=n)
    given = np.fromiter(chain.from_iterable(sets), dtype=np.int64)
    owners = np.repeat(np.arange(n, dtype=np.int64), sizes)
    _require_classes(given, owners, names, n_classes=n_classes, lowest=0, kind="label")
    places = np.arange(n, dtype=np.int64)
    _require_classes(alone, places, names, n_classes=n_classes, lowest=UNKNOWN, kind="single label")
    found, classes = np.divmod(np.unique(owners * n_classes + given), n_classes)
    counts = np.bincount(found, minlength=n)
    return LabelSets(
        images=names,
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        classes=classes.astype(np.int32),
        single=alone.astype(np.int32),
        n_classes=n_classes,
        merged=len(given) - len(classes),
    )


def name_image(names: Sequence[str], place: int) -> str:
    """Name an image by its number in the order of the scores, and by its id where it has one."""
    return f"image {place + 1}" + (f" ({quote_name(names[place])})" if names[place] else "")


def _require_classes(
    classes: Int64Array,
    owners: Int64Array,
    names: list[str],
    *,
    n_classes: int,
    lowest: int,
    kind: str,
) -> None:
    wrong = np.flatnonzero((classes < lowest) | (classes >= n_classes))
    if not len(wrong):
        return
    first = wrong[0]
    verb = "is" if len(wrong) == 1 else "are"
    raise ValidationError(
        f"{count_things(len(wrong), kind)} {verb} no class from 0 to {n_classes - 1}: first "
        f"{classes[first]} of {name_image(names, int(owners[first]))}. Write labels as places in "
        "the class list, from 0, and check that labels and scores have the same classes."
    )


@dataclass(frozen=True)
class Ranks:
    """Ranks of labels; 0 is the highest score.

    Parameters
    ----------
    labels : numpy.ndarray of int64, shape (labels,)
        Rank of each label, in the order of `LabelSets.classes`.
    single : numpy.ndarray of int64, shape (images,)
        Rank of each image's single label; −1 where it has none.
    """

    labels: Int64Array
    single: Int64Array


def rank_labels(scores: Scores, labels: LabelSets) -> Ranks:
    """Rank the labels of each image among all classes by score.

    Parameters
    ----------
    scores : numpy.ndarray of float16, float32 or float64, shape (images, classes)
        Scores of any scale (logits or probabilities), in any memory order, also memory-mapped.
        Infinite scores have their place in the order.
    labels : LabelSets
        The labels of the same images.

    Returns
    -------
    Ranks
        From 0 (highest score) to ``classes − 1``.

    Raises
    ------
    ValidationError
        If the shape does not fit the labels, the scores are of another type, or one is NaN. The
        first image with NaN, and its first class, are named.

    Notes
    -----
    The rank of class l is the number of classes with a higher score, and of classes before l with
    the same score: in a tie the lowest class index wins. Scores are compared as they are stored;
    float16 is widened to float32, which changes no order.

    All scores are looked at, also those of images without any label, because a NaN anywhere means
    that the file is broken.

    Examples
    --------
    >>> from capmap.multilabel.outcomes import arrange_labels
    >>> labels = arrange_labels([[1, 2], []], n_classes=3, single=[1, 2])
    >>> ranks = rank_labels(np.array([[0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]), labels)
    >>> ranks.labels.tolist(), ranks.single.tolist()
    ([2, 0], [2, 2])
    """
    matrix = np.asarray(scores)
    _require_fit(matrix, labels)
    pairs = labels.pairs
    ranks = np.empty(len(pairs.images), dtype=np.int64)
    desk = _Desk(matrix)
    for first in range(0, len(ranks), desk.step):
        block = slice(first, first + desk.step)
        images, classes = pairs.images[block], pairs.classes[block]
        rows = desk.lay_rows(images)
        if np.isnan(rows.min()):
            _refuse_nan(rows, images, labels)
        ranks[block] = desk.rank_rows(rows, classes)
    return _hand_out(ranks, labels)


def _hand_out(ranks: Int64Array, labels: LabelSets) -> Ranks:
    pairs = labels.pairs
    single = np.where(labels.single == UNKNOWN, UNKNOWN, ranks[pairs.single])
    return Ranks(labels=ranks[pairs.labels], single=single)


class _Desk:
    """Room for a block of rows, padded to whole words of eight classes, and for working on them."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self.n_classes = scores.shape[1]
        self.width = -(-self.n_classes // LANES) * LANES
        dtype = np.promote_types(scores.dtype, np.float32)
        self.step = max(BLOCK_BYTES // (self.width * dtype.itemsize), 1)
        shape = (self.step, self.width)
        self.rows = np.full(shape, -np.inf, dtype=dtype)
        self.own = np.empty(shape, dtype=dtype)
        self.marks = np.empty(shape, dtype=np.bool_)
        self.fits = (
            scores.flags.c_contiguous
            and scores.dtype == dtype
            and scores.dtype.isnative
            and self.n_classes == self.width
        )
        falling = np.repeat(np.array([1, 0], dtype=np.uint8), self.width)
        self.is_before = np.lib.stride_tricks.sliding_window_view(falling, self.width)

    def lay_rows(self, images: Int64Array) -> Scores:
        """Copy the scores of some images, ascending, into the room."""
        rows = self.rows[: len(images)]
        if self.fits:
            np.take(self.scores, images, axis=0, out=rows, mode="clip")
        else:
            rows[:, : self.n_classes] = self.scores[images]
        return rows

    def rank_rows(self, rows: Scores, classes: Int64Array) -> Int64Array:
        """Rank of one class in each row."""
        n = len(rows)
        own, marks = self.own[:n], self.marks[:n]
        np.copyto(own, rows[np.arange(n), classes][:, None])
        np.greater(rows, own, out=marks)
        ranks = _count_marks(marks)
        np.equal(rows, own, out=marks)
        if np.count_nonzero(marks) > n:
            marks &= self.is_before[self.width - classes].view(np.bool_)
            ranks += _count_marks(marks)
        return ranks


def _count_marks(marks: npt.NDArray[np.bool_]) -> Int64Array:
    """Count the marks of each row, eight columns at a time: a word holds eight tallies."""
    words = marks.view(np.uint64)
    counts = np.zeros(len(marks), dtype=np.int64)
    for first in range(0, words.shape[1], LARGEST_TALLY):
        tallies = words[:, first : first + LARGEST_TALLY].sum(axis=1).view(np.uint8)
        counts += tallies.reshape(-1, LANES).sum(axis=1, dtype=np.int64)
    return counts


def _require_fit(scores: npt.NDArray[Any], labels: LabelSets) -> None:
    if scores.dtype.name not in TYPES:
        raise ValidationError(
            f"Scores are {scores.dtype}; they must be {', '.join(TYPES[:-1])} or {TYPES[-1]}. "
            "Convert them and write the file again."
        )
    expected = (len(labels), labels.n_classes)
    if scores.shape != expected:
        found = " by ".join(map(str, scores.shape))
        raise ValidationError(
            f"Scores have the shape {found}; the labels are of {expected[0]} images and "
            f"{expected[1]} classes. Give one row per image and one column per class."
        )


def _refuse_nan(rows: Scores, images: Int64Array, labels: LabelSets) -> None:
    row, column = np.argwhere(np.isnan(rows))[0].tolist()
    raise ValidationError(
        f"The score of class {column} is NaN for {name_image(labels.images, int(images[row]))}. "
        "NaN has no place in an order: correct the scores and write the file again."
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
    >>> from capmap.multilabel.outcomes import arrange_labels
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
