"""Compose a PatchML dataset: images of several objects on black, with all of their labels."""

import logging
from functools import partial

from capmap.artifacts import read_table, render_csv, write_text
from capmap.images.composition import plan_images, tabulate_labels, write_images
from capmap.images.layout import choose_pairs
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def compose_patches(
    *,
    archive: str,
    crops: str,
    images: str,
    labels: str,
    manifest: str,
    label_counts: str,
    dataset: str,
    counts: list[int],
    sizes: list[int],
    side: int,
    seed: int,
) -> None:
    """Write the images of one dataset, their labels, their manifest and how many have how many.

    Parameters
    ----------
    archive, crops : str
        The crops and their table, as `crop_objects` writes them.
    images : str
        Folder for the images; an earlier one is replaced.
    labels : str
        Where to write the labels of each image, JSON.
    manifest : str
        Where to write the manifest, a row per patch, CSV.
    label_counts : str
        Where to write how many images have how many labels, CSV.
    dataset : str
        What the dataset is called in that table.
    counts, sizes : list of int
        Patches per image, and sides of the square in pixels that each is resized to fit. All pairs
        that fit the canvas are made, each from the whole pool of crops.
    side : int
        Side of the canvas in pixels.
    seed : int
        The dataset's seed. Its random streams have no other name, so two studies with the same
        crops and settings compose the same images.
    """
    pool = read_table(crops, names=("source", "label"))
    plans = plan_images(
        pool,
        pairs=choose_pairs(counts=counts, sizes=sizes, side=side),
        side=side,
        make_rng=partial(make_stream, seed, "patchml"),
    )
    tally = write_images(
        plans,
        pool,
        archive=archive,
        folder=images,
        labels=labels,
        manifest=manifest,
        side=side,
    )
    write_text(label_counts, render_csv(tabulate_labels({dataset: tally}, counts=counts)))
    logger.info("%d images from %d objects", sum(tally.values()), len(pool))


if __name__ == "__main__":
    from job import run_job

    run_job(compose_patches, snakemake)  # type: ignore[name-defined]
