"""Draw the improvability of a study's models, overall and per dataset."""

import logging

from capmap.artifacts import read_table
from capmap.figures.improvability import draw_improvability, draw_improvability_datasets
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_improvability(
    *,
    improvability: str,
    improvability_datasets: str,
    improvability_figure: list[str],
    improvability_datasets_figure: list[str],
) -> None:
    """Draw tables/improvability.csv and tables/improvability_datasets.csv.

    Parameters
    ----------
    improvability, improvability_datasets : str
        Paths of the tables.
    improvability_figure, improvability_datasets_figure : list of str
        Where to write the figures, as .pdf, .svg or .png.
    """
    ranking = read_table(improvability)
    order = list(ranking["model"])
    save_figure(draw_improvability(ranking), improvability_figure)
    cells = read_table(improvability_datasets)
    figure = draw_improvability_datasets(cells, order=order)
    save_figure(figure, improvability_datasets_figure)
    logger.info("drew the improvability of %d models", len(order))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_improvability, snakemake)  # type: ignore[name-defined]
