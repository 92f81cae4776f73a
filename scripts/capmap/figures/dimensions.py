"""Errors of each method over the number of dimensions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import GAP, PADDING, Sheet, Wording
from capmap.figures.curves import scale_by_log
from capmap.figures.names import widest
from capmap.figures.note import draw_note
from capmap.figures.panels import (
    ERROR,
    FOOT,
    Numbers,
    draw_estimates,
    dress_errors,
    find_top,
    make_method_key,
    make_panels,
    name_method,
    note_cut,
    order_methods,
    read_points,
    spread_evenly,
    style_method,
)
from capmap.figures.style import SMALL_SIZE, TEXT_SIZE, ModelStyle, figure_style

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
LABEL_STEP = 0.105


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
    panels = make_panels(
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
    return panels[0].figure


def _write_notes(known: pd.DataFrame, protocols: Sequence[str], top: float) -> tuple[str, ...]:
    marks = ["Bars: intervals over folds."] if known["mse_low"].notna().any() else []
    if known["train_mse"].notna().any():
        marks.append("Dashed, pale: training error.")
    marks += note_cut(known["mse_high"], top)
    hidden = [PROTOCOL_NOTES[name] for name in protocols if name in PROTOCOL_NOTES]
    return tuple(" ".join(sentences) for sentences in (marks, hidden) if sentences)


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
