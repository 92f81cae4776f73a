"""Whether the map stays put as models are published, and how well newcomers are predicted."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.dates import AutoDateLocator, DateFormatter
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    Sheet,
    Wording,
    draw_legend,
    make_sheet,
    plan_legend,
)
from capmap.figures.names import widest
from capmap.figures.panels import (
    LEFT,
    METHODS,
    Numbers,
    draw_estimates,
    dress_errors,
    find_top,
    make_curve_key,
    note_cut,
    read_points,
)
from capmap.figures.style import (
    FAINT_INK,
    PALETTE,
    SMALL_SIZE,
    ModelStyle,
    column_width,
    figure_style,
)

HEADING = "The map over time"
NO_SHIFT = "One step: no earlier map to compare with."
NO_NEWCOMERS = "No result of a newcomer could be predicted."
HEIGHT = 1.3
GUTTER = 0.12
FORMAT = "%Y-%m"
ALONE = 180.0
NOTE = (
    "Shift: how far models move; 1 is the radius of the final map. "
    "Other starts: what the optimizer alone does."
)
BAR_NOTE = "Bars: intervals."
SHIFTS = {
    "shift": ("since last step", ModelStyle(PALETTE[0], "o", "-")),
    "shift_to_final": ("to final map", ModelStyle(PALETTE[1], "s", "-")),
    "shift_noise": ("other starts", ModelStyle(FAINT_INK, "X", (0, (4.0, 1.5)))),
}
ERRORS = {
    "mse": METHODS["factors"],
    "mse_additive": METHODS["additive"],
}


@figure_style()
def draw_drift(drift: pd.DataFrame) -> Figure:
    """Draw how far models move as others are added, and the error on those that are added.

    Parameters
    ----------
    drift : DataFrame
        date (such as 2024-02-13, or its first parts), models (so far), newcomers, shift,
        shift_to_final and shift_noise (in radii of the final map), mse, mse_low, mse_high,
        mse_additive; numbers from shift on may be empty. Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in): shifts above, errors on hidden results of newcomers below, over the
        last date of each step.

    Notes
    -----
    A shift that is no longer than the one by other starts says nothing about time. Above the
    panels stand the numbers of models and of newcomers, as far as there is room. A panel without
    any number says why.
    """
    steps = drift.assign(day=[_count_days(text) for text in drift["date"]])
    steps = steps.sort_values(["day", "models"])
    top = find_top(steps[list(ERRORS)], steps["mse_high"])
    bars = (BAR_NOTE,) if steps["mse_high"].notna().any() else ()
    marks = " ".join((*bars, *note_cut(steps["mse_high"], top)))
    shifts, errors = _place_panels((NOTE, marks) if marks else (NOTE,))
    for panel, curves in ((shifts, SHIFTS), (errors, ERRORS)):
        for name, (_, look) in curves.items():
            draw_estimates(panel.axes, _read_curve(steps, name), look)
    dress_errors(shifts.axes, find_top(steps[list(SHIFTS)], steps["shift"]))
    dress_errors(errors.axes, top)
    shifts.axes.set_ylabel("shift (radii)")
    errors.axes.set_ylabel("mean squared error")
    days = steps["day"].to_numpy(float)
    _dress_dates((shifts, errors), days)
    _write_counts(shifts, "models", days, steps["models"])
    known = steps.dropna(subset="mse")
    _write_counts(errors, "new", known["day"].to_numpy(float), known["newcomers"])
    if steps["shift"].isna().all():
        _write_empty(shifts, NO_SHIFT)
    if known.empty:
        _write_empty(errors, NO_NEWCOMERS)
    return errors.figure


def _count_days(text: str) -> float:
    """Days since 1970 of a date; a year or month counts as its first day."""
    return float(np.datetime64(f"{text}-01-01"[:10], "D").astype(int))


def _read_curve(steps: pd.DataFrame, name: str) -> Numbers:
    """Points of a curve without gaps: steps at which it has no number are left out."""
    ends = ["mse_low", "mse_high"] if name == "mse" else ["none", "none"]
    known = steps.assign(none=np.nan).dropna(subset=name)
    return read_points(known, ["day", name, *ends])


def _place_panels(notes: tuple[str, ...]) -> tuple[Sheet, Sheet]:
    """Make the figure with its legends, and the upper and the lower panel."""
    upper, lower = (
        {label: make_curve_key(label, look) for label, look in curves.values()}
        for curves in (SHIFTS, ERRORS)
    )
    legend = plan_legend(list(lower), sheet_width=column_width())
    raised = HEIGHT + HEADER_HEIGHT + legend.height + GUTTER
    sheet = make_sheet(
        width=column_width(),
        height=raised + HEIGHT,
        wording=Wording(HEADING, "publication date", notes),
        left=LEFT,
        right=2 * PADDING,
        keys=upper,
    )
    sheet.hide_axes()
    shifts, errors = (
        sheet.add_panel(left=0, bottom=bottom, width=sheet.width, height=HEIGHT)
        for bottom in (raised, 0.0)
    )
    draw_legend(errors, legend, list(lower.values()))
    return shifts, errors


def _dress_dates(panels: Sequence[Sheet], days: Numbers) -> None:
    """Give both panels the same dates, written below the lower one in figures only."""
    edge = 0.04 * (days[-1] - days[0]) or ALONE
    low, high = days[0] - edge, days[-1] + edge
    for panel in panels:
        panel.axes.set_xlim(low, high)
        panel.axes.xaxis.set_major_locator(AutoDateLocator(minticks=2, maxticks=5))  # type: ignore[no-untyped-call]
        panel.axes.xaxis.set_major_formatter(DateFormatter(FORMAT))  # type: ignore[no-untyped-call]
    panels[0].axes.tick_params(labelbottom=False)


def _write_counts(panel: Sheet, header: str, days: Numbers, counts: "pd.Series[int]") -> None:
    """Write the first and the last number above a panel, and others that touch none of these."""
    look = {"y": panel.height + 0.04, "size": SMALL_SIZE}
    panel.write(header, x=-GAP, ha="right", color=FAINT_INK, **look)
    low, high = panel.axes.get_xlim()
    texts = [f"{count:.0f}" for count in counts]
    places = panel.width * (days - low) / (high - low)
    halves = [(widest([text], size=SMALL_SIZE) + GAP / 2) / 2 for text in texts]
    taken: list[int] = []
    for step in sorted(range(len(texts)), key=lambda step: (0 < step < len(texts) - 1, -step)):
        apart = all(
            abs(places[step] - places[other]) >= halves[step] + halves[other] for other in taken
        )
        if apart and places[step] >= halves[step]:
            panel.write(texts[step], x=places[step], ha="center", **look)
            taken.append(step)


def _write_empty(panel: Sheet, text: str) -> None:
    panel.write(
        text, x=panel.width / 2, y=panel.height / 2, ha="center", va="center", color=FAINT_INK
    )
