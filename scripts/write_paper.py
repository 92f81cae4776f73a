"""Write the tables, figures, paragraphs and references of a study for a paper, as LaTeX."""

import logging
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from capmap.artifacts import read_table, write_text
from capmap.claims import COLUMNS
from capmap.pages.pictures import read_figures
from capmap.paper.document import render_paper
from capmap.settings.choices import Incomplete
from capmap.tables import read_declared

logger = logging.getLogger(__name__)


def write_paper(
    *,
    title: str,
    scopes: str,
    seeds: str,
    bounds: str,
    claims: str,
    entries: list[str],
    paper: list[str],
    figures: str,
    analyses: list[str],
    bootstrap: dict[str, Any],
    comparison: dict[str, Any],
    failed: Any,
    incomplete: Incomplete,
) -> None:
    """Write the folder of a study's paper.

    Parameters
    ----------
    title : str
        Heading of the study.
    scopes, seeds, bounds, claims : str
        Its ranking, its cells, the bounds of its datasets and what is claimed of its models, as
        CSV.
    entries : list of str
        The entries of its leaderboard, as CSV, if it has one.
    paper : list of str
        Where to write each file, by the names that `render_paper` gives.
    figures : str
        The folder of its figures.
    analyses : list of str
        Its analyses.
    bootstrap, comparison : dict
        Its settings of these names.
    failed : object
        Its setting of failed runs.
    incomplete : str
        Its setting of empty cells.
    """
    read = {"scopes": scopes, "seeds": seeds, "bounds": bounds}
    read |= dict(zip(["entries"], entries, strict=False))
    files = render_paper(
        {
            **{name: read_declared(path) for name, path in read.items()},
            "claims": read_table(claims, names=[name for name in COLUMNS if name != "level"]),
        },
        title=title,
        analyses=analyses,
        figures=[*read_figures(figures)[0]],
        bootstrap=bootstrap,
        comparison=comparison,
        failed=failed,
        incomplete=incomplete,
    )
    for path in map(Path, paper):
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


if __name__ == "__main__":
    from job import run_job

    run_job(write_paper, snakemake)  # type: ignore[name-defined]
