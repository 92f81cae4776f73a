"""A line per model through its ranks, with the rank on the line and the name at both ends."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    MAX_MODELS,
    PADDING,
    TICKS_HEIGHT,
    Labels,
    NothingToDraw,
    Sheet,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
)
from capmap.figures.marks import mark
from capmap.figures.names import widest
from capmap.figures.style import SMALL_SIZE, ModelStyle, figure_style, model_styles
from capmap.wording import count_things

ROW_HEIGHT = 0.19
FRAME = "round,pad=0.25,rounding_size=0.7"
NUMBERS_NOTE = "Numbers: rank; equal numbers are ties."

Numbers = npt.NDArray[np.float64]
HEADING = "Ranks under another condition"
MAX_CONDITIONS = 4
NARROW_LABEL = 0.9
WIDE_LABEL = 2.4
NO_CONDITION = "No other condition was given."
NO_MODEL = "No model is in common with another condition."


class Ticks(NamedTuple):
    """Labels of columns, how they are turned in degrees, and the room below them in inches."""

    labels: Sequence[str]
    rotation: int
    height: float


def draw_bump(
    ranks: Numbers,
    *,
    models: Sequence[str],
    looks: Sequence[ModelStyle],
    labels: Labels,
    groups: Sequence[str],
    texts: Sequence[str],
    label_columns: Callable[[float], Ticks],
    wording: Wording,
) -> Figure:
    """Draw ranks of models (rows) in several columns, group below group.

    Parameters
    ----------
    ranks : ndarray of shape (models, columns)
        NaN where a model has no rank.
    models, looks : sequence
        The names of the rows, and how they look.
    labels : Labels
        Of the rows, with the width of the figure.
    groups, texts : sequence of str
        Which models are ranked together, and what pages show of the line of each.
    label_columns : callable
        Labels columns that are so far apart, in inches.
    wording : Wording
        Words around the axes.

    Notes
    -----
    Tied models have the same number and stand below each other, in the order in which they came, so
    that a tie crosses no lines.
    """
    heights = stack_ranks(ranks, groups)
    rows = int(np.nanmax(heights, initial=0)) + 1
    distance = (
        widest([f"{rank:.0f}" for rank in ranks[np.isfinite(ranks)]], size=SMALL_SIZE) / 2 + GAP
    )
    side = PADDING + max(labels.width, 0.35) + distance
    ticks = label_columns((labels.sheet_width - 2 * side) / max(ranks.shape[1] - 1, 1))
    sheet = make_sheet(
        width=labels.sheet_width,
        height=rows * ROW_HEIGHT,
        wording=wording,
        left=side,
        right=side,
        ticks=ticks.height,
    )
    for row, (model, look) in enumerate(zip(models, looks, strict=True)):
        [line] = sheet.axes.plot(heights[row], color=look.color, linestyle=look.line, clip_on=False)
        mark(line, model, text=texts[row])
        _write_numbers(sheet, model, heights[row], ranks[row], look.color)
        _label_ends(sheet, model, labels.texts[row], heights[row, [0, -1]] / rows, distance, rows)
    sheet.axes.set_xticks(
        range(ranks.shape[1]), ticks.labels, rotation=ticks.rotation, linespacing=1.0
    )
    sheet.axes.set(xlim=(0, max(1, ranks.shape[1] - 1)), ylim=(rows - 0.5, -0.5), yticks=[])
    sheet.axes.spines[["left", "bottom"]].set_visible(False)
    sheet.axes.grid(axis="x")
    sheet.head_rows("model", distance=distance)
    return sheet.figure


def stack_ranks(ranks: Numbers, groups: Sequence[str]) -> Numbers:
    """Row of each mark from the top: group below group, by rank, ties by the column before."""
    heights = np.full(ranks.shape, np.nan)
    top = 0
    for group in dict.fromkeys(groups):
        rows = np.flatnonzero(np.array([group == other for other in groups]))
        previous = np.arange(len(rows), dtype=float)
        for column, own in enumerate(ranks[rows].T):
            there = np.flatnonzero(np.isfinite(own))
            there = there[np.lexsort((previous[there], own[there]))]
            previous[there] = np.arange(len(there))
            heights[rows[there], column] = top + previous[there]
        top = int(np.nanmax(heights, initial=0)) + 2
    return heights


def _write_numbers(sheet: Sheet, model: str, heights: Numbers, ranks: Numbers, color: str) -> None:
    """Write the ranks on a line."""
    frame = {"boxstyle": FRAME, "facecolor": "white", "edgecolor": color, "linewidth": 1.1}
    for column in np.flatnonzero(np.isfinite(heights)):
        number = sheet.axes.text(
            float(column),
            heights[column],
            f"{ranks[column]:.0f}",
            size=SMALL_SIZE,
            ha="center",
            va="center_baseline",
            bbox=frame,
            zorder=3,
        )
        mark(number, model, text=f"rank {ranks[column]:.0f}")


def _label_ends(
    sheet: Sheet, model: str, label: str, ends: Numbers, distance: float, rows: int
) -> None:
    """Write a name beside the first and the last column, clear of the marks."""
    places = ((-distance, "right"), (sheet.width + distance, "left"))
    for (x, side), end in zip(places, ends, strict=True):
        if end == end:
            y = sheet.height * (1 - end - 0.5 / rows)
            mark(sheet.write(label, x=x, y=y, ha=side, va="center_baseline"), model)


@figure_style()
def draw_conditions(
    conditions: pd.DataFrame, condition_ranks: pd.DataFrame, *, order: Sequence[str] = ()
) -> Figure:
    """Draw, per other condition, a line per model from its rank here to its rank there.

    Parameters
    ----------
    conditions : DataFrame
        condition, kendall_tau (may be empty), models, datasets.
    condition_ranks : DataFrame
        condition, model, rank, rank_other; rows in any order.
    order : sequence of str
        All models of the study, for their colors; empty: those of the table.

    Returns
    -------
    matplotlib.figure.Figure
        Condition below condition. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    Notes name the conditions from the top, with how alike the rankings are. At most the first four
    conditions by name are drawn, and the best models of each, 40 rows in all. A model has its color
    of all figures.
    """
    taus = conditions.sort_values("condition")
    if taus.empty:
        raise NothingToDraw(NO_CONDITION)
    notes = [_describe(row) for row in taus[:MAX_CONDITIONS].itertuples()]
    if len(taus) > MAX_CONDITIONS:
        notes.append(f"First {MAX_CONDITIONS} of {len(taus)} conditions by name.")
    drawn = []
    limit = MAX_MODELS // min(len(taus), MAX_CONDITIONS)
    for condition in taus["condition"][:MAX_CONDITIONS]:
        own = condition_ranks[condition_ranks["condition"] == condition]
        own = own.sort_values(["rank", "model"])
        models, _ = choose_models(own["model"], list(own["model"]))
        drawn.append(own[own["model"].isin(models[:limit])])
        if len(own) > limit:
            notes.append(f"Top {limit} of {len(own)} models.")
    rows = pd.concat(drawn)
    if rows.empty:
        raise NothingToDraw(NO_MODEL)
    ranks = rows[["rank", "rank_other"]].to_numpy(float)
    styles = model_styles([*condition_ranks["model"], *order])
    return draw_bump(
        ranks,
        models=list(rows["model"]),
        looks=[styles[model] for model in rows["model"]],
        labels=fit_labels(list(rows["model"]), narrow=NARROW_LABEL, wide=WIDE_LABEL),
        groups=list(rows["condition"]),
        texts=[f"rank {here:.0f}, then {there:.0f}" for here, there in ranks],
        label_columns=lambda _: Ticks(["here", "there"], 0, TICKS_HEIGHT),
        wording=Wording(HEADING, "condition", (*dict.fromkeys(notes), NUMBERS_NOTE)),
    )


def _describe(row: Any) -> str:
    """Name a condition, how alike the rankings are, and what they have in common."""
    shared = f"{count_things(int(row.models), 'model')}, "
    shared += f"{count_things(int(row.datasets), 'dataset')} in common"
    if np.isnan(row.kendall_tau):
        return f"{row.condition}: too little in common for Kendall's tau ({shared})."
    tau = f"Kendall's tau {row.kendall_tau:z.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{row.condition}: {tau}, {shared}."
