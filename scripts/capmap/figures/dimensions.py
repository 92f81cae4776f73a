"""Errors over the number of dimensions; and the panels of curves that figures of errors share."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    TICKS_HEIGHT,
    Margins,
    Sheet,
    Wording,
    make_sheet,
)
from capmap.figures.curves import scale_by_log
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.names import widest
from capmap.figures.note import draw_note
from capmap.figures.style import (
    COLUMN_WIDTH,
    FAINT_INK,
    PAGE_WIDTH,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    ModelStyle,
    figure_style,
)

METHOD_NAMES = {
    "ensemble": "ensemble",
    "placed": "placed",
    "l2": "L2",
    "cosine": "cosine",
    "poincare": "Poincaré",
    "bilinear": "bilinear",
    "additive": "additive",
    "model_mean": "model mean",
    "dataset_mean": "dataset mean",
    "mean": "mean",
}
METHOD_STYLES = {
    "ensemble": ModelStyle(PALETTE[0], "o", "-"),
    "placed": ModelStyle(PALETTE[5], "P", "-"),
    "l2": ModelStyle(PALETTE[3], "s", "-"),
    "cosine": ModelStyle(PALETTE[2], "D", "-"),
    "poincare": ModelStyle(PALETTE[4], "^", "-"),
    "bilinear": ModelStyle(PALETTE[6], "v", "-"),
    "additive": ModelStyle(PALETTE[7], "X", (0, (4.0, 1.5))),
    "model_mean": ModelStyle(FAINT_INK, "P", (0, (1.2, 1.2))),
    "dataset_mean": ModelStyle(FAINT_INK, "P", (0, (6.0, 1.5, 1.2, 1.5))),
    "mean": ModelStyle(FAINT_INK, "P", (0, (8.0, 2.0))),
}
PROTOCOLS = {
    "random": "random results hidden",
    "strict": "strict: bounds hidden too",
    "family": "families hidden",
}
PROTOCOL_NOTES = {
    "strict": "Strict: \N{GREEK CAPITAL LETTER DELTA} by the bounds of the known results only.",
    "family": "Families: with a result, the model's others in the dataset's family are hidden.",
}
HEADING = "Error over the number of dimensions"
NOTHING = "No method was validated."
ERROR = "mean squared error of \N{GREEK CAPITAL LETTER DELTA}"
HEIGHT = 1.9
LEFT = 0.5
GUTTER = 0.1
LINE = 0.12
LONGEST_BAR = 1.6
FOOT = 0.015
BAR_NOTE = "A bar that reaches the top goes on."
LABEL_STEP = 0.105
MARKER_SIZE = 3.2

Numbers = npt.NDArray[np.float64]


@figure_style()
def draw_dimensions(summary: pd.DataFrame) -> Figure:
    """Draw the error of each method over the number of dimensions, a panel per protocol.

    Parameters
    ----------
    summary : DataFrame
        distance (a method or baseline), dimension (NA for baselines), protocol (random, strict,
        family), train_mse, mse, mse_low, mse_high; numbers may be empty. Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in); a column (3.4 in) with one protocol.

    Notes
    -----
    The panels share their y axis, which starts at 0 and shows all errors; an interval beyond 1.6
    times the largest of them is cut at the top. Methods stand beside each other at a dimension,
    so that their intervals can be told apart. Training errors are drawn where they are known.
    """
    known = summary.dropna(subset="mse")
    protocols = [name for name in PROTOCOLS if (known["protocol"] == name).any()]
    fitted = known.dropna(subset="dimension")
    baselines = known[known["dimension"].isna()]
    if not protocols:
        return draw_note(NOTHING, heading=HEADING)
    methods = order_methods(fitted["distance"])
    names = [name_method(name) for name in order_methods(baselines["distance"])]
    room = widest(names, size=SMALL_SIZE) + GAP if names else PADDING
    top = find_top(known[["mse", "train_mse"]], known["mse_high"])
    sheet, panels = make_panels(
        [PROTOCOLS[name] for name in protocols],
        wording=Wording(HEADING, "dimensions (log scale)", _write_notes(known, protocols, top)),
        keys=[make_method_key(name, line="-") for name in methods],
        room=room,
    )
    for panel, protocol in zip(panels, protocols, strict=True):
        rows = fitted[fitted["protocol"] == protocol]
        _draw_methods(panel, rows, methods, ticks=sorted(set(fitted["dimension"].astype(int))))
        dress_errors(panel.axes, top)
        _draw_baselines(panel, baselines[baselines["protocol"] == protocol], top)
    panels[0].axes.set_ylabel(ERROR)
    return sheet.figure


def _write_notes(known: pd.DataFrame, protocols: Sequence[str], top: float) -> tuple[str, ...]:
    marks = ["Bars: intervals over folds."] if known["mse_low"].notna().any() else []
    if known["train_mse"].notna().any():
        marks.append("Dashed, pale: training error.")
    marks += note_cut(known, top)
    hidden = [PROTOCOL_NOTES[name] for name in protocols if name in PROTOCOL_NOTES]
    return tuple(" ".join(sentences) for sentences in (marks, hidden) if sentences)


def name_method(method: str) -> str:
    """Write a method or baseline as a reader knows it.

    Examples
    --------
    >>> name_method("poincare"), name_method("model_mean")
    ('Poincaré', 'model mean')
    """
    return METHOD_NAMES.get(method, method.replace("_", " "))


def style_method(method: str) -> ModelStyle:
    """Give a method or baseline the look that it has in all figures of errors."""
    return METHOD_STYLES.get(method, ModelStyle(PALETTE[1], "P", "-"))


def order_methods(methods: Iterable[str]) -> list[str]:
    """List methods without repeats, the recommended one first and the baselines last.

    Examples
    --------
    >>> order_methods(["additive", "l2", "ensemble", "l2"])
    ['ensemble', 'l2', 'additive']
    """
    place = {name: position for position, name in enumerate(METHOD_NAMES)}
    return sorted(set(methods), key=lambda name: (place.get(name, len(place)), name))


def make_method_key(method: str, *, line: Any = None) -> Line2D:
    """Make the sample of a method's curve for a legend, labeled with its name."""
    look = style_method(method)
    return make_curve_key(look, label=name_method(method), line=line)


def make_curve_key(look: ModelStyle, *, label: str, line: Any = None) -> Line2D:
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
) -> tuple[Sheet, list[Sheet]]:
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
    Sheet
        The figure, a column wide for one panel and a page for more, with invisible axes below all
        panels.
    list of Sheet
        The panels; where there is no gap for them, all but the first lack numbers at the y axis.
    """
    across = COLUMN_WIDTH if len(titles) == 1 else PAGE_WIDTH
    legend = plan_legend([str(key.get_label()) for key in keys], sheet_width=across)
    head = HEADER_HEIGHT + legend.height
    ticks = TICKS_HEIGHT + (tick_lines - 1) * LINE
    margins = Margins(LEFT, PADDING, head=head, ticks=ticks)
    sheet = make_sheet(width=across, height=HEIGHT, margins=margins, wording=wording)
    sheet.axes.set(frame_on=False, xticks=[], yticks=[])
    draw_legend(sheet, legend, keys)
    width = (sheet.width - (len(titles) - 1) * gap) / len(titles) - room
    panels = []
    for position, title in enumerate(titles):
        left = position * (width + room + gap)
        axes = sheet.add_axes(left=left, bottom=0, width=width, height=sheet.height)
        axes.tick_params(labelleft=position == 0 or gap > GUTTER)
        place = Sheet(sheet.figure, axes, sheet.left + left, sheet.bottom, width, sheet.height)
        place.write(title, x=0, y=sheet.height + 0.05)
        panels.append(place)
    return sheet, panels


def draw_estimates(axes: Axes, points: Numbers, look: ModelStyle, *, band: bool = False) -> None:
    """Draw a curve through estimates, with their intervals as bars or as a band.

    Parameters
    ----------
    axes : Axes
        Where to.
    points : ndarray of shape (points, 4)
        Place, estimate, low, high, ordered by place; NaN where missing.
    look : ModelStyle
        Color, marker and line style.
    band : bool
        Whether the intervals are joined to a band, unless there is one point only.
    """
    x, estimates, low, high = points.T
    if band and len(points) > 1:
        axes.fill_between(x, low, high, color=look.color, alpha=0.13, linewidth=0, zorder=1.5)
    else:
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


def spread_evenly(position: int, count: int, *, step: float) -> float:
    """Offset of one of some curves that stand beside each other around a place.

    Examples
    --------
    >>> [spread_evenly(position, 3, step=0.5) for position in range(3)]
    [-0.5, 0.0, 0.5]
    """
    return step * (position - (count - 1) / 2)


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


def note_cut(table: pd.DataFrame, top: float) -> tuple[str, ...]:
    """Say that bars go on, where the column mse_high goes beyond the end of the axis."""
    return (BAR_NOTE,) if (table["mse_high"] > top).any() else ()


def dress_errors(axes: Axes, top: float) -> None:
    """Let a y axis of errors start at 0, and a little below for markers, with few numbers."""
    axes.set_ylim(-FOOT * top, top)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.grid(axis="y")


def _draw_methods(
    panel: Sheet, rows: pd.DataFrame, methods: Sequence[str], *, ticks: Sequence[int]
) -> None:
    """Draw a protocol's curves; the dimensions of all protocols are the ends of the x axis."""
    scale_by_log(panel.axes, ticks=_thin_ticks(ticks, panel.width))
    panel.axes.set_xlim(*((min(ticks) / 1.15, max(ticks) * 1.15) if ticks else (1, 10)))
    for position, method in enumerate(methods):
        chosen = rows[rows["distance"] == method]
        look = style_method(method)
        points = read_points(chosen, ["dimension", "mse", "mse_low", "mse_high"])
        points[:, 0] *= np.exp(spread_evenly(position, len(methods), step=0.03))
        draw_estimates(panel.axes, points, ModelStyle(look.color, look.marker, "-"))
        x, training = read_points(chosen, ["dimension", "train_mse"]).T
        panel.axes.plot(
            x,
            training,
            color=look.color,
            linestyle=(0, (2.5, 1.5)),
            linewidth=0.8,
            marker=look.marker,
            markersize=1.8,
            alpha=0.6,
        )


def _thin_ticks(ticks: Sequence[int], width: float) -> list[int]:
    """Leave out dimensions whose numbers would touch the one before."""
    if len(ticks) < 2:
        return list(ticks)
    unit = width / np.log(1.15**2 * ticks[-1] / ticks[0])
    kept = [ticks[-1]]
    for tick in reversed(ticks[:-1]):
        if unit * np.log(kept[-1] / tick) > widest([str(kept[-1])], size=TEXT_SIZE) + 0.06:
            kept.append(tick)
    return kept[::-1]


def _draw_baselines(panel: Sheet, rows: pd.DataFrame, top: float) -> None:
    """Draw a line per baseline, with its name at the right end."""
    ordered = rows.sort_values(["mse", "distance"])
    values = ordered["mse"].to_numpy(float)
    heights = _part_labels(panel.height * (values / top + FOOT) / (1 + FOOT), panel.height)
    for method, value, height in zip(ordered["distance"], values, heights, strict=True):
        look = style_method(method)
        line: Any = look.line
        panel.axes.axhline(value, color=look.color, linestyle=line, linewidth=0.8, zorder=1.2)
        place = {"x": panel.width + GAP / 2, "y": height, "va": "center_baseline"}
        panel.write(name_method(method), size=SMALL_SIZE, color=look.color, **place)


def _part_labels(heights: Numbers, top: float) -> Numbers:
    """Move labels, ordered from the lowest, apart so that none touches the next one."""
    parted = heights.copy()
    for place in range(1, len(parted)):
        parted[place] = max(parted[place], parted[place - 1] + LABEL_STEP)
    for place in range(len(parted) - 1, -1, -1):
        above = parted[place + 1] - LABEL_STEP if place + 1 < len(parted) else top
        parted[place] = min(parted[place], above)
    return parted
