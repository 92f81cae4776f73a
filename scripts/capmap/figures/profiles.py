"""Curves per model: performance profiles, and widths of intervals with more seeds."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    make_sheet,
)
from capmap.figures.curves import (
    Cast,
    Vertices,
    cast_models,
    choose_log_ticks,
    draw_curves,
    make_keys,
    scale_by_log,
)
from capmap.figures.marks import mark
from capmap.figures.style import column_width, figure_style
from capmap.ranking.table import choose

RATIO = "ratio to the best score, \N{GREEK SMALL LETTER TAU} (log scale)"
NO_RATIOS = "No ratios: no best score > 0."
LEFT = 0.5
HEIGHT = 1.9
WIDTHS_HEADING = "Interval width to expect"
NO_SPREAD = "No cell has two runs, so the spread over seeds is unknown."


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
