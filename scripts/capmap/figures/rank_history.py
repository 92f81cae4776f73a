"""How the entries of a leaderboard moved from release to release."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    MAX_MODELS,
    PADDING,
    TICKS_HEIGHT,
    Margins,
    Sheet,
    Wording,
    fit_labels,
    make_sheet,
)
from capmap.figures.heatmap import pivot_cells
from capmap.figures.leaderboard_dimensions import label_entries
from capmap.figures.names import shorten_names, widest
from capmap.figures.style import PAGE_WIDTH, SMALL_SIZE, TEXT_SIZE, figure_style, model_styles

HEADING = "Rank by release"
NARROW_LABEL = 0.9
WIDE_LABEL = 2.2
ROW_HEIGHT = 0.19
MOST_RELEASES = 10
NARROW_RELEASES = 4
RELEASE_LABEL = 1.0
FRAME = "round,pad=0.25,rounding_size=0.7"
NUMBERS_NOTE = "Numbers: rank; equal numbers are ties."
GAP_NOTE = "No mark: not in the release, or not ranked in it."
HIDDEN_NOTE = "Left out: entries that neither end ranks, and those beyond the best."

Numbers = npt.NDArray[np.float64]


class Ticks(NamedTuple):
    """Labels of releases, how they are turned in degrees, and the room below them in inches."""

    labels: list[str]
    rotation: int
    height: float


@figure_style()
def draw_rank_history(rank_history: pd.DataFrame) -> Figure:
    """Draw the ranks of entries over the releases of a leaderboard.

    Parameters
    ----------
    rank_history : DataFrame
        release, method, model, name, rank; releases in their order, at least one row; rank may be
        empty.

    Returns
    -------
    matplotlib.figure.Figure
        A line per entry through its rank in each release, method below method, with its name at
        the ends. A column wide (3.4 in), or a page (7 in) where names or releases need it.

    Notes
    -----
    The number on a line is the rank. An entry has a gap where a release does not rank it. The last
    ten releases are drawn; of the entries that the first or the last of these ranks at most 40, the
    best of the last release first and equally many of each method. A note tells of those left out.
    """
    history = rank_history.assign(submission="")
    releases = list(dict.fromkeys(history["release"]))
    models, ranks = _choose_entries(history, releases[-MOST_RELEASES:])
    notes: tuple[str, ...] = ()
    if len(models) < history["model"].nunique():
        notes = (HIDDEN_NOTE,)
    if len(releases) > MOST_RELEASES:
        notes += (f"The last {MOST_RELEASES} of {len(releases)} releases.",)
    notes += (GAP_NOTE,) if np.isnan(ranks).any() else ()
    named, methods = label_entries(history), _find_methods(history)
    labels = fit_labels([named[model] for model in models], narrow=NARROW_LABEL, wide=WIDE_LABEL)
    heights = _stack_methods(ranks, [methods[model] for model in models])
    numbers = [f"{rank:.0f}" for rank in ranks[np.isfinite(ranks)]]
    distance = widest(numbers, size=SMALL_SIZE) / 2 + GAP
    side = PADDING + max(labels.width, 0.35) + distance
    width = labels.sheet_width if len(releases) <= NARROW_RELEASES else PAGE_WIDTH
    releases = releases[-MOST_RELEASES:]
    ticks = _label_releases(releases, room=(width - 2 * side) / max(len(releases) - 1, 1))
    sheet = make_sheet(
        width=width,
        height=_count_rows(heights) * ROW_HEIGHT,
        margins=Margins(left=side, right=side, ticks=ticks.height),
        wording=Wording(HEADING, "release", (*notes, NUMBERS_NOTE)),
    )
    styles = model_styles(history["model"])
    for model, height, rank in zip(models, heights, ranks, strict=True):
        look = styles[model]
        sheet.axes.plot(height, color=look.color, linestyle=look.line, clip_on=False)
        _number_line(sheet.axes, height, rank, look.color)
    _label_ends(sheet, heights, labels.texts, distance)
    _dress_axes(sheet, ticks, rows=_count_rows(heights))
    return sheet.figure


def _choose_entries(history: pd.DataFrame, releases: list[str]) -> tuple[list[str], Numbers]:
    """Entries with a name at one of the ends, by method and latest rank, and ranks by release."""
    methods = _find_methods(history)
    cells = history.set_index(["model", "release"])["rank"].astype("float64")
    models = sorted(methods)
    table = pivot_cells(cells, models, releases).to_numpy(dtype=float)
    latest = np.where(np.isnan(table), np.inf, table)[:, ::-1].tolist()
    order = sorted(range(len(models)), key=lambda row: (methods[models[row]], latest[row], row))
    order = [row for row in order if np.isfinite(table[row, [0, -1]]).any()]
    most = max(MAX_MODELS // len(set(methods.values())), 1)
    counts: Counter[str] = Counter()
    chosen = []
    for row in order:
        method = methods[models[row]]
        counts[method] += 1
        if counts[method] <= most:
            chosen.append(row)
    chosen = chosen[:MAX_MODELS]
    return [models[row] for row in chosen], table[chosen]


def _find_methods(history: pd.DataFrame) -> dict[str, str]:
    """The method of each model in its last release."""
    return dict(zip(history["model"], history["method"], strict=True))


def _stack_methods(ranks: Numbers, methods: list[str]) -> Numbers:
    """Row of each mark from the top: method below method, by rank, ties by the release before."""
    heights = np.full(ranks.shape, np.nan)
    top = 0
    for method in dict.fromkeys(methods):
        rows = np.flatnonzero(np.array([method == other for other in methods]))
        previous = np.arange(len(rows), dtype=float)
        for column, own in enumerate(ranks[rows].T):
            there = np.flatnonzero(np.isfinite(own))
            there = there[np.lexsort((previous[there], own[there]))]
            previous[there] = np.arange(len(there))
            heights[rows[there], column] = top + previous[there]
        top = _count_rows(heights) + 1
    return heights


def _count_rows(heights: Numbers) -> int:
    return int(np.nanmax(heights, initial=0)) + 1


def _number_line(axes: Axes, heights: Numbers, ranks: Numbers, color: str) -> None:
    frame = {"boxstyle": FRAME, "facecolor": "white", "edgecolor": color, "linewidth": 1.1}
    for column in np.flatnonzero(np.isfinite(heights)):
        axes.text(
            float(column),
            heights[column],
            f"{ranks[column]:.0f}",
            size=SMALL_SIZE,
            ha="center",
            va="center_baseline",
            bbox=frame,
            zorder=3,
        )


def _label_ends(sheet: Sheet, heights: Numbers, labels: list[str], distance: float) -> None:
    """Write the names beside the first and the last release, clear of the marks."""
    for column, x, side in ((0, -distance, "right"), (-1, sheet.width + distance, "left")):
        for label, height in zip(labels, heights[:, column], strict=True):
            if height == height:
                y = sheet.height * (1 - (height + 0.5) / _count_rows(heights))
                sheet.write(label, x=x, y=y, ha=side, va="center_baseline")


def _label_releases(releases: list[str], *, room: float) -> Ticks:
    """Label the releases, upright where they have no room beside each other."""
    labels = shorten_names(releases, width=RELEASE_LABEL, size=TEXT_SIZE)
    width = widest(labels.values(), size=TEXT_SIZE)
    is_upright = width > room - GAP
    height = GAP + width if is_upright else TICKS_HEIGHT
    return Ticks([labels[release] for release in releases], 90 if is_upright else 0, height)


def _dress_axes(sheet: Sheet, ticks: Ticks, *, rows: int) -> None:
    places = range(len(ticks.labels))
    sheet.axes.set_xticks(places, ticks.labels, rotation=ticks.rotation)
    sheet.axes.set_xlim(0, max(1, len(ticks.labels) - 1))
    sheet.axes.set_ylim(rows - 0.5, -0.5)
    sheet.axes.set_yticks([])
    sheet.axes.spines[["left", "bottom"]].set_visible(False)
    sheet.axes.grid(axis="x")
