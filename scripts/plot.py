"""Draw a study's figures."""

import logging
import sys
import warnings
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from job import run_job

# Matplotlib would load its axes in three dimensions, which take a tenth of all imports.
sys.modules.setdefault("mpl_toolkits.mplot3d", None)  # type: ignore[arg-type]
warnings.filterwarnings("ignore", "Unable to import Axes3D")

# isort: split
from capmap.artifacts import read_reasons, write_index  # noqa: E402
from capmap.figures.canvas import NothingToDraw, draw_figure  # noqa: E402
from capmap.figures.style import figure_style, read_look, save_figure, wear_look  # noqa: E402
from capmap.tables import read_place  # noqa: E402

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
        with figure_style(), wear_look(read_look(chosen["look"])):
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
