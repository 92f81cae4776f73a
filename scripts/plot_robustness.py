"""Draw how robust a study's ranking is: other aggregations and bounds, other datasets."""

import logging

from capmap.artifacts import read_table
from capmap.figures.robustness import draw_rank_stability, draw_robustness
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_robustness(
    *,
    robustness: str,
    robustness_ranks: str,
    flips: str,
    rank_stability: str,
    rank_distribution: str,
    iqm: str,
    robustness_figure: list[str],
    rank_stability_figure: list[str],
) -> None:
    """Draw the tables of robustness and stability, models in the order of tables/iqm.csv.

    Parameters
    ----------
    robustness, robustness_ranks, flips, rank_stability, rank_distribution, iqm : str
        Paths of the tables.
    robustness_figure, rank_stability_figure : list of str
        Where to write the figures, as .pdf, .svg or .png.
    """
    order = list(read_table(iqm)["model"])
    tables = [read_table(path) for path in (robustness, robustness_ranks, flips)]
    save_figure(draw_robustness(*tables, order=order), robustness_figure)
    figure = draw_rank_stability(
        read_table(rank_stability), read_table(rank_distribution), order=order
    )
    save_figure(figure, rank_stability_figure)
    logger.info("drew the ranks of %d models", len(order))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_robustness, snakemake)  # type: ignore[name-defined]
