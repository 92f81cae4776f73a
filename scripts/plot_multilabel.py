"""Draw accuracy where images have several valid labels."""

import logging

import pandas as pd

from capmap.artifacts import read_table
from capmap.figures.label_counts import draw_label_counts
from capmap.figures.metric_lines import draw_metric_lines
from capmap.figures.metric_rank_shift import draw_metric_rank_shift
from capmap.figures.style import save_figure
from capmap.figures.subgroup_boxes import draw_seed_boxes, draw_subgroup_boxes

logger = logging.getLogger(__name__)


def plot_multilabel(
    *,
    metrics: str,
    summary: str,
    rank_shift: str,
    degradation: str,
    label_counts: str,
    metric_lines_figure: list[str],
    metric_rank_shift_figure: list[str],
    label_counts_figure: list[str],
    subgroup_boxes_figure: list[str],
    seed_boxes_figure: list[str],
    top: int,
) -> None:
    """Draw the tables in multilabel/.

    Parameters
    ----------
    metrics, summary, rank_shift, degradation, label_counts : str
        Tables, CSV.
    metric_lines_figure, metric_rank_shift_figure, label_counts_figure : list of str
        Where to draw each, by format.
    subgroup_boxes_figure, seed_boxes_figure : list of str
        Where to draw each, by format.
    top : int
        Number of best models that stand out.
    """
    values, ranks = read_table(metrics), read_table(rank_shift)
    compared = _name_compared(read_table(degradation), values)
    ranks = ranks[ranks["dataset_top1"] == compared[0]]
    dataset = min(set(ranks["dataset_asma"]) - set(compared), default=compared[-1])
    ranks = ranks[ranks["dataset_asma"] == dataset]
    save_figure(draw_metric_lines(read_table(summary), datasets=compared), metric_lines_figure)
    save_figure(draw_metric_rank_shift(ranks), metric_rank_shift_figure)
    save_figure(draw_label_counts(read_table(label_counts)), label_counts_figure)
    save_figure(draw_subgroup_boxes(values, datasets=compared), subgroup_boxes_figure)
    save_figure(draw_seed_boxes(values, ranks, dataset=dataset, top=top), seed_boxes_figure)
    logger.info("drew the metrics of %d models", values["model"].nunique())


def _name_compared(degradation: pd.DataFrame, metrics: pd.DataFrame) -> list[str]:
    """The two datasets that are compared, or else all there are."""
    pairs = degradation[["dataset_a", "dataset_b"]].drop_duplicates().to_numpy().tolist()
    return pairs[0] if pairs else sorted(set(metrics["dataset"]))[:2]


if __name__ == "__main__":
    from job import run_job

    run_job(plot_multilabel, snakemake)  # type: ignore[name-defined]
