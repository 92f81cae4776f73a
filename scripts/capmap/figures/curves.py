"""One curve per model: the best models in color, the others in gray."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter

from capmap.figures.canvas import Sheet
from capmap.figures.marks import Mark, mark, mark_members, write_points
from capmap.figures.style import ModelStyle, arrange_models, current_look, model_styles
from capmap.wording import count_things

MAX_COLORED = 10
OTHERS_COLOR = "#C4C4C4"

Vertices = npt.NDArray[np.float64]


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
