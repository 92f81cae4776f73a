"""Run a classifier over a folder of images."""

import logging
from collections.abc import Iterable, Iterator

from capmap.artifacts import write_text
from capmap.exports.classes import read_classes
from capmap.images.classification import FloatArray, open_classifier, score_images, write_scores
from capmap.images.pictures import find_images

PROGRESS = 1000

logger = logging.getLogger(__name__)


def classify_images(
    *,
    images: str,
    model: str,
    classes: list[str],
    scores: str,
    ids: str,
    size: int,
    mean: list[float],
    std: list[float],
    batch_size: int,
) -> None:
    """Write a classifier's score of each class for each image, and the images in their order.

    Parameters
    ----------
    images : str
        The folder of images; folders in it are searched too.
    model : str
        The classifier, ONNX.
    classes : list of str
        File of the classes that the classifier knows, or nothing when their number is not checked.
    scores : str
        Where to write the scores, NumPy: a row per image sorted by id, a column per class.
    ids : str
        Where to write the ids of the images, one per line: paths within the folder.
    size : int
        Side in pixels to which images are resized, without a crop.
    mean, std : list of 3 float
        Subtracted from and divided into red, green and blue on a scale from 0 to 1.
    batch_size : int
        How many images to score at once.
    """
    known = [name for path in classes for name in read_classes(path)]
    classifier = open_classifier(model, size=size, batch_size=batch_size, classes=len(known))
    names = find_images(images)
    blocks = score_images(images, names, classifier, mean=mean, std=std)
    count = write_scores(scores, _log_progress(blocks, len(names)), images=len(names))
    write_text(ids, "".join(f"{name}\n" for name in names))
    logger.info("%d images, %d classes", len(names), count)


def _log_progress(blocks: Iterable[FloatArray], images: int) -> Iterator[FloatArray]:
    done = 0
    for block in blocks:
        yield block
        if (done + len(block)) // PROGRESS > done // PROGRESS:
            logger.info("%d of %d images", done + len(block), images)
        done += len(block)


if __name__ == "__main__":
    from job import run_job

    run_job(classify_images, snakemake)  # type: ignore[name-defined]
