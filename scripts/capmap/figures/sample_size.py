"""What more seeds would bring: narrower intervals, and fewer pairs of models in the wrong order."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    HEADER_HEIGHT,
    PADDING,
    Margins,
    NothingToDraw,
    Sheet,
    Wording,
    draw_legend,
    make_sheet,
    plan_legend,
)
from capmap.figures.curves import Cast, cast_models, draw_curves, make_key, scale_by_log
from capmap.figures.look import column_width
from capmap.figures.marks import mark
from capmap.figures.style import figure_style

HEIGHT = 1.9
WIDTHS_HEADING = "Interval width to expect"
NO_SPREAD = "No cell has two runs, so the spread over seeds is unknown."


@figure_style()
def draw_seed_widths(seed_widths: pd.DataFrame, iqm: pd.DataFrame) -> Figure:
    """Draw the interval width to expect from each number of seeds.

    Parameters
    ----------
    seed_widths : DataFrame
        model, seeds, width (full width of the interval over runs, normalized score), width_now;
        the widths may be empty.
    iqm : DataFrame
        model, rank, runs, datasets: which models are best, and how many runs they have now.

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
    cast = cast_models(seed_widths["model"], list(iqm.sort_values(["rank", "model"])["model"]))
    legend = plan_legend(cast.colored, sheet_width=column_width())
    now = _place_now(seed_widths, iqm)
    notes = ("Markers: width now, at the average number of runs per dataset.",) if len(now) else ()
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        margins=Margins(0.6, 3 * PADDING, head=HEADER_HEIGHT + legend.height),
        wording=Wording(WIDTHS_HEADING, "seeds per dataset (log scale)", (*cast.notes, *notes)),
    )
    points = {str(model): rows[["seeds", "width"]] for model, rows in known.groupby("model")}
    draw_curves(sheet, cast, {model: rows.to_numpy(float) for model, rows in points.items()})
    for model in cast.colored:
        if model in now.index:
            _draw_marker(sheet, cast, model, tuple(now.loc[model]))
    _dress_widths(sheet, sorted(known["seeds"].unique()), now)
    draw_legend(sheet, legend, [_make_key(cast, model, now.index) for model in cast.colored])
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


def _make_key(cast: Cast, model: str, marked: pd.Index) -> Line2D:
    look = cast.styles[model]
    return make_key(look, marker=look.marker if model in marked else "none")
