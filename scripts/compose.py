"""Compose a PatchML dataset: images of several objects on black, with all of their labels."""

import logging
from functools import partial
from typing import Any

from capmap.artifacts import read_table
from capmap.multilabel.patchml import choose_pairs, plan_images, write_images
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def compose(
    *,
    archive: str,
    crops: str,
    images: str,
    labels: str,
    manifest: str,
    seed: str,
    **settings: Any,
) -> None:
    """Write the images of one dataset, their labels and their manifest."""
    pool = read_table(crops, names=("source", "label"))
    pairs, side = choose_pairs(**settings), settings["side"]
    make_rng = partial(make_stream, int(seed), "patchml")
    plans = list(plan_images(pool, pairs=pairs, side=side, make_rng=make_rng))
    write_images(
        plans,
        pool,
        archive=archive,
        folder=images,
        labels=labels,
        manifest=manifest,
        side=side,
    )
    logger.info("%d images from %d objects", len(plans), len(pool))


if __name__ == "__main__":
    from job import run_job

    run_job(compose, snakemake)  # type: ignore[name-defined]
