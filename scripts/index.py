"""Link the pages of all studies that have one, each with its verdict."""

import os
import re
from html import unescape
from pathlib import Path
from typing import Any

from capmap.analyses import HEADLINE
from capmap.pages import render_index

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
BOARD = "leaderboard/index.html"


def index(*, reports: list[str], boards: list[str], index: str, **_others: Any) -> None:
    """Write the page that links the studies of this run, and those of former runs after them."""
    folder = Path(index).parent
    mine = [Path(os.path.relpath(report, folder)).parent.as_posix() for report in reports]
    others = [page.parent.name for page in sorted(folder.glob("*/report.html"))]
    ready = [name for name in others if name not in mine and (folder / name / HEADLINE).is_file()]
    has_board = {Path(os.path.relpath(board, folder)).parts[0] for board in boards}
    entries = [_describe(folder / name, name, name in has_board) for name in mine]
    entries += [_describe(folder / name, name, (folder / name / BOARD).is_file()) for name in ready]
    # As `capmap.artifacts` does, whose pandas would take longer than the page.
    fresh = Path(f"{index}.tmp")
    fresh.write_text(render_index(entries), "utf-8")
    fresh.replace(index)


def _describe(study: Path, place: str, has_board: bool) -> dict[str, Any]:
    title = TITLE.search((study / "report.html").read_text("utf-8", "replace"))
    return {
        "name": study.name,
        "title": unescape(title[1]) if title else study.name,
        "board": has_board,
        "verdict": (study / HEADLINE).read_text("utf-8").strip(),
        "folder": place,
    }


if __name__ == "__main__":
    from job import run_job

    run_job(index, snakemake)  # type: ignore[name-defined]
