"""Cut annotated objects from their images."""

import logging

from capmap.artifacts import render_csv, write_text
from capmap.exports.label_files import read_classes
from capmap.multilabel.patchml import ImageFolder, read_annotations, write_crops

logger = logging.getLogger(__name__)


def crop(
    *,
    images: list[str],
    annotations: list[str],
    classes: list[str],
    archive: str,
    crops: str,
    skipped: str,
) -> None:
    """Write the crops of all annotated objects, and what could not be cut."""
    known = [name for path in classes for name in read_classes(path)]
    found = read_annotations(*annotations)
    table, faults = write_crops(found, ImageFolder(*images), archive, classes=known)
    write_text(crops, render_csv(table))
    write_text(skipped, render_csv(faults))
    if len(faults):
        logger.warning("%d faults of annotations or images, listed in %s", len(faults), skipped)
    logger.info("%d objects cut", len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(crop, snakemake)  # type: ignore[name-defined]
