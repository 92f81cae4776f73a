"""What more seeds would bring: narrower intervals, and fewer pairs of models in the wrong order."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    ROW_HEIGHT,
    Margins,
    Sheet,
    Wording,
    draw_legend,
    draw_note,
    make_sheet,
    plan_legend,
)
from capmap.figures.curves import Cast, cast_models, draw_curves, make_key, scale_by_log
from capmap.figures.look import column_width, page_width
from capmap.figures.marks import mark
from capmap.figures.names import printable_text, shorten_names, widest
from capmap.figures.style import FAINT_INK, TEXT_SIZE, figure_style, model_colors

MAX_CELLS = 20
NARROW_NAME = 0.75
WIDE_NAME = 1.5
HEIGHT = 1.9
WIDTHS_HEADING = "Interval width to expect"
NEXT_HEADING = "Where one more run helps most"
GAIN = "drop in the sum of the models' variances by one more run (%)"
NO_SPREAD = "No cell has two runs, so the spread over seeds is unknown."
NO_GAIN = "No cell is known in which one more run helps: no cell has two runs that differ."


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
    best ten models have colors, the others are gray and have no marker. Without any width a note
    says why.
    """
    known = seed_widths.dropna(subset="width").sort_values(["model", "seeds"])
    if known.empty:
        return draw_note(NO_SPREAD, heading=WIDTHS_HEADING)
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


@figure_style()
def draw_next_seeds(next_seeds: pd.DataFrame, *, order: Sequence[str]) -> Figure:
    """Draw in which cells one more run makes the models' scores surest.

    Parameters
    ----------
    next_seeds : DataFrame
        model, dataset, runs, share (of the sum of the models' variances that one more run saves,
        0 to 1); rows in any order.
    order : sequence of str
        All models of the study, for their colors.

    Returns
    -------
    matplotlib.figure.Figure
        Bars of the 20 best cells, the best on top. A column wide (3.4 in), or a page (7 in) where
        names need it.

    Notes
    -----
    Without any cell that helps, a note says so.
    """
    helpful = next_seeds[next_seeds["share"] > 0]
    if helpful.empty:
        return draw_note(NO_GAIN, heading=NEXT_HEADING)
    ordered = helpful.sort_values(["share", "model", "dataset"], ascending=[False, True, True])
    best = ordered.head(MAX_CELLS)
    colors = model_colors([*order, *next_seeds["model"]])
    labels, width, sheet_width = _label_cells(best)
    values = _write_shares(best["share"])
    runs = [f"{count:.0f}" for count in best["runs"]]
    runs_width = widest([*runs, "runs now"], size=TEXT_SIZE)
    notes = (f"Best {MAX_CELLS} of {len(ordered)} cells.",) if len(ordered) > MAX_CELLS else ()
    sheet = make_sheet(
        width=sheet_width,
        height=len(best) * ROW_HEIGHT,
        margins=Margins(PADDING + max(width, 0.9) + GAP, 2 * PADDING + GAP + runs_width),
        wording=Wording(NEXT_HEADING, GAIN, notes),
    )
    shares = 100 * best["share"].to_numpy(float)
    bars = [colors[model] for model in best["model"]]
    drawn = sheet.axes.barh(np.arange(len(best)), shares, 0.7, color=bars)
    for bar, share, (model, dataset) in zip(
        drawn, shares, best[["model", "dataset"]].to_numpy(), strict=True
    ):
        mark(bar, model, dataset=dataset, text=f"{share:.1f}%")
    value_room = widest(values, size=TEXT_SIZE) + GAP
    sheet.axes.set_xlim(0, shares.max() * sheet.width / (sheet.width - value_room))
    sheet.axes.grid(axis="x")
    sheet.limit_ticks()
    sheet.label_rows(labels, header="model \N{MIDDLE DOT} dataset")
    _write_values(sheet, shares, values, runs)
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


def _write_shares(shares: "pd.Series[float]") -> list[str]:
    """Percentages with two digits of the largest."""
    decimals = int(np.clip(1 - np.floor(np.log10(100 * shares.max())), 0, 6))
    return [f"{100 * share:.{decimals}f}" for share in shares]


def _label_cells(cells: pd.DataFrame) -> tuple[list[str], float, float]:
    """Labels of cells, the width of the widest, and that of a figure that has room for them."""
    columns = [list(cells[column]) for column in ("model", "dataset")]
    longest = widest(map(printable_text, chain(*columns)), size=TEXT_SIZE)
    narrow = longest <= NARROW_NAME
    room, sheet_width = (NARROW_NAME, column_width()) if narrow else (WIDE_NAME, page_width())
    short = [shorten_names(names, width=room, size=TEXT_SIZE) for names in columns]
    labels = [
        f"{short[0][model]} \N{MIDDLE DOT} {short[1][dataset]}"
        for model, dataset in zip(*columns, strict=True)
    ]
    return labels, widest(labels, size=TEXT_SIZE), sheet_width


def _write_values(sheet: Sheet, shares: np.ndarray, values: list[str], runs: list[str]) -> None:
    """Write each bar's length at its end, and the cell's runs at the right of the axes."""
    for row, (share, value) in enumerate(zip(shares, values, strict=True)):
        sheet.axes.annotate(
            value,
            (share, row),
            xytext=(2, 0),
            textcoords="offset points",
            va="center_baseline",
        )
        y = sheet.height - (row + 0.5) * ROW_HEIGHT
        x = sheet.width + GAP
        sheet.write(runs[row], x=x, y=y, va="center_baseline")
    sheet.write(
        "runs now", x=sheet.width + GAP, y=sheet.height + 0.02, color=FAINT_INK, va="bottom"
    )
