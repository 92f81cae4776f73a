"""Dumps of scores: ``.npy`` mapped into memory, ``.npz`` read, neither ever unpickled."""

import lzma
import struct
import tokenize
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from capmap.exports.files import LARGEST, read_content, refuse
from capmap.exports.label_files import Entry, check_images
from capmap.wording import list_names

Array = npt.NDArray[Any]

NPY = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
SCORES, IDS = "scores", "ids"
REMEDY = "Save the scores with numpy.savez(path, scores=…, ids=…), where ids may be left out."
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


def open_scores(path: str, *, n_classes: int | None = None, limit: int = LARGEST) -> Dump:
    """Open the scores of a classifier for the images of a dataset.

    Parameters
    ----------
    path : str
        The dump, known by its first bytes: ``.npy`` with floats of shape (images, classes), or
        ``.npz`` with the same as ``scores`` (or the only array) and perhaps image ids as ``ids``.
    n_classes : int, optional
        Number of classes that it must have; unknown by default.
    limit : int, optional
        Largest size of a packed array in bytes, 1 GiB by default: it cannot be mapped.

    Returns
    -------
    Dump

    Raises
    ------
    UnreadableExportError
        When the dump cannot be read, is cut off, pickled or no floats, has nothing along an axis,
        or has another number of classes.

    Notes
    -----
    Scores may be logits or probabilities. NaN is for who ranks them to find.
    """
    head = read_content(path, limit=len(NPY))
    if not head.startswith((NPY, ZIP)):
        reason = "The file is no array of NumPy, .npy or .npz."
        raise refuse("not_an_array", path, reason, REMEDY)
    try:
        if head.startswith(ZIP):
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
                dump = _read_archive(archive, path, limit)
        else:
            dump = Dump(np.load(path, mmap_mode="r", allow_pickle=False))
    except DAMAGE as error:
        reason = f"The array cannot be read ({error})."
        raise refuse("damaged_array", path, reason, f"Copy it again. {REMEDY}") from error
    _require_scores(dump.scores, path)
    if dump.images is not None:
        check_images([Entry(image, []) for image in dump.images], path)
    found = dump.scores.shape[1]
    if n_classes not in (None, found):
        raise refuse(
            "wrong_classes",
            path,
            f"There are scores of {found} classes, and {n_classes} are expected.",
            "Check that the class list is that of the classifier, background classes included.",
        )
    return dump


def _read_archive(archive: Any, path: str, limit: int) -> Dump:
    """Read the array of scores, which is called so or the only one, and perhaps ids."""
    names = [SCORES] if SCORES in archive.files else [n for n in archive.files if n != IDS]
    if len(names) != 1:
        found = f"the arrays {list_names(archive.files)}" if archive.files else "no array"
        reason = f"The archive has {found}; it is not clear which one holds the scores."
        raise refuse("no_scores", path, reason, REMEDY)
    names += [IDS] if IDS in archive.files else []
    for name in names:
        size = archive.zip.getinfo(f"{name}.npy").file_size
        if size > limit:
            reason = f"The array {name!r} has {size} bytes; packed ones may have {limit}."
            raise refuse("too_large", path, reason, "Save the scores as .npy, which is mapped.")
    scores, *others = (archive[name] for name in names)
    for ids in others:
        if ids.dtype.kind != "U" or ids.shape != scores.shape[:1]:
            reason = f"The ids hold {ids.dtype.name} of shape {ids.shape}, not a text per image."
            raise refuse("wrong_ids", path, reason, "Save them with numpy.array(ids, dtype=str).")
        return Dump(scores, [str(text).strip() for text in ids.tolist()])
    return Dump(scores)


def _require_scores(scores: Array, path: str) -> None:
    """Refuse what is no table of floats with at least one image and one class."""
    kind, shape = scores.dtype, scores.shape
    if kind.kind != "f" or kind.itemsize > 8:
        remedy = "Save logits or probabilities, such as scores.astype(numpy.float32)."
        reason = f"The array holds {kind.name}, not float16, float32 or float64."
        raise refuse("wrong_type", path, reason, remedy)
    if len(shape) != 2:
        reason = f"The array has the shape {shape}, not images by classes."
        remedy = "Save a row per image and a column per class, all batches in one array."
        raise refuse("wrong_shape", path, reason, remedy)
    if min(shape) < 1:
        reason = f"The array has {shape[0]} images and {shape[1]} classes."
        raise refuse("no_rows", path, reason, "Save it again, or leave it out.")
