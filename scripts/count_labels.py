"""Count the labels of images of datasets whose metrics were published."""

import logging
from collections import Counter

from capmap.artifacts import digest_file, write_json
from capmap.exports.labels import read_label_sets

logger = logging.getLogger(__name__)


def count_labels(*, labels: list[str], datasets: list[str], facts: str) -> None:
    """Write how many images have how many valid labels."""
    known = []
    for path, dataset in zip(labels, datasets, strict=True):
        counts = Counter(len({*image}) for image in read_label_sets(path).sets)
        images = {str(count): counts[count] for count in sorted(counts)}
        known.append(
            {"dataset": dataset, "seed": "", "sha256": digest_file(path), "labels": images}
        )
        logger.info("%s: %d images", path, sum(counts.values()))
    write_json(facts, {"dumps": known})


if __name__ == "__main__":
    from job import run_job

    run_job(count_labels, snakemake)  # type: ignore[name-defined]
