"""What multi-label evaluation reads: labels, classes and image ids, and dumps of scores.

``.npy`` is mapped into memory, ``.npz`` read, neither ever unpickled.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.exports.cells import Numeral, check_columns, trim
from capmap.exports.records import (
    TABLES,
    has_suffix,
    read_content,
    read_document,
    read_text,
    refuse,
)
from capmap.exports.sheets import open_sheet
from capmap.patterns import split_digits
from capmap.problems import UnreadableExportError, ask_nearest
from capmap.wording import count_things, list_names, quote_name

IMAGE, LABEL = "image", "label"
INTEGRAL = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")
LARGEST = 2**31 - 1
SHAPES = (
    "Write a list with the labels of each image, such as [[3], [], [5, 8]], or an object such as "
    '{"a.jpg": [5, 8]}.'
)
HEADER = "Write a row per label with the columns `image` and `label`, or JSON."
# What can be wrong with an image or its labels: what is said of it, and what to do.
FAULTS = {
    "empty_image": ("has no id", "Fill it in."),
    "duplicated_image": (
        "has an id that stands further up already",
        "Give each image an id of its own, such as its path below the folder of images.",
    ),
    "not_single": (
        "does not have one label",
        "Give a file of one label per image, and sets of labels as `labels`.",
    ),
    "unknown_label": (
        "has a label that is not the id of a class, nor the name of one class alone",
        "Write ids from 0 to the last place in the class list, or names as in `classes`; an image "
        "without labels has none, or [] in JSON.",
    ),
}


class Entry(NamedTuple):
    """The labels at one place of a file, as JSON has them or as the texts of cells.

    The image is None where images are known by their order; there is a line in tables only.
    """

    image: str | None
    labels: list[Any]
    line: int = 0


@dataclass(frozen=True)
class LabelFile:
    """Labels as a file has them: ids of classes by image, repeated ones included.

    ``images`` has the id of each, None where images are known by their order only.
    """

    source: str
    sets: list[list[int]]
    images: list[str] | None


def _refuse_image(
    path: str, code: str, place: int, entry: Entry, *, value: str = "", hint: str = ""
) -> UnreadableExportError:
    """Make the refusal of a file for the image at some place of it."""
    reason, remedy = FAULTS[code]
    reason = f"Image {quote_name(entry.image) if entry.image else place + 1} {reason}."
    return refuse(code, path, reason, hint + remedy, line=entry.line, value=value)


def read_classes(path: str) -> list[str]:
    """Read the names of classes, of which several may be equal, in the order of their ids."""
    if has_suffix(path, TABLES | {".json"}):
        reason = "The file is JSON or a table, and names are read one per line."
        raise refuse("no_lines", path, reason, "Write one name per line into a text file.")
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if "" in lines:
        reason = "The line is blank, and entries are known by their position."
        remedy = "Fill it in, or remove it."
        raise refuse("blank_line", path, reason, remedy, line=lines.index("") + 1)
    return lines


def read_images(path: str) -> list[str]:
    """Read image ids, each of which stands once, in the order of the scores, as `read_classes`."""
    images = read_classes(path)
    check_images([Entry(image, []) for image in images], path)
    return images


def check_images(entries: Sequence[Entry], source: str) -> None:
    """Refuse ids of images that are empty or stand twice."""
    seen = set[str]()
    for place, entry in enumerate(entries):
        if not entry.image:
            raise _refuse_image(source, "empty_image", place, entry)
        if entry.image in seen:
            raise _refuse_image(source, "duplicated_image", place, entry, value=entry.image)
        seen.add(entry.image)


def read_labels(path: str, *, classes: Sequence[str] = (), is_single: bool = False) -> LabelFile:
    """Read the valid labels, or the single label, of each image.

    JSON is a list of lists in the order of the images, as the ReaL labels of ImageNet, or an object
    of image id and list; a single label needs no brackets. A table (``.csv``, ``.tsv``,
    ``.parquet``) has the columns ``image`` and ``label``, a row per label; a row with an empty
    label adds none.

    Ids count from 0. An id that went through a float (``3.0``) is read; 3.5, true and null are no
    ids. With names of classes labels may be names as well. In JSON a text is a name; elsewhere
    digits are an id, unless a class with another id is called so, which is refused. Repeated labels
    of an image are kept, for who counts them. The first image at fault is told.
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(classes):
        places.setdefault(name, []).append(place)
    entries = _list_rows(path) if has_suffix(path, TABLES) else _list_json(path)
    if not entries:
        raise refuse("no_rows", path, "The file has no images.", "Write it again, or leave it out.")
    sets: list[list[int]] = []
    for place, entry in enumerate(entries):
        own: list[int] = []
        for value in entry.labels:
            label = _parse_label(value, places, in_table=entry.line > 0)
            if label is None:
                # Nothing of a nested label, which may be endless.
                shown = "" if isinstance(value, dict | list) else value
                shown = shown if isinstance(shown, str) else json.dumps(shown)
                hint = ask_nearest(shown, places)
                raise _refuse_image(path, "unknown_label", place, entry, value=shown, hint=hint)
            own.append(label)
        if is_single and len(own) != 1:
            raise _refuse_image(path, "not_single", place, entry)
        sets.append(own)
    named = [entry for entry in entries if entry.image is not None]
    check_images(named, path)
    return LabelFile(path, sets, [str(entry.image) for entry in named] or None)


def _list_json(path: str) -> list[Entry]:
    content = read_document(path)
    if not isinstance(content, dict | list):
        raise refuse("no_labels", path, "The JSON is neither a list nor an object.", SHAPES)
    pairs = content.items() if isinstance(content, dict) else ((None, own) for own in content)
    return [
        Entry(image and image.strip(), labels if isinstance(labels, list) else [labels])
        for image, labels in pairs
    ]


def _list_rows(path: str) -> list[Entry]:
    wanted = [IMAGE, LABEL]
    sheet = open_sheet(path, wanted=wanted)
    wishes = [("labels", name) for name in wanted]
    if problems := check_columns(wishes, sheet.columns, path, hint=HEADER):
        raise UnreadableExportError(*problems)
    cells = sheet.read_cells(wanted)
    if cells.problems:
        raise UnreadableExportError(*cells.problems[:1])
    images, labels = (trim(cells.columns[name]).to_pylist() for name in wanted)
    # Rows of one image are put together, in the order of its first one.
    entries: dict[str, Entry] = {}
    for image, label, line in zip(images, labels, cells.lines.tolist(), strict=True):
        own = entries.setdefault(image, Entry(image, [], line)).labels
        own += [label] if label else []
    return [*entries.values()]


def _parse_label(value: Any, places: Mapping[str, list[int]], *, in_table: bool) -> int | None:
    """Read a label as JSON has it, or the text of a cell, as a class; None if it is none."""
    if not isinstance(value, str):
        return None
    is_number = isinstance(value, Numeral)
    named = [] if is_number else places.get(value.strip(), [])
    digits = INTEGRAL.fullmatch(value) if is_number or in_table else None
    if digits is None:
        return named[0] if len(named) == 1 else None
    number = int(digits[1])
    count = sum(map(len, places.values())) or LARGEST + 1
    return number if named in ([], [number]) and 0 <= number < count else None


def join_labels(
    labels: LabelFile, *, n_images: int, images: Sequence[str] | None = None
) -> tuple[list[list[int]], int]:
    """Bring labels into the order of the scores, and count the images of their file without scores.

    Notes
    -----
    - Ids on both sides: joined by them, as they stand. An image with scores and no entry is
      refused, as it is more often another spelling of the id than an image without labels; write
      the latter as an empty set.
    - Ids on neither side: joined by order; the numbers of images must be the same.
    - Ids of the labels only: refused, as the order of the scores is unknown.
    - Ids of the scores only: the labels are in the order of the image files, as the ReaL labels
      are, so the file names of the scores must ascend (as text, or with their digits as numbers).
      Scores in the order of folders of classes are refused.

    Examples
    --------
    >>> labels = LabelFile("labels.json", [[3], [], [1, 2]], ["a", "b", "c"])
    >>> join_labels(labels, n_images=2, images=["c", "a"])
    ([[1, 2], [3]], 1)
    """
    if images is not None and len(images) != n_images:
        raise ValidationError(
            f"There are ids of {count_things(len(images), 'image')} and scores of {n_images}. Give "
            "the ids of the scores, in their order."
        )
    if labels.images is None:
        _require_order(labels, n_images, images)
        return labels.sets, 0
    if images is None:
        raise ValidationError(
            f"{labels.source}: the labels have image ids, and the scores have none. "
            "Set `images` to a file of the ids in the order of the scores."
        )
    places = {image: place for place, image in enumerate(labels.images)}
    if missing := [image for image in images if image not in places]:
        raise ValidationError(
            f"{labels.source}: {count_things(len(missing), 'image')} of {len(images)} with scores "
            f"{'has' if len(missing) == 1 else 'have'} no labels: {list_names(missing)}. Write the "
            "ids in the same way on both sides, and an empty set where an image has no label."
        )
    extra = len(labels.images) - len(set(images))
    return [labels.sets[places[image]] for image in images], extra


def _require_order(labels: LabelFile, n_images: int, images: Sequence[str] | None) -> None:
    """Refuse labels without ids that are not those of the scores, or in another order."""
    if len(labels.sets) != n_images:
        raise ValidationError(
            f"{labels.source}: there are labels of {count_things(len(labels.sets), 'image')} and "
            f"scores of {n_images}, and the labels are known by their order. Give the labels of "
            "the same images, or give both image ids."
        )
    files = [PurePosixPath(image).name for image in images or ()]
    numbers = [split_digits(name) for name in files]
    if images is not None and files != sorted(files) and numbers != sorted(numbers):
        raise ValidationError(
            f"{labels.source}: the labels are in the order of the image files, and the images of "
            f"the scores are not: they begin with {list_names(images[:3])}. Give both image ids, "
            "or sort the scores by file name."
        )


Array = npt.NDArray[Any]

NPY = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
SCORES, IDS = "scores", "ids"
ARRAY_REMEDY = "Save the scores with numpy.savez(path, scores=…, ids=…), where ids may be left out."


class Dump(NamedTuple):
    """Scores of every class, an image in each row: logits or probabilities, of ``.npy`` mapped.

    ``images`` has the id of each image, None where the dump has none.
    """

    scores: Array
    images: list[str] | None = None


def open_scores(path: str, *, n_classes: int | None = None) -> Dump:
    """Open the scores of a classifier for the images of a dataset.

    A dump, known by its first bytes, is ``.npy`` with floats of shape (images, classes), or
    ``.npz`` with the same as ``scores`` (or the only array) and perhaps image ids as ``ids``. One
    that is cut off, pickled or no floats, has nothing along an axis, or another number of classes
    than ``n_classes`` is refused. NaN is for who ranks the scores to find.
    """
    head = read_content(path, limit=len(NPY))
    if not head.startswith((NPY, ZIP)):
        reason = "The file is no array of NumPy, .npy or .npz."
        raise refuse("not_an_array", path, reason, ARRAY_REMEDY)
    try:
        if head.startswith(ZIP):
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
                dump = _read_archive(archive, path)
        else:
            dump = Dump(np.load(path, mmap_mode="r", allow_pickle=False))
    except UnreadableExportError:
        raise
    except Exception as error:  # Readers of archives and arrays do not say what they raise.
        reason = f"The array cannot be read ({error})."
        raise refuse("damaged_array", path, reason, f"Copy it again. {ARRAY_REMEDY}") from error
    kind, shape = dump.scores.dtype, dump.scores.shape
    if kind.kind != "f" or kind.itemsize > 8 or len(shape) != 2 or min(shape) < 1:
        reason = f"The array holds {kind.name} of shape {shape}, not floats of images by classes."
        remedy = (
            "Save logits or probabilities, a row per image and a column per class, such as "
            "scores.astype(numpy.float32)."
        )
        raise refuse("wrong_array", path, reason, remedy)
    if dump.images is not None:
        check_images([Entry(image, []) for image in dump.images], path)
    if n_classes not in (None, shape[1]):
        reason = f"There are scores of {shape[1]} classes, and {n_classes} are expected."
        remedy = "Check that the class list is that of the classifier, with all background classes."
        raise refuse("wrong_classes", path, reason, remedy)
    return dump


def _read_archive(archive: Any, path: str) -> Dump:
    """Read the array of scores, which is called so or the only one, and perhaps ids."""
    names = [SCORES] if SCORES in archive.files else [n for n in archive.files if n != IDS]
    if len(names) != 1:
        found = f"the arrays {list_names(archive.files)}" if archive.files else "no array"
        reason = f"The archive has {found}; it is not clear which one holds the scores."
        raise refuse("no_scores", path, reason, ARRAY_REMEDY)
    names += [IDS] if IDS in archive.files else []
    scores, *others = (archive[name] for name in names)
    if not others:
        return Dump(scores)
    ids = others[0]
    if ids.dtype.kind != "U" or ids.shape != scores.shape[:1]:
        reason = f"The ids hold {ids.dtype.name} of shape {ids.shape}, not a text per image."
        raise refuse("wrong_ids", path, reason, "Save them with numpy.array(ids, dtype=str).")
    return Dump(scores, [str(text).strip() for text in ids.tolist()])
