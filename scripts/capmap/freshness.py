"""Which of several results that one job makes have to be made again."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from capmap.artifacts import digest_file, write_json


class Record:
    """What a job's results were made from, kept beside them.

    Parameters
    ----------
    path : path-like
        The JSON file that holds it; absent or damaged, nothing is known.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.known: dict[str, Any] = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            self.known = {}
        self.made: dict[str, Any] = {}

    def keep(self, name: str, origin: str, files: Iterable[str]) -> bool:
        """Whether a result is as a former job left it, and made from the same.

        Parameters
        ----------
        name : str
            Name of the result.
        origin : str
            From `digest_origin`.
        files : iterable of str
            The files that hold it.
        """
        files = sorted(files)
        found = self.known.get(name)
        is_kept = (
            isinstance(found, dict)
            and found.get("origin") == origin
            and all(map(_is_file, files))
            and found.get("files") == {Path(path).name: digest_file(path) for path in files}
        )
        if is_kept:
            self.made[name] = found
        return is_kept

    def note(self, name: str, origin: str, files: Iterable[str]) -> None:
        """Note what a result was made from, once its files are written."""
        digests = {Path(path).name: digest_file(path) for path in sorted(files)}
        self.made[name] = {"origin": origin, "files": digests}

    def close(self) -> None:
        """Write the record; results that were neither kept nor noted are forgotten."""
        write_json(self.path, dict(sorted(self.made.items())))


def digest_origin(
    code: str, options: Mapping[str, Any], paths: Mapping[str, str | Iterable[str]]
) -> str:
    """Digest of all that a result depends on.

    Parameters
    ----------
    code : str
        Digest of the code that makes it.
    options : mapping
        What it is told, as JSON can hold it.
    paths : mapping of str to path or iterable of paths
        The files that it reads, by name.

    Returns
    -------
    str
        SHA-256 in hexadecimal.
    """
    files = {
        name: [digest_file(path) for path in ([value] if isinstance(value, str) else value)]
        for name, value in paths.items()
    }
    content = json.dumps([code, options, files], sort_keys=True)
    return sha256(content.encode()).hexdigest()


def _is_file(path: str) -> bool:
    return Path(path).is_file()
