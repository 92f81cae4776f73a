"""The valid labels of each image, and its single label."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.wording import count_things, quote_name

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

UNKNOWN = -1


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
