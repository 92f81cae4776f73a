"""The mark lines: curves and ranks of models, the best in color, and panels of errors."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    LEAST_LABEL,
    ONE_MODEL,
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
)
from capmap.figures.heatmap import fit_columns, measure_ticks
from capmap.figures.marks import Mark, mark, mark_members, write_points
from capmap.figures.style import (
    FAINT_INK,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    FloatArray,
    ModelStyle,
    arrange_models,
    column_width,
    current_look,
    figure_style,
    model_styles,
    page_width,
    shorten_names,
    widest,
)
from capmap.ranking.table import compare_ranks
from capmap.wording import AGGREGATION_NAMES, count_things

MAX_COLORED = 10
OTHERS_COLOR = "#C4C4C4"

RATIO = "ratio to the best score, \N{GREEK SMALL LETTER TAU} (log scale)"
NO_RATIOS = "No ratios: no best score > 0."
LEFT = 0.5
HEIGHT = 1.9
ROW_HEIGHT = 0.19
FRAME = "round,pad=0.25,rounding_size=0.7"
ALIKE = "All aggregations rank the models alike."
NUMBERS_NOTE = "Numbers: rank; equal numbers are ties."

METHODS = {
    "factors": ("factors", ModelStyle(PALETTE[0], "o", "-")),
    "l2": ("L2", ModelStyle(PALETTE[3], "s", "-")),
    "additive": ("additive", ModelStyle(PALETTE[7], "X", (0, (4.0, 1.5)))),
}
ERROR = "mean squared error of gaps"
LEAST_PANEL = 1.3
GUTTER = 0.1
MARKER_SIZE = 3.2
AVERAGE = "aggregation of normalized scores"
LEAST_STEP = 0.35
MOST_TICK = 0.75
WIDE_LABEL = 2.4
MOST_TOLD = 5


@dataclass(frozen=True)
class Cast:
    """Which models stand out, best first; how they look; and a note about the others."""

    colored: list[str]
    others: list[str]
    styles: dict[str, ModelStyle]
    notes: tuple[str, ...]


def cast_models(models: Iterable[str], order: Sequence[str]) -> Cast:
    """Let the ten best models stand out.

    Parameters
    ----------
    models : iterable of str
        All models of the table.
    order : sequence of str
        All models of the study from the best to the worst; those that it lacks follow by name.

    Examples
    --------
    >>> cast_models(["b", "a"], order=["b", "a"]).colored
    ['b', 'a']
    """
    place = {model: position for position, model in enumerate(order)}
    ranked = sorted(set(models), key=lambda model: (place.get(model, len(place)), model))
    wanted = current_look().order
    colored = sorted(ranked, key=lambda model: model not in wanted)[:MAX_COLORED]
    others = [model for model in ranked if model not in colored]
    number = count_things(len(others), "model")
    said = "the best" if colored == ranked[:MAX_COLORED] else "these"
    notes = (f"In color: {said} {MAX_COLORED}. Gray: the other {number}.",) if others else ()
    return Cast(arrange_models(colored), others, model_styles([*ranked, *order]), notes)


def gray_out(cast: Cast, model: str) -> ModelStyle:
    """The look of a model, gray unless it stands out."""
    if model in cast.colored:
        return cast.styles[model]
    return replace(cast.styles[model], color=OTHERS_COLOR, line="-")


def draw_curves(sheet: Sheet, cast: Cast, curves: Mapping[str, FloatArray]) -> None:
    """Draw a curve per model, the best on top and the gray ones below all.

    Parameters
    ----------
    sheet : Sheet
        Where to; its main axes take the curves.
    cast : Cast
        How the models look.
    curves : mapping of str to ndarray of shape (points, 2)
        Points by model; a model may be missing.
    """
    others = [model for model in cast.others if model in curves]
    gray = LineCollection(
        [curves[model] for model in others], colors=OTHERS_COLOR, linewidths=0.6, zorder=1
    )
    mark_members(gray, [Mark(model, text=write_points(curves[model])) for model in others])
    sheet.axes.add_collection(gray)
    for depth, model in enumerate(cast.colored):
        if model in curves:
            look, zorder = cast.styles[model], 3 - depth / MAX_COLORED
            x, y = curves[model].T
            [line] = sheet.axes.plot(
                x, y, color=look.color, linestyle=look.line, linewidth=1.2, zorder=zorder
            )
            mark(line, model, text=write_points(curves[model]))


def make_keys(cast: Cast, *, marked: Collection[str] = ()) -> dict[str, Line2D]:
    """Make samples of the curves of models for a legend, some of them with their markers."""
    keys = {}
    for model in cast.colored:
        look = cast.styles[model]
        line: Any = {"color": look.color, "linestyle": look.line, "linewidth": 1.2}
        marker = look.marker if model in marked else "none"
        keys[model] = Line2D([], [], marker=marker, markersize=3.5, **line)
    return keys


def scale_by_log(axes: Axes, *, ticks: Sequence[float]) -> None:
    """Make the x axis logarithmic, with ticks at given places only."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def choose_log_ticks(low: float, high: float, *, count: int) -> list[float]:
    """Choose at most about a number of ticks between two ends of a logarithmic axis.

    Notes
    -----
    They are 1, 1.5, 2, 3, … or 1, 2, 5, … or powers of ten, thinned; even steps where the ends are
    close.

    Examples
    --------
    >>> choose_log_ticks(1, 12, count=5)
    [1.0, 2.0, 5.0, 10.0]
    """
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    decades = range(first, last + 1)
    for factors in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [factor * 10.0**power for power in decades for factor in factors]
        inside = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if 3 <= len(inside) <= count:
            return inside
    if len(inside) > count:
        return inside[:: -(-len(inside) // count)]
    even = MaxNLocator(max(1, count - 1)).tick_values(0, high - low)
    return [low + float(tick) for tick in even if 0 <= tick <= high - low]


@figure_style()
def draw_profiles(profiles: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw performance profiles, a column wide (3.4 in).

    Parameters
    ----------
    profiles : DataFrame
        model, tau (ratio, at least 1) and fraction (share of the model's datasets within it, 0 to
        1): the corners of step functions, which all end at the largest ratio.
    order : sequence of str
        Models from the best to the worst; by name where empty. The best ten have colors.
    """
    if profiles.empty:
        raise NothingToDraw(NO_RATIOS)
    cast = cast_models(profiles["model"], order)
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        left=LEFT,
        right=2 * PADDING + 0.06,
        keys=make_keys(cast),
        wording=Wording("Performance profiles", RATIO, cast.notes),
    )
    end = float(profiles["tau"].max())
    count = max(2, int(sheet.width / 0.4))
    scale_by_log(sheet.axes, ticks=choose_log_ticks(1.0, end, count=count))
    sheet.axes.set_xlim(1.0, end if end > 1 else 1.1)
    by_model = profiles.sort_values(["model", "tau"]).groupby("model")
    last = sheet.axes.get_xlim()[1]
    curves = {
        str(model): trace_steps(rows["tau"], rows["fraction"], end=last) for model, rows in by_model
    }
    draw_curves(sheet, cast, curves)
    sheet.axes.set_ylabel("share of datasets within \N{GREEK SMALL LETTER TAU} of the best")
    sheet.axes.set_ylim(-0.01, 1.02)
    sheet.axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    sheet.axes.grid()
    return sheet.figure


def trace_steps(x: npt.ArrayLike, y: npt.ArrayLike, *, end: float) -> FloatArray:
    """Corners of a step function that takes each value from its place on, up to an end.

    Examples
    --------
    >>> trace_steps([1, 2], [0.5, 1], end=3).tolist()
    [[1.0, 0.5], [2.0, 0.5], [2.0, 1.0], [3.0, 1.0]]
    """
    places = np.append(np.asarray(x, float), end)
    across = np.repeat(places, 2)[1:-1]
    return np.column_stack([across, np.repeat(np.asarray(y, float), 2)])


def draw_bump(
    ranks: pd.DataFrame,
    *,
    names: Sequence[str],
    cast: Cast,
    groups: Sequence[str],
    wording: Wording,
) -> Figure:
    """Draw ranks of models (rows) in several columns, group below group.

    Parameters
    ----------
    ranks : DataFrame
        Index model; a column of ranks each; NaN where a model has no rank.
    names : sequence of str
        What the models are called, at the right of the last rank of each.
    cast : Cast
        How the models look.
    groups : sequence of str
        Which models are ranked together.
    wording : Wording
        Words around the axes; its x label is replaced by the name of the columns.

    Notes
    -----
    Tied models have the same number and stand below each other, in the order in which they came, so
    that a tie crosses no lines.
    """
    if len(ranks) < 2:
        raise NothingToDraw(ONE_MODEL)
    values = ranks.to_numpy(float)
    heights = stack_ranks(values, groups)
    rows, columns = int(np.nanmax(heights, initial=0)) + 1, len(ranks.columns)
    numbers = [f"{rank:.0f}" for rank in values[np.isfinite(values)]]
    distance = widest(numbers, size=SMALL_SIZE) / 2 + GAP
    left, right = PADDING + MOST_TICK / 2, 2 * PADDING + distance
    room = column_width() - left - right - LEAST_STEP * columns
    spare = page_width() - left - right - MOST_TICK * columns
    labels = fit_labels(names, narrow=max(room, LEAST_LABEL), wide=max(room, spare, WIDE_LABEL))
    right += labels.width
    step = (labels.sheet_width - left - right) / max(columns - 1, 1)
    ticks, upright = fit_columns(list(map(str, ranks.columns)), min(step, MOST_TICK))
    sheet = make_sheet(
        width=labels.sheet_width,
        height=rows * (ROW_HEIGHT + labels.extra_height),
        wording=replace(wording, x_label=str(ranks.columns.name)),
        left=left,
        right=right,
        ticks=measure_ticks(ticks, upright=upright),
    )
    short = shorten_names(groups, width=sheet.width, size=TEXT_SIZE)
    for group in dict.fromkeys(groups) if len(short) > 1 else ():
        first = np.nanmin(heights[[own == group for own in groups]], initial=rows)
        y = sheet.height * (1 - first / rows) + HEADER_HEIGHT / 2
        sheet.write(short[group], x=-MOST_TICK / 2, y=y, color=FAINT_INK, va="center")
    for row, model in enumerate(ranks.index):
        look = gray_out(cast, model)
        known = np.flatnonzero(np.isfinite(values[row]))
        pairs = zip(ranks.columns[known], values[row, known], strict=True)
        told = [f"{column}: {rank:.0f}" for column, rank in pairs]
        width = 1.3 if model in cast.colored else 0.6
        style: Any = {"color": look.color, "linestyle": look.line, "linewidth": width}
        [line] = sheet.axes.plot(heights[row], clip_on=False, **style)
        mark(line, model, text="\n".join(["rank", *told[-MOST_TOLD:]]))
        frame = {"boxstyle": FRAME, "facecolor": "white", "edgecolor": look.color, "lw": width}
        text: Any = {"size": SMALL_SIZE, "ha": "center", "va": "center_baseline"}
        for place in known:
            spot = float(place), heights[row, place]
            number = sheet.axes.text(*spot, f"{values[row, place]:.0f}", bbox=frame, **text)
            mark(number, model, text=f"rank {values[row, place]:.0f}")
        if len(known):
            x = sheet.width * known[-1] / max(columns - 1, 1) + distance
            y = sheet.height * (1 - (heights[row, known[-1]] + 0.5) / rows)
            mark(sheet.write(labels.texts[row], x=x, y=y, va="center"), model)
    sheet.axes.set_xticks(range(columns), ticks, rotation=90 if upright else 0, linespacing=1.0)
    sheet.axes.set(xlim=(0, max(1, columns - 1)), ylim=(rows - 0.5, -0.5), yticks=[])
    sheet.axes.spines[["left", "bottom"]].set_visible(False)
    sheet.axes.grid(axis="x")
    return sheet.figure


def stack_ranks(ranks: FloatArray, groups: Sequence[str]) -> FloatArray:
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


def make_method_key(method: str) -> Line2D:
    """Make the sample of a method's curve for a legend, labeled with its name."""
    label, look = METHODS[method]
    style: Any = {"color": look.color, "linestyle": look.line, "linewidth": 1.2}
    return Line2D([], [], marker=look.marker, markersize=MARKER_SIZE, label=label, **style)


def make_panels(titles: Sequence[str], *, wording: Wording, keys: Sequence[Line2D]) -> list[Sheet]:
    """Make panels side by side under one legend, with one x label below all of them.

    Parameters
    ----------
    titles : sequence of str
        What each panel shows.
    wording : Wording
        Words around the panels.
    keys : sequence of Line2D
        The legend's samples, each with its label.

    Returns
    -------
    list of Sheet
        The panels, in a figure that is a column wide for one of them and a page for more; all but
        the first lack numbers at the y axis.
    """
    across = column_width() if len(titles) == 1 else page_width(LEFT + len(titles) * LEAST_PANEL)
    sheet = make_sheet(
        width=across,
        height=HEIGHT,
        wording=wording,
        left=LEFT,
        right=PADDING,
        keys={str(key.get_label()): key for key in keys},
    )
    sheet.axes.set(frame_on=False, xticks=[], yticks=[])
    width = (sheet.width + GUTTER) / len(titles)
    panels = []
    for position, title in enumerate(titles):
        panel = sheet.add_panel(
            left=position * width, bottom=0, width=width - GUTTER - PADDING, height=sheet.height
        )
        panel.axes.tick_params(labelleft=position == 0)
        panel.write(title, x=0, y=sheet.height + 0.05)
        panels.append(panel)
    return panels


def number_axis(axis: Axis, *, most: int) -> None:
    """Write short numbers at an axis, at the ends of at most so many parts."""
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))


@figure_style()
def draw_rank_shift(ranking: pd.DataFrame) -> Figure:
    """Draw how ranks move between mean, trimmed mean, median and interquartile mean.

    Parameters
    ----------
    ranking : DataFrame
        group, unit, statistic, model, rank; the headline first.

    Returns
    -------
    matplotlib.figure.Figure
        A line per model through its rank by each aggregation.

    Notes
    -----
    The number on a line is the rank. Tied models have the same number and stand below each other,
    in the order in which they came, so that a tie crosses no lines. Of more than 40 models the best
    40 by IQM are drawn.
    """
    ranks = compare_ranks(ranking)
    if ranks.nunique(axis=1).eq(1).all():
        raise NothingToDraw(ALIKE)
    by_iqm = list(ranks.reset_index().sort_values(["iqm", "model"])["model"])
    cast = cast_models(ranks.index, by_iqm)
    models, notes = choose_models(ranks.index, by_iqm)
    notes += cast.notes
    ranks = ranks.loc[models]
    ranks.columns = pd.Index([AGGREGATION_NAMES[str(name)] for name in ranks], name=AVERAGE)
    return draw_bump(
        ranks,
        names=models,
        cast=cast,
        groups=[""] * len(models),
        wording=Wording("Rank by each aggregation", "", (*notes, NUMBERS_NOTE)),
    )
