"""How the reliability of a ranking grows with datasets and runs."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from capmap.figures.canvas import (
    HEADER_HEIGHT,
    PADDING,
    Margins,
    Wording,
    draw_legend,
    draw_note,
    make_sheet,
    plan_legend,
)
from capmap.figures.curves import scale_by_log
from capmap.figures.look import column_width
from capmap.figures.style import FAINT_INK, figure_style
from capmap.wording import format_count

HEIGHT = 1.9
HEADING = "Reliability to expect"
TOO_FEW = "Fewer than two models or datasets."
INK = "#1B1B1B"
SEEDS = (1, 3, 5, 10)
GRAYS = ("#9A9A9A", "#707070", "#4A4A4A", INK)
LINES = ("dotted", "dashdot", "dashed", "solid")
NOTE = "Point: this study, with its interval. Line at 0.9: often asked for."


@figure_style()
def draw_reliability(generalizability: pd.DataFrame) -> Figure:
    """Draw the generalizability coefficient by the number of datasets, a line per number of runs.

    Parameters
    ----------
    generalizability : DataFrame
        datasets, seeds (runs per dataset), relative (0 to 1), ci_low, ci_high; the first row is the
        study as it is. May be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).
    """
    if generalizability.empty:
        return draw_note(TOO_FEW, heading=HEADING)
    now = generalizability.iloc[0]
    others = generalizability[generalizability["seeds"].isin(SEEDS)].sort_values("datasets")
    known = [seeds for seeds in SEEDS if seeds in set(others["seeds"])]
    names = [format_count(seeds, "run") for seeds in known]
    legend = plan_legend(names, sheet_width=column_width())
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        margins=Margins(0.5, 3 * PADDING, head=HEADER_HEIGHT + legend.height),
        wording=Wording(HEADING, "datasets (log scale)", (NOTE,)),
    )
    for seeds in known:
        gray, line = GRAYS[SEEDS.index(seeds)], LINES[SEEDS.index(seeds)]
        own = others[others["seeds"] == seeds]
        sheet.axes.plot(own["datasets"], own["relative"], color=gray, linestyle=line, linewidth=1.2)
    drawn = list(sheet.axes.lines)
    sheet.axes.axhline(0.9, color=FAINT_INK, linewidth=0.7, zorder=0)
    place = (now["datasets"],) * 2
    sheet.axes.plot(place, (now["ci_low"], now["ci_high"]), color=INK, linewidth=1)
    sheet.axes.plot(now["datasets"], now["relative"], "o", color=INK, markersize=4.5)
    ticks = sorted(set(others["datasets"]) & {5, 10, 20, 50, 100})
    scale_by_log(sheet.axes, ticks=ticks)
    ends = [now["datasets"], *others["datasets"]]
    sheet.axes.set_xlim(min(ends) / 1.1, max(ends) * 1.1)
    sheet.axes.set_ylim(0, 1)
    sheet.axes.set_yticks(np.linspace(0, 1, 6))
    sheet.axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    sheet.axes.set_ylabel("generalizability coefficient")
    sheet.axes.grid()
    draw_legend(sheet, legend, drawn)
    return sheet.figure
