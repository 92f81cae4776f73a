"""Zip archives of exports, read as if they were folders."""

import errno
import lzma
import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.wording import list_names, quote_name

ZIP = ".zip"
METADATA = "__MACOSX"
# Unpacked, such a file does no harm, however small it was.
SUSPICIOUS = 1 << 26
ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:")


def split_member(path: str) -> tuple[str, str] | None:
    """Split the path of a file in an archive into the archive's and the file's in it.

    Parameters
    ----------
    path : str
        Such as ``results.zip/sub/a.csv``.

    Returns
    -------
    tuple of str, or None
        None where no part of the path is a zip archive, by content or suffix.
    """
    for parent in reversed(PurePath(path).parents):
        if Path(parent).is_file():
            is_archive = parent.suffix.lower() == ZIP or is_zipfile(parent)
            member = PurePath(path).relative_to(parent).as_posix()
            return (str(parent), member) if is_archive else None
    return None


def list_members(path: str) -> list[str]:
    """List the files in a zip archive as paths below it, in order.

    Parameters
    ----------
    path : str
        The archive, such as ``results.zip``.

    Returns
    -------
    list of str
        Such as ``results.zip/sub/a.csv``; without folders and what macOS adds in ``__MACOSX``.

    Raises
    ------
    UnreadableExportError
        When it cannot be read, is damaged, or has a name that leads out of it.
    """
    try:
        with _explain_faults(path), ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except OSError as error:
        raise UnreadableExportError(explain_unreadable(path, error)) from error
    unsafe = [name for name in names if ABSOLUTE.match(name) or ".." in re.split(r"[/\\]", name)]
    if unsafe:
        reason = f"Names in the archive lead out of it: {list_names(unsafe)}."
        remedy = "Pack it again with names relative to its folder."
        raise UnreadableExportError(
            Problem(code="unsafe_name", source=path, reason=reason, remedy=remedy)
        )
    members = {str(PurePosixPath(name)) for name in names}
    return sorted(f"{path}/{name}" for name in members if not name.startswith(f"{METADATA}/"))


@contextmanager
def open_member(path: str) -> Iterator[tuple[IO[bytes], float]]:
    """Open a file in a zip archive, and say how many times larger it becomes, beyond some size.

    No more is unpacked than is read.

    Parameters
    ----------
    path : str
        Such as ``results.zip/sub/a.csv``.

    Raises
    ------
    NotADirectoryError
        When no part of the path is a zip archive.
    UnreadableExportError
        When the archive has no such file, or several that differ, or it is encrypted or damaged,
        which may show only when it is read to its end.
    """
    parts = split_member(path)
    if parts is None:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    with _explain_faults(path), ZipFile(parts[0]) as archive:
        members: dict[str, list[ZipInfo]] = {}
        for info in archive.infolist():
            if not info.is_dir():
                members.setdefault(str(PurePosixPath(info.filename)), []).append(info)
        if parts[1] not in members:
            raise UnreadableExportError(_explain_absence(path, parts[1], sorted(members)))
        info, *others = members[parts[1]]
        if any((other.CRC, other.file_size) != (info.CRC, info.file_size) for other in others):
            raise UnreadableExportError(_explain_twins(path, parts[1]))
        with archive.open(info) as stream:
            is_small = info.file_size <= SUSPICIOUS
            yield stream, 1.0 if is_small else info.file_size / max(info.compress_size, 1)


def explain_unreadable(path: str, error: OSError) -> Problem:
    """Say why the operating system does not give a file."""
    return Problem(
        code="unreadable_file",
        source=path,
        reason=f"The file cannot be read ({error.strerror or error}).",
        remedy="Check its path in the configuration and its permissions.",
    )


@contextmanager
def _explain_faults(path: str) -> Iterator[None]:
    """Turn what reading an archive raises into problems, except for `OSError`."""
    try:
        yield
    except RuntimeError as error:
        reason = f"The file in the archive is encrypted, or packed in an unusual way ({error})."
        remedy = "Pack the archive again, by deflate and without a password."
        problem = Problem(code="packed_member", source=path, reason=reason, remedy=remedy)
        raise UnreadableExportError(problem) from error
    except (BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError) as error:
        reason = f"The archive, or the file in it, is damaged ({error})."
        remedy = "Copy or download it again, or pack it again."
        problem = Problem(code="damaged_zip", source=path, reason=reason, remedy=remedy)
        raise UnreadableExportError(problem) from error


def _explain_absence(path: str, member: str, members: list[str]) -> Problem:
    reason = "The archive has no such file." if members else "The archive is empty."
    remedy = f"{ask_nearest(member, members)}There are: {list_names(members)}."
    return Problem(
        code="no_member",
        source=path,
        reason=reason,
        remedy=remedy if members else "Pack it again.",
    )


def _explain_twins(path: str, member: str) -> Problem:
    return Problem(
        code="repeated_member",
        source=path,
        reason=f"The archive has several files called {quote_name(member)}, which differ.",
        remedy="Pack it again with the one that is meant.",
    )
