"""Draw how the ranks of a study's models change under other conditions."""

import logging

from capmap.artifacts import read_table
from capmap.figures.conditions import draw_conditions
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_conditions(
    *, conditions: str, condition_ranks: str, iqm: str, conditions_figure: list[str]
) -> None:
    """Draw tables/condition_ranks.csv with the agreement of tables/conditions.csv.

    Parameters
    ----------
    conditions, condition_ranks, iqm : str
        Tables, CSV; the last one names all models, for their colors.
    conditions_figure : list of str
        Where to draw it, by format.
    """
    agreement = read_table(conditions)
    ranks = read_table(condition_ranks)
    figure = draw_conditions(agreement, ranks, models=list(read_table(iqm)["model"]))
    save_figure(figure, conditions_figure)
    logger.info("drew %d conditions", agreement["condition"].nunique())


if __name__ == "__main__":
    from job import run_job

    run_job(plot_conditions, snakemake)  # type: ignore[name-defined]
