"""A figure of finished tables, as the catalog declares it."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from capmap.catalog import ANALYSES, FIGURES, find_owner, place_read
from capmap.catalog.declarations import TOO_MANY
from capmap.figures.canvas import NothingToDraw
from capmap.steps import load_function


def draw_figure(
    name: str, options: Mapping[str, Any], folder: str, read: Callable[[str], pd.DataFrame]
) -> Figure:
    """Draw a figure, with `read` to read tables; one with nothing to show raises."""
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
