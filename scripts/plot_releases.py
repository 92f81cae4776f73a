"""Draw how ranks moved from release to release."""

import logging

from capmap.figures.rank_history import draw_rank_history
from capmap.figures.style import save_figure
from capmap.leaderboard.records import read_records

logger = logging.getLogger(__name__)


def plot_releases(*, rank_history: str, rank_history_figure: list[str]) -> None:
    """Draw leaderboard/rank_history.csv.

    Parameters
    ----------
    rank_history : str
        Table of the ranks by release.
    rank_history_figure : list of str
        Where to draw it, by format.
    """
    table = read_records(rank_history)
    save_figure(draw_rank_history(table), rank_history_figure)
    logger.info("drew %d releases", table["release"].nunique())


if __name__ == "__main__":
    from job import run_job

    run_job(plot_releases, snakemake)  # type: ignore[name-defined]
