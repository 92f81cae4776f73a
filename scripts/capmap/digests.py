"""What jobs wrote, by SHA-256, so that what was altered since is known and made again."""

import json
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from pathlib import Path

FOLDER = ".digests"


def is_intact(path: Path, digest: str) -> bool:
    """Tell whether a file is there and its bytes have a SHA-256 (hexadecimal)."""
    return path.is_file() and _digest(path) == digest


def record_files(study: Path, job: str, files: Iterable[str]) -> None:
    """Write down the digests of all files that a job has written.

    Parameters
    ----------
    study : pathlib.Path
        The study's folder, in which the files are.
    job : str
        Name of the job, with its wildcards.
    files : iterable of str
        The files.
    """
    known = {
        path.relative_to(study).as_posix(): _digest(path)
        for path in map(Path, sorted(files))
        if path.is_file() and path.is_relative_to(study)
    }
    place = study / FOLDER / f"{job}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_suffix(".tmp")
    fresh.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    fresh.replace(place)


def find_altered(study: Path, *, among: Iterable[str] | None = None) -> list[Path]:
    """Find files of a study that are no longer as a job has written them; lost ones are none.

    Parameters
    ----------
    study : pathlib.Path
        The study's folder.
    among : iterable of str, optional
        The files to look at; all by default.
    """
    wanted = None if among is None else {Path(path) for path in among}
    return sorted(
        path
        for path, digest in _list_known(study)
        if (wanted is None or path in wanted)
        and path.exists()
        and not (path.is_file() and not path.is_symlink() and _digest(path) == digest)
    )


def _list_known(study: Path) -> Iterator[tuple[Path, str]]:
    for place in sorted((study / FOLDER).glob("*.json")):
        try:
            known = json.loads(place.read_bytes())
            yield from [(study / name, str(digest)) for name, digest in known.items()]
        except (ValueError, AttributeError):
            # Without its record a file counts as it is.
            continue


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
