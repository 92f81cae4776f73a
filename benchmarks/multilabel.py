"""How fast the multi-label metrics are: against one pass over the scores, and against partitioning.

Run by ``make bench``. All times are of one process with one thread, taken in turns; ratios are
medians over the rounds and carry over to other machines, times do not. The pass is
``scores.max(axis=1)`` over the same array. The label counts are those of ImageNetV1.

Partitioning is told in two ways: ``numpy.argpartition`` of all images once per subgroup, and of
the images of each subgroup only. A memory-mapped file of 4 GiB is ranked in a process of its own,
and the peak of its anonymous memory is sampled. Results are kept in
``benchmarks/results/multilabel.csv`` and ``.md``.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import pandas as pd
from bootstrap import RESULTS, Row, divide, measure, tell

from capmap.multilabel.comparisons import compare_model_pair
from capmap.multilabel.labels import LabelSets, arrange_labels
from capmap.multilabel.metrics import estimate_metrics, list_samples
from capmap.multilabel.outcomes import ImageValues, evaluate_images, score_images
from capmap.multilabel.ranks import Scores, rank_labels
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table

# Images of ImageNetV1 by number of labels; more than five are taken as six.
LABEL_COUNTS = {0: 3163, 1: 39394, 2: 5408, 3: 1319, 4: 411, 5: 161, 6: 144}
SUBGROUPS = [1, 2, 3, 4, 5]
SHAPES = [
    (50_000, 1000, "float64"),
    (50_000, 1000, "float16"),
    (500_000, 10, "float32"),
    (50_000, 1001, "float32"),
    (2500, 20_000, "float32"),
]
REPEATS = 7
N_RESAMPLES = 1000
MAPPED_BYTES = 1 << 32
BLOCK_ROWS = 1 << 14


def draw_labels(images: int, classes: int) -> LabelSets:
    """Draw label sets with the label counts of ImageNetV1; the single label is one of them."""
    rng = make_stream(0, "benchmarks", "multilabel", "labels")
    shares = np.array(list(LABEL_COUNTS.values())) / sum(LABEL_COUNTS.values())
    sizes = rng.choice(list(LABEL_COUNTS), p=shares, size=images).tolist()
    first = rng.integers(classes, size=images)
    other = (first[:, None] + np.arange(1, 6)) % classes
    sets = [
        [one, *more[: size - 1]] if size else []
        for one, more, size in zip(first.tolist(), other.tolist(), sizes, strict=True)
    ]
    return arrange_labels(sets, n_classes=classes, single=first)


def draw_scores(labels: LabelSets, purpose: str, *, dtype: str = "float32") -> Scores:
    """Draw logits of a model that is right on most images."""
    rng = make_stream(0, "benchmarks", "multilabel", purpose)
    scores = rng.standard_normal((len(labels), labels.n_classes), dtype=np.float32)
    scores[np.arange(len(labels)), labels.single] += 3
    scores[labels.owners, labels.classes] += 2
    return scores.astype(dtype, copy=False)


def compute_metrics(scores: Scores, labels: LabelSets) -> list[float]:
    """All metrics without intervals, from scores and labels."""
    fresh = LabelSets(
        labels.images, labels.offsets, labels.classes, labels.single, labels.n_classes
    )
    images = evaluate_images(score_images(fresh, rank_labels(scores, fresh)))
    return [sample.estimate() for _, sample in list_samples(images, SUBGROUPS)]


def partition_subgroups(scores: Scores, labels: LabelSets) -> list[npt.NDArray[np.intp]]:
    """The highest classes of the images of each subgroup."""
    found = []
    for size in SUBGROUPS:
        own = scores[labels.counts == size]
        found.append(np.argpartition(own, -size, axis=1)[:, -size:])
    return found


def partition_all(scores: Scores) -> list[npt.NDArray[np.intp]]:
    """The highest classes of all images, once per subgroup."""
    return [np.argpartition(scores, -size, axis=1)[:, -size:] for size in SUBGROUPS]


def compare_times() -> list[Row]:
    """Time of all metrics at 50 000 images and 1000 classes against the pass and partitioning."""
    labels = draw_labels(50_000, 1000)
    scores = draw_scores(labels, "first")
    tied = np.round(scores * 4) / 4
    floor, ours, ties, ranks, subgroups, everything = measure(
        partial(scores.max, axis=1),
        partial(compute_metrics, scores, labels),
        partial(compute_metrics, tied, labels),
        partial(rank_labels, scores, labels),
        partial(partition_subgroups, scores, labels),
        partial(partition_all, scores),
        repeats=REPEATS,
    )
    return [
        tell("one pass, 50 000 images x 1000 classes", 1000 * median(floor), "ms"),
        tell("all metrics / one pass", divide(ours, floor), "ratio"),
        tell("all metrics / one pass, many ties", divide(ties, floor), "ratio"),
        tell("ranks alone / one pass", divide(ranks, floor), "ratio"),
        tell(
            "argpartition of all images per subgroup / all metrics",
            divide(everything, ours),
            "ratio",
        ),
        tell(
            "argpartition of each subgroup's images / all metrics", divide(subgroups, ours), "ratio"
        ),
    ]


def compare_shapes() -> list[Row]:
    """Time of all metrics against the pass for other shapes and types."""
    rows: list[Row] = []
    for images, classes, dtype in SHAPES:
        labels = draw_labels(images, classes)
        scores = draw_scores(labels, "shapes", dtype=dtype)
        floor, ours = measure(
            partial(scores.max, axis=1), partial(compute_metrics, scores, labels), repeats=3
        )
        figure = f"all metrics / one pass, {images} images x {classes} classes, {dtype}"
        rows.append(tell(figure, divide(ours, floor), "ratio"))
    return rows


def time_intervals() -> list[Row]:
    """Time of intervals for one model, and of the differences of two, on 50 000 images."""
    labels = draw_labels(50_000, 1000)
    first, second = (
        evaluate_images(score_images(labels, rank_labels(draw_scores(labels, name), labels)))
        for name in ("first", "second")
    )
    one, two = measure(partial(_estimate, first), partial(_compare, first, second), repeats=3)
    return [
        tell(f"all metrics with intervals, {N_RESAMPLES} resamples", median(one), "s"),
        tell(f"all differences of two models, {N_RESAMPLES} resamples", median(two), "s"),
    ]


def _estimate(images: ImageValues) -> pd.DataFrame:
    return estimate_metrics(
        images,
        subgroups=SUBGROUPS,
        n_resamples=N_RESAMPLES,
        confidence_level=0.95,
        make_rng=partial(make_stream, 0, "benchmarks"),
    )


def _compare(first: ImageValues, second: ImageValues) -> pd.DataFrame:
    return compare_model_pair(
        first,
        second,
        subgroups=SUBGROUPS,
        n_resamples=N_RESAMPLES,
        confidence_level=0.95,
        make_rng=partial(make_stream, 0, "benchmarks"),
    )


def measure_mapped() -> list[Row]:
    """Peak anonymous memory and time of all metrics from a memory-mapped file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.npy"
        write_scores(path)
        command = [sys.executable, __file__, "--mapped", str(path)]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        peak, seconds = map(float, found.stdout.split())
        size = path.stat().st_size / 2**30
    return [
        tell(f"peak anonymous memory, memory-mapped file of {size:.1f} GiB", peak, "MiB"),
        tell(f"all metrics, memory-mapped file of {size:.1f} GiB", seconds, "s"),
    ]


def write_scores(path: Path) -> None:
    """Write scores of 1000 classes, a block of rows over and over."""
    rng = make_stream(0, "benchmarks", "multilabel", "mapped")
    block = rng.standard_normal((BLOCK_ROWS, 1000), dtype=np.float32)
    rows = MAPPED_BYTES // block[0].nbytes
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, 1000))
    for first in range(0, rows, BLOCK_ROWS):
        mapped[first : first + BLOCK_ROWS] = block[: rows - first]
    mapped.flush()


def rank_mapped(path: str) -> None:
    """Compute all metrics of a file, and print peak anonymous memory (MiB) and seconds."""
    scores = np.load(path, mmap_mode="r")
    labels = draw_labels(*scores.shape)
    peak, is_done = [read_anonymous()], threading.Event()

    def watch() -> None:
        while not is_done.wait(0.002):
            peak[0] = max(peak[0], read_anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    compute_metrics(scores, labels)
    seconds = time.perf_counter() - start
    is_done.set()
    watcher.join()
    print(peak[0], seconds)


def read_anonymous() -> float:
    """Anonymous resident memory of this process now, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [line] = [line for line in lines if line.startswith("RssAnon:")]
    return int(line.split()[1]) / 1024


def main() -> None:
    """Measure and write the results, or do the part of a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mapped", help="only rank this file")
    arguments = parser.parse_args()
    if arguments.mapped:
        rank_mapped(arguments.mapped)
        return
    rows = [*compare_times(), *compare_shapes(), *time_intervals(), *measure_mapped()]
    table = pd.DataFrame(rows)
    write_table(table, [RESULTS / "multilabel.csv", RESULTS / "multilabel.md"])
    print(render_markdown(table))


if __name__ == "__main__":
    main()
