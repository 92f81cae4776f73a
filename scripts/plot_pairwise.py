"""Draw the pairwise comparisons of a study: all pairs, and each model against the reference."""

import logging

from capmap.artifacts import read_table
from capmap.figures.comparison_matrix import draw_comparison_matrix, draw_comparison_reference
from capmap.figures.improvement import draw_improvement
from capmap.figures.signed_rank import draw_bayes_matrix, draw_bayes_reference, draw_rope
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_pairwise(
    *,
    pairwise: str,
    rope: str,
    iqm: str,
    pairwise_figure: list[str],
    pairwise_reference_figure: list[str],
    bayes_figure: list[str],
    bayes_reference_figure: list[str],
    rope_figure: list[str],
    improvement_figure: list[str],
    reference: str,
    alpha: float,
) -> None:
    """Draw tables/pairwise.csv and tables/rope.csv, models in the order of tables/iqm.csv.

    Parameters
    ----------
    pairwise, rope, iqm : str
        Paths of the tables.
    pairwise_figure, bayes_figure : list of str
        Where to write the heat maps of all pairs, as .pdf, .svg or .png.
    pairwise_reference_figure, bayes_reference_figure, rope_figure, improvement_figure : list of str
        Where to write the comparisons with the reference.
    reference : str
        The model that others are compared with; empty: the first of tables/iqm.csv.
    alpha : float
        Level of the tests.
    """
    order = list(read_table(iqm)["model"])
    reference = reference or order[0]
    pairs = read_table(pairwise)
    save_figure(draw_comparison_matrix(pairs, order=order, alpha=alpha), pairwise_figure)
    save_figure(
        draw_comparison_reference(pairs, reference=reference, order=order),
        pairwise_reference_figure,
    )
    save_figure(draw_bayes_matrix(pairs, order=order), bayes_figure)
    save_figure(
        draw_bayes_reference(pairs, reference=reference, order=order), bayes_reference_figure
    )
    save_figure(draw_rope(read_table(rope), order=order), rope_figure)
    save_figure(draw_improvement(pairs, reference=reference, order=order), improvement_figure)
    logger.info("drew %d pairs of %d models", len(pairs), len(order))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_pairwise, snakemake)  # type: ignore[name-defined]
