"""Whether exports are the files that the configuration pins by their SHA-256."""

import re
from collections.abc import Mapping, Sequence

from capmap.artifacts import digest_file
from capmap.errors import ConfigError
from capmap.problems import Problem
from capmap.wording import find_nearest, list_names, quote_name

SHA256 = re.compile(r"[0-9a-fA-F]{64}")


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
    ConfigError
        If a name in `checksums` is none of the names, or a digest is not one. All of these are in
        one message.
    OSError
        If a named file cannot be read.

    Notes
    -----
    A name stands for exactly one spelling: ``./a.csv`` is not ``a.csv``. A file that two names of
    `names` share is read once per name. Without checksums nothing is read.

    Examples
    --------
    >>> check_digests(["runs.csv"], {})
    []
    """
    if not checksums:
        return []
    names = files if names is None else names
    _check_settings(names, checksums)
    problems = []
    for path, name in zip(files, names, strict=True):
        expected = checksums.get(name, "").lower()
        if expected and (found := digest_file(path)) != expected:
            problems.append(_describe_change(name, expected, found))
    return problems


def _check_settings(names: Sequence[str], checksums: Mapping[str, str]) -> None:
    faults = []
    for name, digest in sorted(checksums.items()):
        if name not in names:
            near = find_nearest(name, names)
            hint = (
                f"Did you mean {quote_name(near)}?" if near else f"There are: {list_names(names)}."
            )
            faults.append(f"checksums: {quote_name(name)} is no export of the study. {hint}")
        if not SHA256.fullmatch(digest):
            faults.append(
                f"checksums.{name}: {quote_name(digest)} is no SHA-256, which has 64 "
                "hexadecimal digits. `sha256sum FILE` prints it."
            )
    if faults:
        raise ConfigError("\n".join(faults))


def _describe_change(name: str, expected: str, found: str) -> Problem:
    return Problem(
        code="checksum",
        source=name,
        reason=f"The file is not the pinned one: its SHA-256 is {found}, expected is {expected}.",
        remedy="Restore the file. If the change is meant, put the digest that was found "
        "into `checksums`.",
    )
