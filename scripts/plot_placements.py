"""Draw errors and coverage for models with few results."""

import logging

from capmap.artifacts import read_table
from capmap.figures.few_results import draw_placement_replay
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_placements(
    *, placement_replay: str, placement_replay_figure: list[str], confidence_level: float
) -> None:
    """Draw capabilities/placement_replay.csv.

    Parameters
    ----------
    placement_replay : str
        Table, CSV.
    placement_replay_figure : list of str
        Where to draw it, by format.
    confidence_level : float
        Nominal coverage.
    """
    replay = read_table(placement_replay)
    figure = draw_placement_replay(replay, confidence_level=confidence_level)
    save_figure(figure, placement_replay_figure)
    logger.info("drew %d rows", len(replay))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_placements, snakemake)  # type: ignore[name-defined]
