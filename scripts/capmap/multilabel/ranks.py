"""Ranks of the true labels among the scores of all classes, in one pass over the scores.

Every metric of this room follows from these ranks, so no prediction set is ever built. A block of
rows is compared with the scores of its labels while it is in the processor's cache.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.multilabel.labels import UNKNOWN, Int64Array, LabelSets, name_image

Scores = npt.NDArray[np.floating[Any]]

BLOCK_BYTES = 1 << 21
LANES = 8
LARGEST_TALLY = 255
TYPES = ("float16", "float32", "float64")


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
    >>> from capmap.multilabel.labels import arrange_labels
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
