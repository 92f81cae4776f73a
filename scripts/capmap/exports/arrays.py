"""Dumps of scores: ``.npy`` mapped into memory, ``.npz`` read, neither ever unpickled."""

import lzma
import struct
import tokenize
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from capmap.exports.classes import check_images
from capmap.exports.files import LARGEST, read_content, refuse
from capmap.wording import list_names

Array = npt.NDArray[Any]

NPY = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
SCORES, IDS = "scores", "ids"
# What NumPy and its reader of archives raise of damaged files.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError),
    *(ValueError, TypeError, SyntaxError, LookupError, EOFError, OSError),
    *(RuntimeError, MemoryError, OverflowError),
)


class Dump(NamedTuple):
    """Scores of every class.

    Parameters
    ----------
    scores : numpy.ndarray of float16, float32 or float64, shape (images, classes)
        Logits or probabilities; of ``.npy`` mapped into memory.
    images : list of str or None
        The id of each image, None where the dump has none.
    """

    scores: Array
    images: list[str] | None = None


def open_scores(path: str, *, n_classes: int | None = None) -> Dump:
    """Open the scores of a classifier for the images of a dataset.

    Parameters
    ----------
    path : str
        The dump, known by its first bytes: ``.npy`` with floats of shape (images, classes), or
        ``.npz`` with the same as ``scores`` (or the only array) and perhaps image ids as ``ids``.
    n_classes : int, optional
        Number of classes that it must have; unknown by default.

    Returns
    -------
    Dump

    Raises
    ------
    UnreadableExportError
        When the dump cannot be read, is cut off, pickled or no floats, or has another number of
        classes.

    Notes
    -----
    Scores may be logits or probabilities. NaN is for who ranks them to find.
    """
    head = read_content(path, limit=len(NPY))
    if head.startswith(NPY):
        dump = Dump(map_array(path))
    elif head.startswith(ZIP):
        dump = Dump(*read_archive(path))
    else:
        reason = "The file is no array of NumPy, .npy or .npz."
        remedy = "Save the scores with numpy.savez(path, scores=…, ids=…)."
        raise refuse("not_an_array", path, reason, remedy)
    found = dump.scores.shape[1]
    if n_classes not in (None, found):
        raise refuse(
            "wrong_classes",
            path,
            f"There are scores of {found} classes, and {n_classes} are expected.",
            "Check that the class list is that of the classifier, background classes included.",
        )
    return dump


def map_array(path: str) -> Array:
    """Map the scores of an ``.npy`` file into memory.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    numpy.memmap of float16, float32 or float64, shape (images, classes)
        Read-only, in the memory order of the file.

    Raises
    ------
    UnreadableExportError
        When the file is damaged, the values are pickled or no floats, or there are not two axes or
        nothing along one.
    """
    try:
        scores: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except DAMAGE as error:
        reason = f"The array cannot be read ({error})."
        remedy = "Save it again: numpy.save(path, numpy.asarray(scores, dtype=numpy.float32))."
        raise refuse("damaged_array", path, reason, remedy) from error
    _require_scores(scores, path)
    return scores


def read_archive(path: str, *, limit: int = LARGEST) -> tuple[Array, list[str] | None]:
    """Read the scores, and image ids if there are, of an ``.npz`` file.

    Parameters
    ----------
    path : str
        The file: one array, or one called ``scores`` and perhaps one of texts called ``ids``.
    limit : int, optional
        Largest size of an array in bytes, 1 GiB by default: packed arrays cannot be mapped.

    Returns
    -------
    scores : numpy.ndarray of float16, float32 or float64, shape (images, classes)
    ids : list of str or None, shape (images,)

    Raises
    ------
    UnreadableExportError
        As in `map_array`, and when there is no such array, or one is larger than the limit.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            member = _choose_member(archive.files, path)
            names = [name for name in (member, IDS) if name in archive.files]
            for name in names:
                _require_size(archive.zip.getinfo(f"{name}.npy").file_size, name, path, limit)
            arrays = [archive[name] for name in names]
    except DAMAGE as error:
        reason = f"The archive cannot be read ({error})."
        remedy = "Copy it again, or save it again: numpy.savez(path, scores=…, ids=…)."
        raise refuse("damaged_archive", path, reason, remedy) from error
    scores = arrays[0]
    _require_scores(scores, path)
    return scores, _list_ids(arrays[1], len(scores), path) if len(arrays) > 1 else None


def _require_scores(scores: Array, path: str) -> None:
    """Refuse what is no table of floats with at least one image and one class."""
    kind, shape = scores.dtype, scores.shape
    if kind.kind != "f" or kind.itemsize > 8:
        remedy = "Save logits or probabilities, such as scores.astype(numpy.float32)."
        reason = f"The array holds {kind.name}, not float16, float32 or float64."
        raise refuse("wrong_type", path, reason, remedy)
    if len(shape) != 2:
        raise refuse(
            "wrong_shape",
            path,
            f"The array has the shape {shape}, not images by classes.",
            "Save a row per image and a column per class, all batches in one array.",
        )
    if min(shape) < 1:
        reason = f"The array has {shape[0]} images and {shape[1]} classes."
        raise refuse("no_rows", path, reason, "Save it again, or leave it out.")


def _choose_member(names: list[str], path: str) -> str:
    """Choose the array of scores: the one that is called so, or the only one."""
    others = [name for name in names if name != IDS]
    if SCORES in names:
        return SCORES
    if len(others) == 1:
        return others[0]
    found = f"the arrays {list_names(names)}" if names else "no array"
    raise refuse(
        "no_scores",
        path,
        f"The archive has {found}; it is not clear which one holds the scores.",
        "Save it with numpy.savez(path, scores=…, ids=…), where ids may be left out.",
    )


def _require_size(size: int, name: str, path: str, limit: int) -> None:
    if size > limit:
        reason = f"The array {name!r} has {size} bytes; packed ones may have {limit}."
        raise refuse("too_large", path, reason, "Save the scores as .npy, which is mapped.")


def _list_ids(ids: Array, n_images: int, path: str) -> list[str]:
    if ids.dtype.kind != "U" or ids.shape != (n_images,):
        reason = f"The ids hold {ids.dtype.name} of shape {ids.shape}, for {n_images} images."
        raise refuse("wrong_ids", path, reason, "Save them with numpy.array(ids, dtype=str).")
    images = [str(text).strip() for text in ids.tolist()]
    check_images(images, path)
    return images
