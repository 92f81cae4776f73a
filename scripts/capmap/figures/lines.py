"""One curve per model: the best models in color, the others in gray."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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
from capmap.figures.marks import Mark, mark, mark_members, write_points
from capmap.figures.style import (
    PALETTE,
    SMALL_SIZE,
    FloatArray,
    ModelStyle,
    arrange_models,
    column_width,
    current_look,
    figure_style,
    model_styles,
    page_width,
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
NUMBERS_NOTE = "FloatArray: rank; equal numbers are ties."

HEADING = "Ranks under another condition"
MAX_CONDITIONS = 4
NARROW_LABEL = 0.9
WIDE_LABEL = 2.4
NO_CONDITION = "No other condition was given."
NO_MODEL = "No model is in common with another condition."
METHODS = {
    "factors": ("factors", ModelStyle(PALETTE[0], "o", "-")),
    "l2": ("L2", ModelStyle(PALETTE[3], "s", "-")),
    "additive": ("additive", ModelStyle(PALETTE[7], "X", (0, (4.0, 1.5)))),
}
ERROR = "mean squared error of gaps"
LEAST_PANEL = 2.0
GUTTER = 0.1
TICK_LINE = 0.12
LONGEST_BAR = 1.6
FOOT = 0.015
MARKER_SIZE = 3.2
NARROW_SHIFT = 0.8
WIDE_SHIFT = 2.2


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
    They are 1, 2, 5, 10, … or powers of ten, thinned; even steps where the ends are close.

    Examples
    --------
    >>> choose_log_ticks(1, 12, count=5)
    [1.0, 2.0, 5.0, 10.0]
    """
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    decades = range(first, last + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
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


class Ticks(NamedTuple):
    """Labels of columns, how they are turned in degrees, and the room below them in inches."""

    labels: Sequence[str]
    rotation: int
    height: float


def draw_bump(
    ranks: FloatArray,
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


def _write_numbers(
    sheet: Sheet, model: str, heights: FloatArray, ranks: FloatArray, color: str
) -> None:
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
    sheet: Sheet, model: str, label: str, ends: FloatArray, distance: float, rows: int
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


def make_method_key(method: str, *, line: Any = None) -> Line2D:
    """Make the sample of a method's curve for a legend, labeled with its name."""
    label, look = METHODS[method]
    return make_curve_key(label, look, line=line)


def make_curve_key(label: str, look: ModelStyle, *, line: Any = None) -> Line2D:
    """Make the sample of a curve with markers for a legend, in its own line style or another."""
    style: Any = line or look.line
    return Line2D(
        [],
        [],
        color=look.color,
        linestyle=style,
        linewidth=1.2,
        marker=look.marker,
        markersize=MARKER_SIZE,
        label=label,
    )


def make_panels(
    titles: Sequence[str],
    *,
    wording: Wording,
    keys: Sequence[Line2D],
    room: float = PADDING,
    gap: float = GUTTER,
    tick_lines: int = 1,
) -> list[Sheet]:
    """Make panels side by side under one legend, with one x label below all of them.

    Parameters
    ----------
    titles : sequence of str
        What each panel shows.
    wording : Wording
        Words around the panels.
    keys : sequence of Line2D
        The legend's samples, each with its label.
    room : float
        Room at the right of each panel, in inches.
    gap : float
        Room at the left of each panel but the first, in inches.
    tick_lines : int
        Lines of the labels of places on the x axis.

    Returns
    -------
    list of Sheet
        The panels, in a figure that is a column wide for one of them and a page for more; where
        there is no gap for them, all but the first lack numbers at the y axis.
    """
    across = column_width() if len(titles) == 1 else page_width(LEFT + len(titles) * LEAST_PANEL)
    sheet = make_sheet(
        width=across,
        height=HEIGHT,
        wording=wording,
        left=LEFT,
        right=PADDING,
        ticks=TICKS_HEIGHT + (tick_lines - 1) * TICK_LINE,
        keys={str(key.get_label()): key for key in keys},
    )
    sheet.hide_axes()
    width = (sheet.width - (len(titles) - 1) * gap) / len(titles) - room
    panels = []
    for position, title in enumerate(titles):
        left = position * (width + room + gap)
        panel = sheet.add_panel(left=left, bottom=0, width=width, height=sheet.height)
        panel.axes.tick_params(labelleft=position == 0 or gap > GUTTER)
        panel.write(title, x=0, y=sheet.height + 0.05)
        panels.append(panel)
    return panels


def draw_estimates(axes: Axes, points: FloatArray, look: ModelStyle) -> None:
    """Draw a curve through estimates, with their intervals as bars.

    Parameters
    ----------
    axes : Axes
        Where to.
    points : ndarray of shape (points, 4)
        Place, estimate, low, high, ordered by place; NaN where missing.
    look : ModelStyle
        Color, marker and line style.
    """
    x, estimates, low, high = points.T
    there = np.isfinite(low) & np.isfinite(high)
    axes.vlines(x[there], low[there], high[there], color=look.color, linewidth=0.8, zorder=2)
    line: Any = look.line
    axes.plot(
        x,
        estimates,
        color=look.color,
        linestyle=line,
        linewidth=1.1,
        marker=look.marker,
        markersize=MARKER_SIZE,
        markeredgewidth=0,
        zorder=3,
    )


def read_points(rows: pd.DataFrame, columns: Sequence[str]) -> FloatArray:
    """Take place, estimate, low and high from columns, ordered by place; NaN where missing."""
    numbers = rows[list(columns)].astype("Float64")
    values = numbers.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(values[np.argsort(values[:, 0], kind="stable")])


def find_top(estimates: pd.DataFrame, highs: "pd.Series[float]") -> float:
    """End of an axis from 0 with room for all estimates, and for intervals that are not too long.

    Examples
    --------
    >>> estimates = pd.DataFrame({"mse": [0.1, 0.05]})
    >>> round(find_top(estimates, pd.Series([0.12, 9.0])), 3)
    0.168
    """
    values = read_points(estimates, list(estimates.columns))
    largest = float(np.nanmax(values, initial=0.0))
    ends = highs.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    longest = float(np.nanmax(ends, initial=largest))
    return 1.05 * min(longest, LONGEST_BAR * largest) or 1.0


def note_cut(highs: "pd.Series[float]", top: float) -> tuple[str, ...]:
    """Say that intervals go on, where some go beyond the end of their axis."""
    return ("A bar that reaches the edge goes on.",) if (highs > top).any() else ()


def dress_errors(axes: Axes, top: float) -> None:
    """Let a y axis of errors start at 0, and a little below for markers, with few numbers."""
    axes.set_ylim(-FOOT * top, top)
    number_axis(axes.yaxis, most=5)
    axes.grid(axis="y")


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
        A line per model through its rank by each aggregation, with its name at both ends.

    Notes
    -----
    The number on a line is the rank. Tied models have the same number and stand below each other,
    in the order in which they came, so that a tie crosses no lines. Of more than 40 models the best
    40 by IQM are drawn.
    """
    ranks = compare_ranks(ranking)
    by_iqm = list(ranks.reset_index().sort_values(["iqm", "model"])["model"])
    cast = cast_models(ranks.index, by_iqm)
    models, notes = choose_models(ranks.index, by_iqm)
    notes += cast.notes
    ranks = ranks.loc[models]
    names = [AGGREGATION_NAMES[str(name)].replace(" ", "\n") for name in ranks]
    known = [own[np.isfinite(own)] for own in ranks.to_numpy()]
    return draw_bump(
        ranks.to_numpy(),
        labels=fit_labels(models, narrow=NARROW_SHIFT, wide=WIDE_SHIFT),
        models=models,
        looks=[gray_out(cast, model) for model in models],
        groups=[""] * len(models),
        texts=["ranks " + ", ".join(f"{rank:.0f}" for rank in own) for own in known],
        label_columns=lambda _: Ticks(names, 0, 0.29),
        wording=Wording(
            heading="Rank by each aggregation",
            x_label="aggregation of normalized scores",
            notes=(*notes, NUMBERS_NOTE),
        ),
    )
