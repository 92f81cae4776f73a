"""Write the tables, figures, paragraphs and references of a study for a paper, as LaTeX."""

from pathlib import Path
from typing import Any

from capmap.artifacts import read_table, write_text
from capmap.claims import COLUMNS
from capmap.paper.document import render_paper
from capmap.settings.choices import Incomplete
from capmap.tables import read_declared


def write_paper(
    *,
    title: str,
    scopes: str,
    seeds: str,
    bounds: str,
    claims: str,
    entries: list[str],
    paper: list[str],
    analyses: list[str],
    figures: list[str],
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
    analyses, figures : list of str
        Its analyses, and its figures in the order of the page, as files.
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
        figures=[Path(path).stem for path in figures],
        bootstrap=bootstrap,
        comparison=comparison,
        failed=failed,
        incomplete=incomplete,
    )
    for path in paper:
        write_text(path, files[Path(path).stem])


if __name__ == "__main__":
    from job import run_job

    run_job(write_paper, snakemake)  # type: ignore[name-defined]
