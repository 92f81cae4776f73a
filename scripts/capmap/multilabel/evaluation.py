"""Evaluate a dump of predictions against the label files of its dataset."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from capmap.artifacts import digest_file
from capmap.errors import CapmapError, ValidationError
from capmap.exports.label_files import (
    LabelFile,
    join_labels,
    open_scores,
    read_classes,
    read_images,
    read_labels,
)
from capmap.multilabel.dumps import Cell, fill_pattern
from capmap.multilabel.metrics import METRICS
from capmap.multilabel.outcomes import name_image, rank_labels, score_images
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import count_things

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm"})
UNMATCHED = "unmatched_labels"


class Evaluator:
    """Evaluates the dumps of a study one after the other; files of labels are read once.

    Parameters
    ----------
    classes : str, optional
        File of the classes in the order of the scores.
    """

    def __init__(self, classes: str = "") -> None:
        self._classes_source = classes
        self._classes: list[str] | None = None
        self._files: dict[tuple[str, bool], LabelFile] = {}

    def evaluate(
        self, path: str, cell: Cell, sources: Mapping[str, str]
    ) -> tuple[pd.DataFrame, list[Problem]]:
        """Evaluate a dump.

        Parameters
        ----------
        path : str
            The dump.
        cell : Cell
            Whose predictions it has.
        sources : mapping of str to str
            The files of its dataset: ``labels`` (sets), ``single`` (labels) and ``images`` (ids in
            the order of the scores), empty where there is none; with fields of a `Cell`.

        Returns
        -------
        outcomes : pandas.DataFrame
            From `score_images`.
        notes : list of Problem
            Warnings about the labels.

        Raises
        ------
        UnreadableExportError
            With everything that is wrong with the first file that has a fault.

        Notes
        -----
        Ids are compared as they stand and, where that leaves images without labels, without the
        suffixes of image files, as Kaggle's tables have them.
        """
        files = {name: fill_pattern(source, cell) for name, source in sources.items()}
        if self._classes is None:
            self._classes = read_classes(self._classes_source) if self._classes_source else []
        dump = open_scores(path, n_classes=len(self._classes) or None)
        n, n_classes = dump.scores.shape
        names = dump.images
        if names is None and files["images"]:
            names = read_images(files["images"])
        single, code = None, UNMATCHED
        try:
            given, extra = self._join(files["labels"], n, names, is_single=False)
            _require_classes(given, n_classes, files["labels"], names)
            if files["single"]:
                ones, _ = self._join(files["single"], n, names, is_single=True)
                _require_classes(ones, n_classes, files["single"], names)
                single = [labels[0] for labels in ones]
            sets = [sorted(set(labels)) for labels in given]
            code = "unusable_dump"
            ranks = rank_labels(dump.scores, sets, names or ())
        except ValidationError as error:
            raise UnreadableExportError(_describe_error(error, path, code)) from error
        merged = sum(map(len, given)) - sum(map(len, sets))
        notes = [
            *_list_notes(files["labels"], sets, merged=merged, extra=extra),
            *_note_flat_scores(path, ranks.flat, n),
        ]
        return score_images(ranks, sets, single=single, names=names or ()), notes

    def _join(
        self, source: str, n_images: int, names: list[str] | None, *, is_single: bool
    ) -> tuple[list[list[int]], int]:
        """The labels in the order of the scores, and how many images have no scores."""
        key = (source, is_single)
        if key not in self._files:
            classes = self._classes or ()
            self._files[key] = read_labels(source, classes=classes, is_single=is_single)
        file, ids = _align_ids(self._files[key], names)
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


def _list_notes(
    source: str, sets: Sequence[Sequence[int]], *, merged: int, extra: int
) -> Iterator[Problem]:
    empty = sum(not labels for labels in sets)
    if empty:
        reason = f"There is no valid label for {empty} of {count_things(len(sets), 'image')}."
        yield _warn("unlabeled_images", source, reason, "They count for top-1 accuracy only.")
    if merged:
        reason = f"The label sets repeat {count_things(merged, 'label')}."
        yield _warn("merged_labels", source, reason, "Each counts once.")
    if extra:
        reason = f"The labels are also of {count_things(extra, 'image')} without scores."
        remedy = "They are left out; check that the score dumps are of the whole dataset."
        yield _warn("unscored_images", source, reason, remedy)


def _note_flat_scores(source: str, flat: int, images: int) -> Iterator[Problem]:
    """Warn of images for which a model says nothing: their first class would count as the best."""
    if flat:
        reason = f"All classes have the same score in {flat} of {count_things(images, 'image')}."
        remedy = "The first class is taken; check how the scores were made and written."
        yield _warn("flat_scores", source, reason, remedy)


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
