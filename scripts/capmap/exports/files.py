"""Files of exports: pinned by their SHA-256, unpacked, and known to be text."""

import codecs
import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

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
# Each entry becomes objects, which take up to 110 times the bytes of its text.
LONGEST = LARGEST // 16


def check_digests(
    files: Sequence[str], checksums: Mapping[str, str], *, names: Sequence[str] | None = None
) -> list[Problem]:
    """Compare files with the SHA-256 that the configuration expects of their names."""
    problems = []
    for path, name in zip(files, files if names is None else names, strict=True):
        expected = checksums.get(name, "").lower()
        if expected and (found := digest_file(path)) != expected:
            reason = (
                f"The file is not the pinned one: its SHA-256 is {found}, expected is {expected}."
            )
            remedy = (
                "Restore the file. If the change is meant, put the digest that was found into "
                "`checksums`."
            )
            problems.append(Problem(code="checksum", source=name, reason=reason, remedy=remedy))
    return problems


def read_content(path: str, *, limit: int = -1) -> bytes:
    """Read some bytes of a file, all by default, unpacked when the first say that it is gzip.

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
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        reason = f"The gzip file is damaged or cut off ({error})."
        remedy = "Copy or download it again, or pack it again."
        raise refuse("damaged_gzip", path, reason, remedy) from error
    except OSError as error:
        reason = f"The file cannot be read ({error.strerror or error})."
        remedy = "Check its path in the configuration and its permissions."
        raise refuse("unreadable_file", path, reason, remedy) from error


def read_bounded(path: str, *, limit: int = LARGEST, remedy: str = SPLIT) -> bytes:
    """Read a file whole; one with more bytes than the limit once unpacked is refused."""
    content = read_content(path, limit=limit + 1)
    if len(content) > limit:
        reason = f"The file has more than {limit} bytes once unpacked, and it is read as a whole."
        raise refuse("too_large", path, reason, remedy)
    return content


def check_text(content: bytes, path: str) -> None:
    """Check that bytes are text in UTF-8.

    Raises
    ------
    UnreadableExportError
        With the code "empty_file", "binary_file" or "wrong_encoding" (with the line, and with the
        byte as its value).
    """
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise refuse("empty_file", path, "The file is empty.", "Export it again, or leave it out.")
    if content.startswith(BYTE_ORDER_MARKS):
        raise _refuse_encoding(path, content, 0, "UTF-8", "utf-16")
    if b"\0" in content:
        reason = "The file is not text but binary, such as an archive, an array or a pickle."
        remedy = "Unpack an archive and name its files, or export the table as CSV or Parquet."
        line = find_line(content, content.index(b"\0"))
        raise refuse("binary_file", path, reason, remedy, line=line)
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), HEAD):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(content[start : start + HEAD], start + HEAD >= len(content))
        except UnicodeDecodeError as error:
            place = start - pending + error.start
            raise _refuse_encoding(path, content, place, "UTF-8") from error


def recode_text(content: bytes, path: str, encoding: str) -> bytes:
    """Write text in UTF-8 that is in an encoding such as "latin-1" or "utf-16".

    Bytes that are said to be UTF-8, or that have its byte order mark, stay and are not checked.

    Raises
    ------
    UnreadableExportError
        With the code "wrong_encoding".
    """
    try:
        codec = codecs.lookup(encoding)
        if codec.name in ("utf-8", "utf-8-sig") or content.startswith(codecs.BOM_UTF8):
            return content
        return codec.incrementaldecoder().decode(content, True).encode("utf-8", "replace")
    except UnicodeDecodeError as error:
        raise _refuse_encoding(path, content, error.start, encoding) from error
    except (LookupError, AttributeError, TypeError, ValueError) as error:
        reason = f"The file cannot be read as text in {quote_name(encoding)} ({error})."
        remedy = "Set `reading: {encoding: …}` to utf-8, utf-16, utf-16-le, latin-1 or cp1252."
        raise refuse("wrong_encoding", path, reason, remedy) from error


def find_line(content: bytes, position: int) -> int:
    """Find the line, counted from 1, of a position in a file."""
    return content.count(b"\n", 0, position) + 1


def _refuse_encoding(
    path: str, content: bytes, position: int, encoding: str, likely: str = "latin-1"
) -> UnreadableExportError:
    return UnreadableExportError(
        Problem(
            code="wrong_encoding",
            source=path,
            reason=f"The file is not {encoding}: byte {position + 1} does not fit.",
            remedy="Save it again as UTF-8 (in Excel: CSV UTF-8), or set "
            f"`reading: {{encoding: {likely}}}` if it is that.",
            line=find_line(content, position),
            value=f"0x{content[position]:02x}",
        )
    )


def has_suffix(path: str, suffixes: frozenset[str]) -> bool:
    """Whether a file has one of some suffixes, also before ``.gz``, whatever their case."""
    return bool({suffix.lower() for suffix in PurePath(path).suffixes[-2:]} & suffixes)


def read_text(path: str) -> str:
    """Read a text file in UTF-8 of at most 64 MiB, without the byte order mark."""
    content = read_bounded(path, limit=LONGEST, remedy="Write it as a table, CSV or Parquet.")
    check_text(content, path)
    return content.decode("utf-8-sig")


def read_lines(path: str) -> list[str]:
    """Read a file of one entry per line, trimmed; a blank line between them is refused."""
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if "" in lines:
        reason = "The line is blank, and entries are known by their position."
        remedy = "Fill it in, or remove it."
        raise refuse("blank_line", path, reason, remedy, line=lines.index("") + 1)
    return lines


def refuse(
    code: str, path: str, reason: str, remedy: str, *, line: int = 0, column: str = ""
) -> UnreadableExportError:
    """Make the error of a file with one fault."""
    return UnreadableExportError(
        Problem(code=code, source=path, reason=reason, remedy=remedy, line=line, column=column)
    )
