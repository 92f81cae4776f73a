"""Draw the mean ranks of a study's models, with the groups that rank tests do not separate."""

import logging

from capmap.artifacts import read_table
from capmap.figures.critical_difference import draw_critical_difference, draw_rank_cliques
from capmap.figures.style import save_figure
from capmap.problems import require_known

logger = logging.getLogger(__name__)


def plot_ranks(
    *,
    mean_ranks: str,
    nemenyi: str,
    friedman: str,
    critical_difference_figure: list[str],
    rank_cliques_figure: list[str],
    highlight: list[str],
    alpha: float,
) -> None:
    """Draw tables/mean_ranks.csv with Nemenyi's groups, and with those by Wilcoxon and Holm.

    Parameters
    ----------
    mean_ranks, nemenyi, friedman : str
        Tables, CSV.
    critical_difference_figure, rank_cliques_figure : list of str
        Where to draw each, by format.
    highlight : list of str
        Models to show in bold.
    alpha : float
        Level of the tests.

    Raises
    ------
    ValidationError
        If a model to show in bold is unknown.
    """
    ranks = read_table(mean_ranks)
    require_known(highlight, set(ranks["model"]), option="comparison.highlight", kind="model")
    tests = read_table(nemenyi)
    figure = draw_critical_difference(
        ranks, tests, read_table(friedman), highlight=highlight, alpha=alpha
    )
    save_figure(figure, critical_difference_figure)
    save_figure(draw_rank_cliques(ranks, highlight=highlight, alpha=alpha), rank_cliques_figure)
    logger.info("drew the mean ranks of %d models", len(ranks))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_ranks, snakemake)  # type: ignore[name-defined]
