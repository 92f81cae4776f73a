"""What jobs wrote, by SHA-256, so that what was altered since is known and made again."""

import json
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from pathlib import Path

from capmap.errors import ConfigError

FOLDER = ".digests"


def is_intact(path: Path, digest: str) -> bool:
    """Whether a file is there and its bytes have a SHA-256 (hexadecimal)."""
    return path.is_file() and _digest(path) == digest


def record_files(folder: Path, job: str, files: Iterable[str], beside: Iterable[str] = ()) -> None:
    """Write down the digests of all files that a job has written.

    Parameters
    ----------
    folder : pathlib.Path
        The study's folder, in which the files are.
    job : str
        Name of the job, with its wildcards.
    files : iterable of str
        What Snakemake knows that the job makes.
    beside : iterable of str, optional
        Further files, and folders of them, that it makes.
    """
    declared = {Path(file) for file in files}
    inner = [path for name in map(Path, beside) for path in (name, *name.rglob("*"))]
    known = {
        kind: {
            path.relative_to(folder).as_posix(): _digest(path)
            for path in sorted(paths)
            if path.is_file() and path.is_relative_to(folder)
        }
        for kind, paths in (("files", declared), ("beside", {*inner} - declared))
    }
    place = folder / FOLDER / f"{job}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_suffix(".tmp")
    fresh.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    fresh.replace(place)


def find_altered(folder: Path, *, among: Iterable[str] | None = None) -> list[Path]:
    """Find files of a study that are no longer as a job has written them; lost ones are none.

    Parameters
    ----------
    folder : pathlib.Path
        The study's folder.
    among : iterable of str, optional
        The files to look at; all by default.

    Raises
    ------
    ConfigError
        When a record is damaged; one that is lost says nothing.
    """
    wanted = None if among is None else {Path(path) for path in among}
    return sorted(
        path
        for files, beside in _list_jobs(folder)
        for path, digest in (files | beside).items()
        if (wanted is None or path in wanted)
        and (path.exists() or path.is_symlink())
        and not _is_own(path, digest)
    )


def find_spoiled(folder: Path) -> list[Path]:
    """Find what has to go of a study, so that files are made again which Snakemake does not miss.

    It does not know some, and does not miss one that nothing else asks for. Of a job that has lost
    a file, or one of whose files that it does not know was altered, these are all that it knows.
    """
    return sorted(
        path
        for files, beside in _list_jobs(folder)
        if not all(_is_own(path, digest) for path, digest in beside.items())
        or not all(path.exists() for path in files)
        for path in files
    )


def _is_own(path: Path, digest: str) -> bool:
    """Whether a file is the one that was written, and no link to one."""
    return not path.is_symlink() and is_intact(path, digest)


def _list_jobs(folder: Path) -> Iterator[tuple[dict[Path, str], dict[Path, str]]]:
    """The digests of what each job made, of files that Snakemake knows and of others."""
    for place in sorted((folder / FOLDER).glob("*.json")):
        try:
            known = json.loads(place.read_bytes())
            files, beside = (
                {folder / name: str(digest) for name, digest in known[kind].items()}
                for kind in ("files", "beside")
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            spoiled = folder if folder.parent.name == "results" else place.parent
            raise ConfigError(
                f"{place} is damaged, so further alterations cannot be found. Remove {spoiled} "
                "and run the same command again, which makes it anew."
            ) from error
        yield files, beside


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
