"""Panels of errors, the curves in them, and the look that each method has in all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    PADDING,
    TICKS_HEIGHT,
    Sheet,
    Wording,
    make_sheet,
)
from capmap.figures.style import PALETTE, ModelStyle, column_width, page_width

METHODS = {
    "factors": ("factors", ModelStyle(PALETTE[0], "o", "-")),
    "l2": ("L2", ModelStyle(PALETTE[3], "s", "-")),
    "additive": ("additive", ModelStyle(PALETTE[7], "X", (0, (4.0, 1.5)))),
}
ERROR = "mean squared error of gaps"
HEIGHT = 1.9
LEFT = 0.5
LEAST_PANEL = 2.0
GUTTER = 0.1
TICK_LINE = 0.12
LONGEST_BAR = 1.6
FOOT = 0.015
MARKER_SIZE = 3.2

Numbers = npt.NDArray[np.float64]


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


def draw_estimates(axes: Axes, points: Numbers, look: ModelStyle) -> None:
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


def read_points(rows: pd.DataFrame, columns: Sequence[str]) -> Numbers:
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
