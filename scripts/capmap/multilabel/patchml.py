"""PatchML: annotated objects, cut from their images and composed to images with several labels.

E. T. Anzaku, S. A. Mousavi, A. Van Messem and W. De Neve, "Re-assessing ImageNet: how aligned is
its single-label assumption with its multi-label nature?", arXiv:2412.18409, 2024.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from zipfile import ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt
import pandas as pd
from PIL import Image

from capmap.artifacts import render_csv, replace_file, write_text
from capmap.errors import ValidationError
from capmap.exports.sheets import open_sheet
from capmap.problems import UnreadableExportError
from capmap.wording import count_things, join_words, list_names, quote_name

IntArray = npt.NDArray[np.int64]
FORMATS = ("BMP", "JPEG", "PNG", "TIFF", "WEBP")
SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
QUALITY = 95
LARGEST_COORDINATE = 1 << 31
SIDES = ("xmin", "ymin", "xmax", "ymax")
TABLE_COLUMNS = ("ImageId", "PredictionString")
GROUP = 5
BOX = ("left", "top", "right", "bottom")
CROPS = {"patch": "int64", "source": "str", "object": "int64", "label": "str"}
CROPS |= dict.fromkeys(BOX, "int64")
# Its name in the archive, by its number.
CROP = "{:08d}.jpg"
SKIPPED = {"source": "str", "object": "Int64", "reason": "str"}
MANIFEST = (
    *("image", "count", "size", "label", "source", "object"),
    *BOX,
    *(f"source_{side}" for side in BOX),
)


class Box(NamedTuple):
    """A box by its edges in pixels, from the left and upper edge of the stored image.

    Pixels ``left`` to ``right - 1`` and ``top`` to ``bottom - 1`` are inside.
    """

    left: int
    top: int
    right: int
    bottom: int

    def __str__(self) -> str:
        """The box as it stands in messages."""
        return f"({self.left}, {self.top}) to ({self.right}, {self.bottom})"


class Annotation(NamedTuple):
    """The objects of an image, as they are written down.

    Parameters
    ----------
    image : str
        What the image is called: its path below the folder of images, or its name, without suffix.
    objects : list of (str, list of str)
        Label and edges of each object: left, upper, right, lower.
    fault : str
        What is wrong with all of it.
    """

    image: str
    objects: Sequence[tuple[str, Sequence[str]]]
    fault: str = ""


class Skipped(NamedTuple):
    """What cannot be used: the image, the object's number (from 1) if it is one, and why."""

    source: str
    object: int | None
    reason: str


def read_annotations(path: str | Path) -> Iterator[Annotation]:
    """Read annotations one image at a time, in order of names.

    Of a folder, every ``.xml`` file, also in folders below, is a PASCAL-VOC annotation of the image
    with its own file name; what the file says inside is ignored. Only an object's own ``name`` and
    ``bndbox`` count, not those of its parts. Else it is a table with the columns ``ImageId`` and
    ``PredictionString``, which is made of groups ``class x1 y1 x2 y2``. Rows of one ``ImageId`` are
    joined, and numbered in order of their text.
    """
    folder = Path(path)
    if not folder.is_dir():
        yield from _read_table(str(path))
        return
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() == ".xml")
    if not files:
        raise ValidationError(
            f"{folder}: there is no PASCAL-VOC annotation (.xml) in this folder. Name the folder "
            "that has them, or a table with the columns ImageId and PredictionString (.csv)."
        )
    for file in files:
        yield _read_voc(file, file.relative_to(folder).with_suffix("").as_posix())


def _read_voc(path: Path, image: str) -> Annotation:
    try:
        root = ElementTree.fromstring(path.read_bytes())  # noqa: S314
    except (ElementTree.ParseError, LookupError, ValueError, OSError) as error:
        return Annotation(image, [], f"the annotation cannot be read: {error}")
    objects = [
        (
            (element.findtext("name") or "").strip(),
            [element.findtext(f"bndbox/{side}") or "" for side in SIDES],
        )
        for element in root.findall("object")
    ]
    return Annotation(image, objects, "" if objects else "no object is annotated")


def _read_table(path: str) -> Iterator[Annotation]:
    sheet = open_sheet(path, wanted=TABLE_COLUMNS)
    if missing := [name for name in TABLE_COLUMNS if name not in sheet.columns]:
        raise ValidationError(
            f"{path}: the column {quote_name(missing[0])} is missing. Annotations need the "
            "columns ImageId and PredictionString."
        )
    cells = sheet.read_cells(TABLE_COLUMNS)
    if cells.problems:
        raise UnreadableExportError(*cells.problems[:1])
    images, texts = (cells.columns[name].to_pylist() for name in TABLE_COLUMNS)
    for image, rows in groupby(sorted(zip(images, texts, strict=True)), key=itemgetter(0)):
        words = [word for _, text in rows for word in text.split()]
        if not words or len(words) % GROUP:
            fault = f"{len(words)} words are no groups of a class and four numbers"
            yield Annotation(image, [], fault)
            continue
        groups = [words[start : start + GROUP] for start in range(0, len(words), GROUP)]
        yield Annotation(image, [(label, edges) for label, *edges in groups])


def read_box(label: str, texts: Sequence[str], classes: Collection[str] = ()) -> Box | str:
    """An object's box, or what is wrong with the object.

    Coordinates are edges of the box in pixels: x1 = 0 is the image's left edge and x2 = its width
    the right one. Numbers with decimals go to the nearest edge. A box whose edges meet or stand the
    wrong way around has zero area.

    Examples
    --------
    >>> read_box("cat", ["1", "2.4", "5", "9"]), read_box("cat", ["1", "", "5", "9"])
    (Box(left=1, top=2, right=5, bottom=9), 'ymin is missing')
    """
    if not label:
        return "the object has no class"
    if classes and label not in classes:
        return f"{quote_name(label)} is not in the list of classes"
    numbers = []
    for side, text in zip(SIDES, texts, strict=True):
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not abs(number) < LARGEST_COORDINATE:
            return f"{side} is no number: {quote_name(text)}" if text else f"{side} is missing"
        numbers.append(math.floor(number + 0.5))
    box = Box(*numbers)
    has_area = box.right > box.left and box.bottom > box.top
    return box if has_area else f"the box {box} has no area"


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
        for file in sorted(self._folder.rglob("*")):
            if file.suffix.lower() in SUFFIXES:
                path = file.relative_to(self._folder)
                for name in {path.with_suffix("").as_posix(), path.stem}:
                    self._paths.setdefault(name, []).append(path.as_posix())
        if not self._paths:
            raise ValidationError(
                f"{folder}: there is no image in this folder. Images end in {', '.join(SUFFIXES)}."
            )

    def load(self, name: str) -> tuple[str, Image.Image | str]:
        """Load an image as RGB by its path without suffix or its name alone, or say what is wrong.

        Its pixels are as stored, to which boxes refer: an EXIF orientation is not applied. Of
        several frames the first counts; transparency is dropped.
        """
        paths = self._paths.get(name) or self._paths.get(Path(name).name) or []
        if not paths:
            return name, "there is no such image"
        if len(paths) > 1:
            return name, f"there are {count_things(len(paths), 'image')}: {list_names(paths)}"
        try:
            with Image.open(self._folder / paths[0], formats=FORMATS) as image:
                return paths[0], image.convert("RGB")
        # Decoders of damaged bytes raise nearly anything, struct.error and SyntaxError among it.
        except Exception:
            return paths[0], "the file is no image, or a damaged one"


def encode_image(image: Image.Image) -> bytes:
    """Encode an image as JPEG of quality 95 without color subsampling."""
    stream = BytesIO()
    image.save(stream, "JPEG", quality=QUALITY, subsampling=0)
    return stream.getvalue()


def write_crops(
    annotations: Iterable[Annotation],
    images: ImageFolder,
    archive: str | Path,
    *,
    classes: Collection[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cut annotated objects from their images, one image at a time, and write a ZIP of JPEG.

    A box that leaves the image is not clipped but skipped, even if it does so by one pixel only. An
    image is opened only if an object is left to be cut.
    """
    rows: list[tuple[object, ...]] = []
    skipped: list[Skipped] = []
    with replace_file(archive) as stream, ZipFile(stream, "w") as file:
        for found in chain.from_iterable(_cut_objects(one, images, classes) for one in annotations):
            if isinstance(found, Skipped):
                skipped.append(found)
                continue
            picture, *row = found
            file.writestr(ZipInfo(CROP.format(len(rows))), encode_image(picture))
            rows.append((len(rows), *row))
        if not rows:
            reasons = Counter(one.reason for one in skipped).most_common(1)
            most = f"The most frequent fault: {reasons[0][0]}" if reasons else "None is annotated"
            raise ValidationError(
                f"patchml: no object could be cut. {most}. Check patchml.images, "
                "patchml.annotations and the list of classes."
            )
    faults = pd.DataFrame(skipped, columns=list(SKIPPED)).astype(SKIPPED)
    return pd.DataFrame(rows, columns=list(CROPS)).astype(CROPS), faults


def _cut_objects(
    annotation: Annotation, images: ImageFolder, classes: Collection[str]
) -> Iterator[Skipped | tuple[Any, ...]]:
    """Objects cut from their image, and what they are in the table of crops."""
    source = annotation.image
    if annotation.fault:
        yield Skipped(source, None, annotation.fault)
    objects = []
    for number, (label, edges) in enumerate(annotation.objects, start=1):
        box = read_box(label, edges, classes)
        if isinstance(box, str):
            yield Skipped(source, number, box)
        else:
            objects.append((number, label, box))
    if not objects:
        return
    source, image = images.load(source)
    if isinstance(image, str):
        yield Skipped(source, None, image)
        return
    for number, label, box in objects:
        if box.left < 0 or box.top < 0 or box.right > image.width or box.bottom > image.height:
            edge = f"the image of {image.width} x {image.height} pixels"
            yield Skipped(source, number, f"the box {box} leaves {edge}")
        else:
            yield image.crop(box), source, number, label, *box


def choose_pairs(
    *, counts: Sequence[int], sizes: Mapping[str, int], side: int
) -> list[tuple[int, int]]:
    """Choose the size of the patches of each count: where none is given the largest that fits.

    A pair fits when n ≤ cols² with cols = ⌊S / s⌋. The paper's other condition, n·s² ≤ S², follows.
    The published numbers of images, times their number of patches, are one pool for each count, see
    `draw_sets`; so each count has one size of its own.

    Examples
    --------
    >>> choose_pairs(counts=[2, 9], sizes={"9": 56}, side=224)
    [(2, 112), (9, 56)]
    """
    if unused := sorted(set(map(int, sizes)) - set(counts)):
        raise ValidationError(
            f"patchml.sizes: {unused[0]} is none of patchml.counts, which are "
            f"{join_words(list(map(str, counts)))}. Add it there, or leave its size out."
        )
    pairs = sorted({(n, sizes.get(str(n), side // (math.isqrt(n - 1) + 1))) for n in counts})
    for count, size in pairs:
        if not size or count > (side // size) ** 2:
            raise ValidationError(
                f"patchml.sizes: {count} patches of {size} pixels do not fit a canvas of {side} x "
                f"{side} pixels. A count may be at most the square of side // size; choose a "
                "smaller size or a larger side."
            )
    return pairs


def draw_sets(pool: int, count: int, *, rng: np.random.Generator) -> IntArray:
    """Draw sets of patches from a pool until fewer than a set remain.

    Drawing sets without replacement, one after another, from what remains is the same as cutting
    one random order of the pool into sets.

    Each pair of count and size starts with the whole pool. The published numbers of images say
    this: times their number of patches they are 53 570, 53 573, 53 169, 52 612 and 51 561 for 2, 3,
    4, 6 and 9 labels, on average of five datasets. One pool of 53 510 patches for every count
    explains all of them within their scatter, because a few images have a label twice (1 in 1000
    pairs of patches) and so count as images with fewer labels. A pool that all counts share would
    be empty after the first.
    """
    images = pool // count
    return rng.permutation(pool)[: images * count].reshape(images, count)


def fit_size(width: int, height: int, size: int) -> tuple[int, int]:
    """Size of a patch after proportional resizing: its longer side becomes `size`.

    Small patches are enlarged, so that all patches of an image have the same longer side. The
    shorter side is rounded to the nearest pixel, halves up.

    Examples
    --------
    >>> fit_size(500, 375, 100), fit_size(1, 1000, 100), fit_size(3, 6, 100)
    ((100, 75), (1, 100), (50, 100))
    """
    longest = max(width, height)
    new = [max(1, (2 * edge * size + longest) // (2 * longest)) for edge in (width, height)]
    return new[0], new[1]


def place_patches(
    sizes: Sequence[tuple[int, int]], *, size: int, side: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Place resized patches on the canvas: each at a random offset in a cell of its own.

    Patch i is in row ⌊i / cols⌋ and column i mod cols of the grid.

    Cells share the whole canvas, so they may be larger than s × s; their sides differ by one pixel
    at most. All offsets that keep a patch inside its cell are equally likely.
    """
    cols = side // size
    edges = [column * side // cols for column in range(cols + 1)]
    places = []
    for cell, (width, height) in enumerate(sizes):
        row, column = divmod(cell, cols)
        left = rng.integers(edges[column], edges[column + 1] - width, endpoint=True)
        top = rng.integers(edges[row], edges[row + 1] - height, endpoint=True)
        places.append((int(left), int(top)))
    return places


@dataclass(frozen=True)
class Plan:
    """An image to compose.

    Parameters
    ----------
    name : str
        File name of the image.
    count, size : int
        How many patches it has, and the side of the square that each fits.
    patches : numpy.ndarray of int64
        Rows of the patches in the table of crops.
    boxes : list of (int, int, int, int)
        Left, upper, right and lower edge of each patch on the canvas.
    """

    name: str
    count: int
    size: int
    patches: IntArray
    boxes: list[tuple[int, int, int, int]]


def plan_images(
    crops: pd.DataFrame,
    *,
    pairs: Sequence[tuple[int, int]],
    side: int,
    make_rng: Callable[..., np.random.Generator],
) -> Iterator[Plan]:
    """Plan all images, pair by pair: which patches they have, and where.

    Each pair starts with the whole pool and has random streams of its own, ``make_rng(purpose,
    count, size)``, so adding a pair changes no image of another.
    """
    widths = (crops["right"] - crops["left"]).to_numpy()
    heights = (crops["bottom"] - crops["top"]).to_numpy()
    for count, size in pairs:
        names = (str(count), str(size))
        sets = draw_sets(len(crops), count, rng=make_rng("sets", *names))
        rng = make_rng("places", *names)
        for number, patches in enumerate(sets, start=1):
            sizes = [fit_size(int(widths[one]), int(heights[one]), size) for one in patches]
            places = place_patches(sizes, size=size, side=side, rng=rng)
            boxes = [
                (left, top, left + width, top + height)
                for (left, top), (width, height) in zip(places, sizes, strict=True)
            ]
            yield Plan(f"{count}x{size}_{number:07d}.jpg", count, size, patches, boxes)


def compose_image(plan: Plan, contents: Sequence[bytes], *, side: int) -> bytes:
    """Compose a JPEG of patches on black, resized bicubically.

    The decoder itself halves a patch as long as that leaves it no smaller than asked, which saves
    about half the time.
    """
    canvas = Image.new("RGB", (side, side))
    for (left, top, right, bottom), content in zip(plan.boxes, contents, strict=True):
        size = (right - left, bottom - top)
        with Image.open(BytesIO(content), formats=["JPEG"]) as patch:
            patch.draft("RGB", size)
            canvas.paste(patch.resize(size, Image.Resampling.BICUBIC), (left, top))
    return encode_image(canvas)


def write_images(
    plans: Sequence[Plan],
    crops: pd.DataFrame,
    *,
    archive: str | Path,
    folder: str | Path,
    labels: str | Path,
    manifest: str | Path,
    side: int,
) -> None:
    """Compose and write images, their labels and their manifest.

    The label set of an image is the union of its patches' labels, so it may have fewer labels than
    patches.
    """
    if not plans:
        raise ValidationError(
            f"patchml.counts: {count_things(len(crops), 'cut object')}, too few for any image. "
            "Annotate more images, or ask for fewer patches per image."
        )
    Path(folder).mkdir(parents=True, exist_ok=True)
    known = crops["label"].to_numpy(dtype=object)
    sets = {plan.name: sorted(set(known[plan.patches])) for plan in plans}
    with ZipFile(archive) as file:
        for plan in plans:
            contents = [file.read(CROP.format(patch)) for patch in plan.patches]
            Path(folder, plan.name).write_bytes(compose_image(plan, contents, side=side))
    rows = crops.take(np.concatenate([plan.patches for plan in plans])).reset_index(drop=True)
    rows = rows.rename(columns={side: f"source_{side}" for side in BOX})
    owners = [(plan.name, plan.count, plan.size) for plan in plans for _ in plan.boxes]
    rows[["image", "count", "size"]] = pd.DataFrame(owners)
    rows[list(BOX)] = list(chain.from_iterable(plan.boxes for plan in plans))
    write_text(manifest, render_csv(rows[list(MANIFEST)]))
    lines = [
        f"  {json.dumps(name)}: {json.dumps(own, ensure_ascii=False)}" for name, own in sets.items()
    ]
    write_text(labels, "{\n" + ",\n".join(lines) + "\n}\n")
