"""Draw a study's figures."""

import logging
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from job import run_job

# isort: split
import pandas as pd
from matplotlib.figure import Figure

from capmap.artifacts import render_csv, write_text
from capmap.catalog import ANALYSES, FIGURES, find_owner, place_read
from capmap.catalog.declarations import TOO_MANY
from capmap.figures.canvas import NothingToDraw
from capmap.figures.look import read_look, wear_look
from capmap.figures.style import save_figure
from capmap.pages.pictures import INDEX
from capmap.steps import load_function, read_place

logger = logging.getLogger(__name__)


def plot(
    *,
    figures: str,
    folder: str,
    drawn: Mapping[str, Mapping[str, Any]],
    formats: Collection[str],
    **_inputs: str | list[str],
) -> None:
    """Draw figures of finished tables, always as SVG, which the page embeds."""
    reasons = {}
    read = cache(read_place)
    for name, chosen in drawn.items():
        with wear_look(read_look(chosen["look"])):
            try:
                figure = _draw_figure(name, chosen["options"], folder, read)
            except NothingToDraw as reason:
                reasons[name] = str(reason)
                continue
            reasons[name] = ""
            save_figure(figure, [Path(figures, f"{name}.{suffix}") for suffix in {"svg", *formats}])
    index = pd.DataFrame({"figure": [*reasons], "reason": [*reasons.values()]})
    write_text(Path(figures, INDEX), render_csv(index))
    count = sum(not reason for reason in reasons.values())
    logger.info("drew %d of %d figures", count, len(reasons))


def _draw_figure(
    name: str, options: Mapping[str, Any], folder: str, read: Callable[[str], pd.DataFrame]
) -> Figure:
    figure, owner, known = FIGURES[name], find_owner(name, "figures"), dict(options)
    tables = {table: read(f"{folder}/{place_read(table, owner)}") for table in figure.reads}
    if _is_left_out(name, {table for table in figure.reads if not len(tables[table])}, folder):
        raise NothingToDraw(TOO_MANY)
    if not len(tables[figure.reads[0]]):
        raise NothingToDraw(f"The table {figure.reads[0]} has no rows.")
    if figure.order:
        order = read(f"{folder}/{place_read(figure.order, owner)}")
        known["order"] = order["model"].unique().tolist()
    made: Figure = load_function(figure.draw)(*(tables[table] for table in figure.reads), **known)
    return made


def _is_left_out(name: str, empty: Collection[str], folder: str) -> bool:
    """Whether tables of a figure are empty as the study has too many models to compare pairs."""
    owner = find_owner(name, "figures")
    if not any(
        step.pairs and not {*step.tables}.isdisjoint(empty) for step in owner.steps.values()
    ):
        return False
    analysis = next(key for key, made in ANALYSES.items() if made is owner)
    return Path(folder, f"{owner.folder}/{analysis}.txt").read_text("utf-8").strip() == TOO_MANY


if __name__ == "__main__":
    run_job(plot, snakemake)  # type: ignore[name-defined]
