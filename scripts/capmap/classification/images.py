"""Images as a classifier sees them: found by name, in RGB, resized to a square."""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from capmap.errors import ValidationError
from capmap.pictures import SUFFIXES, UnusableImageError, open_picture
from capmap.wording import count_things, list_names

WIDE_MODES = ("I", "F")

Pixels = npt.NDArray[np.uint8]


def find_images(folder: str | Path) -> list[str]:
    """Find the images in a folder and in the folders below it.

    Parameters
    ----------
    folder : path-like
        The folder.

    Returns
    -------
    list of str
        The id of each image, sorted: its path within the folder with slashes, suffix included,
        such as ``n01440764/ILSVRC2012_val_00000293.JPEG``.

    Raises
    ------
    ValidationError
        If there is no image in it, or if a name has line breaks, spaces at its ends, or bytes that
        are no UTF-8, and so cannot stand in a list of ids.

    Notes
    -----
    Image files are known by their suffix: .bmp, .jpeg, .jpg, .png, .tif, .tiff, .webp, in small or
    large letters. Files whose name starts with a dot are passed over. Folders that are links are
    not entered.
    """
    found = []
    for place, _, files in os.walk(folder):
        for file in files:
            path = Path(place, file)
            if path.suffix.lower() in SUFFIXES and not file.startswith("."):
                found.append(path.relative_to(folder).as_posix())
    if not found:
        raise ValidationError(
            f"{folder}: there is no image in this folder. Images end in {', '.join(SUFFIXES)}."
        )
    odd = [name for name in found if not _is_plain(name)]
    if odd:
        raise ValidationError(
            f"{folder}: {count_things(len(odd), 'name')} of images cannot stand in a list of ids: "
            f"{list_names(sorted(odd))}. Rename them without line breaks "
            "and spaces at their ends, in UTF-8."
        )
    return sorted(found)


def load_pixels(path: str | Path, *, size: int) -> Pixels:
    """Load an image as RGB and resize it to a square.

    Parameters
    ----------
    path : path-like
        A BMP, JPEG, PNG, TIFF or WebP file, whatever its suffix.
    size : int
        Side of the square in pixels, at least 1.

    Returns
    -------
    numpy.ndarray of uint8, shape (size, size, 3)
        Rows, columns, and red, green, blue.

    Raises
    ------
    UnusableImageError
        If the file cannot be read, is no such image, truncated or corrupt, has more than 2^27
        pixels, or holds 32-bit numbers, whose black and white are unknown.

    Notes
    -----
    - The whole image is resized, bicubic with antialiasing, whatever its shape; nothing is cropped.
    - Colors are converted as by torchvision and timm: gray is repeated, transparency is dropped
      (the color stored below it counts), CMYK is converted without a color profile.
    - Of 16-bit channels the upper 8 bits count.
    - An EXIF orientation is not applied: the stored pixels count, as for the published accuracies
      of ImageNet. Of several frames the first counts.
    """
    with open_picture(path) as image:
        return np.asarray(_convert(image).resize((size, size), Image.Resampling.BICUBIC))


def _convert(image: Image.Image) -> Image.Image:
    if image.mode in WIDE_MODES:
        raise UnusableImageError("its pixels are 32-bit numbers; save it with 8 or 16 bits")
    if image.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    return image.convert("RGB")


def _is_plain(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return [name.strip()] == name.splitlines()
