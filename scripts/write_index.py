"""Link the pages of all studies that have one, each with its verdict."""

import os
import re
from html import unescape
from pathlib import Path
from typing import Any

from capmap.artifacts import write_text
from capmap.catalog import HEADLINE
from capmap.pages.report import render_index

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
BOARD = "leaderboard/index.html"


def write_index(
    *, reports: list[str], headlines: list[str], studies: list[dict[str, Any]], index: str
) -> None:
    """Write the page that links the studies."""
    folder = Path(index).parent
    places = [Path(os.path.relpath(report, folder)).parent.as_posix() for report in reports]
    entries = [
        {**study, "verdict": _read_line(Path(headline)), "folder": place}
        for study, headline, place in zip(studies, headlines, places, strict=True)
    ]
    for page in sorted(folder.glob("*/report.html")):
        other, headline = page.parent, page.parent / HEADLINE
        if other.name not in places and headline.is_file():
            found = TITLE.search(page.read_text("utf-8", "replace"))
            entries.append(
                {
                    "name": other.name,
                    "title": unescape(found[1]) if found else other.name,
                    "board": (other / BOARD).is_file(),
                    "verdict": _read_line(headline),
                    "folder": other.name,
                }
            )
    write_text(index, render_index(entries))


def _read_line(path: Path) -> str:
    return path.read_text("utf-8").strip()


if __name__ == "__main__":
    from job import run_job

    run_job(write_index, snakemake)  # type: ignore[name-defined]
