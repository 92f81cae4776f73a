"""Image files: found by name, and opened only when they are sound."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from capmap.errors import ValidationError
from capmap.wording import count_things, list_names

FORMATS = ("BMP", "JPEG", "PNG", "TIFF", "WEBP")
SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


QUALITY = 95


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
