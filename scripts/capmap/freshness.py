"""Which results of a job come out as they are, so that it need not make them again."""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from capmap.artifacts import digest_file, read_json, write_json

KEPT = ".kept"


class Keeper:
    """Keeps what jobs made of a study, with what they made it from.

    Parameters
    ----------
    folder : path-like
        The study's folder. Results are kept in a hidden one in it, as hard links where the file
        system has them, so they take no space; a job that fails loses none but its own.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def restore(self, name: str, origin: str, files: Iterable[str]) -> bool:
        """Put a result back in its place, if it was made from the same.

        Parameters
        ----------
        name : str
            Name of the result.
        origin : str
            From `digest_origin`.
        files : iterable of str
            The files that hold it, in the study's folder.

        Returns
        -------
        bool
            Whether it is there now. A kept file that was altered is not put back.
        """
        kept = self.folder / KEPT / name
        places = {file: self._place(kept, file) for file in sorted(files)}
        try:
            known: dict[str, Any] = read_json(kept / "made_from.json")
            if known != _describe(origin, places.values(), kept):
                return False
        except (OSError, ValueError):
            return False
        for file, place in places.items():
            _link(place, Path(file))
        return True

    def keep(self, name: str, origin: str, files: Iterable[str]) -> None:
        """Keep a result, once its files are written."""
        kept = self.folder / KEPT / name
        shutil.rmtree(kept, ignore_errors=True)
        if kept.is_file() or kept.is_symlink():
            kept.unlink()
        places = {file: self._place(kept, file) for file in sorted(files)}
        for file, place in places.items():
            _link(Path(file), place)
        write_json(kept / "made_from.json", _describe(origin, places.values(), kept))

    def _place(self, kept: Path, file: str) -> Path:
        return kept / Path(file).relative_to(self.folder)


def digest_origin(
    code: str, options: Mapping[str, Any], paths: Mapping[str, str | Iterable[str]]
) -> str:
    """Digest of all that a result depends on.

    Parameters
    ----------
    code : str
        Digest of the code that makes it.
    options : mapping
        What it is given, as JSON can hold it.
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


def _describe(origin: str, places: Iterable[Path], kept: Path) -> dict[str, Any]:
    files = {place.relative_to(kept).as_posix(): digest_file(place) for place in places}
    return {"origin": origin, "files": files}


def _link(source: Path, target: Path) -> None:
    """Give a file a second place, whatever stands there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
