"""Annotated objects: PASCAL-VOC files and the localization table of Kaggle's ImageNet contest."""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from capmap.errors import ValidationError
from capmap.wording import quote_name

LARGEST_FIELD = 1 << 24
LARGEST_COORDINATE = 1 << 31
SIDES = ("xmin", "ymin", "xmax", "ymax")
TABLE_COLUMNS = ("ImageId", "PredictionString")
GROUP = 5


class Box(NamedTuple):
    """A box by its edges in pixels, from the left and upper edge of the stored image.

    Pixels ``left`` to ``right - 1`` and ``top`` to ``bottom - 1`` are inside.
    """

    left: int
    top: int
    right: int
    bottom: int


class AnnotatedObject(NamedTuple):
    """An object: its number within the annotation (from 1), its label and its box."""

    number: int
    label: str
    box: Box


class Skipped(NamedTuple):
    """What cannot be used: the image or annotation, the object's number if one, and why."""

    source: str
    object: int | None
    reason: str


@dataclass(frozen=True)
class Annotation:
    """The objects of an image.

    Parameters
    ----------
    image : str
        What the image is called: its path below the folder of images, or its name, without suffix.
    objects : sequence of AnnotatedObject, optional
        By number. Boxes have an area, but may leave the image.
    size : (int, int) or None, optional
        Width and height that the image has according to its annotation.
    skipped : sequence of Skipped, optional
        What the annotation lacks.
    """

    image: str
    objects: Sequence[AnnotatedObject] = ()
    size: tuple[int, int] | None = None
    skipped: Sequence[Skipped] = ()


def read_annotations(path: str | Path) -> Iterator[Annotation]:
    """Read annotations one image at a time.

    Parameters
    ----------
    path : path-like
        A folder, in which every ``.xml`` file, also in folders below, is a PASCAL-VOC annotation of
        one image; or a CSV file with the columns ``ImageId`` and ``PredictionString``, which is
        made of groups ``class x1 y1 x2 y2``.

    Yields
    ------
    Annotation
        In order of names. Faults of one file, row or object are in ``skipped``.

    Raises
    ------
    ValidationError
        If there is no such folder or file, no annotation in it, or the table has other columns.

    Notes
    -----
    Coordinates are edges of the box in pixels: x1 = 0 is the image's left edge and x2 = its width
    the right one. Numbers with decimals go to the nearest edge. A box whose edges meet or stand the
    wrong way around has zero area. Boxes refer to the pixels as they are stored.

    Only a VOC object's own ``name`` and ``bndbox`` count, not those of its parts. The image is the
    one with the annotation's own file name; what the file says inside is ignored. Rows of one
    ``ImageId`` are joined, and numbered in order of their text.
    """
    path = Path(path)
    if path.is_dir():
        yield from _read_folder(path)
    elif path.is_file():
        yield from _read_table(path)
    else:
        raise ValidationError(
            f"{path}: there is no such file or folder. Name a folder of PASCAL-VOC files (.xml) or "
            "a table with the columns ImageId and PredictionString (.csv)."
        )


def parse_voc(content: bytes, *, image: str, source: str) -> Annotation:
    """Parse a PASCAL-VOC annotation.

    Parameters
    ----------
    content : bytes
        The file.
    image, source : str
        What the image and the annotation are called.

    Returns
    -------
    Annotation
        Without objects when the file is at fault as a whole.

    Examples
    --------
    >>> box = "<xmin>1</xmin><ymin>2</ymin><xmax>5</xmax><ymax>9</ymax>"
    >>> text = f"<annotation><object><name>cat</name><bndbox>{box}</bndbox></object></annotation>"
    >>> parse_voc(text.encode(), image="a", source="a.xml").objects[0].box
    Box(left=1, top=2, right=5, bottom=9)
    """
    try:
        root = ElementTree.fromstring(content)  # noqa: S314
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        reason = f"the annotation cannot be read: {error}"
        return Annotation(image, skipped=[Skipped(source, None, reason)])
    objects, skipped = [], []
    for number, element in enumerate(root.findall("object"), start=1):
        label = (element.findtext("name") or "").strip()
        texts = [element.findtext(f"bndbox/{side}") or "" for side in SIDES]
        found = _check_object(label, texts)
        if isinstance(found, Box):
            objects.append(AnnotatedObject(number, label, found))
        else:
            skipped.append(Skipped(source, number, found))
    if not objects and not skipped:
        skipped.append(Skipped(source, None, "no object is annotated"))
    return Annotation(image, objects, _read_size(root), skipped)


def parse_groups(text: str, *, image: str) -> Annotation:
    """Parse the groups ``class x1 y1 x2 y2`` of one image.

    Examples
    --------
    >>> parse_groups("n01 1 2 5 9", image="a").objects
    [AnnotatedObject(number=1, label='n01', box=Box(left=1, top=2, right=5, bottom=9))]
    """
    words = text.split()
    if not words or len(words) % GROUP:
        reason = f"{len(words)} words are no groups of a class and four numbers"
        return Annotation(image, skipped=[Skipped(image, None, reason)])
    objects, skipped = [], []
    for number, start in enumerate(range(0, len(words), GROUP), start=1):
        label, *texts = words[start : start + GROUP]
        found = _check_object(label, texts)
        if isinstance(found, Box):
            objects.append(AnnotatedObject(number, label, found))
        else:
            skipped.append(Skipped(image, number, found))
    return Annotation(image, objects, skipped=skipped)


def _read_folder(folder: Path) -> Iterator[Annotation]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".xml")
    if not paths:
        raise ValidationError(f"{folder}: there is no PASCAL-VOC annotation (.xml) in this folder.")
    for path in paths:
        inside = path.relative_to(folder)
        source = inside.as_posix()
        try:
            content = path.read_bytes()
        except OSError as error:
            reason = f"the annotation cannot be read: {error.strerror}"
            yield Annotation(source, skipped=[Skipped(source, None, reason)])
            continue
        yield parse_voc(content, image=inside.with_suffix("").as_posix(), source=source)


def _read_table(path: Path) -> Iterator[Annotation]:
    rows: dict[str, list[str]] = {}
    previous = csv.field_size_limit(LARGEST_FIELD)
    try:
        reader = csv.DictReader(StringIO(path.read_text("utf-8-sig"), newline=""), strict=True)
        missing = [name for name in TABLE_COLUMNS if name not in (reader.fieldnames or [])]
        if missing:
            raise ValidationError(
                f"{path}: the column {quote_name(missing[0])} is missing. Annotations need the "
                "columns ImageId and PredictionString."
            )
        for row in reader:
            image, text = (row[name] or "" for name in TABLE_COLUMNS)
            rows.setdefault(image, []).append(text)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValidationError(
            f"{path}: the table cannot be read: {error}. Save it as CSV in UTF-8."
        ) from error
    finally:
        csv.field_size_limit(previous)
    if not rows:
        raise ValidationError(f"{path}: the table has no rows.")
    for image in sorted(rows):
        yield parse_groups(" ".join(sorted(rows[image])), image=image)


def _read_size(root: ElementTree.Element) -> tuple[int, int] | None:
    """Width and height, or None where they are absent, no numbers, or 0 for unknown."""
    found = [_read_edge(root.findtext(f"size/{side}") or "") for side in ("width", "height")]
    width, height = (number or 0 for number in found)
    return (width, height) if width > 0 and height > 0 else None


def _check_object(label: str, texts: Sequence[str]) -> Box | str:
    """An object's box, or what is wrong with the object."""
    if not label:
        return "the object has no class"
    numbers = []
    for side, text in zip(SIDES, texts, strict=True):
        number = _read_edge(text)
        if number is None:
            return f"{side} is no number: {quote_name(text)}" if text else f"{side} is missing"
        numbers.append(number)
    box = Box(*numbers)
    if box.right <= box.left or box.bottom <= box.top:
        return f"the box {write_box(box)} has no area"
    return box


def write_box(box: Box) -> str:
    """Write a box as it stands in messages.

    Examples
    --------
    >>> write_box(Box(1, 2, 5, 9))
    '(1, 2) to (5, 9)'
    """
    return f"({box.left}, {box.top}) to ({box.right}, {box.bottom})"


def _read_edge(text: str) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return math.floor(number + 0.5) if abs(number) < LARGEST_COORDINATE else None
