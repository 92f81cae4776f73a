"""Labels brought into the order of the scores."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from capmap.errors import ValidationError
from capmap.exports.labels import LabelFile
from capmap.wording import count_things, list_names

DIGITS = re.compile("([0-9]+)")


@dataclass(frozen=True)
class JoinedLabels:
    """Labels in the order of the scores.

    Parameters
    ----------
    sets : list of list of int, shape (images of the scores, labels of the image)
        Ids of classes.
    extra : int
        How many images of the label file have no scores.
    """

    sets: list[list[int]]
    extra: int


def join_labels(
    labels: LabelFile, *, n_images: int, images: Sequence[str] | None = None
) -> JoinedLabels:
    """Bring labels into the order of the scores.

    Parameters
    ----------
    labels : LabelFile
        The labels.
    n_images : int
        Number of images of the scores.
    images : sequence of str, shape (n_images,), optional
        Their ids, each once; without them images are known by their order.

    Returns
    -------
    JoinedLabels

    Raises
    ------
    ValidationError
        When images of the scores are missing from the labels, the numbers of images differ where
        only their order is known, or that order cannot be trusted.

    Notes
    -----
    - Ids on both sides: joined by them, as they stand. An image with scores and no entry is
      refused, as it is more often another spelling of the id than an image without labels; write
      the latter as an empty set. Entries without scores are counted.
    - Ids on neither side: joined by order; the numbers of images must be the same.
    - Ids of the labels only: refused, as the order of the scores is unknown.
    - Ids of the scores only: the labels are in the order of the image files, as the ReaL labels
      are, so the file names of the scores must ascend (as text, or with their digits as numbers).
      Scores in the order of folders of classes are refused.

    Examples
    --------
    >>> labels = LabelFile("labels.json", [[3], [], [1, 2]], ["a", "b", "c"])
    >>> join_labels(labels, n_images=2, images=["c", "a"])
    JoinedLabels(sets=[[1, 2], [3]], extra=1)
    """
    if images is not None and len(images) != n_images:
        raise ValidationError(
            f"There are ids of {count_things(len(images), 'image')} and scores of {n_images}. Give "
            "the ids of the scores, in their order."
        )
    if labels.images is None:
        return _join_by_order(labels, n_images, images)
    if images is None:
        raise ValidationError(
            f"{labels.source}: the labels are told apart by image ids, and the scores have none. "
            "Set `images` to a file of the ids in the order of the scores."
        )
    places = {image: place for place, image in enumerate(labels.images)}
    missing = [image for image in images if image not in places]
    if missing:
        raise ValidationError(_explain_missing(labels, images, missing))
    sets = [labels.sets[places[image]] for image in images]
    return JoinedLabels(sets, len(labels.images) - len(set(images)))


def _join_by_order(labels: LabelFile, n_images: int, images: Sequence[str] | None) -> JoinedLabels:
    if len(labels.sets) != n_images:
        raise ValidationError(
            f"{labels.source}: there are labels of {count_things(len(labels.sets), 'image')} and "
            f"scores of {n_images}, and the labels are known by their order. Give the labels of "
            "the same images, or tell them apart by image ids."
        )
    if images is not None:
        _require_file_order(labels, images)
    return JoinedLabels(labels.sets, 0)


def _require_file_order(labels: LabelFile, images: Sequence[str]) -> None:
    files = [PurePosixPath(image).name for image in images]
    numbers = [_split_digits(name) for name in files]
    if files == sorted(files) or numbers == sorted(numbers):
        return
    place = next(place for place in range(1, len(files)) if numbers[place] < numbers[place - 1])
    pair = list_names([images[place - 1], images[place]])
    raise ValidationError(
        f"{labels.source}: the labels are in the order of the image files, and the images of the "
        f"scores are not: first {pair}. Tell the labels apart by image ids, or sort the scores by "
        "file name."
    )


def _split_digits(name: str) -> list[tuple[int, str]]:
    """Split a name into texts and numbers, so that img2 comes before img10.

    A number is its length and its digits, which compare as numbers do, however long they are.
    """
    parts = DIGITS.split(name)
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if place % 2 else (0, part)
        for place, part in enumerate(parts)
    ]


def _explain_missing(labels: LabelFile, images: Sequence[str], missing: Sequence[str]) -> str:
    known = {PurePosixPath(image).stem for image in labels.images or ()}
    similar = sum(PurePosixPath(image).stem in known for image in missing)
    remedy = "Add them, with an empty set where an image has no label."
    if similar:
        remedy = (
            f"{similar} of them would be found "
            "without folder and suffix: write the ids in the same way on both sides."
        )
    return (
        f"{labels.source}: {count_things(len(missing), 'image')} of {len(images)} with scores "
        f"{'has' if len(missing) == 1 else 'have'} no labels: {list_names(missing)}. {remedy}"
    )
