"""Put a study's leaderboard, or its rankings of trainings, on one page that needs no network."""

import logging
from pathlib import Path
from typing import Any

from capmap.analyses import load_analysis
from capmap.artifacts import write_text
from capmap.pages import relate_path
from capmap.pages.leaderboard import (
    describe_entries,
    describe_trainings,
    read_texts,
    render_board,
)
from capmap.tables import read_declared

logger = logging.getLogger(__name__)
TRAININGS = ("checkpoint_rankings", "selected", "checkpoints")


def board(
    *,
    page: str,
    study: str,
    tables: list[str],
    comparisons: list[str],
    **settings: Any,
) -> None:
    """Write the page of a leaderboard, or of trainings where their tables are given."""
    if comparisons:
        tables = [f"{comparisons[0]}/{name}.csv" for name in TRAININGS]
        content = describe_trainings(*map(read_declared, tables))
        declared = load_analysis("checkpoints").tables["checkpoint_rankings"]
    else:
        content = describe_entries(
            {Path(path).stem: read_texts(path) for path in tables},
            groups=settings["groups"],
            confidence_level=settings["confidence"],
        )
        declared = load_analysis("leaderboard").tables["entries"]
    files = {Path(path).stem: relate_path(path, page) for path in tables}
    text = render_board(
        content,
        study=study,
        title=settings["title"] or study,
        about=settings["about"],
        caption=declared.caption,
        files=files,
        descriptions=settings["descriptions"],
    )
    write_text(page, text)
    logger.info("%d entries", content["tables"]["entries"]["rows"])


if __name__ == "__main__":
    from job import run_job

    run_job(board, snakemake)  # type: ignore[name-defined]
