"""Evaluate dumps of predictions against label files: outcomes of images, and metrics of models.

Metrics have intervals over images, which are resampled by their values: how often each of the
distinct values is drawn is multinomial, so a resample of 50 000 images costs as much as there are
distinct values.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.artifacts import digest_file, read_parquet
from capmap.errors import CapmapError, ValidationError
from capmap.exports.label_files import (
    LabelFile,
    join_labels,
    open_scores,
    read_classes,
    read_images,
    read_labels,
)
from capmap.patterns import Cell, fill_pattern
from capmap.problems import Problem, UnreadableExportError
from capmap.ranking.aggregation import FloatArray
from capmap.ranking.standard_errors import Interval, percentile_interval
from capmap.wording import count_things, quote_name

Int64Array = npt.NDArray[np.int64]
Scores = npt.NDArray[np.floating[Any]]

# A metric, and the number of labels that it is confined to, if it is.
Target = tuple[str, int | None]
MakeRng = Callable[..., np.random.Generator]

RESAMPLED_CELLS = 1 << 20
DRAWS_PER_COUNT = 20
# With fewer in a stratum, percentile intervals hold the true value too seldom.
LEAST_IMAGES = 20
# So they do where fewer have another value than most: fewer than 5 wrong images, or 5 right ones.
LEAST_OTHERS = 5

MEANS = ("top1", "real", "labelwise")
BY_SUBGROUP = {"subgroup": "labelwise", "real_subgroup": "real"}
ORDER = ("top1", "real", "asma", "labelwise", "subgroup", "real_subgroup")
METRICS = {
    "metric": "str",
    "subgroup": "Int64",
    **dict.fromkeys(("value", "ci_low", "ci_high"), "float64"),
    "images": "int64",
}
BLOCK_CELLS = 1 << 18
SCHEMA = pa.schema(
    [(name, pa.string()) for name in (*Cell._fields, "id")]
    + [("labels", pa.int64()), *((metric, pa.float64()) for metric in MEANS)]
)
SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm"})


class Ranks(NamedTuple):
    """What the scores of a model say of the images.

    Parameters
    ----------
    best : numpy.ndarray of int64, shape (images,)
        The class with the highest score of each image.
    labels : numpy.ndarray of int64, shape (labels,)
        Rank of each label among all classes, image after image; 0 is the highest score.
    """

    best: Int64Array
    labels: Int64Array


def rank_labels(scores: Scores, sets: Sequence[Sequence[int]], names: Sequence[str] = ()) -> Ranks:
    """Rank the labels of each image among all classes by score, of any scale; 0 is the highest.

    The rank of class l is the number of classes with a higher score, and of classes before l with
    the same score: in a tie the lowest class index wins. Scores are compared as they are stored;
    float16 is widened to float32, which changes no order. NaN is refused with its image and class.

    Examples
    --------
    >>> rank_labels(np.array([[0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]), [[1, 2], []]).labels.tolist()
    [2, 0]
    """
    n, n_classes = scores.shape
    counts = [len(labels) for labels in sets]
    owners = np.repeat(np.arange(n), counts)
    classes = np.fromiter(chain.from_iterable(sets), dtype=np.int64)
    best, ranks = np.empty(n, dtype=np.int64), np.empty(len(classes), dtype=np.int64)
    step, places = max(BLOCK_CELLS // n_classes, 1), np.arange(n_classes)
    kind = np.promote_types(scores.dtype, np.float32).newbyteorder("=")
    for first in range(0, n, step):
        rows = np.ascontiguousarray(scores[first : first + step], dtype=kind)
        if np.isnan(rows.min()):
            _refuse_nan(rows, first, names)
        best[first : first + step] = rows.argmax(axis=1)
        block = slice(*np.searchsorted(owners, [first, first + step]))
        own, wanted = rows[owners[block] - first], classes[block, None]
        level = np.take_along_axis(own, wanted, axis=1)
        is_ahead = (own > level) | ((own == level) & (places < wanted))
        ranks[block] = np.count_nonzero(is_ahead, axis=1)
    return Ranks(best, ranks)


def _refuse_nan(rows: Scores, first: int, names: Sequence[str]) -> None:
    row, column = np.argwhere(np.isnan(rows))[0].tolist()
    raise ValidationError(
        f"The score of class {column} is NaN for {name_image(names, first + row)}. "
        "NaN has no place in an order: correct the scores and write the file again."
    )


def name_image(names: Sequence[str], place: int) -> str:
    """Name an image by its number in the order of the scores, and by its id where it has one."""
    return f"image {place + 1}" + (f" ({quote_name(names[place])})" if names else "")


def score_images(
    ranks: Ranks,
    sets: Sequence[Sequence[int]],
    *,
    single: Sequence[int] | None = None,
    names: Sequence[str] = (),
) -> pd.DataFrame:
    """Score each image by the ranks of its labels, by id where there are ids.

    ``labels`` is their number k, ``top1`` whether the single label has the highest score, ``real``
    whether a label has it, and ``labelwise`` the share of the labels among the k highest scores.
    With these as the prediction that is the image's precision, recall and F1 too, since as many
    classes are predicted as are true. Images without labels have no ``real`` and no ``labelwise``.

    Examples
    --------
    >>> sets = [[0, 2]]
    >>> found = score_images(rank_labels(np.array([[0.9, 0.8, 0.1]]), sets), sets, single=[0])
    >>> found[["labels", "top1", "real", "labelwise"]]
       labels  top1  real  labelwise
    0       2   1.0   1.0        0.5
    """
    counts = np.array([len(labels) for labels in sets], dtype=np.int64)
    owners = np.repeat(np.arange(len(sets)), counts)
    is_labeled = counts > 0
    hits = np.bincount(owners[ranks.labels < counts[owners]], minlength=len(sets))
    is_best = np.bincount(owners[ranks.labels == 0], minlength=len(sets))
    table = pd.DataFrame(
        {
            "id": np.array(names or [""] * len(sets), dtype=object),
            "labels": counts,
            "top1": np.nan if single is None else np.equal(ranks.best, single).astype(float),
            "real": np.where(is_labeled, is_best, np.nan),
            "labelwise": np.where(is_labeled, hits / np.maximum(counts, 1), np.nan),
        }
    )
    return table.sort_values("id", kind="stable", ignore_index=True)


def open_outcomes(stream: IO[bytes]) -> pq.ParquetWriter:
    """Open a Parquet file for the outcomes of one dump after the other, a row group each."""
    return pq.ParquetWriter(stream, SCHEMA, compression="zstd", write_page_checksum=True)


def write_outcomes(writer: pq.ParquetWriter, cell: Cell, outcomes: pd.DataFrame) -> None:
    """Write the outcomes of a dump, from `score_images`."""
    table = pa.Table.from_pandas(outcomes.assign(**cell._asdict()), SCHEMA)
    writer.write_table(table, row_group_size=len(outcomes))


def read_outcomes(
    paths: Sequence[str], model: str, dataset: str, seeds: Sequence[str]
) -> pd.DataFrame:
    """Read a model's outcomes on the images of a dataset from all files, seed after seed."""
    cells = [Cell(model, dataset, seed)._asdict() for seed in seeds]
    tables = [read_parquet(path, where=cell) for cell in cells for path in paths]
    return pd.concat(tables, ignore_index=True)


# Files of labels are read once for all dumps.
read_classes_once = cache(read_classes)
read_labels_once = cache(read_labels)


def evaluate_dump(
    path: str, cell: Cell, sources: Mapping[str, str], *, classes: str = ""
) -> tuple[pd.DataFrame, list[Problem]]:
    """Evaluate a dump: outcomes of images, and warnings about the labels.

    `sources` are the files of its dataset: ``labels`` (sets), ``single`` (labels) and ``images``
    (ids in the order of the scores), empty where there is none. Ids are compared as they stand and,
    where that leaves images without labels, without the suffixes of image files, as Kaggle's tables
    have them. What is wrong with the first file that has a fault is raised.
    """
    files = {name: fill_pattern(source, cell) for name, source in sources.items()}
    known = tuple(read_classes_once(classes)) if classes else ()
    dump = open_scores(path, n_classes=len(known) or None)
    n, n_classes = dump.scores.shape
    names = dump.images
    if names is None and files["images"]:
        names = read_images(files["images"])
    single, code = None, "unmatched_labels"
    try:
        given, extra = _join(files["labels"], known, n, names)
        _require_classes(given, n_classes, files["labels"], names)
        if files["single"]:
            ones, _ = _join(files["single"], known, n, names, is_single=True)
            _require_classes(ones, n_classes, files["single"], names)
            single = [labels[0] for labels in ones]
        sets = [sorted(set(labels)) for labels in given]
        code = "unusable_dump"
        ranks = rank_labels(dump.scores, sets, names or ())
    except ValidationError as error:
        raise UnreadableExportError(_describe_error(error, path, code)) from error
    notes = [*_list_notes(files["labels"], sets, extra=extra)]
    return score_images(ranks, sets, single=single, names=names or ()), notes


def _join(
    source: str,
    classes: tuple[str, ...],
    n_images: int,
    names: list[str] | None,
    *,
    is_single: bool = False,
) -> tuple[list[list[int]], int]:
    """The labels in the order of the scores, and how many images have no scores."""
    file, ids = _align_ids(read_labels_once(source, classes=classes, is_single=is_single), names)
    return join_labels(file, n_images=n_images, images=ids)


def _align_ids(file: LabelFile, images: list[str] | None) -> tuple[LabelFile, list[str] | None]:
    """Leave out the suffixes of image files on both sides, where only that finds all labels."""
    if file.images is None or images is None or set(images) <= set(file.images):
        return file, images
    of_labels, of_scores = _strip_suffixes(file.images), _strip_suffixes(images)
    is_unique = len(set(of_labels)) == len(of_labels) and len(set(of_scores)) == len(of_scores)
    if not is_unique or not set(of_scores) <= set(of_labels):
        return file, images
    return LabelFile(file.source, file.sets, of_labels), of_scores


def _strip_suffixes(images: Sequence[str]) -> list[str]:
    suffixes = [PurePosixPath(image).suffix for image in images]
    return [
        image.removesuffix(suffix) if suffix.lower() in SUFFIXES else image
        for image, suffix in zip(images, suffixes, strict=True)
    ]


def _require_classes(
    sets: Sequence[Sequence[int]], n_classes: int, source: str, names: Sequence[str] | None
) -> None:
    """Refuse labels that are no class of the scores."""
    for place, labels in enumerate(sets):
        if max(labels, default=0) >= n_classes:
            raise ValidationError(
                f"{source}: label {max(labels)} of {name_image(names or (), place)} is no class "
                f"from 0 to {n_classes - 1}. Write labels as places in the class list, from 0, and "
                "check that labels and scores have the same classes."
            )


def _list_notes(source: str, sets: Sequence[Sequence[int]], *, extra: int) -> Iterator[Problem]:
    empty = sum(not labels for labels in sets)
    if empty:
        reason = f"There is no valid label for {empty} of {count_things(len(sets), 'image')}."
        yield _warn("unlabeled_images", source, reason, "They count for top-1 accuracy only.")
    if extra:
        reason = f"The labels are also of {count_things(extra, 'image')} without scores."
        remedy = "They are left out; check that the score dumps are of the whole dataset."
        yield _warn("unscored_images", source, reason, remedy)


def _warn(code: str, source: str, reason: str, remedy: str) -> Problem:
    return Problem(severity="warning", code=code, source=source, reason=reason, remedy=remedy)


def _describe_error(error: CapmapError, path: str, code: str) -> Problem:
    """Make a problem of a message, whose last sentence is the remedy."""
    reason, _, remedy = str(error).rpartition(". ")
    return Problem(code=code, source=path, reason=f"{reason}.", remedy=remedy)


def describe_dump(path: str, cell: Cell, outcomes: pd.DataFrame) -> dict[str, Any]:
    """What is known of a dump, its images and its labels."""
    counts = outcomes["labels"].value_counts().sort_index()
    digest = sha256("\n".join(outcomes["id"]).encode())
    digest.update(outcomes["labels"].to_numpy(dtype="<i8").tobytes())
    return {
        **cell._asdict(),
        "path": path,
        "sha256": digest_file(path),
        "bytes": Path(path).stat().st_size,
        "images": len(outcomes),
        "digest": digest.hexdigest(),
        "labels": {str(labels): int(images) for labels, images in counts.items()},
    }


def join_metrics(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Join the metrics of dumps; there may be none."""
    kinds = {**dict.fromkeys(Cell._fields, "str"), **METRICS}
    tables = [pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()}), *tables]
    return pd.concat(tables, ignore_index=True).astype(kinds)


@dataclass(frozen=True)
class Sample:
    """The values of the images that a metric rests on: the mean of the means of its strata.

    Parameters
    ----------
    strata : sequence of numpy.ndarray
        The ascending values of the images of each stratum, at least one.
    """

    strata: Sequence[FloatArray]

    @property
    def images(self) -> int:
        """How many images there are."""
        return sum(map(len, self.strata))

    def has_enough(self, seeds: int) -> bool:
        """Whether each stratum has images, and values other than the usual one, for an interval."""
        return all(
            len(own) >= LEAST_IMAGES * seeds
            and len(own) - np.unique(own, return_counts=True)[1].max() >= LEAST_OTHERS * seeds
            for own in self.strata
        )

    def estimate(self) -> float:
        """The metric itself."""
        return float(np.mean([own[0] + (own - own[0]).mean() for own in self.strata]))


def resample_strata(
    strata: Sequence[FloatArray], n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw as many values as there are from each stratum, with replacement, and average them.

    Where most values are different they are drawn one by one; both ways are exact.
    """
    return np.array([_resample_means(own, n_resamples, rng) for own in strata])


def _resample_means(ordered: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    n = len(ordered)
    values, counts = np.unique(ordered, return_counts=True)
    lowest, means = values[0], np.zeros(n_resamples)
    is_counted = len(values) * DRAWS_PER_COUNT <= n
    step = max(RESAMPLED_CELLS // (len(values) if is_counted else n), 1)
    for first in range(0, n_resamples if len(values) > 1 else 0, step):
        block = means[first : first + step]
        if is_counted:
            block[:] = rng.multinomial(n, counts / n, size=len(block)) @ (values - lowest) / n
        else:
            places = rng.integers(n, size=(len(block), n), dtype=np.uint32)
            block[:] = (ordered - lowest)[places].mean(axis=1)
    return np.asarray(lowest + means)


def estimate_metrics(
    images: pd.DataFrame,
    *,
    subgroups: Sequence[int],
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Estimate every metric of a model on a dataset, with bootstrap intervals over images.

    ``top1`` rests on the images with a single label, ``real`` and ``labelwise`` on those with
    labels. ``asma`` is the mean of A_g over the subgroups; empty ones are left out, and images with
    other numbers of labels do not count. A metric without images has no row.

    Precision, recall and F1 are averaged over images, and equal the label-wise accuracy: as many
    classes are predicted as are true.

    Intervals are percentile intervals. Images are drawn with replacement from all that the metric
    rests on; for ``asma`` within each subgroup. There is no interval where these, or those of a
    subgroup, are fewer than 20: of 3 subgroups with 1000 to 20 images and two with 5 and 2, 95%
    intervals of ASMA held the true value in 69% of simulated studies. Nor is there one where fewer
    than 5 of them have another value than most have, as with fewer than 5 wrong images, or 5 right
    ones: the usual rule for the normal approximation of a share. Of a model that is right on 97 or
    98% of images, such intervals over 20, 40 and 100 images held the true value in 45, 71 and 86%.

    Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion.
    Statistical Science 16, 101–133. On the rule of 5.

    Efron, B., & Tibshirani, R. J. (1993). An Introduction to the Bootstrap. Chapman & Hall.
    """
    rows = []
    for target, sample in list_samples(images, subgroups):
        value, ends = sample.estimate(), (np.nan, np.nan)
        if sample.has_enough(seeds=1):
            drawn = resample_strata(sample.strata, n_resamples, make_rng(*name_stream(target)))
            ends = bound_estimate(value, drawn.mean(axis=0), confidence_level=confidence_level)
        rows.append((*target, value, *ends, sample.images))
    return pd.DataFrame(rows, columns=list(METRICS)).astype(METRICS)


def list_samples(images: pd.DataFrame, subgroups: Sequence[int]) -> Iterator[tuple[Target, Sample]]:
    """List the metrics that can be estimated, in the order of `ORDER`, each with its images."""
    labels = images["labels"].to_numpy()
    present = [group for group in sorted(set(subgroups)) if (labels == group).any()]
    groups = {
        (mean, group): np.sort(images[mean].to_numpy()[labels == group])
        for mean in BY_SUBGROUP.values()
        for group in present
    }
    for metric in ("top1", "real", "asma", "labelwise"):
        if metric == "asma":
            strata = [groups["labelwise", group] for group in present]
        else:
            known = images[metric].dropna().to_numpy()
            strata = [np.sort(known)] if len(known) else []
        if strata:
            yield (metric, None), Sample(strata)
    for metric, mean in BY_SUBGROUP.items():
        for group in present:
            yield (metric, group), Sample([groups[mean, group]])


def name_stream(target: Target) -> list[str]:
    """Names of the random stream of a metric."""
    return [str(part) for part in target if part is not None]


def bound_estimate(
    estimate: float, replicates: FloatArray, *, confidence_level: float, seeds: int = 1
) -> Interval:
    """Percentile interval of an estimate over the images of some seeds, as wide as that of one.

    Ends are √seeds times as far from the estimate as the percentiles of `replicates`, which take
    all images as independent. Seeds score the same images, or compose theirs from one pool of
    objects, so that more of them bring no new images: without this 95% intervals over 5 seeds held
    the true value in 41 to 69% of simulated studies.

    Examples
    --------
    >>> bound_estimate(0.5, np.array([0.25, 0.75]), confidence_level=1.0, seeds=4)
    (0.0, 1.0)
    """
    ends = percentile_interval(replicates, confidence_level=confidence_level)
    low, high = (estimate + math.sqrt(seeds) * (end - estimate) for end in ends)
    return low, high
