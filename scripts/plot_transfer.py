"""Draw errors on datasets that were not trained on."""

import logging

from capmap.artifacts import read_table
from capmap.figures.style import save_figure
from capmap.figures.transfer import draw_transfer

logger = logging.getLogger(__name__)


def plot_transfer(*, transfer: str, transfer_figure: list[str]) -> None:
    """Draw capabilities/transfer.csv.

    Parameters
    ----------
    transfer : str
        Table, CSV.
    transfer_figure : list of str
        Where to draw it, by format.
    """
    table = read_table(transfer)
    save_figure(draw_transfer(table), transfer_figure)
    logger.info("drew %d rows", len(table))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_transfer, snakemake)  # type: ignore[name-defined]
