"""Scores of all images of a folder, batch by batch, into one file."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from capmap.artifacts import replace_file
from capmap.classification.classifiers import CHANNELS, Classifier, FloatArray
from capmap.classification.images import Pixels, load_pixels
from capmap.errors import ValidationError
from capmap.pictures import UnusableImageError
from capmap.wording import count_things, quote_name

LEVELS = 256


def make_levels(*, mean: Sequence[float], std: Sequence[float]) -> FloatArray:
    """Normalize every level of brightness.

    Parameters
    ----------
    mean, std : sequence of 3 float
        Subtracted from and divided into red, green and blue on a scale from 0 to 1.

    Returns
    -------
    numpy.ndarray of float32, shape (3, 256)
        (level / 255 − mean) / std, rounded to float32 after each step as by torchvision.

    Raises
    ------
    ValidationError
        If there are not three finite numbers each, or a standard deviation is not positive.

    Examples
    --------
    >>> make_levels(mean=[0.5, 0.5, 0.5], std=[0.5, 0.5, 0.25])[:, [0, 255]].tolist()
    [[-1.0, 1.0], [-1.0, 1.0], [-2.0, 2.0]]
    """
    for name, numbers in (("mean", mean), ("std", std)):
        is_sound = len(numbers) == CHANNELS and np.isfinite(numbers).all()
        if not is_sound or (name == "std" and min(numbers) <= 0):
            kind = "positive numbers" if name == "std" else "numbers"
            raise ValidationError(
                f"classify: {name} is {list(numbers)}. Give three {kind}, for red, green and blue "
                "on a scale from 0 to 1."
            )
    levels = np.arange(LEVELS, dtype=np.float32) / np.float32(LEVELS - 1)
    centered = levels - np.array(mean, dtype=np.float32)[:, None]
    return np.asarray(centered / np.array(std, dtype=np.float32)[:, None])


def score_images(
    folder: str | Path,
    ids: Sequence[str],
    classifier: Classifier,
    *,
    mean: Sequence[float],
    std: Sequence[float],
) -> Iterator[FloatArray]:
    """Score images batch by batch.

    Parameters
    ----------
    folder : path-like
        Where the images are.
    ids : sequence of str
        The images, from `capmap.classification.images.find_images`.
    classifier : Classifier
        From `capmap.classification.classifiers.open_classifier`.
    mean, std : sequence of 3 float
        As in `make_levels`.

    Yields
    ------
    numpy.ndarray of float32, shape (images of the batch, classes)
        Scores in the order of `ids`; only one batch is in memory.

    Raises
    ------
    ValidationError
        If images cannot be used. All of them are named: after the first, the others are only read.
        Also if a score is NaN, or what `Classifier.score` raises.

    Notes
    -----
    The last batch is filled up with zeros, so the scores of an image do not depend on how many
    images there are.
    """
    levels = make_levels(mean=mean, std=std)
    faults: list[str] = []
    batch = np.zeros((classifier.batch, CHANNELS, classifier.size, classifier.size), np.float32)
    for start in range(0, len(ids), classifier.batch):
        names = ids[start : start + classifier.batch]
        batch[len(names) :] = 0
        for place, name in enumerate(names):
            try:
                pixels = load_pixels(Path(folder, name), size=classifier.size)
            except UnusableImageError as error:
                faults.append(f"{quote_name(name)}: {error}.")
            else:
                batch[place] = _normalize(pixels, levels)
        if not faults:
            yield _check_scores(classifier.score(batch)[: len(names)], names, classifier.path)
    if faults:
        raise ValidationError(
            f"{folder}: {count_things(len(faults), 'image')} cannot be used. Mend these files, or "
            + "\n".join(["remove them here and from the labels:", *faults])
        )


def write_scores(path: str | Path, blocks: Iterable[FloatArray], *, images: int) -> int:
    """Write scores as they come, and put the file in place once it is whole.

    Parameters
    ----------
    path : path-like
        Where to write a .npy file of shape (images, classes), float32.
    blocks : iterable of numpy.ndarray of float32, shape (any, classes)
        From `score_images`, at least one.
    images : int
        How many rows there will be.

    Returns
    -------
    int
        How many classes there are.

    Raises
    ------
    ValidationError
        What `score_images` raises; nothing is written then.

    Notes
    -----
    Rows are appended to an ordinary file, so memory does not grow, and a full disk is an error.
    """
    shape: tuple[int, ...] = ()
    with replace_file(path) as stream:
        for block in blocks:
            if not shape:
                shape = (images, block.shape[1])
                header = {"descr": "<f4", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
            stream.write(block.astype("<f4", order="C").tobytes())
    return shape[1]


def _normalize(pixels: Pixels, levels: FloatArray) -> FloatArray:
    channels = [levels[channel][pixels[:, :, channel]] for channel in range(CHANNELS)]
    return np.stack(channels)


def _check_scores(scores: FloatArray, names: Sequence[str], path: str) -> FloatArray:
    rows = np.flatnonzero(np.isnan(scores).any(axis=1))
    if len(rows):
        name = quote_name(names[rows[0]])
        raise ValidationError(
            f"{path}: a score of the image {name} is NaN. Check mean and std, or export the model "
            "again."
        )
    return scores
