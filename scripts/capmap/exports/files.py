"""The bytes of an export: unpacked, and known to be text before anybody parses them."""

import codecs
import gzip
import zlib

from capmap.exports.faults import UnreadableExportError
from capmap.problems import Problem

HEAD = 1 << 22
LARGEST = 1 << 30
SPLIT = (
    "Split it into several files; scores of images can be written as .npy, which is read in parts."
)
GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (GZIP, "a gzip archive within a gzip archive"),
)


def read_content(path: str, *, limit: int = -1) -> bytes:
    """Read a file, unpacked when its first bytes say that it is gzip, whatever its name.

    Parameters
    ----------
    path : str
        The file.
    limit : int, optional
        How many unpacked bytes to read at most; all of them by default.

    Raises
    ------
    UnreadableExportError
        When the file is absent, may not be read, or is damaged.
    """
    try:
        with open(path, "rb") as raw:
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            if not packed:
                return raw.read(limit)
            with gzip.open(raw) as stream:
                return stream.read(limit)
    except EOFError as error:
        raise UnreadableExportError(
            Problem(
                code="truncated_gzip",
                source=path,
                reason="The gzip file ends too early.",
                remedy="Copy or download it again, it was cut off.",
            )
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableExportError(
            Problem(
                code="damaged_gzip",
                source=path,
                reason=f"The gzip file is damaged ({error}).",
                remedy="Copy or download it again, or pack it again.",
            )
        ) from error
    except OSError as error:
        raise UnreadableExportError(
            Problem(
                code="unreadable_file",
                source=path,
                reason=f"The file cannot be read ({error.strerror or error}).",
                remedy="Check its path in the configuration and its permissions.",
            )
        ) from error


def read_bounded(path: str, *, limit: int = LARGEST, remedy: str = SPLIT) -> bytes:
    """Read a file whole, unpacked where it is gzip.

    Parameters
    ----------
    path : str
        The file.
    limit : int, optional
        Largest size in bytes once unpacked, 1 GiB by default.
    remedy : str, optional
        What to do about a larger one.

    Raises
    ------
    UnreadableExportError
        When it cannot be read or is larger; a packed file is not unpacked beyond the limit.
    """
    content = read_content(path, limit=limit + 1)
    if len(content) > limit:
        raise UnreadableExportError(
            Problem(
                code="too_large",
                source=path,
                reason=f"The file has more than {limit} bytes once unpacked, and it is read as a "
                "whole.",
                remedy=remedy,
            )
        )
    return content


def check_text(content: bytes, path: str, *, complete: bool = True) -> None:
    """Check that bytes are text in UTF-8.

    Parameters
    ----------
    content : bytes
        The unpacked file, or its beginning.
    path : str
        Where it came from.
    complete : bool, optional
        Whether this is the whole file; a character cut off at the end is no fault otherwise.

    Raises
    ------
    UnreadableExportError
        With the code "empty_file", "binary_file" (and what it seems to be) or "wrong_encoding"
        (with the line, and with the byte as its value).
    """
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise UnreadableExportError(
            Problem(
                code="empty_file",
                source=path,
                reason="The file is empty.",
                remedy="Export it again, or leave it out.",
            )
        )
    if content.startswith(BYTE_ORDER_MARKS):
        raise UnreadableExportError(_explain_encoding(path, content, 0, "It is UTF-16."))
    nature = next((what for magic, what in SIGNATURES if content.startswith(magic)), None)
    if nature is not None or b"\0" in content:
        raise UnreadableExportError(
            Problem(
                code="binary_file",
                source=path,
                reason=f"The file is not text but {nature or 'binary'}.",
                remedy="Export the table as CSV, TSV, JSON lines or Parquet.",
                line=0 if nature else find_line(content, content.index(b"\0")),
            )
        )
    position = _find_bad_byte(content, complete=complete)
    if position is not None:
        raise UnreadableExportError(_explain_encoding(path, content, position, ""))


def find_line(content: bytes, position: int) -> int:
    """Find the line, counted from 1, of a position in a file."""
    return content.count(b"\n", 0, position) + 1


def _find_bad_byte(content: bytes, *, complete: bool) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), HEAD):
        pending = len(decoder.getstate()[0])
        end = start + HEAD
        try:
            decoder.decode(content[start:end], complete and end >= len(content))
        except UnicodeDecodeError as error:
            return start - pending + error.start
    return None


def _explain_encoding(path: str, content: bytes, position: int, nature: str) -> Problem:
    return Problem(
        code="wrong_encoding",
        source=path,
        reason=f"The file is not UTF-8: byte {position + 1} does not fit. {nature}".rstrip(),
        remedy="Save it again as UTF-8 (in Excel: CSV UTF-8).",
        line=find_line(content, position),
        value=f"0x{content[position]:02x}",
    )
