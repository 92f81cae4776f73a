"""The files of a paper as they are written again: what was edited by hand is put aside."""

import logging
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path

from capmap.artifacts import read_table, write_text
from capmap.catalog import list_analyses
from capmap.claims import COLUMNS
from capmap.pages.report import Results
from capmap.paper.document import render_paper

logger = logging.getLogger("report")


def write_paper(paths: list[str], claims: str, results: Results, title: str) -> None:
    """Write the files of a study's paper from its tables and claims."""
    settings, tables = results.settings, results.tables
    read = {name: tables[name] for name in ("scopes", "seeds", "bounds")}
    if "leaderboard/entries" in tables:
        read["entries"] = tables["leaderboard/entries"]
    files = render_paper(
        {**read, "claims": read_table(claims, names=[name for name in COLUMNS if name != "level"])},
        title=title,
        analyses=list_analyses(settings),
        figures=[*results.figures],
        **{name: settings[name] for name in ("bootstrap", "comparison", "failed", "incomplete")},
    )
    _write_files(paths, files)


def _write_files(paths: Sequence[str], files: Mapping[str, str]) -> None:
    """Write files by their names without suffix; what was edited by hand is put aside."""
    for path in map(Path, paths):
        _put_aside(path)
        text = files[path.stem]
        write_text(path, f"{_sign(text)}\n{text}")


def _sign(text: str) -> str:
    """The first line of a file, which says by the digest of the others whether it was edited."""
    digest = sha256(text.encode()).hexdigest()[:16]
    return f"% Written by capmap ({digest}), and again in the next run: include it, do not edit it."


def _put_aside(path: Path) -> None:
    """Rename a file that was edited by hand, so that the edit is not lost."""
    if not path.is_file():
        return
    first, _, rest = path.read_text("utf-8").partition("\n")
    if first != _sign(rest):
        names = (f"{path.stem}.edited{number or ''}{path.suffix}" for number in count())
        aside = next(path.with_name(name) for name in names if not path.with_name(name).exists())
        path.rename(aside)
        logger.warning(
            "%s was edited by hand. It is written again; the edit is in %s.", path, aside
        )
