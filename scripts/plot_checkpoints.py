"""Draw the checkpoints of a study over their steps, and what their choice is worth."""

import logging

import pandas as pd

from capmap.artifacts import read_table
from capmap.figures.checkpoint_curves import draw_checkpoint_curves, draw_checkpoint_optimism
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_checkpoints(
    *,
    curves: str,
    selected: str,
    checkpoints_table: str,
    iqm: str,
    metric: str,
    checkpoint_curves: list[str],
    checkpoint_optimism: list[str],
) -> None:
    """Draw leaderboard/curves.csv and leaderboard/selected.csv.

    Parameters
    ----------
    curves, selected, checkpoints_table : str
        Tables, CSV; the last one names the split on which checkpoints were chosen.
    iqm : str
        Table of the study's ranking, CSV, which orders the models.
    metric : str
        The metric to draw; empty: the one with the most values on that split, the first by name.
    checkpoint_curves, checkpoint_optimism : list of str
        Where to draw them, by format.
    """
    traced = read_table(curves).fillna({"split": ""})
    chosen = read_table(selected)
    split = read_table(checkpoints_table)["split"].fillna("").iloc[0]
    order = list(read_table(iqm).sort_values(["rank", "model"])["model"])
    figure = draw_checkpoint_curves(
        traced, chosen, metric=metric or _find_main(traced, split), split=split, order=order
    )
    save_figure(figure, checkpoint_curves)
    save_figure(draw_checkpoint_optimism(chosen), checkpoint_optimism)
    logger.info("drew %d trainings", len(chosen))


def _find_main(curves: pd.DataFrame, split: str) -> str:
    """Find the metric with the most values on a split."""
    own = curves[curves["split"] == split]
    counts = own.groupby("metric")["datasets"].sum()
    return str(counts.idxmax()) if len(counts) else ""


if __name__ == "__main__":
    from job import run_job

    run_job(plot_checkpoints, snakemake)  # type: ignore[name-defined]
