"""How fast PatchML is made: 10 000 annotated objects of 500 pixels, cut and composed on two cores.

Run by ``make bench``. The images are noise of all wavelengths, whose JPEGs are as large as those of
photographs. The canvas has 500 pixels, too, and each count of patches takes the whole pool. Objects
are cut by one process; the datasets of two seeds are composed by two processes at a time, as the
workflow does. A tenth of the pool tells how memory grows. Four gigabytes of temporary files come
and go. Results are kept in ``benchmarks/results/patchml.csv`` and ``.md``.
"""

import argparse
import multiprocessing
import resource
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from PIL import Image

from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from compose_patches import compose_patches
from crop_objects import crop_objects

RESULTS = Path(__file__).parent / "results"
IMAGE = (500, 375)
DIFFERENT, CLASSES = 20, 1000
SIDE, SIZES, COUNTS = 500, [166], [2, 3, 4, 6, 9]
SEEDS = 2
TARGET = 80


def draw_photo(number: int) -> Image.Image:
    """An image with details of all sizes."""
    rng = make_stream(0, "benchmark", str(number))
    total = 3 * rng.normal(size=(IMAGE[1], IMAGE[0], 3))
    for cells in (4, 16, 64, 256):
        coarse = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        total += np.asarray(coarse.resize(IMAGE, Image.Resampling.BICUBIC)) / cells**0.5
    total -= total.min()
    return Image.fromarray((255 * total / total.max()).astype(np.uint8))


def write_photos(folder: Path, objects: int) -> None:
    """Write images, and a table with one object in each that fills it."""
    (folder / "images").mkdir(parents=True)
    for number in range(DIFFERENT):
        draw_photo(number).save(folder / f"{number}.jpg", quality=92)
    labels = make_stream(0, "benchmark", "labels").integers(CLASSES, size=objects)
    rows = []
    for number, label in enumerate(labels.tolist()):
        (folder / "images" / f"{number:06d}.jpg").hardlink_to(folder / f"{number % DIFFERENT}.jpg")
        rows.append(f"{number:06d},class{label} 0 0 {IMAGE[0]} {IMAGE[1]}\n")
    (folder / "annotations.csv").write_text("ImageId,PredictionString\n" + "".join(rows))


def cut(folder: Path) -> tuple[float, float]:
    """Seconds and mebibytes of cutting all objects."""
    start = perf_counter()
    crop_objects(
        images=str(folder / "images"),
        annotations=str(folder / "annotations.csv"),
        classes=[],
        archive=str(folder / "crops.tar"),
        crops=str(folder / "crops.csv"),
        skipped=str(folder / "skipped.csv"),
    )
    return perf_counter() - start, _measure_memory()


def compose(folder: Path, seed: int) -> tuple[int, float, float]:
    """Images, processor seconds and mebibytes of composing the dataset of one seed."""
    start = process_time()
    out = folder / str(seed)
    compose_patches(
        archive=str(folder / "crops.tar"),
        crops=str(folder / "crops.csv"),
        images=str(out / "images"),
        labels=str(out / "labels.json"),
        manifest=str(out / "manifest.csv"),
        label_counts=str(out / "label_counts.csv"),
        composed=str(out / "composed.csv"),
        dataset=str(seed),
        counts=COUNTS,
        sizes=SIZES,
        side=SIDE,
        cells="index",
        seed=seed,
    )
    used = process_time() - start
    return sum(1 for _ in (out / "images").iterdir()), used, _measure_memory()


def measure(folder: Path, objects: int) -> dict[str, float]:
    """Cut and compose a pool of a size, each process fresh."""
    write_photos(folder, objects)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        seconds, memory = executor.submit(cut, folder).result()
    with ProcessPoolExecutor(SEEDS, mp_context=context) as executor:
        start = perf_counter()
        found = list(executor.map(compose, [folder] * SEEDS, range(SEEDS)))
        elapsed = perf_counter() - start
    images = sum(count for count, _, _ in found)
    processor = sum(used for _, used, _ in found)
    return {
        "objects": objects,
        "cut per second, one core": round(objects / seconds),
        "composed images": images,
        "composed per second, two cores": round(images / elapsed, 1),
        "composed per processor second": round(images / processor, 1),
        "cut and composed per second": round(images / (seconds + elapsed), 1),
        "target": TARGET,
        "memory of cutting, MiB": round(memory),
        "memory of composing, MiB": round(max(most for _, _, most in found)),
    }


def _measure_memory() -> float:
    """Largest resident memory of this process so far, in mebibytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure and write benchmarks/results/patchml.csv and .md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=10_000)
    objects = parser.parse_args().objects
    rows = []
    for pool in (objects // 10, objects):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(Path(folder) / "pool", pool))
    table = pd.DataFrame(rows)
    write_table(table, [RESULTS / "patchml.csv", RESULTS / "patchml.md"])
    sys.stdout.write(render_markdown(table) + "\n")


if __name__ == "__main__":
    main()
