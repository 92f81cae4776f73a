"""A figure of finished tables, as the catalog declares it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from capmap.analyses import FIGURES, load_analysis, place_read
from capmap.figures.canvas import NothingToDraw


def draw_figure(
    name: str,
    options: Mapping[str, Any],
    folder: str,
    read: Callable[[str], pd.DataFrame],
    reasons: Mapping[str, str],
) -> Figure:
    """Draw a figure, with `read` to read tables; one with nothing to show raises.

    `reasons` says why tables have no rows, by their file.
    """
    owner = FIGURES[name]
    figure, known = load_analysis(owner).figures[name], dict(options)
    tables = {table: read(f"{folder}/{place_read(table, owner)}") for table in figure.reads}
    for table in figure.reads:
        if not len(tables[table]) and f"{table}.csv" in reasons:
            raise NothingToDraw(reasons[f"{table}.csv"])
    if not len(tables[figure.reads[0]]):
        raise NothingToDraw(f"The table {figure.reads[0]} has no rows.")
    if figure.order:
        order = read(f"{folder}/{place_read(figure.order, owner)}")
        known["order"] = order["model"].unique().tolist()
    module, _, function = figure.draw.partition(":")
    draw = getattr(import_module(module), function)
    made: Figure = draw(*(tables[table] for table in figure.reads), **known)
    return made
