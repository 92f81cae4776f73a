"""Crops of annotated objects: cut one image at a time, kept in one archive with an index."""

import csv
import math
import os
import tarfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree import ElementTree

import pandas as pd
from PIL import Image, UnidentifiedImageError

from capmap.artifacts import replace_file
from capmap.errors import ValidationError
from capmap.wording import count_things, find_nearest, list_names, quote_name

FORMATS = ("BMP", "JPEG", "PNG", "TIFF", "WEBP")
SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


QUALITY = 95
LARGEST_FIELD = 1 << 24
LARGEST_COORDINATE = 1 << 31
SIDES = ("xmin", "ymin", "xmax", "ymax")
TABLE_COLUMNS = ("ImageId", "PredictionString")
GROUP = 5
CROPS = {
    "patch": "int64",
    "source": "str",
    "object": "int64",
    "label": "str",
    "left": "int64",
    "top": "int64",
    "right": "int64",
    "bottom": "int64",
    "offset": "int64",
    "bytes": "int64",
}
SKIPPED = {"source": "str", "object": "Int64", "reason": "str"}
BLOCK = 512


class UnusableImageError(Exception):
    """An image that cannot be used; the message says why, as a sentence without its end."""


@contextmanager
def open_picture(path: str | Path) -> Iterator[Image.Image]:
    """Open an image file, and report every fault of its header or pixels in one way.

    Parameters
    ----------
    path : path-like
        A BMP, JPEG, PNG, TIFF or WebP file, whatever its suffix.

    Yields
    ------
    PIL.Image.Image
        Its first frame; pixels are decoded as they are asked for, inside the block.

    Raises
    ------
    UnusableImageError
        If the file cannot be read, is no such image, truncated or corrupt; whether found here or
        inside the block.
    """
    try:
        with Image.open(path, formats=FORMATS) as image:
            yield image
    except UnusableImageError:
        raise
    except UnidentifiedImageError as error:
        raise UnusableImageError("the file is no image, or a corrupt one") from error
    # Decoders of damaged bytes raise nearly anything, struct.error and SyntaxError among it.
    except Exception as error:
        raise UnusableImageError(f"the image cannot be read ({error})") from error


class ImageFolder:
    """The images in a folder and in the folders below it, found by name.

    Parameters
    ----------
    folder : path-like
        The folder.

    Raises
    ------
    ValidationError
        If there is no image in it.

    Notes
    -----
    Image files are known by their suffix: .bmp, .jpeg, .jpg, .png, .tif, .tiff, .webp, in small or
    large letters. Names only serve to look files up; none is ever used as a path.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._paths: dict[str, list[str]] = {}
        for place, folders, files in os.walk(self._folder):
            folders.sort()
            for file in sorted(files):
                path = Path(place, file).relative_to(self._folder)
                if path.suffix.lower() in SUFFIXES:
                    for name in {path.with_suffix("").as_posix(), path.stem}:
                        self._paths.setdefault(name, []).append(path.as_posix())
        if not self._paths:
            raise ValidationError(
                f"{folder}: there is no image in this folder. Images end in {', '.join(SUFFIXES)}."
            )

    def find(self, name: str) -> Path:
        """Find an image by its path without suffix, or by its name alone.

        Raises
        ------
        UnusableImageError
            If there is none, or several.
        """
        paths = self._paths.get(name) or self._paths.get(Path(name).name) or []
        if not paths:
            raise UnusableImageError("there is no such image")
        if len(paths) > 1:
            names = list_names(paths)
            raise UnusableImageError(f"there are {count_things(len(paths), 'image')}: {names}")
        return self._folder / paths[0]

    def name(self, path: Path) -> str:
        """Name an image that `find` found, relative to the folder."""
        return path.relative_to(self._folder).as_posix()


def load_image(path: Path) -> Image.Image:
    """Load an image as RGB.

    Parameters
    ----------
    path : path
        A BMP, JPEG, PNG, TIFF or WebP file, whatever its suffix.

    Returns
    -------
    PIL.Image.Image
        The stored pixels: an EXIF orientation is not applied, because boxes refer to what is
        stored. Of several frames the first counts; transparency is dropped.

    Raises
    ------
    UnusableImageError
        If the file is no such image, truncated or corrupt.
    """
    with open_picture(path) as image:
        return image.convert("RGB")


def encode_image(image: Image.Image) -> bytes:
    """Encode an image as JPEG of quality 95 without color subsampling."""
    stream = BytesIO()
    image.save(stream, "JPEG", quality=QUALITY, subsampling=0)
    return stream.getvalue()


def shrink_image(content: bytes, size: tuple[int, int]) -> Image.Image:
    """Decode a JPEG and resize it, bicubic.

    Parameters
    ----------
    content : bytes
        The JPEG.
    size : (int, int)
        New width and height in pixels.

    Notes
    -----
    The decoder itself halves the image as long as that leaves it no smaller than `size`, which
    saves about half the time.
    """
    with Image.open(BytesIO(content), formats=["JPEG"]) as image:
        image.draft("RGB", size)
        return image.resize(size, Image.Resampling.BICUBIC)


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


class Crop(NamedTuple):
    """An object cut from its image: names, box, and the JPEG of its pixels."""

    source: str
    object: int
    label: str
    box: Box
    content: bytes


def cut_crops(
    annotations: Iterable[Annotation], images: ImageFolder, *, classes: Collection[str] = ()
) -> Iterator[Crop | Skipped]:
    """Cut annotated objects from their images, one image at a time.

    Parameters
    ----------
    annotations : iterable of Annotation
        Such as from `capmap.images.annotations.read_annotations`.
    images : ImageFolder
        Where the images are.
    classes : collection of str, optional
        Known labels; all labels are known when empty.

    Yields
    ------
    Crop or Skipped
        In the order of annotations. What is at fault is yielded instead of its crop, and no other
        object of the image suffers.

    Notes
    -----
    A box that leaves the image is not clipped but skipped, even if it does so by one pixel only. An
    annotation for an image of another size is skipped as a whole, because its boxes do not belong
    to the stored pixels; this also finds boxes drawn on an image that was turned by its EXIF
    orientation. An image is opened only if an object is left to be cut.
    """
    known = frozenset(classes)
    for annotation in annotations:
        yield from annotation.skipped
        objects = []
        for one in annotation.objects:
            if known and one.label not in known:
                yield Skipped(annotation.image, one.number, _explain_class(one.label, known))
            else:
                objects.append(one)
        if objects:
            yield from _cut_objects(annotation, objects, images)


def _cut_objects(
    annotation: Annotation, objects: Iterable[AnnotatedObject], images: ImageFolder
) -> Iterator[Crop | Skipped]:
    source = annotation.image
    try:
        path = images.find(source)
        source = images.name(path)
        image = load_image(path)
    except UnusableImageError as error:
        yield Skipped(source, None, str(error))
        return
    if annotation.size not in (None, image.size):
        yield Skipped(source, None, _explain_size(annotation, image))
        return
    for number, label, box in objects:
        if box.left < 0 or box.top < 0 or box.right > image.width or box.bottom > image.height:
            edge = f"the image of {image.width} x {image.height} pixels"
            yield Skipped(source, number, f"the box {write_box(box)} leaves {edge}")
        else:
            yield Crop(source, number, label, box, encode_image(image.crop(box)))


def write_crops(
    found: Iterable[Crop | Skipped], archive: str | Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write crops into one archive.

    Parameters
    ----------
    found : iterable of Crop or Skipped
        From `cut_crops`; one crop is held at a time.
    archive : path-like
        Where to write the crops: an uncompressed tar file of JPEG images, replaced as a whole.

    Returns
    -------
    crops : pandas.DataFrame
        A row per crop: ``patch`` (its number, from 0), ``source`` (image), ``object`` (number in
        the annotation, from 1), ``label``, the box ``left``, ``top``, ``right``, ``bottom`` in
        pixels, and ``offset`` and ``bytes``, where the JPEG stands in the archive.
    skipped : pandas.DataFrame
        What was not cut: ``source`` (image or annotation), ``object`` (NA for all of it) and
        ``reason``.

    Raises
    ------
    ValidationError
        If there is no crop at all; the most frequent fault is named.

    Notes
    -----
    One file holds any number of crops without a folder of as many files; any tar program unpacks
    it. Equal crops give equal bytes.
    """
    rows: list[tuple[object, ...]] = []
    skipped: list[Skipped] = []
    with replace_file(archive) as stream:
        for one in found:
            if isinstance(one, Skipped):
                skipped.append(one)
            else:
                offset = _append_member(stream, f"{len(rows):08d}.jpg", one.content)
                rows.append((len(rows), *one[:3], *one.box, offset, len(one.content)))
        stream.write(bytes(2 * BLOCK))
        faults = pd.DataFrame(skipped, columns=list(SKIPPED)).astype(SKIPPED)
        if not rows:
            raise ValidationError(_explain_nothing(faults))
    return pd.DataFrame(rows, columns=list(CROPS)).astype(CROPS), faults


def _append_member(stream: IO[bytes], name: str, content: bytes) -> int:
    """Append a file to a tar archive, and say where its content starts."""
    header = tarfile.TarInfo(name)
    header.size = len(content)
    stream.write(header.tobuf(tarfile.USTAR_FORMAT))
    offset = stream.tell()
    stream.write(content + bytes(-len(content) % BLOCK))
    return offset


def _explain_class(label: str, known: Collection[str]) -> str:
    near = find_nearest(label, known)
    hint = f"; did you mean {quote_name(near)}?" if near else ""
    return f"{quote_name(label)} is not in the list of classes{hint}"


def _explain_size(annotation: Annotation, image: Image.Image) -> str:
    width, height = annotation.size or (0, 0)
    return (
        f"the annotation is for an image of {width} x {height} pixels, "
        f"the image has {image.width} x {image.height}"
    )


def _explain_nothing(skipped: pd.DataFrame) -> str:
    if skipped.empty:
        return "patchml: nothing is annotated, so there is no object to cut."
    reason, _ = Counter(skipped["reason"]).most_common(1)[0]
    return (
        f"patchml: no object could be cut; {count_things(len(skipped), 'fault')} "
        f"found. The most frequent: {reason}. Check patchml.images, patchml.annotations "
        "and the list of classes."
    )
