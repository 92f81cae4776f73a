"""Crops of annotated objects: cut one image at a time, kept in one archive with an index."""

import tarfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import pandas as pd
from PIL import Image

from capmap.artifacts import replace_file
from capmap.errors import ValidationError
from capmap.images.annotations import AnnotatedObject, Annotation, Box, Skipped, write_box
from capmap.images.pictures import ImageFolder, UnusableImageError, encode_image, load_image
from capmap.wording import count_things, find_nearest, quote_name

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
