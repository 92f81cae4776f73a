"""Composed images: which patches they have, where, and their pixels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from PIL import Image

from capmap.patchml.images import encode_image, shrink_image
from capmap.patchml.layout import IntArray, draw_sets, fit_size, place_patches


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
        From `capmap.patchml.crops.write_crops`: the pool.
    pairs : sequence of (int, int)
        Counts and sizes, from `capmap.patchml.layout.choose_pairs`.
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
