"""Draw the ranking of a study within each group of datasets."""

import logging

from capmap.artifacts import read_table
from capmap.figures.group_ranks import draw_groups
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_groups(*, groups: str, groups_figure: list[str]) -> None:
    """Draw tables/groups.csv.

    Parameters
    ----------
    groups : str
        Path of the table.
    groups_figure : list of str
        Where to write the figure, as .pdf, .svg or .png.
    """
    table = read_table(groups)
    save_figure(draw_groups(table), groups_figure)
    logger.info("drew %d groups", table["group"].nunique())


if __name__ == "__main__":
    from job import run_job

    run_job(plot_groups, snakemake)  # type: ignore[name-defined]
