"""Draw how soon each policy of running results gets there."""

import logging

from capmap.artifacts import read_table
from capmap.figures.replays import draw_dataset_replay, draw_model_replay
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_choices(
    *,
    dataset_replay: str,
    model_replay: str,
    dataset_replay_figure: list[str],
    model_replay_figure: list[str],
) -> None:
    """Draw capabilities/dataset_replay.csv and capabilities/model_replay.csv.

    Parameters
    ----------
    dataset_replay, model_replay : str
        Tables, CSV.
    dataset_replay_figure, model_replay_figure : list of str
        Where to draw each, by format.
    """
    by_dataset, by_model = read_table(dataset_replay), read_table(model_replay)
    save_figure(draw_dataset_replay(by_dataset), dataset_replay_figure)
    save_figure(draw_model_replay(by_model), model_replay_figure)
    logger.info("drew %d and %d rows", len(by_dataset), len(by_model))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_choices, snakemake)  # type: ignore[name-defined]
