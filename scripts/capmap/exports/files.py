"""Files of exports: pinned by their SHA-256, unpacked, and known to be text."""

import codecs
import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from capmap.artifacts import digest_file
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import quote_name

HEAD = 1 << 22
LARGEST = 1 << 30
SPLIT = (
    "Split it into several files; scores of images can be written as .npy, which is read in parts."
)
GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
ARCHIVE = "a zip archive or an Excel workbook"
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", ARCHIVE),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"\x80", "a Python pickle"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"%PDF", "a PDF document"),
)


@dataclass(frozen=True)
class FileOptions:
    """How the files of a study are written, where they do not say it themselves.

    Parameters
    ----------
    header_rows : int, optional
        Rows in which the names of columns stand.
    names : sequence of str, optional
        The names of the columns of files without a header.
    comment : str, optional
        What the lines begin with that are skipped.
    encoding : str, optional
        How text is encoded.
    sheet : str or int, optional
        The sheet of a workbook, by its name or number from 1, or the number of a table of Markdown.
    records : str, optional
        Where the records of nested files are, a `capmap.patterns.Pattern` of keys between points.
    skip : int, optional
        Rows of a table that stand above its header.
    """

    header_rows: int = 1
    names: Sequence[str] = ()
    comment: str = ""
    encoding: str = "utf-8"
    sheet: str | int = ""
    records: str = ""
    skip: int = 0


PLAIN = FileOptions()

TABLES = frozenset({".csv", ".tsv", ".parquet", ".pq"})
JSON = frozenset({".json"})
# Each entry becomes objects, which take up to 110 times the bytes of its text.
LONGEST = LARGEST // 16


def check_digests(
    files: Sequence[str], checksums: Mapping[str, str], *, names: Sequence[str] | None = None
) -> list[Problem]:
    """Compare files with the digests that the configuration expects.

    Parameters
    ----------
    files : sequence of str
        Paths of the files as they are on this disk.
    checksums : mapping of str to str
        Expected SHA-256 in hexadecimal, of either case, by the name of a file. Files that it does
        not name are not looked at.
    names : sequence of str, optional
        How the configuration names each file, such as the URL that it was downloaded from; the
        paths themselves by default.

    Returns
    -------
    list of Problem
        One error per file that has other bytes, in the order of the files.

    Raises
    ------
    OSError
        If a named file cannot be read.

    Notes
    -----
    A name stands for exactly one spelling: ``./a.csv`` is not ``a.csv``.

    Examples
    --------
    >>> check_digests(["runs.csv"], {})
    []
    """
    if not checksums:
        return []
    names = files if names is None else names
    problems = []
    for path, name in zip(files, names, strict=True):
        expected = checksums.get(name, "").lower()
        if expected and (found := digest_file(path)) != expected:
            problems.append(_describe_change(name, expected, found))
    return problems


def _describe_change(name: str, expected: str, found: str) -> Problem:
    return Problem(
        code="checksum",
        source=name,
        reason=f"The file is not the pinned one: its SHA-256 is {found}, expected is {expected}.",
        remedy="Restore the file. If the change is meant, put the digest that was found "
        "into `checksums`.",
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
            is_packed = raw.read(len(GZIP)) == GZIP
        with (gzip.open if is_packed else open)(path, "rb") as stream:
            return stream.read(limit)
    except EOFError as error:
        raise refuse(
            "truncated_gzip",
            path,
            "The gzip file ends too early.",
            "Copy or download it again, it was cut off.",
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise refuse(
            "damaged_gzip",
            path,
            f"The gzip file is damaged ({error}).",
            "Copy or download it again, or pack it again.",
        ) from error
    except OSError as error:
        reason = f"The file cannot be read ({error.strerror or error})."
        remedy = "Check its path in the configuration and its permissions."
        raise refuse("unreadable_file", path, reason, remedy) from error


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
        raise refuse(
            "too_large",
            path,
            f"The file has more than {limit} bytes once unpacked, and it is read as a whole.",
            remedy,
        )
    return content


def check_text(content: bytes, path: str) -> None:
    """Check that bytes are text in UTF-8.

    Raises
    ------
    UnreadableExportError
        With the code "empty_file", "binary_file" (and what it seems to be) or "wrong_encoding"
        (with the line, and with the byte as its value).
    """
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise refuse("empty_file", path, "The file is empty.", "Export it again, or leave it out.")
    if content.startswith(BYTE_ORDER_MARKS):
        raise _refuse_encoding(path, content, 0, "It is UTF-16.")
    _check_nature(content, path)
    if b"\0" in content:
        raise _refuse_binary(path, "binary", find_line(content, content.index(b"\0")))
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), HEAD):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(content[start : start + HEAD], start + HEAD >= len(content))
        except UnicodeDecodeError as error:
            place = start - pending + error.start
            raise _refuse_encoding(path, content, place, "") from error


def recode_text(content: bytes, path: str, encoding: str) -> bytes:
    """Write text in UTF-8 that is in an encoding such as "latin-1" or "utf-16".

    Bytes that are said to be UTF-8 stay and are not checked. A byte order mark of UTF-8 in the file
    wins over the encoding.

    Raises
    ------
    UnreadableExportError
        With the code "unknown_encoding", "wrong_encoding" or "binary_file".
    """
    try:
        codec = codecs.lookup(encoding)
        if codec.name in ("utf-8", "utf-8-sig") or content.startswith(codecs.BOM_UTF8):
            return content
        _check_nature(content, path)
        return codec.incrementaldecoder().decode(content, True).encode("utf-8", "replace")
    except UnicodeDecodeError as error:
        raise _refuse_encoding(path, content, error.start, "", encoding) from error
    except UnicodeError as error:
        reason = f"The file is not {encoding}: it has no byte order mark."
        remedy = "Set `reading: {encoding: …}` to what it is, such as utf-16-le."
        raise refuse("wrong_encoding", path, reason, remedy, line=1) from error
    except (LookupError, AttributeError, TypeError, ValueError) as error:
        reason = f"{quote_name(encoding)} is no encoding of files."
        remedy = "Set `reading: {encoding: …}` to utf-8, utf-16, latin-1 or cp1252."
        raise refuse("unknown_encoding", path, reason, remedy) from error


def _check_nature(content: bytes, path: str) -> None:
    nature = next((what for magic, what in SIGNATURES if content.startswith(magic)), None)
    if nature is not None:
        raise _refuse_binary(path, nature, 0)


def _refuse_binary(path: str, nature: str, line: int) -> UnreadableExportError:
    remedy = "Export the table as CSV, TSV, JSON lines or Parquet."
    if nature == ARCHIVE:
        remedy = "Unpack the archive and name its files, or save the sheet as CSV."
    return refuse("binary_file", path, f"The file is not text but {nature}.", remedy, line=line)


def find_line(content: bytes, position: int) -> int:
    """Find the line, counted from 1, of a position in a file."""
    return content.count(b"\n", 0, position) + 1


def _refuse_encoding(
    path: str, content: bytes, position: int, nature: str, encoding: str = "UTF-8"
) -> UnreadableExportError:
    option = "utf-16" if nature else "latin-1"
    return UnreadableExportError(
        Problem(
            code="wrong_encoding",
            source=path,
            reason=f"The file is not {encoding}: byte {position + 1} does not fit. "
            f"{nature}".rstrip(),
            remedy="Save it again as UTF-8 (in Excel: CSV UTF-8), or set "
            f"`reading: {{encoding: {option}}}` if it is that.",
            line=find_line(content, position),
            value=f"0x{content[position]:02x}",
        )
    )


class Pairs(list[tuple[str, Any]]):
    """A JSON object: its keys and values in the order of the file, repeated keys included."""


DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


def has_suffix(path: str, suffixes: frozenset[str]) -> bool:
    """Whether a file has one of some suffixes, also before ``.gz``, whatever their case."""
    return bool({suffix.lower() for suffix in PurePath(path).suffixes[-2:]} & suffixes)


def read_text(path: str) -> str:
    """Read a text file in UTF-8, without the byte order mark.

    Raises
    ------
    UnreadableExportError
        When it cannot be read, is empty or larger than 64 MiB, or is not text in UTF-8.
    """
    content = read_bounded(path, limit=LONGEST, remedy="Write it as a table, CSV or Parquet.")
    check_text(content, path)
    return content.decode("utf-8-sig")


def read_lines(path: str) -> list[str]:
    """Read a file of one entry per line, trimmed.

    Raises
    ------
    UnreadableExportError
        As in `read_text`, and when a line before the last entry is blank: where entries are known
        by their position, it is not clear whether one is missing.
    """
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if "" in lines:
        raise refuse(
            "blank_line",
            path,
            "The line is blank, and entries are known by their position.",
            "Fill it in, or remove it.",
            line=lines.index("") + 1,
        )
    return lines


def read_document(path: str) -> Any:
    """Read one JSON document; its objects are `Pairs`.

    Raises
    ------
    UnreadableExportError
        As in `read_text`, and when it is not JSON (with the line) or ends too early.
    """
    text = read_text(path)
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            reason, remedy = "The JSON ends too early.", "Copy or download it again."
            code = "truncated_json"
        else:
            reason = f"The file is not JSON ({error.msg}, character {error.colno} of the line)."
            code, remedy = "invalid_json", "Write the file with a JSON library."
        raise refuse(code, path, reason, remedy, line=error.lineno) from error
    except (RecursionError, ValueError) as error:
        reason = "The JSON is nested too deeply, or has a number of thousands of digits."
        raise refuse("invalid_json", path, reason, "Write flat lists or objects.") from error


def refuse(
    code: str, path: str, reason: str, remedy: str, *, line: int = 0, column: str = ""
) -> UnreadableExportError:
    """Make the error of a file with one fault."""
    return UnreadableExportError(
        Problem(code=code, source=path, reason=reason, remedy=remedy, line=line, column=column)
    )
