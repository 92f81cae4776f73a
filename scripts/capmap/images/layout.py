"""Where patches go: Algorithm 1 of Anzaku et al. (2024), on numbers alone."""

from collections.abc import Mapping, Sequence
from math import isqrt

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.wording import join_words

IntArray = npt.NDArray[np.int64]


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
