"""Link the pages of the studies, each with its verdict."""

import os
from pathlib import Path
from typing import Any

from capmap.artifacts import write_text
from capmap.catalog import HEADLINE
from capmap.pages.report import render_index


def write_index(
    *,
    reports: list[str],
    headlines: list[str],
    studies: list[dict[str, Any]],
    others: list[dict[str, Any]],
    index: str,
) -> None:
    """Write the page that links the studies.

    Parameters
    ----------
    reports, headlines : list of str
        Page and headline of each study, in the order of the studies.
    studies, others : list of dict
        The ``name`` and ``title`` of each study and of each other that has results, whether it has
        a leaderboard (``board``) and is older than its exports (``is_old``).
    index : str
        Where to write the page.
    """
    folder = Path(index).parent
    reports = [*reports, *(str(folder / other["name"] / "report.html") for other in others)]
    headlines = [*headlines, *(str(folder / other["name"] / HEADLINE) for other in others)]
    entries = [
        {
            **study,
            "verdict": Path(headline).read_text(encoding="utf-8").strip(),
            "folder": Path(os.path.relpath(report, folder)).parent.as_posix(),
        }
        for study, report, headline in zip([*studies, *others], reports, headlines, strict=True)
    ]
    write_text(index, render_index(entries))


if __name__ == "__main__":
    from job import run_job

    run_job(write_index, snakemake)  # type: ignore[name-defined]
