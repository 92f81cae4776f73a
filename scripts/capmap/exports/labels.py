"""Labels of images: sets of valid labels or one each, read from files and joined to the scores."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from capmap.errors import ValidationError
from capmap.exports.cells import Wish, check_columns, trim
from capmap.exports.classes import IMAGE, ClassNames, LabelError, check_images, check_letters
from capmap.exports.files import (
    TABLES,
    Pairs,
    has_suffix,
    read_bounded,
    read_document,
    refuse,
)
from capmap.exports.sheets import open_sheet
from capmap.patterns import split_digits
from capmap.problems import FaultTally, UnreadableExportError
from capmap.wording import count_things, list_names, quote_name

LABEL = "label"
SHAPES = (
    "Write a list with the labels of each image, such as [[3], [], [5, 8]], or an object such as "
    '{"a.jpg": [5, 8]}.'
)
HEADER = "Write a row per label with the columns `image` and `label`, or JSON."

INTEGRAL = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")
LARGEST_LABEL = 2**31 - 1
ID_REMEDY = "Ids are whole numbers from 0; an image without labels has none, or [] in JSON."


class Entry(NamedTuple):
    """The labels at one place of a file.

    Parameters
    ----------
    image : str or None
        The image's id; None where images are known by their order.
    labels : list or str
        Labels as JSON has them, or the text of a cell.
    line : int
        The line in the file; 0 in JSON.
    column : str
        The column of a table.
    """

    image: str | None
    labels: list[Any] | str
    line: int = 0
    column: str = ""


def list_entries(path: str) -> list[Entry]:
    """List the entries of a file of labels in its order, whose suffix says what it is.

    Raises
    ------
    UnreadableExportError
        When the file cannot be read, has none, or is not laid out as labels are.
    """
    found = _list_rows(path) if has_suffix(path, TABLES) else _list_json(path)
    if not found:
        raise refuse("no_rows", path, "The file has no images.", "Write it again, or leave it out.")
    return found


def _list_json(path: str) -> list[Entry]:
    content = read_document(path)
    if isinstance(content, Pairs):
        keys = [key.strip() for key, _ in content]
        check_letters(keys, path)
        check_images(keys, path)
        return [Entry(key, _wrap(value)) for key, (_, value) in zip(keys, content, strict=True)]
    if not isinstance(content, list):
        raise refuse("no_labels", path, "The JSON is neither a list nor an object.", SHAPES)
    return [Entry(None, _wrap(value)) for value in content]


def _wrap(value: Any) -> list[Any]:
    """Put a label without brackets into a list; an object stays one label, and a wrong one."""
    is_list = isinstance(value, list) and not isinstance(value, Pairs)
    return value if is_list else [value]


def _list_rows(path: str) -> list[Entry]:
    read_bounded(path)
    wanted = [IMAGE, LABEL]
    sheet = open_sheet(path, wanted=set(wanted))
    for name in wanted:
        if name not in sheet.columns:
            reason = f"The table has no column `{name}`."
            raise refuse(f"{name}_column", path, reason, HEADER, line=1)
    if problems := check_columns([Wish("labels", name) for name in wanted], sheet.columns, path):
        raise UnreadableExportError(*problems)
    cells = sheet.read_cells(wanted)
    if cells.problems:
        raise UnreadableExportError(*cells.problems[:1])
    images, labels = (trim(cells.columns[name]).to_pylist() for name in wanted)
    rows = zip(images, labels, cells.lines.tolist(), strict=True)
    return [Entry(image, label, line, LABEL) for image, label, line in rows]


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

        - JSON: a list of lists in the order of the images, as the ReaL labels of ImageNet, or an
          object of image id and list. A single label needs no brackets;
        - a table (``.csv``, ``.tsv``, ``.parquet``) with the columns ``image`` and ``label``, a row
          per label; a row with an empty label adds none.

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
        class. Each kind of fault is reported once, with its first place and how many there are.

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
        parsed = [self._parse_entry(entry, place) for place, entry in enumerate(found)]
        self.tally.raise_any()
        entries, sets = _join_rows(found, parsed)
        images = [entry.image for entry in entries if entry.image is not None] or None
        if images:
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
        values = entry.labels if isinstance(entry.labels, list) else filter(None, [entry.labels])
        for value in values:
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
    """Refuse numbers that are no ids."""
    try:
        float(text)
    except ValueError:
        return
    raise LabelError("not_an_id", "is no id of a class.", ID_REMEDY)


def _join_rows(found: list[Entry], parsed: list[list[int]]) -> tuple[list[Entry], list[list[int]]]:
    """Put the rows of one image together, in the order of its first one."""
    if found[0].image is None:
        return found, parsed
    firsts: dict[str | None, Entry] = {}
    sets: dict[str | None, list[int]] = {}
    for entry, labels in zip(found, parsed, strict=True):
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


@dataclass(frozen=True)
class JoinedLabels:
    """Labels in the order of the scores.

    Parameters
    ----------
    sets : list of list of int, shape (images of the scores, labels of the image)
        Ids of classes.
    extra : int
        How many images of the label file have no scores.
    """

    sets: list[list[int]]
    extra: int


def join_labels(
    labels: LabelFile, *, n_images: int, images: Sequence[str] | None = None
) -> JoinedLabels:
    """Bring labels into the order of the scores.

    Parameters
    ----------
    labels : LabelFile
        The labels.
    n_images : int
        Number of images of the scores.
    images : sequence of str, shape (n_images,), optional
        Their ids, each once; without them images are known by their order.

    Returns
    -------
    JoinedLabels

    Raises
    ------
    ValidationError
        When images of the scores are missing from the labels, the numbers of images differ where
        only their order is known, or that order cannot be trusted.

    Notes
    -----
    - Ids on both sides: joined by them, as they stand. An image with scores and no entry is
      refused, as it is more often another spelling of the id than an image without labels; write
      the latter as an empty set. Entries without scores are counted.
    - Ids on neither side: joined by order; the numbers of images must be the same.
    - Ids of the labels only: refused, as the order of the scores is unknown.
    - Ids of the scores only: the labels are in the order of the image files, as the ReaL labels
      are, so the file names of the scores must ascend (as text, or with their digits as numbers).
      Scores in the order of folders of classes are refused.

    Examples
    --------
    >>> labels = LabelFile("labels.json", [[3], [], [1, 2]], ["a", "b", "c"])
    >>> join_labels(labels, n_images=2, images=["c", "a"])
    JoinedLabels(sets=[[1, 2], [3]], extra=1)
    """
    if images is not None and len(images) != n_images:
        raise ValidationError(
            f"There are ids of {count_things(len(images), 'image')} and scores of {n_images}. Give "
            "the ids of the scores, in their order."
        )
    if labels.images is None:
        return _join_by_order(labels, n_images, images)
    if images is None:
        raise ValidationError(
            f"{labels.source}: the labels have image ids, and the scores have none. "
            "Set `images` to a file of the ids in the order of the scores."
        )
    places = {image: place for place, image in enumerate(labels.images)}
    missing = [image for image in images if image not in places]
    if missing:
        raise ValidationError(_explain_missing(labels, images, missing))
    sets = [labels.sets[places[image]] for image in images]
    return JoinedLabels(sets, len(labels.images) - len(set(images)))


def _join_by_order(labels: LabelFile, n_images: int, images: Sequence[str] | None) -> JoinedLabels:
    if len(labels.sets) != n_images:
        raise ValidationError(
            f"{labels.source}: there are labels of {count_things(len(labels.sets), 'image')} and "
            f"scores of {n_images}, and the labels are known by their order. Give the labels of "
            "the same images, or give both image ids."
        )
    if images is not None:
        _require_file_order(labels, images)
    return JoinedLabels(labels.sets, 0)


def _require_file_order(labels: LabelFile, images: Sequence[str]) -> None:
    files = [PurePosixPath(image).name for image in images]
    numbers = [split_digits(name) for name in files]
    if files == sorted(files) or numbers == sorted(numbers):
        return
    place = next(place for place in range(1, len(files)) if numbers[place] < numbers[place - 1])
    pair = list_names([images[place - 1], images[place]])
    raise ValidationError(
        f"{labels.source}: the labels are in the order of the image files, and the images of the "
        f"scores are not: first {pair}. Give both image ids, or sort the scores by "
        "file name."
    )


def _explain_missing(labels: LabelFile, images: Sequence[str], missing: Sequence[str]) -> str:
    known = {PurePosixPath(image).stem for image in labels.images or ()}
    similar = sum(PurePosixPath(image).stem in known for image in missing)
    remedy = "Add them, with an empty set where an image has no label."
    if similar:
        remedy = (
            f"{similar} of them would be found "
            "without folder and suffix: write the ids in the same way on both sides."
        )
    return (
        f"{labels.source}: {count_things(len(missing), 'image')} of {len(images)} with scores "
        f"{'has' if len(missing) == 1 else 'have'} no labels: {list_names(missing)}. {remedy}"
    )
