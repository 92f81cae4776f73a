"""Put a study's leaderboard on one page that needs no network."""

import logging
from collections.abc import Mapping

from capmap.analyses import load_analysis
from capmap.artifacts import read_parquet, write_text
from capmap.pages.leaderboard import Board, read_texts, render_board
from capmap.pages.rendering import relate_path

logger = logging.getLogger(__name__)


def board(
    *,
    runs: str,
    page: str,
    study: str,
    title: str,
    groups: Mapping[str, list[str]],
    confidence: float,
    about: str,
    **paths: str,
) -> None:
    """Write the page of a leaderboard."""
    declared = load_analysis("leaderboard").tables
    tables = {name: read_texts(path) for name, path in paths.items()}
    content = Board(
        tables=tables,
        runs=read_parquet(runs),
        groups=groups,
        captions={name: table.caption for name, table in declared.items()},
        files={name: relate_path(path, page) for name, path in paths.items()},
        confidence_level=confidence,
        about=about,
    )
    write_text(page, render_board(content, study=study, title=title))
    logger.info("%d entries", len(content.tables["entries"]))


if __name__ == "__main__":
    from job import run_job

    run_job(board, snakemake)  # type: ignore[name-defined]
