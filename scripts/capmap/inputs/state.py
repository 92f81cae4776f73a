"""What Snakemake does not see of earlier results: altered files and exports, a wrong clock."""

import json
import os
import re
import shutil
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from time import time
from typing import Any

from capmap.catalog import HEADLINE
from capmap.digests import find_altered, find_spoiled, is_intact
from capmap.errors import ConfigError
from capmap.inputs.studies import Study
from capmap.wording import format_count

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)


def list_others(studies: Iterable[str], prefix: str = "") -> list[dict[str, Any]]:
    """List studies with results that do not run.

    Parameters
    ----------
    studies : iterable of str
        Names of those that run.
    prefix : str, optional
        What stands before ``results/``.

    Returns
    -------
    list of dict
        ``name``, ``title``, whether there is the page of a leaderboard (``board``), and whether an
        export has changed since (``is_old``); by name.
    """
    pages = sorted(Path(f"{prefix}results").glob("*/report.html"))
    return [
        {
            "name": page.parent.name,
            "title": _read_title(page),
            "board": (page.parent / "leaderboard/index.html").is_file(),
            "is_old": not _has_same_files(page.parent),
        }
        for page in pages
        if page.parent.name not in set(studies) and (page.parent / HEADLINE).is_file()
    ]


def _read_title(page: Path) -> str:
    with page.open(encoding="utf-8", errors="replace") as stream:
        found = TITLE.search(stream.read(4096))
    return unescape(found[1]) if found else page.parent.name


def forget_altered(study: Study) -> str:
    """Remove what was altered or made of other exports, so that it is made again.

    Returns
    -------
    str
        What was altered, and how it comes back; "" where nothing was.

    Raises
    ------
    ConfigError
        When the results may not be changed.

    Notes
    -----
    While another run is at work, or was killed and has left its lock, nothing is touched. Results
    that are dated in the future are dated now.
    """
    # Snakemake says so later.
    if any(Path(".snakemake/locks").glob("*")):
        return ""
    path = folder = study.folder
    # Runs that are missing are made again only if what is made of them is missing as well.
    made = [folder / "runs.parquet", folder / "normalized/manifest.csv"]
    void = [] if has_same_exports(study) else made
    altered = [*find_altered(folder), *find_altered(folder.parent)]
    try:
        for path in [*void, *find_spoiled(folder), *altered]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
        # What a clock that was ahead has dated would look newer than what is made of now on.
        now = time()
        for path in filter(Path.is_file, folder.rglob("*")):
            if path.stat().st_mtime > now:
                os.utime(path)
    except OSError as error:
        raise ConfigError(
            f"{path}: this is lost, altered or dated in the future, and cannot be repaired "
            f"({error.strerror}). Check the permissions of results/ and the clock."
        ) from error
    if not altered:
        return ""
    others = f" and {format_count(len(altered) - 1, 'other file')}" if altered[1:] else ""
    return (
        f"Altered since capmap made it: {altered[0]}{others}. What was altered is removed, and the "
        "next run (snakemake, or capmap run) makes it again."
    )


def has_same_exports(study: Study) -> bool:
    """Whether the exports that are there have the bytes that the runs were read from.

    Snakemake looks at files that are newer than its results. An export can be older and changed:
    put back from a copy, unpacked, or edited after the clock went back.
    """
    return study.settings["format"] == "predictions" or _has_same_files(study.folder)


def _has_same_files(folder: Path) -> bool:
    """The same of a study's folder."""
    try:
        files = json.loads((folder / "validation.json").read_bytes())["files"]
        known = {Path(file["path"]): file["sha256"] for file in files}
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return all(is_intact(path, digest) for path, digest in known.items() if path.is_file())
