"""How trainings move over their steps, which checkpoint is chosen, and what the choice is worth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    ROW_HEIGHT,
    Margins,
    Sheet,
    Wording,
    fit_labels,
    make_sheet,
)
from capmap.figures.curves import OTHERS_COLOR, Cast, cast_models, make_key
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.names import printable_text, shorten_names
from capmap.figures.note import draw_note
from capmap.figures.panels import make_curve_key, read_points
from capmap.figures.style import (
    COLUMN_WIDTH,
    PALETTE,
    TEXT_SIZE,
    ModelStyle,
    figure_style,
)

CURVES_HEADING = "Checkpoints over the steps of training"
OPTIMISM_HEADING = "The chosen checkpoint against the mean and the last"
NO_CURVE = "No training has a value of this metric."
NO_CHOICE = "No training had a choice between checkpoints."
HEIGHT = 2.1
MAX_TRAININGS = 40
MAX_BANDS = 12
LEAST_TRAININGS = 3
THIN, PLAIN, BOLD = 0.6, 1.0, 1.6
LABEL_ROOM = 2.4
MARKS = {
    "selection": ("chosen", ModelStyle(PALETTE[0], "o", "none")),
    "mean": ("mean", ModelStyle(PALETTE[1], "D", "none")),
    "last": ("last", ModelStyle(PALETTE[7], "X", "none")),
}


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
    trainings where it is of three or more. A training without such a mean has its interval over
    datasets. The best ten models have colors, the others are gray and have no marker. With more
    than twelve intervals, none is drawn.
    """
    split = checkpoints["split"].iloc[0]
    metric = metric or _find_main(curves, split)
    is_drawn = (curves["metric"] == metric) & (curves["split"] == split)
    own = curves[is_drawn].fillna({"training": ""}).sort_values(["model", "training", "step"])
    if own.empty:
        return draw_note(NO_CURVE, heading=CURVES_HEADING)
    cast = cast_models(own["model"], order)
    own = _plan_lines(own, cast)
    legend = plan_legend(cast.colored, sheet_width=COLUMN_WIDTH)
    sheet = make_sheet(
        width=COLUMN_WIDTH,
        height=HEIGHT,
        margins=Margins(0.55, 3 * PADDING, head=HEADER_HEIGHT + legend.height),
        wording=Wording(CURVES_HEADING, "step", (*cast.notes, *_write_notes(own))),
    )
    chosen = selected.set_index(["model", "training"])["step"].to_dict()
    for (model, training), rows in own.groupby(["model", "training"]):
        points = read_points(rows, ["step", "mean", "ci_low", "ci_high"])
        width = float(rows["width"].iloc[0])
        _draw_training(sheet, cast, str(model), points, chosen.get((model, training)), width)
    _dress_curves(sheet, metric, split, is_normalized=own["datasets"].max() > 1)
    draw_legend(sheet, legend, [_make_key(cast, model) for model in cast.colored])
    return sheet.figure


def _find_main(curves: pd.DataFrame, split: str) -> str:
    counts = curves[curves["split"] == split].groupby("metric")["datasets"].sum()
    return str(counts.idxmax()) if len(counts) else ""


@figure_style()
def draw_checkpoint_optimism(selected: pd.DataFrame) -> Figure:
    """Draw the best, the mean and the last of each training's checkpoints.

    Parameters
    ----------
    selected : DataFrame
        model, training, checkpoints (how many), selection (the best), mean, last.

    Returns
    -------
    matplotlib.figure.Figure
        A row per training with two checkpoints or more. A column wide (3.4 in), or a page (7 in)
        where names need it.

    Notes
    -----
    At most the first 40 trainings by model and name are drawn.
    """
    several = selected[selected["checkpoints"] > 1].sort_values(["model", "training"])
    if several.empty:
        return draw_note(NO_CHOICE, heading=OPTIMISM_HEADING)
    rows = several.head(MAX_TRAININGS)
    left_out = len(several) > len(rows)
    notes = (f"First {len(rows)} of {len(several)} trainings by name.",) if left_out else ()
    labels = fit_labels(_name_trainings(rows), narrow=1.1, wide=LABEL_ROOM)
    keys = [make_curve_key(text, look, line="none") for text, look in MARKS.values()]
    legend = plan_legend([text for text, _ in MARKS.values()], sheet_width=labels.sheet_width)
    sheet = make_sheet(
        width=labels.sheet_width,
        height=max(len(rows), 2) * ROW_HEIGHT,
        margins=Margins(
            PADDING + max(labels.width, 0.5) + GAP,
            3 * PADDING,
            head=HEADER_HEIGHT + legend.height,
        ),
        wording=Wording(OPTIMISM_HEADING, "value on the selection split", notes),
    )
    places = np.arange(len(rows))
    ends = rows[list(MARKS)].to_numpy(dtype=float)
    sheet.axes.hlines(places, ends.min(axis=1), ends.max(axis=1), color=OTHERS_COLOR, linewidth=1)
    for column, (_, look) in reversed(MARKS.items()):
        values = rows[column].to_numpy(dtype=float)
        sheet.axes.plot(values, places, look.marker, color=look.color, markersize=3.6)
    sheet.axes.margins(x=0.05)
    sheet.axes.grid(axis="x")
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="training")
    sheet.axes.set_ylim(max(len(rows), 2) - 0.5, -0.5)
    draw_legend(sheet, legend, keys)
    return sheet.figure


def _plan_lines(own: pd.DataFrame, cast: Cast) -> pd.DataFrame:
    """Give each curve the width of its line, and leave out the intervals that are not drawn."""
    is_mean = own["training"] == ""
    has_mean = own["model"].isin(own.loc[is_mean, "model"])
    width = np.where(is_mean, BOLD, np.where(has_mean, THIN, PLAIN))
    is_sure = np.where(is_mean, own["trainings"] >= LEAST_TRAININGS, ~has_mean)
    is_banded = own["model"].isin(cast.colored) & own["ci_low"].notna() & is_sure
    if len(own.loc[is_banded, ["model", "training"]].drop_duplicates()) > MAX_BANDS:
        is_banded[:] = False
    ends = {name: own[name].where(is_banded) for name in ("ci_low", "ci_high")}
    return own.assign(width=width, **ends)


def _write_notes(own: pd.DataFrame) -> list[str]:
    """Say what lines, markers and bands are."""
    is_mean = own["training"] == ""
    has_band = own["ci_low"].notna()
    kinds = {"trainings": is_mean & has_band, "datasets": ~is_mean & has_band}
    bands = [kind for kind, rows in kinds.items() if rows.any()]
    bold = "Bold: the mean of a model's trainings. " if is_mean.any() else ""
    notes = [f"{bold}Marker: the chosen checkpoint."]
    return [*notes, f"Bands: intervals over {' or '.join(bands)}."] if bands else notes


def _draw_training(
    sheet: Sheet,
    cast: Cast,
    model: str,
    points: np.ndarray[Any, np.dtype[np.float64]],
    chosen: int | None,
    width: float,
) -> None:
    """Draw one curve: a line, its band if it has one, and the chosen checkpoint."""
    steps, means, low, high = points.T
    if model not in cast.colored:
        sheet.axes.plot(steps, means, color=OTHERS_COLOR, linewidth=THIN, zorder=1)
        return
    look = cast.styles[model]
    sheet.axes.fill_between(steps, low, high, color=look.color, alpha=0.15, linewidth=0)
    line: Any = look.line
    sheet.axes.plot(steps, means, color=look.color, linestyle=line, linewidth=width, zorder=2)
    is_chosen = steps == (np.nan if chosen is None else chosen)
    sheet.axes.plot(
        steps[is_chosen],
        means[is_chosen],
        look.marker,
        color=look.color,
        markersize=4.5,
        markeredgecolor="white",
        zorder=4,
    )


def _dress_curves(sheet: Sheet, metric: str, split: str, *, is_normalized: bool) -> None:
    sheet.limit_ticks()
    sheet.axes.margins(x=0.04)
    sheet.axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    sheet.axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    lead = "normalized " if is_normalized else ""
    names = [f"{lead}{metric}", f"on {split}"] if split else [f"{lead}{metric}"]
    lines = [shorten_names([name], width=HEIGHT - GAP, size=TEXT_SIZE)[name] for name in names]
    sheet.axes.set_ylabel("\n".join(lines), linespacing=1.05)
    sheet.axes.grid()


def _make_key(cast: Cast, model: str) -> Any:
    look = cast.styles[model]
    return make_key(look, marker=look.marker)


def _name_trainings(rows: pd.DataFrame) -> list[str]:
    """Name trainings, with their model where models share a name of a training."""
    trainings = rows["training"].tolist()
    if len(set(trainings)) == len(trainings):
        return trainings
    pairs = zip(rows["model"], rows["training"], strict=True)
    return [f"{printable_text(model)} \N{MIDDLE DOT} {training}" for model, training in pairs]
