"""PatchML: datasets of images with several labels, composed of annotated objects."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import pandas as pd
from PIL import Image

from capmap.artifacts import render_csv, replace_file
from capmap.errors import ValidationError
from capmap.images.crops import encode_image, shrink_image
from capmap.wording import count_things, join_words

IntArray = npt.NDArray[np.int64]
BOX = ("left", "top", "right", "bottom")
MANIFEST = (
    *("image", "count", "size", "label", "source", "object"),
    *BOX,
    *(f"source_{side}" for side in BOX),
)
BATCH = 500
Tally = Counter[tuple[int, int, int]]
OTHER = "other"
PAIRS = ("dataset", "count", "size", "objects", "images", "fewer_labels", "unused")


def choose_pairs(
    *, counts: Sequence[int], sizes: Mapping[str, int], side: int
) -> list[tuple[int, int]]:
    """Choose the size of the patches of each count.

    Parameters
    ----------
    counts : sequence of int
        Patches per image, each at least 1.
    sizes : mapping of str to int
        Side of the square, in pixels, that a patch is resized to fit, of some counts. Others have
        the largest that fits: ``side // ⌈√count⌉``.
    side : int
        Side S of the canvas in pixels.

    Returns
    -------
    list of (int, int)
        Count n and size s, in ascending order.

    Raises
    ------
    ValidationError
        If a pair does not fit, or a size is of none of the counts.

    Notes
    -----
    A pair fits when n ≤ cols² with cols = ⌊S / s⌋. The paper's other condition, n·s² ≤ S², follows.
    The published numbers of images, times their number of patches, are one pool for each count, see
    `draw_sets`; so each count has one size of its own.

    References
    ----------
    E. T. Anzaku, S. A. Mousavi, A. Van Messem and W. De Neve, "Re-assessing ImageNet: how aligned
    is its single-label assumption with its multi-label nature?", arXiv:2412.18409, 2024.

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
    pairs = sorted({(n, sizes.get(str(n), side // (isqrt(n - 1) + 1))) for n in counts})
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

    Parameters
    ----------
    pool : int
        How many patches there are.
    count : int
        How many patches make a set.
    rng : numpy.random.Generator
        Draws the order.

    Returns
    -------
    numpy.ndarray of int64, shape (⌊pool / count⌋, count)
        Places of patches in the pool; no place occurs twice.

    Notes
    -----
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

    Parameters
    ----------
    width, height : int
        Of the patch, in pixels, at least 1.
    size : int
        Side of the square to fit.

    Returns
    -------
    (int, int)
        Width and height, at least 1.

    Notes
    -----
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
    sizes: Sequence[tuple[int, int]],
    *,
    size: int,
    side: int,
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Place resized patches on the canvas: each at a random offset in a cell of its own.

    Patch i is in row ⌊i / cols⌋ and column i mod cols of the grid.

    Parameters
    ----------
    sizes : sequence of (int, int)
        Width and height of the resized patches, none above `size`.
    size : int
        The patch size s that sets the grid: cols × cols cells with cols = ⌊side / s⌋.
    side : int
        Side of the canvas.
    rng : numpy.random.Generator
        Draws offsets.

    Returns
    -------
    list of (int, int)
        Left and upper edge of each patch.

    Notes
    -----
    Cells share the whole canvas, so they may be larger than s × s; their sides differ by one pixel
    at most. All offsets that keep a patch inside its cell are equally likely.
    """
    edges = list_edges(size=size, side=side)
    cols = len(edges) - 1
    places = []
    for cell, (width, height) in enumerate(sizes):
        row, column = divmod(cell, cols)
        left = rng.integers(edges[column], edges[column + 1] - width, endpoint=True)
        top = rng.integers(edges[row], edges[row + 1] - height, endpoint=True)
        places.append((int(left), int(top)))
    return places


def list_edges(*, size: int, side: int) -> list[int]:
    """Edges of the columns, and of the rows, of the grid.

    Examples
    --------
    >>> list_edges(size=74, side=224)
    [0, 74, 149, 224]
    """
    cols = side // size
    return [column * side // cols for column in range(cols + 1)]


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
    """Plan all images: which patches they have, and where.

    Parameters
    ----------
    crops : pandas.DataFrame
        From `capmap.images.crops.write_crops`: the pool.
    pairs : sequence of (int, int)
        Counts and sizes, from `capmap.images.layout.choose_pairs`.
    side : int
        Side of the canvas in pixels.
    make_rng : callable
        Makes a random generator: ``make_rng(purpose, count, size)`` with purpose ``"sets"`` or
        ``"places"`` and numbers as text.

    Yields
    ------
    Plan
        Pair by pair. Each pair starts with the whole pool and has random streams of its own, so
        adding a pair changes no image of another.
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
    """Compose an image.

    Parameters
    ----------
    plan : Plan
        What goes where.
    contents : sequence of bytes
        The JPEGs of its patches.
    side : int
        Side of the canvas in pixels.

    Returns
    -------
    bytes
        A JPEG: the resized patches on black.
    """
    canvas = Image.new("RGB", (side, side))
    for (left, top, right, bottom), content in zip(plan.boxes, contents, strict=True):
        canvas.paste(shrink_image(content, (right - left, bottom - top)), (left, top))
    return encode_image(canvas)


@contextmanager
def replace_folder(path: str | Path) -> Iterator[Path]:
    """Make an empty folder that takes the place of `path` once all went well."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        yield fresh
        if path.exists():
            shutil.rmtree(path)
        fresh.replace(path)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write_images(
    plans: Iterable[Plan],
    crops: pd.DataFrame,
    *,
    archive: str | Path,
    folder: str | Path,
    labels: str | Path,
    manifest: str | Path,
    side: int,
) -> Tally:
    """Compose and write images, their labels and their manifest.

    Parameters
    ----------
    plans : iterable of Plan
        From `plan_images`; one image is held at a time.
    crops : pandas.DataFrame
        The pool, from `capmap.images.crops.write_crops`.
    archive : path-like
        The archive of the crops.
    folder : path-like
        Where to write the images; an earlier folder of this name is replaced.
    labels : path-like
        Where to write a JSON object: file name of an image to its labels, sorted, each once.
    manifest : path-like
        Where to write a CSV table with a row per patch: ``image``, ``count`` and ``size`` of the
        pair, ``label``, ``source`` (image) and ``object`` (number in the annotation) that it is
        cut from, its box on the canvas (``left``, ``top``, ``right``, ``bottom``) and its box in
        the source (``source_left`` …).
    side : int
        Side of the canvas in pixels.

    Returns
    -------
    counter of (int, int, int)
        How many images there are of each count and size with how many labels.

    Raises
    ------
    ValidationError
        If no image can be composed because the pool is too small, or the archive does not belong
        to the table of crops.

    Notes
    -----
    Nothing is put in place before all is written. The label set of an image is the union of its
    patches' labels, so it may have fewer labels than patches.
    """
    tally: Tally = Counter()
    with (
        replace_folder(folder) as fresh,
        replace_file(labels) as label_stream,
        replace_file(manifest) as manifest_stream,
        open(archive, "rb") as crop_stream,
    ):
        for batch in _cut_batches(plans):
            rows = _list_patches(batch, crops)
            contents = _read_crops(crop_stream, rows)
            for plan in batch:
                own = list(islice(contents, len(plan.patches)))
                (fresh / plan.name).write_bytes(_compose(plan, own, side))
            sets = _unite_labels(rows)
            label_stream.write(_render_labels(sets, first=not tally).encode())
            table = render_csv(rows[list(MANIFEST)])
            manifest_stream.write((table.split("\n", 1)[1] if tally else table).encode())
            tally.update((plan.count, plan.size, len(sets[plan.name])) for plan in batch)
        if not tally:
            raise ValidationError(
                f"patchml.counts: {count_things(len(crops), 'cut object')}, too few for any image. "
                "Annotate more images, or ask for fewer patches per image."
            )
        label_stream.write(b"\n}\n")
    return tally


def tabulate_labels(tally: Tally, *, dataset: str, counts: Sequence[int]) -> pd.DataFrame:
    """Tabulate how many images have how many labels.

    Parameters
    ----------
    tally : counter
        What `write_images` returns.
    dataset : str
        Name of the dataset.
    counts : sequence of int
        Numbers of labels with a column of their own: the counts of patches.

    Returns
    -------
    pandas.DataFrame
        One row: ``dataset``, a column per count, and ``other``: images in which patches share a
        label, so that their number of labels is none of the counts.

    Examples
    --------
    >>> tabulate_labels(Counter({(3, 20, 3): 40, (3, 20, 1): 2}), dataset="P", counts=[3, 2])
      dataset  2   3  other
    0       P  0  40      2
    """
    images = dict.fromkeys([*map(str, sorted(set(counts))), OTHER], 0)
    for (_, _, labels), number in tally.items():
        images[str(labels) if labels in counts else OTHER] += number
    return pd.DataFrame([{"dataset": dataset, **images}])


def tabulate_pairs(
    tally: Tally, *, dataset: str, objects: int, pairs: Sequence[tuple[int, int]]
) -> pd.DataFrame:
    """Tabulate what became of the pool of objects for each count and size.

    Parameters
    ----------
    tally : counter
        What `write_images` returns.
    dataset : str
        Name of the dataset.
    objects : int
        Number of objects in the pool.
    pairs : sequence of (int, int)
        Counts and sizes.

    Returns
    -------
    pandas.DataFrame
        A row per pair: ``dataset``, ``count``, ``size``, ``objects``, ``images``, ``fewer_labels``
        (images whose objects share a label) and ``unused`` (objects in no image).

    Examples
    --------
    >>> tabulate_pairs(Counter({(3, 20, 3): 4}), dataset="P", objects=14, pairs=[(3, 20)])
      dataset  count  size  objects  images  fewer_labels  unused
    0       P      3    20       14       4             0       2
    """
    rows = []
    for count, size in pairs:
        own = {key[2]: number for key, number in tally.items() if key[:2] == (count, size)}
        images, fewer = sum(own.values()), sum(own.values()) - own.get(count, 0)
        rows.append((dataset, count, size, objects, images, fewer, objects - count * images))
    return pd.DataFrame(rows, columns=list(PAIRS))


def _cut_batches(plans: Iterable[Plan]) -> Iterator[list[Plan]]:
    remaining = iter(plans)
    while batch := list(islice(remaining, BATCH)):
        yield batch


def _list_patches(batch: Sequence[Plan], crops: pd.DataFrame) -> pd.DataFrame:
    """The patches of some images: the rows of the manifest, and where they stand in the archive."""
    counts = [len(plan.patches) for plan in batch]
    rows = crops.take(np.concatenate([plan.patches for plan in batch])).reset_index(drop=True)
    rows = rows.rename(columns={side: f"source_{side}" for side in BOX})
    for column, values in {
        "image": [plan.name for plan in batch],
        "count": [plan.count for plan in batch],
        "size": [plan.size for plan in batch],
    }.items():
        rows[column] = np.repeat(np.array(values, dtype=object), counts)
    rows[list(BOX)] = np.concatenate([plan.boxes for plan in batch])
    return rows


def _unite_labels(rows: pd.DataFrame) -> dict[str, list[str]]:
    images = rows.groupby("image", sort=False)["label"]
    return {str(name): sorted(set(labels)) for name, labels in images}


def _read_crops(archive: IO[bytes], rows: pd.DataFrame) -> Iterator[bytes]:
    for offset, size in zip(rows["offset"].tolist(), rows["bytes"].tolist(), strict=True):
        archive.seek(offset)
        yield archive.read(size)


def _compose(plan: Plan, contents: Sequence[bytes], side: int) -> bytes:
    try:
        return compose_image(plan, contents, side=side)
    except (OSError, Image.DecompressionBombError) as error:
        raise ValidationError(
            "patchml: the archive of crops does not belong to its table; remove both, and run the "
            f"workflow again. ({error})"
        ) from error


def _render_labels(sets: Mapping[str, Sequence[str]], *, first: bool) -> str:
    lines = [
        f"  {json.dumps(name)}: {json.dumps(labels, ensure_ascii=False)}"
        for name, labels in sets.items()
    ]
    return ("{\n" if first else ",\n") + ",\n".join(lines)
