"""Curves per model: performance profiles, distributions of scores, and widths with more seeds."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
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
from capmap.figures.names import shorten_names, widest
from capmap.figures.style import FAINT_INK, TEXT_SIZE, column_width, figure_style, page_width
from capmap.ranking.table import choose

PANELS = {"raw": "raw scores", "normalized": "normalized scores"}
RATIO = "ratio to the best score, \N{GREEK SMALL LETTER TAU} (log scale)"
NO_RATIOS = "No ratios: no best score > 0."
NAME_WIDTH = 1.5
LEAST_WIDTH = 5.5
LEFT = 0.5
PANEL_GAP = 0.2
HEIGHT = 1.9
KEY_WIDTH = 0.3
KEY_HEIGHT = 0.15
WIDTHS_HEADING = "Interval width to expect"
NO_SPREAD = "No cell has two runs, so the spread over seeds is unknown."


@figure_style()
def draw_profiles(
    profiles: pd.DataFrame, profile_area: pd.DataFrame, *, order: Sequence[str] = ()
) -> Figure:
    """Draw performance profiles of raw and of normalized scores, side by side.

    Parameters
    ----------
    profiles : DataFrame
        kind (raw, normalized; other kinds are left out), model, tau (ratio, at least 1) and
        fraction (share of the model's datasets within it, 0 to 1): the corners of step functions.
    profile_area : DataFrame
        model, share_raw, share_normalized (0 to 1; may be empty).
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in).

    Notes
    -----
    All curves of a panel end at its largest finite ratio. At the right stands each model's share:
    the area under its curve, of the area of a model that is best everywhere. The best ten models
    have colors, the others are gray. A panel without any ratio says so.

    References
    ----------
    Dolan and Moré (2002), Benchmarking optimization software with performance profiles,
    Mathematical Programming 91.
    """
    cast = cast_models(profile_area["model"], order)
    area = profile_area.set_index("model").loc[cast.colored]
    columns = {kind: _write_shares(area[f"share_{kind}"]) for kind in PANELS}
    names = shorten_names(cast.colored, width=NAME_WIDTH, size=TEXT_SIZE)
    list_width = KEY_WIDTH + widest([*names.values(), "model"], size=TEXT_SIZE) + 2 * GAP
    list_width += sum(widest([header, *texts], size=TEXT_SIZE) for header, texts in columns.items())
    across = page_width(LEAST_WIDTH)
    panel = (across - LEFT - PANEL_GAP - 2 * GAP - list_width - PADDING) / 2
    right = across - LEFT - panel
    sheet = make_sheet(
        width=across,
        height=max(HEIGHT, KEY_HEIGHT * len(cast.colored)),
        wording=Wording("Performance profiles", RATIO, (*cast.notes, _explain_shares())),
        left=LEFT,
        right=right,
        head=2 * HEADER_HEIGHT,
    )
    for position, kind in enumerate(PANELS):
        place = _place_panel(sheet, position * (panel + PANEL_GAP), panel)
        _draw_panel(place, cast, profiles[profiles["kind"] == kind], PANELS[kind])
        if position:
            place.axes.tick_params(labelleft=False)
    sheet.axes.set_ylabel("share of datasets within \N{GREEK SMALL LETTER TAU} of the best")
    left = 2 * panel + PANEL_GAP + 2 * GAP
    _list_keys(sheet, cast, columns, left=left, width=NAME_WIDTH)
    sheet.write(
        "area share", x=right + panel - PADDING, y=sheet.height + 0.16, ha="right", color=FAINT_INK
    )
    return sheet.figure


@figure_style()
def draw_score_profiles(profiles: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the share of runs above each normalized score, with bands.

    Parameters
    ----------
    profiles : DataFrame
        kind (only scores is drawn), model, tau (normalized score), fraction (share of runs above
        it, 0 to 1, datasets weighing the same), ci_low, ci_high (may be empty).
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).

    Notes
    -----
    The best ten models have colors and bands, the others are gray. The bands hold at each score
    by itself, not for a whole curve. The dotted line crosses each curve at the median run.

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice,
    NeurIPS 34.
    """
    scores = profiles[profiles["kind"] == "scores"].sort_values(["model", "tau"])
    cast = cast_models(scores["model"], order)
    has_bands = scores["ci_low"].notna().any()
    notes = (*cast.notes, "Dotted: half of the runs.")
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        left=LEFT,
        right=2 * PADDING + 0.06,
        keys=make_keys(cast),
        wording=Wording(
            "Distribution of scores",
            "normalized score \N{GREEK SMALL LETTER TAU} (0 = low bound, 1 = high bound)",
            (*notes, "Bands: interval at each score by itself.") if has_bands else notes,
        ),
    )
    curves = {}
    for model, rows in scores.groupby("model"):
        curves[str(model)] = rows[["tau", "fraction"]].to_numpy(float)
        if model in cast.colored:
            _draw_band(sheet, rows, cast.styles[str(model)].color)
    draw_curves(sheet, cast, curves)
    sheet.axes.axhline(0.5, color=FAINT_INK, linestyle=":", linewidth=0.8, zorder=0.5)
    sheet.axes.set_ylabel("share of runs with a score above \N{GREEK SMALL LETTER TAU}")
    sheet.axes.set_xlim(scores["tau"].min(), scores["tau"].max())
    _dress_shares(sheet)
    sheet.limit_ticks()
    return sheet.figure


def _write_shares(shares: "pd.Series[float]") -> list[str]:
    return ["\N{EN DASH}" if share != share else f"{share:.0%}" for share in shares]


def _explain_shares() -> str:
    return (
        "Area share: area under the curve, 100% for a model that is best everywhere; "
        "it depends on which models are compared."
    )


def _place_panel(sheet: Sheet, left: float, width: float) -> Sheet:
    """Place a panel beside the main axes; the first is the main axes themselves."""
    if not left:
        return sheet
    panel = sheet.add_panel(left=left, bottom=0, width=width, height=sheet.height)
    panel.axes.set_xlabel(sheet.axes.get_xlabel(), linespacing=1.1, va="top")
    panel.axes.xaxis.set_label_coords(0.5, sheet.axes.xaxis.label.get_position()[1])
    return panel


def _draw_panel(sheet: Sheet, cast: Cast, profiles: pd.DataFrame, title: str) -> None:
    sheet.write(title, x=0, y=sheet.height + 0.05)
    sheet.axes.set_ylabel("")
    _dress_shares(sheet)
    if profiles.empty:
        sheet.axes.set_xticks([])
        sheet.write(NO_RATIOS, x=GAP, y=sheet.height / 2)
        return
    end = float(profiles["tau"].max())
    count = max(2, int(sheet.width / 0.4))
    scale_by_log(sheet.axes, ticks=choose_log_ticks(1.0, end, count=count))
    sheet.axes.set_xlim(1.0, end if end > 1 else 1.1)
    draw_curves(sheet, cast, _trace_profiles(profiles, sheet.axes.get_xlim()[1]))


def _trace_profiles(profiles: pd.DataFrame, end: float) -> dict[str, Vertices]:
    by_model = profiles.sort_values(["model", "tau"]).groupby("model")
    return {
        str(model): trace_steps(rows["tau"], rows["fraction"], end=end) for model, rows in by_model
    }


def _draw_band(sheet: Sheet, rows: pd.DataFrame, color: str) -> None:
    tau, low, high = rows[["tau", "ci_low", "ci_high"]].to_numpy(float).T
    if np.isfinite(low).any():
        sheet.axes.fill_between(tau, low, high, color=color, alpha=0.13, linewidth=0, zorder=0.8)


def _dress_shares(sheet: Sheet) -> None:
    sheet.axes.set_ylim(-0.01, 1.02)
    sheet.axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    sheet.axes.grid()


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


def _list_keys(
    sheet: Sheet, cast: Cast, columns: Mapping[str, Sequence[str]], *, left: float, width: float
) -> None:
    """List the colored models beside the axes: key, name, and columns of numbers.

    Parameters
    ----------
    sheet : Sheet
        Where to.
    cast : Cast
        The models and their looks.
    columns : mapping of str to sequence of str
        Texts of each column, one per colored model, by the column's header.
    left, width : float
        Place of the list relative to the main axes, and room for a name, in inches.
    """
    names = shorten_names(cast.colored, width=width, size=TEXT_SIZE)
    top = sheet.height - KEY_HEIGHT / 2
    key_axes = sheet.add_axes(left=left, bottom=0, width=KEY_WIDTH - 0.06, height=sheet.height)
    key_axes.set(xlim=(0, 1), ylim=(0, sheet.height))
    key_axes.set_axis_off()
    for row, model in enumerate(cast.colored):
        y, look = top - row * KEY_HEIGHT, cast.styles[model]
        [key] = key_axes.plot((0, 1), (y, y), color=look.color, linestyle=look.line, linewidth=1.2)
        mark(key, model)
        name = sheet.write(names[model], x=left + KEY_WIDTH, y=y, va="center_baseline")
        mark(name, model)
    sheet.write("model", x=left + KEY_WIDTH, y=sheet.height + 0.03, color=FAINT_INK)
    x = left + KEY_WIDTH + widest([*names.values(), "model"], size=TEXT_SIZE)
    for header, texts in columns.items():
        x += GAP + widest([header, *texts], size=TEXT_SIZE)
        sheet.write(header, x=x, y=sheet.height + 0.03, color=FAINT_INK, ha="right")
        for row, text in enumerate(texts):
            y = top - row * KEY_HEIGHT
            sheet.write(text, x=x, y=y, ha="right", va="center_baseline")


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
