"""The mark lines: curves and ranks of models, the best in color, and panels of errors."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    LEAST_LABEL,
    LINE_HEIGHT,
    MAX_MODELS,
    ONE_MODEL,
    PADDING,
    TICKS_HEIGHT,
    NothingToDraw,
    Sheet,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
    number_axis,
)
from capmap.figures.heatmap import fit_columns, measure_ticks, pivot_cells
from capmap.figures.marks import Mark, mark, mark_members, write_points
from capmap.figures.style import (
    FAINT_INK,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    FloatArray,
    ModelStyle,
    arrange_models,
    column_width,
    current_look,
    figure_style,
    model_styles,
    page_width,
    shorten_names,
    widest,
    wrap_text,
)
from capmap.ranking import compare_ranks
from capmap.wording import AGGREGATION_NAMES, count_things

MAX_COLORED = 10
OTHERS_COLOR = "#C4C4C4"

RATIO = "ratio to the best score, \N{GREEK SMALL LETTER TAU} (log scale)"
NO_RATIOS = "No ratios: no best score > 0."
LEFT = 0.5
HEIGHT = 1.9
ROW_HEIGHT = 0.19
FRAME = "round,pad=0.25,rounding_size=0.7"
ALIKE = "All aggregations rank the models alike."
NUMBERS_NOTE = "Numbers: rank; equal numbers are ties."

METHODS = {
    "factors": ("factors", ModelStyle(PALETTE[0], "o", "-")),
    "l2": ("L2", ModelStyle(PALETTE[3], "s", "-")),
    "additive": ("additive", ModelStyle(PALETTE[7], "X", (0, (4.0, 1.5)))),
}
ERROR = "mean squared error of gaps"
LEAST_PANEL = 1.3
GUTTER = 0.1
MARKER_SIZE = 3.2
AVERAGE = "aggregation of normalized scores"
LEAST_STEP = 0.25
MOST_TICK = 0.75
WIDE_LABEL = 2.4
MOST_TOLD = 5
MOST_RELEASES = 10
GAP_NOTE = "No mark: not in the release, or not ranked in it."
HIDDEN_NOTE = "Left out: entries that neither end ranks, and those beyond the best."
CURVES_HEIGHT = 2.1
LEAST_TRAININGS = 3
THIN, PLAIN, BOLD = 0.6, 1.0, 1.6
OF_ONE = "Marker: the chosen checkpoint. Band: interval over datasets."
OF_SEVERAL = (
    "Marker: the chosen checkpoint. Bold: mean of a model's trainings. Band: interval over "
    "trainings, of a single one over datasets."
)
APART = 0.05


@dataclass(frozen=True)
class Cast:
    """Which models stand out, best first; how they look; and a note about the others."""

    colored: list[str]
    others: list[str]
    styles: dict[str, ModelStyle]
    notes: tuple[str, ...]


def cast_models(models: Iterable[str], order: Sequence[str]) -> Cast:
    """Let the ten best models stand out.

    Parameters
    ----------
    models : iterable of str
        All models of the table.
    order : sequence of str
        All models of the study from the best to the worst; those that it lacks follow by name.

    Examples
    --------
    >>> cast_models(["b", "a"], order=["b", "a"]).colored
    ['b', 'a']
    """
    place = {model: position for position, model in enumerate(order)}
    ranked = sorted(set(models), key=lambda model: (place.get(model, len(place)), model))
    wanted = current_look().order
    colored = sorted(ranked, key=lambda model: model not in wanted)[:MAX_COLORED]
    others = [model for model in ranked if model not in colored]
    number = count_things(len(others), "model")
    said = "the best" if colored == ranked[:MAX_COLORED] else "these"
    notes = (f"In color: {said} {MAX_COLORED}. Gray: the other {number}.",) if others else ()
    return Cast(arrange_models(colored), others, model_styles([*ranked, *order]), notes)


def gray_out(cast: Cast, model: str) -> ModelStyle:
    """The look of a model, gray unless it stands out."""
    if model in cast.colored:
        return cast.styles[model]
    return replace(cast.styles[model], color=OTHERS_COLOR, line="-")


def draw_curves(sheet: Sheet, cast: Cast, curves: Mapping[str, FloatArray]) -> None:
    """Draw a curve per model, the best on top and the gray ones below all.

    Parameters
    ----------
    sheet : Sheet
        Where to; its main axes take the curves.
    cast : Cast
        How the models look.
    curves : mapping of str to ndarray of shape (points, 2)
        Points by model; a model may be missing.
    """
    others = [model for model in cast.others if model in curves]
    gray = LineCollection(
        [curves[model] for model in others], colors=OTHERS_COLOR, linewidths=0.6, zorder=1
    )
    mark_members(gray, [Mark(model, text=write_points(curves[model])) for model in others])
    sheet.axes.add_collection(gray)
    for depth, model in enumerate(cast.colored):
        if model in curves:
            look, zorder = cast.styles[model], 3 - depth / MAX_COLORED
            x, y = curves[model].T
            [line] = sheet.axes.plot(
                x, y, color=look.color, linestyle=look.line, linewidth=1.2, zorder=zorder
            )
            mark(line, model, text=write_points(curves[model]))


def make_keys(cast: Cast, *, marked: Collection[str] = ()) -> dict[str, Line2D]:
    """Make samples of the curves of models for a legend, some of them with their markers."""
    keys = {}
    for model in cast.colored:
        look = cast.styles[model]
        line: Any = {"color": look.color, "linestyle": look.line, "linewidth": 1.2}
        marker = look.marker if model in marked else "none"
        keys[model] = Line2D([], [], marker=marker, markersize=3.5, **line)
    return keys


def scale_by_log(sheet: Sheet) -> None:
    """Make the x axis, whose limits are known, logarithmic, with few numbers."""
    low, high = sheet.axes.get_xlim()
    crowd = np.log10(high / low) / sheet.width
    subs = (1, 2, 5) if crowd < 0.8 else (1, 3) if crowd < 1.5 else (1,)
    sheet.axes.set_xscale("log")
    if high < 10 * low:
        sheet.limit_ticks()
    else:
        sheet.axes.xaxis.set_major_locator(LogLocator(subs=subs))
    sheet.axes.xaxis.set_minor_locator(NullLocator())
    sheet.axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


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
    sheet.axes.set_xlim(1.0, end if end > 1 else 1.1)
    scale_by_log(sheet)
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


def trace_steps(x: npt.ArrayLike, y: npt.ArrayLike, *, end: float) -> FloatArray:
    """Corners of a step function that takes each value from its place on, up to an end.

    Examples
    --------
    >>> trace_steps([1, 2], [0.5, 1], end=3).tolist()
    [[1.0, 0.5], [2.0, 0.5], [2.0, 1.0], [3.0, 1.0]]
    """
    places = np.append(np.asarray(x, float), end)
    across = np.repeat(places, 2)[1:-1]
    return np.column_stack([across, np.repeat(np.asarray(y, float), 2)])


def draw_bump(
    ranks: pd.DataFrame,
    *,
    cast: Cast,
    groups: Sequence[str],
    wording: Wording,
) -> Figure:
    """Draw ranks of models (rows) in several columns, group below group.

    Parameters
    ----------
    ranks : DataFrame
        Index model; a column of ranks each; NaN where a model has no rank.
    cast : Cast
        How the models look.
    groups : sequence of str
        Which models are ranked together.
    wording : Wording
        Words around the axes; its x label is replaced by the name of the columns.

    Notes
    -----
    Tied models have the same number and stand below each other, in the order in which they came, so
    that a tie crosses no lines.
    """
    if len(ranks) < 2:
        raise NothingToDraw(ONE_MODEL)
    values = ranks.to_numpy(float)
    heights = stack_ranks(values, groups)
    rows, columns = int(np.nanmax(heights, initial=0)) + 1, len(ranks.columns)
    numbers = [f"{rank:.0f}" for rank in values[np.isfinite(values)]]
    distance = widest(numbers, size=SMALL_SIZE) / 2 + GAP
    left, right = PADDING + MOST_TICK / 2, 2 * PADDING + distance
    rest = left + right + LEAST_STEP * columns
    narrow = max(column_width() - rest, LEAST_LABEL)
    wide = max(narrow, page_width() - left - right - MOST_TICK * columns, WIDE_LABEL)
    labels = fit_labels(list(ranks.index), narrow=narrow, wide=wide, rest=rest)
    right += labels.width
    step = (labels.sheet_width - left - right) / max(columns - 1, 1)
    ticks, upright = fit_columns(list(map(str, ranks.columns)), min(step, MOST_TICK))
    sheet = make_sheet(
        width=labels.sheet_width,
        height=rows * (ROW_HEIGHT + labels.extra_height),
        wording=replace(wording, x_label=str(ranks.columns.name)),
        left=left,
        right=right,
        ticks=measure_ticks(ticks, upright=upright),
    )
    short = shorten_names(groups, width=sheet.width, size=TEXT_SIZE)
    for group in dict.fromkeys(groups) if len(short) > 1 else ():
        first = np.nanmin(heights[[own == group for own in groups]], initial=rows)
        y = sheet.height * (1 - first / rows) + HEADER_HEIGHT / 2
        sheet.write(short[group], x=-MOST_TICK / 2, y=y, color=FAINT_INK, va="center")
    for row, model in enumerate(ranks.index):
        look = gray_out(cast, model)
        known = np.flatnonzero(np.isfinite(values[row]))
        pairs = zip(ranks.columns[known], values[row, known], strict=True)
        told = [f"{column}: {rank:.0f}" for column, rank in pairs]
        width = 1.3 if model in cast.colored else 0.6
        style: Any = {"color": look.color, "linestyle": look.line, "linewidth": width}
        [line] = sheet.axes.plot(heights[row], clip_on=False, **style)
        mark(line, model, text="\n".join(["rank", *told[-MOST_TOLD:]]))
        frame = {"boxstyle": FRAME, "facecolor": "white", "edgecolor": look.color, "lw": width}
        text: Any = {"size": SMALL_SIZE, "ha": "center", "va": "center_baseline"}
        for place in known:
            spot = float(place), heights[row, place]
            number = sheet.axes.text(*spot, f"{values[row, place]:.0f}", bbox=frame, **text)
            mark(number, model, text=f"rank {values[row, place]:.0f}")
        if len(known):
            x = sheet.width * known[-1] / max(columns - 1, 1) + distance
            y = sheet.height * (1 - (heights[row, known[-1]] + 0.5) / rows)
            mark(sheet.write(labels.texts[row], x=x, y=y, va="center"), model)
    sheet.axes.set_xticks(range(columns), ticks, rotation=90 if upright else 0, linespacing=1.0)
    sheet.axes.set(xlim=(0, max(1, columns - 1)), ylim=(rows - 0.5, -0.5), yticks=[])
    sheet.axes.spines[["left", "bottom"]].set_visible(False)
    sheet.axes.grid(axis="x")
    return sheet.figure


def stack_ranks(ranks: FloatArray, groups: Sequence[str]) -> FloatArray:
    """Row of each mark from the top: group below group, by rank, ties by the column before."""
    heights = np.full(ranks.shape, np.nan)
    top = 0
    for group in dict.fromkeys(groups):
        rows = np.flatnonzero(np.array([group == other for other in groups]))
        previous = np.arange(len(rows), dtype=float)
        for column, own in enumerate(ranks[rows].T):
            there = np.flatnonzero(np.isfinite(own))
            there = there[np.lexsort((previous[there], own[there]))]
            previous[there] = np.arange(len(there))
            heights[rows[there], column] = top + previous[there]
        top = int(np.nanmax(heights, initial=0)) + 2
    return heights


def make_method_key(method: str) -> Line2D:
    """Make the sample of a method's curve for a legend, labeled with its name."""
    label, look = METHODS[method]
    style: Any = {"color": look.color, "linestyle": look.line, "linewidth": 1.2}
    return Line2D([], [], marker=look.marker, markersize=MARKER_SIZE, label=label, **style)


def make_panels(titles: Sequence[str], *, wording: Wording, keys: Sequence[Line2D]) -> list[Sheet]:
    """Make panels side by side under one legend, with one x label below all of them.

    Parameters
    ----------
    titles : sequence of str
        What each panel shows.
    wording : Wording
        Words around the panels.
    keys : sequence of Line2D
        The legend's samples, each with its label.

    Returns
    -------
    list of Sheet
        The panels, in a figure that is a column wide for one of them and a page for more; all but
        the first lack numbers at the y axis.
    """
    across = column_width() if len(titles) == 1 else page_width(LEFT + len(titles) * LEAST_PANEL)
    sheet = make_sheet(
        width=across,
        height=HEIGHT,
        wording=wording,
        left=LEFT,
        right=PADDING,
        keys={str(key.get_label()): key for key in keys},
    )
    sheet.axes.set(frame_on=False, xticks=[], yticks=[])
    width = (sheet.width + GUTTER) / len(titles)
    panels = []
    for position, title in enumerate(titles):
        panel = sheet.add_panel(
            left=position * width, bottom=0, width=width - GUTTER - PADDING, height=sheet.height
        )
        panel.axes.tick_params(labelleft=position == 0)
        panel.write(title, x=0, y=sheet.height + 0.05)
        panels.append(panel)
    return panels


@figure_style()
def draw_rank_shift(ranking: pd.DataFrame) -> Figure:
    """Draw how ranks move between mean, trimmed mean, median and interquartile mean.

    Parameters
    ----------
    ranking : DataFrame
        group, unit, statistic, model, rank; the headline first.

    Returns
    -------
    matplotlib.figure.Figure
        A line per model through its rank by each aggregation.

    Notes
    -----
    The number on a line is the rank. Tied models have the same number and stand below each other,
    in the order in which they came, so that a tie crosses no lines. Of more than 40 models the best
    40 by IQM are drawn.
    """
    ranks = compare_ranks(ranking)
    if ranks.nunique(axis=1).eq(1).all():
        raise NothingToDraw(ALIKE)
    by_iqm = list(ranks.reset_index().sort_values(["iqm", "model"])["model"])
    cast = cast_models(ranks.index, by_iqm)
    models, notes = choose_models(ranks.index, by_iqm)
    notes += cast.notes
    ranks = ranks.loc[models]
    ranks.columns = pd.Index([AGGREGATION_NAMES[str(name)] for name in ranks], name=AVERAGE)
    return draw_bump(
        ranks,
        cast=cast,
        groups=[""] * len(models),
        wording=Wording("Rank by each aggregation", "", (*notes, NUMBERS_NOTE)),
    )


@figure_style()
def draw_rank_history(rank_history: pd.DataFrame) -> Figure:
    """Draw the ranks of entries over the releases of a leaderboard.

    Parameters
    ----------
    rank_history : DataFrame
        release, method, model, rank; releases in their order; rank may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A line per entry through its rank in each release, method below method, with its name at
        the end. A column wide (3.4 in), or a page (7 in) where names or releases need it.

    Notes
    -----
    The number on a line is the rank. An entry has a gap where a release does not rank it. The last
    ten releases are drawn; of the entries that the first or the last of these ranks at most 40, the
    best of the last release first and equally many of each method. A note counts those left out.
    """
    releases = list(dict.fromkeys(rank_history["release"]))
    methods = dict(zip(rank_history["model"], rank_history["method"], strict=True))
    ranks = _choose_ranked(rank_history, releases[-MOST_RELEASES:], methods)
    notes: tuple[str, ...] = ()
    if len(ranks) < len(methods):
        notes = (HIDDEN_NOTE,)
    if len(releases) > MOST_RELEASES:
        notes += (f"The last {MOST_RELEASES} of {len(releases)} releases.",)
    notes += (GAP_NOTE,) if ranks.isna().to_numpy().any() else ()
    return draw_bump(
        ranks,
        cast=cast_models(ranks.index, list(ranks.index)),
        groups=[methods[model] for model in ranks.index],
        wording=Wording("Rank by release", "", (*notes, NUMBERS_NOTE)),
    )


def _choose_ranked(
    history: pd.DataFrame, releases: list[str], methods: Mapping[str, str]
) -> pd.DataFrame:
    """Ranks by release of the entries that one of the ends ranks, by method and latest rank."""
    cells = history.set_index(["model", "release"])["rank"].astype("float64")
    table = pivot_cells(cells, sorted(methods), releases)
    table = table[table.iloc[:, [0, -1]].notna().any(axis=1)]
    table = table.sort_values(releases[::-1], kind="stable", na_position="last")
    table = table.sort_index(key=lambda models: models.map(methods), kind="stable")
    most = max(MAX_MODELS // len(set(methods.values())), 1)
    return table.groupby(table.index.map(methods)).head(most).head(MAX_MODELS)


@figure_style()
def draw_checkpoint_curves(
    curves: pd.DataFrame,
    selected: pd.DataFrame,
    checkpoints: pd.DataFrame,
    *,
    metric: str,
    order: Sequence[str] = (),
) -> Figure:
    """Draw a metric over the steps of each training, with the chosen checkpoint marked.

    Parameters
    ----------
    curves : DataFrame
        training (empty for the mean of a model's trainings), model, metric, split, step, mean,
        ci_low, ci_high (may be empty), datasets, trainings.
    selected : DataFrame
        model, training, step: the chosen checkpoint of each training.
    checkpoints : DataFrame
        split: the one on which checkpoints were chosen, in its first row.
    metric : str
        What to draw of the curves; empty: the metric of most datasets.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).

    Notes
    -----
    Trainings of a model share its color; of several, the mean is bold, with an interval over
    trainings where it is of three or more. A single training has its interval over datasets. The
    best ten models have colors, the others are gray and have no marker.
    """
    split = checkpoints["split"].iloc[0]
    own = curves[curves["split"] == split].fillna({"training": ""})
    metric = metric or own.groupby("metric")["datasets"].sum().idxmax()
    own = own[own["metric"] == metric].sort_values(["model", "training", "step"])
    if own.empty:
        raise NothingToDraw("No training has a value of this metric.")
    cast = cast_models(own["model"], order)
    averaged = {*own.loc[own["training"] == "", "model"]}
    sheet = make_sheet(
        width=column_width(),
        height=CURVES_HEIGHT,
        wording=Wording(
            "Checkpoints over the steps of training",
            "step",
            (*cast.notes, OF_SEVERAL if averaged else OF_ONE),
        ),
        left=0.55,
        right=3 * PADDING,
        keys=make_keys(cast, marked=cast.colored),
    )
    chosen = selected.set_index(["model", "training"])["step"].to_dict()
    for (model, training), rows in own.groupby(["model", "training"]):
        is_mean, width = training == "", THIN if model in averaged else PLAIN
        has_band = rows["trainings"].iloc[0] >= LEAST_TRAININGS if is_mean else width == PLAIN
        step = chosen.get((model, training))
        _draw_training(sheet, cast, rows, BOLD if is_mean else width, step, has_band=has_band)
    name = f"{'normalized ' if own['datasets'].max() > 1 else ''}{metric} on {split}"
    sheet.axes.set_ylabel("\n".join(wrap_text(name, width=CURVES_HEIGHT, size=TEXT_SIZE)))
    sheet.axes.margins(x=0.04)
    sheet.limit_ticks()
    number_axis(sheet.axes.yaxis, most=5)
    sheet.axes.grid()
    return sheet.figure


def _draw_training(
    sheet: Sheet,
    cast: Cast,
    rows: pd.DataFrame,
    width: float,
    chosen: float | None,
    *,
    has_band: bool,
) -> None:
    """Draw one curve: a line, its band, and the chosen checkpoint."""
    model = rows["model"].iloc[0]
    look, is_gray = gray_out(cast, model), model not in cast.colored
    color: Any = {"color": look.color, "zorder": 1 if is_gray else 2}
    [line] = sheet.axes.plot(
        rows["step"],
        rows["mean"],
        linestyle=look.line,
        linewidth=THIN if is_gray else width,
        **color,
    )
    mark(line, model, text=write_points(rows[["step", "mean"]]))
    if is_gray:
        return
    if has_band:
        ends = rows[["ci_low", "ci_high"]].astype("float64").to_numpy().T
        sheet.axes.fill_between(rows["step"], *ends, alpha=0.15, linewidth=0, **color)
    own = rows[rows["step"] == chosen]
    edge: Any = {"markersize": 4.5, "markeredgecolor": "white", "zorder": 4}
    sheet.axes.plot(own["step"], own["mean"], look.marker, color=look.color, **edge)


@figure_style()
def draw_error_curve(error_curve: pd.DataFrame) -> Figure:
    """Draw the error of predictions over the number of results that were left to a model.

    Parameters
    ----------
    error_curve : DataFrame
        results, models, mse, mse_low, mse_high (may be empty), mse_additive. Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).
    """
    known = error_curve.dropna(subset="mse").sort_values("results")
    if known.empty:
        raise NothingToDraw("No model has enough results to hide some of them.")
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        wording=Wording(
            "Predictions for models with few results", "results left to the model; below: models"
        ),
        left=LEFT,
        right=2 * PADDING,
        ticks=TICKS_HEIGHT + LINE_HEIGHT,
        keys={name: make_method_key(name) for name in ("factors", "additive")},
    )
    places = np.arange(len(known), dtype=float)
    for name, column, apart in (("additive", "mse_additive", APART), ("factors", "mse", -APART)):
        look = METHODS[name][1]
        line: Any = {"color": look.color, "linestyle": look.line, "linewidth": 1.1}
        sheet.axes.plot(places + apart, known[column], marker=look.marker, markersize=3.2, **line)
    ends = known["mse_low"], known["mse_high"]
    sheet.axes.vlines(places - APART, *ends, color=METHODS["factors"][1].color, linewidth=0.8)
    sheet.axes.set_ylim(0, sheet.axes.get_ylim()[1])
    labels = [f"{row.results:.0f}\n{row.models:.0f}" for row in known.itertuples()]
    sheet.axes.set_xticks(places, labels, linespacing=1.15)
    number_axis(sheet.axes.yaxis, most=5)
    sheet.axes.set_ylabel(ERROR)
    sheet.axes.grid(axis="y")
    return sheet.figure
