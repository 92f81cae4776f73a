"""Draw the Elo ratings and the win rates of a study's models."""

import logging

from capmap.artifacts import read_table
from capmap.figures.ratings import draw_elo, draw_winrate
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_ratings(
    *,
    elo: str,
    winrate: str,
    iqm: str,
    elo_figure: list[str],
    winrate_figure: list[str],
    confidence_level: float,
) -> None:
    """Draw tables/elo.csv and tables/winrate.csv.

    Parameters
    ----------
    elo, winrate, iqm : str
        Tables, CSV; the last one names all models, for their colors.
    elo_figure, winrate_figure : list of str
        Where to draw each, by format.
    confidence_level : float
        Of the ratings' intervals.
    """
    ratings = read_table(elo)
    models = list(read_table(iqm)["model"])
    save_figure(draw_elo(ratings, models=models, confidence_level=confidence_level), elo_figure)
    save_figure(draw_winrate(read_table(winrate)), winrate_figure)
    logger.info("drew the ratings of %d models", len(ratings))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_ratings, snakemake)  # type: ignore[name-defined]
