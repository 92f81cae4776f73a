"""A row per model with its estimate, its interval, and texts at the right."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import CARETLEFT, CARETRIGHT

from capmap.figures.canvas import (
    GAP,
    LEAST_LABEL,
    PADDING,
    RANK_NOTE,
    ROW_HEIGHT,
    SideColumns,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
    plan_columns,
    write_columns,
    write_ranks,
)
from capmap.figures.marks import write_estimates
from capmap.figures.style import (
    FAINT_INK,
    SMALL_SIZE,
    ModelStyle,
    column_width,
    current_look,
    model_styles,
    page_width,
)

MIN_AXES = 1.2
WIDE_LABEL = 2.6
NO_INTERVAL = "Open marker: no interval."
GOES_ON = "Arrow: the interval goes on."


class Rows(NamedTuple):
    """Labels of rows, the width of a figure with room for them, and its margins, in inches."""

    labels: list[str]
    sheet_width: float
    left: float
    right: float


def plan_rows(names: Sequence[str], side: SideColumns) -> Rows:
    """Make room for the labels of rows and the columns beside them, in a column if they fit."""
    right = 2 * PADDING + max(side.width, 0.06)
    room = WIDE_LABEL
    if current_look().width:
        room = min(room, max(page_width() - PADDING - GAP - right - MIN_AXES, LEAST_LABEL))
    labels = fit_labels(names, narrow=room, wide=room)
    left = PADDING + max(labels.width, 0.35) + GAP
    is_narrow = column_width() - left - right >= MIN_AXES
    width = column_width() if is_narrow else page_width()
    return Rows(labels.texts, width, left, right)


def draw_forest(
    table: pd.DataFrame,
    *,
    everyone: Iterable[str],
    columns: Mapping[str, Sequence[str]],
    wording: Wording,
    line: float | None = None,
    reach: float = np.inf,
    empty: str = "",
) -> Figure:
    """Draw estimates with their intervals, one model below the other.

    Parameters
    ----------
    table : DataFrame
        Index model, in the order in which they are drawn; estimate, low, high; NaN where missing.
    everyone : iterable of str
        All models of the study, whose set decides on colors.
    columns : mapping of str to sequence of str
        Texts at the right of each row, by the header of their column.
    wording : Wording
        Words around the axes.
    line : float, optional
        Where a vertical line says that there is no difference.
    reach : float
        How far beyond the estimates intervals are drawn; an arrow says where one goes on.
    empty : str
        What is written in a row without an estimate.

    Notes
    -----
    A model without an interval has an open marker, and a note says so.
    """
    side = plan_columns(columns)
    rows = plan_rows(list(table.index), side)
    lacking = table["estimate"].notna() & table[["low", "high"]].isna().any(axis=1)
    notes = (*wording.notes, NO_INTERVAL) if lacking.any() else wording.notes
    shown = table.assign(
        low=table["low"].clip(lower=table["estimate"].min() - reach),
        high=table["high"].clip(upper=table["estimate"].max() + reach),
    )
    if (table["low"].lt(shown["low"]) | table["high"].gt(shown["high"])).any():
        notes = (*notes, GOES_ON)
    sheet = make_sheet(
        width=rows.sheet_width,
        height=len(table) * ROW_HEIGHT,
        wording=Wording(wording.heading, wording.x_label, notes),
        left=rows.left,
        right=rows.right,
    )
    if line is not None:
        sheet.axes.axvline(line, color=FAINT_INK, linewidth=0.7, linestyle=(0, (3, 2)))
    _draw_rows(sheet.axes, shown, model_styles(everyone), empty)
    _draw_arrows(sheet.axes, table, shown, model_styles(everyone))
    estimates = write_estimates(table[["estimate", "low", "high"]])
    sheet.axes.grid()
    sheet.limit_ticks()
    sheet.label_rows(rows.labels, header="model", names=table.index, texts=estimates)
    write_columns(sheet, side)
    return sheet.figure


def rank_rows(table: pd.DataFrame, column: str) -> tuple[pd.DataFrame, list[str], tuple[str, ...]]:
    """Take the best models of a ranking by a column as rows of a forest.

    Parameters
    ----------
    table : DataFrame
        model, rank and the column; rank_low, rank_high, ci_low and ci_high where they are known;
        rows in any order.
    column : str
        The estimate.

    Returns
    -------
    DataFrame
        The other columns, and estimate, low and high, by model.
    list of str
        The ranks of the rows, with their intervals.
    tuple of str
        Notes on models that are left out, and on the intervals of ranks.
    """
    ends = pd.Index(["ci_low", "ci_high", "rank_low", "rank_high"])
    table = table.reindex(columns=table.columns.union(ends, sort=False))
    ranked = table.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(ranked.index, list(ranked.index))
    rows = ranked.loc[models].rename(
        columns={column: "estimate", "ci_low": "low", "ci_high": "high"}
    )
    if rows["rank_low"].notna().any():
        notes = (*notes, RANK_NOTE)
    return rows, write_ranks(rows), notes


def _draw_rows(axes: Axes, table: pd.DataFrame, styles: dict[str, ModelStyle], empty: str) -> None:
    values = table[["estimate", "low", "high"]].to_numpy(float)
    for row, (model, (estimate, low, high)) in enumerate(zip(table.index, values, strict=True)):
        look = styles[str(model)]
        if estimate != estimate:
            _write_empty(axes, row, empty)
            continue
        closed = bool(np.isfinite([low, high]).all())
        if closed:
            axes.plot((low, high), (row, row), color=look.color, linewidth=1.4, clip_on=False)
        axes.plot(
            estimate,
            row,
            marker=look.marker,
            markersize=4,
            color=look.color,
            markerfacecolor=look.color if closed else "white",
            clip_on=False,
        )


def _draw_arrows(
    axes: Axes, table: pd.DataFrame, shown: pd.DataFrame, styles: dict[str, ModelStyle]
) -> None:
    """Mark the ends of intervals that go on beyond what is shown."""
    for end, arrow in (("low", CARETLEFT), ("high", CARETRIGHT)):
        for row, (model, limit) in enumerate(shown[end].items()):
            if abs(limit - table[end].iloc[row]) > 0:
                color = styles[str(model)].color
                axes.plot(limit, row, marker=arrow, markersize=4, color=color, clip_on=False)


def _write_empty(axes: Axes, row: int, text: str) -> None:
    """Write in the middle of a row, whatever the x axis shows."""
    place = axes.get_yaxis_transform()
    look: Any = {"size": SMALL_SIZE, "color": FAINT_INK, "ha": "center", "va": "center_baseline"}
    axes.text(0.5, row, text, transform=place, **look)
