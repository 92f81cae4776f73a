"""Draw how positions move over time."""

import logging

from capmap.artifacts import read_table
from capmap.figures.drift import draw_drift
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_drift(*, drift: str, drift_figure: list[str]) -> None:
    """Draw capabilities/drift.csv.

    Parameters
    ----------
    drift : str
        Table, CSV.
    drift_figure : list of str
        Where to draw it, by format.
    """
    table = read_table(drift)
    save_figure(draw_drift(table), drift_figure)
    logger.info("drew %d rows", len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_drift, snakemake)  # type: ignore[name-defined]
