"""Labels of images: sets of valid labels, or one label each."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from capmap.exports.classes import ClassNames, LabelError, check_images
from capmap.exports.label_entries import LABEL, SHAPES, Entries, Entry, list_entries
from capmap.exports.tally import FaultTally
from capmap.wording import quote_name

SEPARATOR = ";"
INTEGRAL = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")
LARGEST_LABEL = 2**31 - 1
ID_REMEDY = "Ids are whole numbers from 0; an image without labels has none, or [] in JSON."


@dataclass(frozen=True)
class LabelFile:
    """Labels as a file has them.

    Parameters
    ----------
    source : str
        The file.
    sets : list of list of int, shape (images, labels of the image)
        Ids of classes in the order of the file, repeated ones included.
    images : list of str or None
        The id of each image; None where images are known by their order only.
    """

    source: str
    sets: list[list[int]]
    images: list[str] | None


def read_label_sets(
    path: str, *, classes: Sequence[str] = (), n_classes: int | None = None
) -> LabelFile:
    """Read the valid labels of each image.

    Parameters
    ----------
    path : str
        One of

        - JSON (``.json``): a list of lists in the order of the images, as the ReaL labels of
          ImageNet, or an object of image id and list. A single label needs no brackets;
        - a table (``.csv``, ``.tsv``, ``.parquet``) with the columns ``image`` and ``label`` (a row
          per label; a row with an empty label adds none) or ``image`` and ``labels`` (a row per
          image, such as ``3;7;9``). Without the column ``image``, and any other, rows are in the
          order of the images;
        - any other text: a line per image in their order, such as ``3;7;9``. An image without
          labels cannot be written so.

        Text may be packed (``.gz``).
    classes : sequence of str, optional
        Names of the classes; labels may then be names as well as ids.
    n_classes : int, optional
        Number of classes; by default that of `classes`, and unknown without them.

    Returns
    -------
    LabelFile

    Raises
    ------
    UnreadableExportError
        When the file cannot be read, an image is there twice, or a label is no id or name of a
        class. Each kind of fault is told once, with its first place and how many there are.

    Notes
    -----
    Ids count from 0. An id that went through a float (``3.0``) is read; 3.5, true and null are no
    ids. In JSON a text is a name. Elsewhere digits are an id, unless a class with another id is
    called so, which is refused. Repeated labels of an image are kept, for who counts them.
    """
    return _Reader(path, classes, n_classes).read(is_single=False)


def read_single_labels(
    path: str, *, classes: Sequence[str] = (), n_classes: int | None = None
) -> LabelFile:
    """Read the single label of each image.

    Parameters
    ----------
    path, classes, n_classes
        As in `read_label_sets`.

    Returns
    -------
    LabelFile
        Each set has one label.

    Raises
    ------
    UnreadableExportError
        As in `read_label_sets`, and when an image has no label or several.
    """
    return _Reader(path, classes, n_classes).read(is_single=True)


class _Reader:
    """One file of labels, with the classes that it may name and the faults that were found."""

    def __init__(self, path: str, classes: Sequence[str], n_classes: int | None) -> None:
        self.path = path
        self.classes = ClassNames(classes)
        self.n_classes = n_classes if n_classes is not None else len(classes) or None
        self.tally = FaultTally(path)

    def read(self, *, is_single: bool) -> LabelFile:
        found = list_entries(self.path)
        parsed = [self._parse_entry(entry, place) for place, entry in enumerate(found.entries)]
        self.tally.raise_any()
        entries, sets = _join_rows(found, parsed)
        images = None if found.form == "ordered" else [entry.image for entry in entries]
        if images is not None:
            check_images(images, self.path, lines=[entry.line for entry in entries])
        if is_single:
            self._require_single(entries, sets)
        return LabelFile(self.path, sets, images)

    def _require_single(self, entries: Sequence[Entry], sets: Sequence[list[int]]) -> None:
        for place, (entry, labels) in enumerate(zip(entries, sets, strict=True)):
            if len(labels) != 1:
                found = f"{len(labels)} labels" if labels else "no label"
                self.tally.add(
                    "not_single",
                    f"{_name_owner(entry, place)} has {found} where it should have one.",
                    "Give a file of one label per image, and sets of labels as `labels`.",
                    line=entry.line,
                    column=entry.column,
                )
        self.tally.raise_any()

    def _parse_entry(self, entry: Entry, place: int) -> list[int]:
        labels: list[int] = []
        for value in self._split(entry):
            try:
                labels.append(self._parse_label(value, is_text=isinstance(entry.labels, str)))
            except LabelError as error:
                self.tally.add(
                    error.code,
                    f"{_name_owner(entry, place)} has a label that {error.reason}",
                    error.remedy,
                    line=entry.line,
                    column=entry.column,
                    value=_show(value),
                )
        return labels

    def _split(self, entry: Entry) -> Iterator[Any]:
        if not isinstance(entry.labels, str):
            yield from entry.labels
        elif entry.labels in self.classes or entry.column == LABEL:
            yield from filter(None, [entry.labels])
        elif entry.labels:
            yield from (part.strip() for part in entry.labels.split(SEPARATOR))

    def _parse_label(self, value: Any, *, is_text: bool) -> int:
        digits = INTEGRAL.fullmatch(value) if is_text else None
        if digits:
            label = int(digits[1])
            if value in self.classes and self.classes.find_place(value) != label:
                reason = "is the id of one class and the name of another."
                remedy = 'Write labels as JSON, where 3 is an id and "3" a name.'
                raise LabelError("ambiguous_label", reason, remedy)
        elif isinstance(value, str):
            if is_text and value not in self.classes:
                _refuse_number(value)
            label = self.classes.find_place(value.strip())
        else:
            label = _take_integer(value)
        self._require_class(label)
        return label

    def _require_class(self, label: int) -> None:
        if label < 0:
            remedy = "Ids count from 0; leave out what has no label."
            raise LabelError("negative_label", "is negative.", remedy)
        if self.n_classes is not None and label >= self.n_classes:
            raise LabelError(
                "label_too_large",
                f"is outside the {self.n_classes} classes.",
                f"Ids go from 0 to {self.n_classes - 1}; subtract 1 where they count from 1.",
            )
        if label > LARGEST_LABEL:
            remedy = "Write the place of the class in the class list, from 0."
            raise LabelError("label_too_large", "is too large for the id of a class.", remedy)


def _take_integer(value: Any) -> int:
    if isinstance(value, list):
        raise LabelError("nested_label", "is a list or an object itself.", SHAPES)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise LabelError("not_an_id", "is no id of a class.", ID_REMEDY)


def _refuse_number(text: str) -> None:
    """Refuse what stands between two semicolons, and numbers that are no ids."""
    if not text:
        raise LabelError("empty_label", "is empty.", "Write labels such as 3;7;9.")
    try:
        float(text)
    except ValueError:
        return
    raise LabelError("not_an_id", "is no id of a class.", ID_REMEDY)


def _join_rows(found: Entries, parsed: list[list[int]]) -> tuple[list[Entry], list[list[int]]]:
    """Put the rows of one image together, in the order of its first one, where they belong so."""
    if found.form != "grouped":
        return found.entries, parsed
    firsts: dict[str, Entry] = {}
    sets: dict[str, list[int]] = {}
    for entry, labels in zip(found.entries, parsed, strict=True):
        firsts.setdefault(entry.image, entry)
        sets.setdefault(entry.image, []).extend(labels)
    return list(firsts.values()), list(sets.values())


def _name_owner(entry: Entry, place: int) -> str:
    return f"Image {quote_name(entry.image) if entry.image else place + 1}"


def _show(value: Any) -> str:
    """Show a label as JSON has it; nothing of a nested one, which may be endless."""
    if isinstance(value, str | list):
        return value if isinstance(value, str) else ""
    return json.dumps(value)
