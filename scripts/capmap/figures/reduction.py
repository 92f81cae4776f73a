"""How well few datasets give the ranking of all."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

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
from capmap.figures.curves import choose_log_ticks, scale_by_log
from capmap.figures.look import column_width
from capmap.figures.style import FAINT_INK, PALETTE, figure_style

HEIGHT = 1.9
HEADING = "Ranking by few datasets"
TOO_FEW = "Fewer than 8 models or 3 datasets, or models without datasets in common."
NOTE = "On models that took no part in the choice. Line at 0.9."
CHOSEN, RANDOM = PALETTE[0], "#707070"
MOST_TICKS = 7


@figure_style()
def draw_reduction(reduction: pd.DataFrame) -> Figure:
    """Draw Kendall's tau with the ranking by all datasets, by the number of chosen datasets.

    Parameters
    ----------
    reduction : DataFrame
        datasets (their number), kendall_tau, ci_low, ci_high, kendall_tau_random, each from -1 to
        1. May be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).
    """
    if reduction.empty:
        return draw_note(TOO_FEW, heading=HEADING)
    table = reduction.sort_values("datasets")
    names = ["chosen datasets, with interval", "random datasets"]
    legend = plan_legend(names, sheet_width=column_width())
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        margins=Margins(0.5, 3 * PADDING, head=HEADER_HEIGHT + legend.height),
        wording=Wording(HEADING, "datasets (log scale)", (NOTE,)),
    )
    x = table["datasets"].to_numpy(float)
    sheet.axes.fill_between(
        x, table["ci_low"], table["ci_high"], color=CHOSEN, alpha=0.18, linewidth=0
    )
    sheet.axes.plot(
        x, table["kendall_tau"], color=CHOSEN, linewidth=1.4, marker="o", markersize=2.5
    )
    sheet.axes.plot(x, table["kendall_tau_random"], color=RANDOM, linewidth=1.2, linestyle="dashed")
    drawn: list[Line2D] = list(sheet.axes.lines)
    sheet.axes.axhline(0.9, color=FAINT_INK, linewidth=0.7, zorder=0)
    scale_by_log(sheet.axes, ticks=choose_log_ticks(1, float(x.max()), count=MOST_TICKS))
    sheet.axes.set_xlim(0.93, x.max() * 1.07)
    low = min(0.0, float(table[["ci_low", "kendall_tau_random"]].min().min()))
    sheet.axes.set_ylim(np.floor(low * 5) / 5, 1.0)
    sheet.axes.set_ylabel("Kendall's τ with all")
    sheet.axes.grid()
    draw_legend(sheet, legend, drawn)
    return sheet.figure
