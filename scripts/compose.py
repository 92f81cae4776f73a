"""Compose a PatchML dataset: images of several objects on black, with all of their labels."""

import logging
from functools import partial

from capmap.artifacts import read_table, render_csv, write_text
from capmap.multilabel.patchml import choose_pairs, plan_images, tabulate_pairs, write_images
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def compose(
    *,
    archive: str,
    crops: str,
    images: str,
    labels: str,
    manifest: str,
    composed: str,
    counts: list[int],
    sizes: dict[str, int],
    side: int,
    seed: str,
) -> None:
    """Write the images of one dataset, their labels, their manifest and how many there are."""
    pool = read_table(crops, names=("source", "label"))
    pairs = choose_pairs(counts=counts, sizes=sizes, side=side)
    make_rng = partial(make_stream, int(seed), "patchml")
    tally = write_images(
        list(plan_images(pool, pairs=pairs, side=side, make_rng=make_rng)),
        pool,
        archive=archive,
        folder=images,
        labels=labels,
        manifest=manifest,
        side=side,
    )
    table = tabulate_pairs(tally, dataset=f"PatchML{seed}", objects=len(pool), pairs=pairs)
    write_text(composed, render_csv(table))
    logger.info("%d images from %d objects", sum(tally.values()), len(pool))


if __name__ == "__main__":
    from job import run_job

    run_job(compose, snakemake)  # type: ignore[name-defined]
