"""Draw a study's figures."""

import logging
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from job import run_job

# isort: split
from capmap.artifacts import read_reasons, write_index
from capmap.figures.canvas import NothingToDraw, draw_figure
from capmap.figures.style import read_look, save_figure, wear_look
from capmap.steps import read_place

logger = logging.getLogger(__name__)


def plot(
    *,
    figures: str,
    comparisons: str,
    folder: str,
    drawn: Mapping[str, Mapping[str, Any]],
    formats: Collection[str],
    **_inputs: str | list[str],
) -> None:
    """Draw figures of finished tables, always as SVG, which the page embeds."""
    absent = {}
    Path(figures).mkdir(parents=True, exist_ok=True)
    read, reasons = cache(read_place), read_reasons(comparisons)
    for name, chosen in drawn.items():
        with wear_look(read_look(chosen["look"])):
            try:
                figure = draw_figure(name, chosen["options"], folder, read, reasons)
            except NothingToDraw as reason:
                absent[name] = str(reason)
                continue
            save_figure(figure, [Path(figures, f"{name}.{suffix}") for suffix in {"svg", *formats}])
    write_index(figures, absent)
    logger.info("drew %d of %d figures", len(drawn) - len(absent), len(drawn))


if __name__ == "__main__":
    run_job(plot, snakemake)  # type: ignore[name-defined]
