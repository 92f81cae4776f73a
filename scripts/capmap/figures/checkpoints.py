"""Trainings of checkpoints: the best of n by validation, and values over calendar time."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.dates import AutoDateLocator, DateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    HEADER_HEIGHT,
    PADDING,
    Margins,
    Sheet,
    Wording,
    draw_legend,
    draw_note,
    make_sheet,
    plan_legend,
)
from capmap.figures.curves import OTHERS_COLOR, cast_models, gray_out, make_key
from capmap.figures.look import column_width
from capmap.figures.marks import mark
from capmap.figures.style import FAINT_INK, INK, ModelStyle, figure_style

BEST_HEADING = "Best of n trainings by validation"
NO_TRIALS = "No model has two trainings with values on both splits."
DATES_HEADING = "Chosen checkpoints over time"
NO_DATES = "No checkpoint has a date and a value on the report split."
LINES_NOTE = "Solid: on the report split. Dashed: where it was chosen."
BANDS_NOTE = "Bands: intervals, up to half of the trainings."
ALL = "all"
WHOLE = ModelStyle(INK, "o", "-")
DASHES: Any = (0, (3.0, 1.2))
HEIGHT, LEFT = 2.1, 0.55
# For half of a date at the right end.
DATE_ROOM = 0.32
# In seconds; axes of dates count days since 1970.
DAY = 86_400


@figure_style()
def draw_best_of_n(best_of_n: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the expected value of the training that validation chooses among n.

    Parameters
    ----------
    best_of_n : DataFrame
        model (empty for all trainings together), trials, validation, test, ci_low, ci_high (may be
        empty); rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in): test values solid with their intervals, validation values dashed.

    Notes
    -----
    The best ten models have colors, the others are gray and have no dashed line. All trainings
    together are black, where there are several models.
    """
    table = best_of_n.fillna({"model": ""}).sort_values(["model", "trials"])
    if table.empty:
        return draw_note(NO_TRIALS, heading=BEST_HEADING)
    models = sorted(set(table["model"]) - {""})
    cast = cast_models(models, order)
    names = [*([ALL] if (table["model"] == "").any() else []), *cast.colored]
    legend = plan_legend(names, sheet_width=column_width())
    notes = (
        *cast.notes,
        f"{LINES_NOTE} {BANDS_NOTE}" if table["ci_low"].notna().any() else LINES_NOTE,
    )
    sheet = _make_sheet(BEST_HEADING, "number n of trainings", notes, legend.height)
    looks = {"": WHOLE} | {model: gray_out(cast, model) for model in models}
    for model, rows in table.groupby("model"):
        look, n = looks[str(model)], rows["trials"].to_numpy(float)
        color = look.color
        if color != OTHERS_COLOR:
            ends = rows[["ci_low", "ci_high"]].to_numpy(float).T
            sheet.axes.fill_between(n, *ends, color=color, alpha=0.15, linewidth=0)
            sheet.axes.plot(n, rows["validation"], color=color, linestyle=DASHES, linewidth=0.8)
        [line] = sheet.axes.plot(
            n, rows["test"], color=color, marker="." if len(n) < 20 else "none", linewidth=1.1
        )
        mark(line, str(model) or ALL)
    sheet.limit_ticks()
    sheet.axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    _dress(sheet, "expected value")
    keys = [make_key(WHOLE)] * (len(names) - len(cast.colored))
    draw_legend(sheet, legend, [*keys, *(make_key(cast.styles[name]) for name in cast.colored)])
    return sheet.figure


@figure_style()
def draw_dates(dates: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the report values of chosen checkpoints by date, and the records by validation.

    Parameters
    ----------
    dates : DataFrame
        date (YYYY-MM-DD), model, training, report (may be empty), chosen, record; rows in any
        order.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in): a marker per chosen checkpoint in the color of its model, and a
        stepped line that holds the value of each record until the next one; it has a gap where a
        record has none.
    """
    table = dates.sort_values(["date", "model", "training"])
    table = table.assign(day=table["date"].astype("datetime64[s]").astype("int64") / DAY)
    records = table[table["record"]]
    days = table.dropna(subset="report")
    if days.empty:
        return draw_note(NO_DATES, heading=DATES_HEADING)
    cast = cast_models(days["model"], order)
    legend = plan_legend(cast.colored, sheet_width=column_width())
    notes = (*cast.notes, "Line: the best checkpoint until then by the selection split.")
    sheet = _make_sheet(DATES_HEADING, "date", notes, legend.height, DATE_ROOM)
    last = max(float(days["day"].max()), float(days["day"].min()) + 1)
    x = [*records["day"], last]
    y = [*records["report"], *records["report"].tail(1)]
    if len(records):
        sheet.axes.step(x, y, where="post", color=FAINT_INK, linewidth=1.0, zorder=1.5)
    for model, rows in days[days["chosen"]].groupby("model"):
        look = gray_out(cast, str(model))
        style: Any = {"marker": look.marker, "markersize": 3.6, "color": look.color}
        [drawn] = sheet.axes.plot(rows["day"], rows["report"], linestyle="none", **style)
        mark(drawn, str(model))
    locator = AutoDateLocator(minticks=2, maxticks=4)  # type: ignore[no-untyped-call]
    sheet.axes.xaxis.set_major_locator(locator)
    sheet.axes.xaxis.set_major_formatter(DateFormatter("%Y-%m-%d"))  # type: ignore[no-untyped-call]
    _dress(sheet, "value on the report split")
    draw_legend(
        sheet,
        legend,
        [make_key(cast.styles[name], marker=cast.styles[name].marker) for name in cast.colored],
    )
    return sheet.figure


def _make_sheet(
    heading: str, label: str, notes: tuple[str, ...], legend: float, right: float = 3 * PADDING
) -> Sheet:
    return make_sheet(
        width=column_width(),
        height=HEIGHT,
        margins=Margins(LEFT, right, head=HEADER_HEIGHT + legend),
        wording=Wording(heading, label, notes),
    )


def _dress(sheet: Sheet, label: str) -> None:
    sheet.axes.margins(x=0.05)
    sheet.axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    sheet.axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    sheet.axes.set_ylabel(label)
    sheet.axes.grid()
