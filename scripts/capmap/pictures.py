"""Which image files are read, and how they are opened: both to cut objects and to classify."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, UnidentifiedImageError

FORMATS = ("BMP", "JPEG", "PNG", "TIFF", "WEBP")
SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
LARGEST_IMAGE = 1 << 27


class UnusableImageError(Exception):
    """An image that cannot be used; the message says why, as a sentence without its end."""


@contextmanager
def open_picture(path: str | Path) -> Iterator[Image.Image]:
    """Open an image file, and tell every fault of its header or pixels in one way.

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
        If the file cannot be read, is no such image, truncated or corrupt, or has more than 2^27
        pixels; whether found here or inside the block.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=FORMATS) as image:
                if image.width * image.height > LARGEST_IMAGE:
                    raise UnusableImageError("the image has more than 2^27 pixels")
                yield image
    except UnusableImageError:
        raise
    except UnidentifiedImageError as error:
        raise UnusableImageError("the file is no image, or a corrupt one") from error
    except Image.DecompressionBombError as error:
        raise UnusableImageError("the image has more than 2^27 pixels") from error
    except (FileNotFoundError, PermissionError) as error:
        raise UnusableImageError(f"the file cannot be read ({error.strerror})") from error
    # Decoders of hostile bytes raise nearly anything, struct.error and SyntaxError among it.
    except Exception as error:
        raise UnusableImageError(f"the image is corrupt ({error})") from error
