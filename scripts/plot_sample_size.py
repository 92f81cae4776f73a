"""Draw what more seeds would bring to a study."""

import logging

from capmap.artifacts import read_table
from capmap.figures.sample_size import draw_next_seeds, draw_seed_widths
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_sample_size(
    *,
    seed_widths: str,
    next_seeds: str,
    iqm: str,
    seed_widths_figure: list[str],
    next_seeds_figure: list[str],
) -> None:
    """Draw tables/seed_widths.csv and tables/next_seeds.csv, models in the order of tables/iqm.csv.

    Parameters
    ----------
    seed_widths, next_seeds, iqm : str
        Tables, CSV.
    seed_widths_figure, next_seeds_figure : list of str
        Where to draw each, by format.
    """
    ranking = read_table(iqm)
    cells = read_table(next_seeds)
    save_figure(draw_seed_widths(read_table(seed_widths), ranking), seed_widths_figure)
    save_figure(draw_next_seeds(cells, models=list(ranking["model"])), next_seeds_figure)
    logger.info("drew the widths of %d models", len(ranking))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_sample_size, snakemake)  # type: ignore[name-defined]
