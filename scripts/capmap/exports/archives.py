"""Zip archives of exports, read as if they were folders."""

import errno
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO
from zipfile import BadZipFile, ZipFile, is_zipfile

from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.wording import list_names

ZIP = ".zip"
METADATA = "__MACOSX"


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
        When it cannot be read or is damaged.
    """
    try:
        with _explain_faults(path), ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except OSError as error:
        raise UnreadableExportError(explain_unreadable(path, error)) from error
    members = {str(PurePosixPath(name)) for name in names}
    return sorted(f"{path}/{name}" for name in members if not name.startswith(f"{METADATA}/"))


@contextmanager
def open_member(path: str) -> Iterator[IO[bytes]]:
    """Open a file in a zip archive, of which no more is unpacked than is read.

    Parameters
    ----------
    path : str
        Such as ``results.zip/sub/a.csv``.

    Raises
    ------
    NotADirectoryError
        When no part of the path is a zip archive.
    UnreadableExportError
        When the archive has no such file, or it is encrypted or damaged, which may show only when
        it is read to its end.
    """
    parts = split_member(path)
    if parts is None:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    with _explain_faults(path), ZipFile(parts[0]) as archive:
        members = {
            str(PurePosixPath(info.filename)): info
            for info in archive.infolist()
            if not info.is_dir()
        }
        if parts[1] not in members:
            raise UnreadableExportError(_explain_absence(path, parts[1], sorted(members)))
        with archive.open(members[parts[1]]) as stream:
            yield stream


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
    # What zipfile raises of a password is a RuntimeError.
    except (BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        reason = f"The archive, or the file in it, is damaged or encrypted ({error})."
        remedy = "Copy or download it again, or pack it again, without a password."
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
