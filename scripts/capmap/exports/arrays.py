"""Arrays of NumPy files: ``.npy`` mapped into memory, ``.npz`` read, neither ever unpickled."""

import lzma
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from capmap.exports.classes import check_images
from capmap.exports.files import LARGEST, refuse
from capmap.wording import list_names

Array = npt.NDArray[Any]

NPY = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
SCORES, IDS = "scores", "ids"
BLOCK = 1 << 24
AGAIN = "Copy it again, or save it again with numpy.save."
# What NumPy's reader of headers lets through from parsers of Python.
BAD_HEADER = (ValueError, TypeError, SyntaxError, LookupError, RecursionError, MemoryError)
BAD_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, ValueError, OSError),
)


@dataclass(frozen=True)
class _Header:
    """What stands before the values of an array."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


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
        When the header is damaged, the values are pickled or no floats, there are not two axes or
        nothing along one, or the file is shorter or longer than its header says.
    """
    try:
        with open(path, "rb") as stream:
            header = _read_header(stream, path)
            size = os.fstat(stream.fileno()).st_size - header.offset
    except OSError as error:
        reason = f"The file cannot be read ({error.strerror or error})."
        raise refuse("unreadable_file", path, reason, "Check its permissions.") from error
    _require_scores(header, path)
    _require_size(header, size, path)
    return np.memmap(
        path,
        dtype=header.dtype,
        mode="r",
        offset=header.offset,
        shape=header.shape,
        order="F" if header.is_fortran else "C",
    )


def read_archive(path: str, *, limit: int = LARGEST) -> tuple[Array, list[str] | None]:
    """Read the scores, and image ids if there are, of an ``.npz`` file.

    Parameters
    ----------
    path : str
        The file: one array, or one called ``scores`` and perhaps one of texts called ``ids``.
    limit : int, optional
        Largest size of the scores in bytes, 1 GiB by default: packed arrays cannot be mapped. Ids
        may have an eighth of it, because each becomes an object.

    Returns
    -------
    scores : numpy.ndarray of float16, float32 or float64, shape (images, classes)
    ids : list of str or None, shape (images,)

    Raises
    ------
    UnreadableExportError
        As in `map_array`, and when there is no such array, one is larger than the limit, or the
        archive is damaged. Nothing is unpacked beyond the size that the archive declares.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            member = _choose_member([name.removesuffix(".npy") for name in names], path)
            scores = _read_member(archive, member, path, limit)
            has_ids = f"{IDS}.npy" in names
            ids = _read_member(archive, IDS, path, limit // 8) if has_ids else None
    except BAD_ARCHIVE as error:
        reason = f"The archive is damaged or cut off ({error})."
        remedy = "Copy it again, or save it again with numpy.savez."
        raise refuse("damaged_archive", path, reason, remedy) from error
    return scores, None if ids is None else _list_ids(ids, len(scores), path)


def _read_header(stream: IO[bytes], path: str) -> _Header:
    try:
        version = np.lib.format.read_magic(stream)
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            shape, is_fortran, dtype = readers[version](stream)
    except (*BAD_HEADER, tokenize.TokenError) as error:
        reason = "The header of the array is damaged or of an unknown version."
        raise refuse("damaged_array", path, reason, AGAIN) from error
    return _Header(shape, is_fortran, dtype, stream.tell())


def _require_scores(header: _Header, path: str) -> None:
    """Refuse what is no table of floats with at least one image and one class."""
    kind = header.dtype
    if kind.hasobject:
        raise refuse(
            "pickled_array",
            path,
            "The array holds pickled Python objects, which are not read as they can run programs.",
            "Save it as numbers: numpy.save(path, numpy.asarray(scores, dtype=numpy.float32)).",
        )
    if kind.kind != "f" or kind.itemsize > 8:
        remedy = "Save logits or probabilities, such as scores.astype(numpy.float32)."
        if kind.kind in "iu":
            remedy += " Ids of the best classes belong into a table with the columns 1, 2, 3, …"
        reason = f"The array holds {kind.name}, not float16, float32 or float64."
        raise refuse("wrong_type", path, reason, remedy)
    shape = header.shape
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


def _require_size(header: _Header, size: int, path: str) -> None:
    """Refuse an array that has fewer or more bytes than its header says."""
    if size == header.size:
        return
    if size < header.size:
        code, remedy = "truncated_array", AGAIN
        reason = f"The array is cut off: it has {size} bytes where its header says {header.size}."
    else:
        code, remedy = "long_array", "Save all batches as one array (numpy.concatenate)."
        reason = f"There are {size - header.size} bytes behind the array, perhaps further arrays."
    raise refuse(code, path, reason, remedy)


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


def _read_member(archive: zipfile.ZipFile, name: str, path: str, limit: int) -> Array:
    size = archive.getinfo(f"{name}.npy").file_size
    if size > limit:
        reason = f"The array {name!r} has {size} bytes; packed ones may have {limit}."
        remedy = "Save the scores as .npy, which is mapped into memory."
        remedy = "Write shorter ids." if name == IDS else remedy
        raise refuse("too_large", path, reason, remedy)
    with archive.open(f"{name}.npy") as stream:
        header = _read_header(stream, path)
        if name == IDS:
            _require_texts(header, path)
        else:
            _require_scores(header, path)
        _require_size(header, size - header.offset, path)
        values = np.frombuffer(_unpack(stream, header.size), header.dtype)
    return values.reshape(header.shape, order="F" if header.is_fortran else "C")


def _unpack(stream: IO[bytes], size: int) -> bytearray:
    """Read so many bytes in parts: the whole at once would be held twice."""
    content = bytearray(size)
    for start in range(0, size, BLOCK):
        end = min(start + BLOCK, size)
        part = stream.read(end - start)
        if len(part) < end - start:
            raise EOFError("an array ends too early")
        content[start:end] = part
    return content


def _require_texts(header: _Header, path: str) -> None:
    if header.dtype.kind in "US" and len(header.shape) == 1 and header.size:
        return
    kind = "pickled objects" if header.dtype.hasobject else header.dtype.name
    reason = f"The ids are no list of texts ({kind}, shape {header.shape})."
    raise refuse("wrong_ids", path, reason, "Save them with numpy.array(ids, dtype=str).")


def _list_ids(ids: Array, n_images: int, path: str) -> list[str]:
    if len(ids) != n_images:
        reason = f"The archive has {len(ids)} ids and scores of {n_images} images."
        raise refuse("wrong_ids", path, reason, "Save one id per row of the scores.")
    try:
        texts = [item.decode() if isinstance(item, bytes) else str(item) for item in ids.tolist()]
        "".join(texts).encode()
    except ValueError as error:
        reason, remedy = "The ids are no valid text.", "Save them with numpy.array(ids, dtype=str)."
        raise refuse("wrong_ids", path, reason, remedy) from error
    images = [text.strip() for text in texts]
    check_images(images, path)
    return images
