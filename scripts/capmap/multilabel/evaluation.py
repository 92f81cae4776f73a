"""Evaluate a dump of predictions against the label files of its dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from capmap.artifacts import digest_file
from capmap.errors import CapmapError, ValidationError
from capmap.exports.label_files import (
    Dump,
    JoinedLabels,
    LabelFile,
    join_labels,
    open_scores,
    read_classes,
    read_images,
    read_labels,
)
from capmap.multilabel.dumps import Cell, fill_pattern
from capmap.multilabel.gathering import UNMATCHED
from capmap.multilabel.metrics import METRICS
from capmap.multilabel.outcomes import LabelSets, Scores, arrange_labels, rank_labels, score_images
from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.wording import count_things, quote_name

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm"})


class Sources(TypedDict):
    """Files of a dataset, empty where there is none; they may have fields of a `Cell`.

    Parameters
    ----------
    labels, single : str
        Label sets and single labels.
    images : str
        Ids of the images in the order of the scores.
    """

    labels: str
    single: str
    images: str


@dataclass(frozen=True)
class Evaluation:
    """What came out of a dump.

    Parameters
    ----------
    outcomes : pandas.DataFrame
        From `score_images`, by id where the images have ids, else in the order of the dump.
    digest : str
        Identifies datasets: of the ids and the numbers of labels of the images.
    notes : list of Problem
        Warnings about the labels.
    """

    outcomes: pd.DataFrame
    digest: str
    notes: list[Problem]


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

    def evaluate(self, path: str, cell: Cell, sources: Sources) -> Evaluation:
        """Evaluate a dump.

        Parameters
        ----------
        path : str
            The dump.
        cell : Cell
            Whose predictions it has.
        sources : Sources
            The files of its dataset.

        Returns
        -------
        Evaluation

        Raises
        ------
        UnreadableExportError
            With everything that is wrong with the first file that has a fault.

        Notes
        -----
        Ids are compared as they stand and, where that leaves images without labels, without the
        suffixes of image files, as Kaggle's tables have them.
        """
        files = {name: fill_pattern(str(source), cell) for name, source in sources.items()}
        try:
            classes = self._read_classes()
            dump = open_scores(path, n_classes=len(classes) or None)
            labels, notes = self._label(path, dump, classes, files)
            ranks = rank_labels(dump.scores, labels)
            notes += _note_flat_scores(path, dump.scores)
        except UnreadableExportError:
            raise
        except CapmapError as error:
            raise UnreadableExportError(_describe_error(error, path)) from error
        outcomes = score_images(labels, ranks)
        if any(labels.images):
            outcomes = outcomes.sort_values("id", kind="stable", ignore_index=True)
        return Evaluation(outcomes, _digest_images(outcomes), notes)

    def _read_classes(self) -> list[str]:
        if self._classes is None:
            self._classes = read_classes(self._classes_source) if self._classes_source else []
        return self._classes

    def _label(
        self, path: str, dump: Dump, classes: Sequence[str], files: dict[str, str]
    ) -> tuple[LabelSets, list[Problem]]:
        images = dump.images
        if images is None and files["images"]:
            images = read_images(files["images"])
        sets = self._join(path, files["labels"], dump, images, classes, is_single=False)
        single = None
        if files["single"]:
            joined = self._join(path, files["single"], dump, images, classes, is_single=True)
            single = [labels[0] for labels in joined.sets]
        n_classes = dump.scores.shape[1]
        try:
            labels = arrange_labels(sets.sets, n_classes=n_classes, single=single, images=images)
        except ValidationError as error:
            problem = _describe_error(error, path, code=UNMATCHED)
            origin = " and ".join(filter(None, (files["labels"], files["single"])))
            problem = replace(problem, reason=f"{origin}: {problem.reason}")
            raise UnreadableExportError(problem) from error
        return labels, _list_notes(files["labels"], labels, sets.extra)

    def _join(
        self,
        path: str,
        source: str,
        dump: Dump,
        images: list[str] | None,
        names: Sequence[str],
        *,
        is_single: bool,
    ) -> JoinedLabels:
        key = (source, is_single)
        if key not in self._files:
            self._files[key] = read_labels(source, classes=names, is_single=is_single)
        file, ids = _align_ids(self._files[key], images)
        try:
            return join_labels(file, n_images=len(dump.scores), images=ids)
        except ValidationError as error:
            raise UnreadableExportError(_describe_error(error, path, code=UNMATCHED)) from error


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
    return [
        image[: -len(suffix)]
        if (suffix := PurePosixPath(image).suffix) and suffix.lower() in SUFFIXES
        else image
        for image in images
    ]


def _list_notes(source: str, labels: LabelSets, extra: int) -> list[Problem]:
    empty = int(np.count_nonzero(labels.counts == 0))
    notes = {
        "unlabeled_images": (
            empty,
            f"There is no valid label for {empty} of {count_things(len(labels), 'image')}.",
            "They count for top-1 accuracy only.",
        ),
        "merged_labels": (
            labels.merged,
            f"The label sets repeat {count_things(labels.merged, 'label')}.",
            "Each counts once.",
        ),
        "unscored_images": (
            extra,
            f"The labels are also of {count_things(extra, 'image')} without scores.",
            "They are left out; check that the score dumps are of the whole dataset.",
        ),
    }
    return [
        Problem(severity="warning", code=code, source=source, reason=reason, remedy=remedy)
        for code, (count, reason, remedy) in notes.items()
        if count
    ]


def _note_flat_scores(source: str, scores: Scores) -> list[Problem]:
    """Warn of images for which a model says nothing: their first class would count as the best."""
    if scores.shape[1] < 2:
        return []
    rows = np.flatnonzero(scores[:, 0] == scores[:, -1])
    flat = sum(bool((scores[row] == scores[row, 0]).all()) for row in rows)
    reason = f"All classes have the same score in {flat} of {count_things(len(scores), 'image')}."
    remedy = "The first class counts as the highest; check how the scores were made and written."
    problem = Problem(
        severity="warning", code="flat_scores", source=source, reason=reason, remedy=remedy
    )
    return [problem] if flat else []


def _describe_error(error: CapmapError, path: str, *, code: str = "unusable_dump") -> Problem:
    """Make a problem of a message, whose last sentence is the remedy."""
    reason, _, remedy = str(error).rpartition(". ")
    return Problem(code=code, source=path, reason=f"{reason}.", remedy=remedy)


def _digest_images(outcomes: pd.DataFrame) -> str:
    digest = sha256("\n".join(outcomes["id"]).encode())
    digest.update(outcomes["labels"].to_numpy(dtype="<i8").tobytes())
    return digest.hexdigest()


def find_sources(datasets: Mapping[str, Sources], name: str) -> Sources:
    """The files of a dataset; that there are none is said in the same words of all its dumps."""
    sources = datasets.get(name)
    if sources and sources.get("labels"):
        return sources
    near = ask_nearest(name, set(datasets) - {name})
    raise UnreadableExportError(
        Problem(
            code="unlabeled_dataset",
            value=name,
            reason=f"There are score dumps of the dataset {quote_name(name)}, and no labels.",
            remedy=f"{near}Add it to predictions.datasets, or remove its dumps from where "
            "`exports` finds them.",
        )
    )


def describe_dump(path: str, cell: Cell, found: Evaluation) -> dict[str, Any]:
    """What is known of a dump, its images and its labels."""
    counts = found.outcomes["labels"].value_counts().sort_index()
    return {
        **cell._asdict(),
        "path": path,
        "sha256": digest_file(path),
        "bytes": Path(path).stat().st_size,
        "images": len(found.outcomes),
        "digest": found.digest,
        "labels": {str(labels): int(images) for labels, images in counts.items()},
    }


def join_metrics(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Join the metrics of dumps; there may be none."""
    kinds = {**dict.fromkeys(Cell._fields, "str"), **METRICS}
    if not tables:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
    return pd.concat(tables, ignore_index=True).astype(kinds)
