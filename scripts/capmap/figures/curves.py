"""One curve per model: the best models in color, the others in gray."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter

from capmap.figures.canvas import (
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    make_sheet,
)
from capmap.figures.marks import Mark, mark, mark_members, write_points
from capmap.figures.style import (
    ModelStyle,
    arrange_models,
    column_width,
    current_look,
    figure_style,
    model_styles,
)
from capmap.ranking.table import choose
from capmap.wording import count_things

MAX_COLORED = 10
OTHERS_COLOR = "#C4C4C4"

Vertices = npt.NDArray[np.float64]
RATIO = "ratio to the best score, \N{GREEK SMALL LETTER TAU} (log scale)"
NO_RATIOS = "No ratios: no best score > 0."
LEFT = 0.5
HEIGHT = 1.9
WIDTHS_HEADING = "Interval width to expect"
NO_SPREAD = "No cell has two runs, so the spread over seeds is unknown."


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


def draw_curves(sheet: Sheet, cast: Cast, curves: Mapping[str, Vertices]) -> None:
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


def trace_steps(x: npt.ArrayLike, y: npt.ArrayLike, *, end: float) -> Vertices:
    """Corners of a step function that takes each value from its place on, up to an end.

    Examples
    --------
    >>> trace_steps([1, 2], [0.5, 1], end=3).tolist()
    [[1.0, 0.5], [2.0, 0.5], [2.0, 1.0], [3.0, 1.0]]
    """
    places = np.append(np.asarray(x, float), end)
    across = np.repeat(places, 2)[1:-1]
    return np.column_stack([across, np.repeat(np.asarray(y, float), 2)])


@figure_style()
def draw_seed_widths(seed_widths: pd.DataFrame, ranking: pd.DataFrame) -> Figure:
    """Draw the interval width to expect from each number of seeds.

    Parameters
    ----------
    seed_widths : DataFrame
        model, seeds, width (full width of the interval over runs, normalized score), width_now;
        the widths may be empty.
    ranking : DataFrame
        group, unit, statistic, model, rank, runs, datasets: which models are best by interquartile
        mean, and how many runs they have now.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).

    Notes
    -----
    A marker stands at the present width, over the model's average number of runs per dataset. The
    best ten models have colors, the others are gray and have no marker.
    """
    known = seed_widths.dropna(subset="width").sort_values(["model", "seeds"])
    if known.empty:
        raise NothingToDraw(NO_SPREAD)
    iqm = choose(ranking, statistic="iqm")
    cast = cast_models(seed_widths["model"], list(iqm.sort_values(["rank", "model"])["model"]))
    now = _place_now(seed_widths, iqm)
    notes = ("Markers: width now, at the average number of runs per dataset.",) if len(now) else ()
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        wording=Wording(WIDTHS_HEADING, "seeds per dataset (log scale)", (*cast.notes, *notes)),
        left=0.6,
        right=3 * PADDING,
        keys=make_keys(cast, marked=now.index),
    )
    points = {str(model): rows[["seeds", "width"]] for model, rows in known.groupby("model")}
    draw_curves(sheet, cast, {model: rows.to_numpy(float) for model, rows in points.items()})
    for model in cast.colored:
        if model in now.index:
            _draw_marker(sheet, cast, model, tuple(now.loc[model]))
    _dress_widths(sheet, sorted(known["seeds"].unique()), now)
    return sheet.figure


def _place_now(seed_widths: pd.DataFrame, iqm: pd.DataFrame) -> pd.DataFrame:
    """Average runs per dataset and present width of each model that has both."""
    counts = iqm.set_index("model")
    widths = seed_widths.drop_duplicates("model").set_index("model")["width_now"]
    now = pd.DataFrame({"seeds": counts["runs"] / counts["datasets"], "width": widths})
    return now.dropna()


def _draw_marker(sheet: Sheet, cast: Cast, model: str, place: tuple[float, float]) -> None:
    look = cast.styles[model]
    [point] = sheet.axes.plot(
        *place, look.marker, color=look.color, markersize=4.5, markeredgecolor="white", zorder=4
    )
    mark(point, model, text=f"width {place[1]:.3f} with {place[0]:.3g} runs per dataset")


def _dress_widths(sheet: Sheet, seeds: list[int], now: pd.DataFrame) -> None:
    ends = [*seeds, *now["seeds"]]
    scale_by_log(sheet.axes, ticks=seeds)
    sheet.axes.set_xlim(min(ends) / 1.1, max(ends) * 1.1)
    sheet.axes.set_ylim(bottom=0)
    sheet.axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    sheet.axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    sheet.axes.set_ylabel("width of the interval over runs\n(normalized score)")
    sheet.axes.grid()
