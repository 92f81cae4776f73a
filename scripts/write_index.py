"""Link the pages of the studies, each with its verdict."""

import os
from pathlib import Path

from capmap.artifacts import write_text
from capmap.pages.report import render_index


def write_index(
    *, reports: list[str], headlines: list[str], studies: list[dict[str, str]], index: str
) -> None:
    """Write the page that links the studies.

    Parameters
    ----------
    reports, headlines : list of str
        Page and headline of each study, in the order of the studies.
    studies : list of dict
        The ``name`` and ``title`` of each study.
    index : str
        Where to write the page.
    """
    folder = Path(index).parent
    entries = [
        {
            **study,
            "verdict": Path(headline).read_text(encoding="utf-8").strip(),
            "page": Path(os.path.relpath(report, folder)).as_posix(),
        }
        for study, report, headline in zip(studies, reports, headlines, strict=True)
    ]
    write_text(index, render_index(entries))


if __name__ == "__main__":
    from job import run_job

    run_job(write_index, snakemake)  # type: ignore[name-defined]
