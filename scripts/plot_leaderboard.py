"""Draw the scores of a leaderboard by dimension."""

import logging

from capmap.figures.leaderboard_dimensions import draw_leaderboard_dimensions
from capmap.figures.style import save_figure
from capmap.leaderboard.records import read_records

logger = logging.getLogger(__name__)


def plot_leaderboard(*, dimensions: str, leaderboard_dimensions: list[str]) -> None:
    """Draw leaderboard/dimensions.csv.

    Parameters
    ----------
    dimensions : str
        Table of the dimensions.
    leaderboard_dimensions : list of str
        Where to draw it, by format.
    """
    table = read_records(dimensions)
    save_figure(draw_leaderboard_dimensions(table), leaderboard_dimensions)
    logger.info("drew %d dimensions", table["dimension"].nunique())


if __name__ == "__main__":
    from job import run_job

    run_job(plot_leaderboard, snakemake)  # type: ignore[name-defined]
