"""Entries of a leaderboard: by dimension, from release to release, and over steps of training."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.claims import label_entries
from capmap.figures.canvas import (
    GAP,
    MAX_MODELS,
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    format_decimal,
    make_sheet,
)
from capmap.figures.heatmap import (
    RISING,
    Mark,
    Scale,
    Writing,
    draw_grid,
    pivot_cells,
    span_colors,
    write_places,
)
from capmap.figures.lines import (
    NUMBERS_NOTE,
    OTHERS_COLOR,
    Cast,
    cast_models,
    draw_bump,
    make_keys,
)
from capmap.figures.marks import mark, write_points
from capmap.figures.style import (
    TEXT_SIZE,
    column_width,
    figure_style,
    shorten_names,
)
from capmap.wording import find_statistic, label_scores

DIMENSIONS_HEADING = "Leaderboard by dimension"
PLACE_NOTE = "In brackets: rank in the dimension."
BEST_NOTE = "Corner: first in the dimension."
PARTIAL_NOTE = "In brackets: rank in the dimension; without one: too few datasets."
EMPTY_NOTE = "Hatched: no runs."

HISTORY_HEADING = "Rank by release"
MOST_RELEASES = 10
GAP_NOTE = "No mark: not in the release, or not ranked in it."
HIDDEN_NOTE = "Left out: entries that neither end ranks, and those beyond the best."

CURVES_HEADING = "Checkpoints over the steps of training"
NO_CURVE = "No training has a value of this metric."
CURVES_HEIGHT = 2.1
MAX_BANDS = 12
LEAST_TRAININGS = 3
THIN, PLAIN, BOLD = 0.6, 1.0, 1.6


@figure_style()
def draw_leaderboard_dimensions(dimensions: pd.DataFrame) -> Figure:
    """Draw what ranks the entries in each dimension, with ranks.

    Parameters
    ----------
    dimensions : DataFrame
        method, dimension, rank, model, name, submission, iqm or another statistic, complete;
        at least one row. Dimensions in their order, the one of all datasets
        first; rank may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map with a row per entry and a column per dimension: method by method, by rank over
        all datasets, then those without one. A column wide (3.4 in), or a page (7 in) for more
        than eight dimensions or long names. At most 40 rows, the same number of each method, and
        the first 40 dimensions.

    Notes
    -----
    The first of each method in a dimension has a corner, and one without runs in it is hatched.
    """
    names = list(dict.fromkeys(dimensions["dimension"]))
    models, notes = _choose_first(dimensions)
    if len(names) > MAX_MODELS:
        notes = (*notes, f"First {MAX_MODELS} of {len(names)} dimensions.")
        names = names[:MAX_MODELS]
    cells = dimensions.set_index(["model", "dimension"])
    statistic = find_statistic(dimensions.columns)
    cells = cells.rename(columns={statistic: "score"})
    cells = cells[["score", "rank", "complete"]].astype("float64")
    tables = {str(column): pivot_cells(cells[column], models, names) for column in cells}
    labels = _name_entries(dimensions)
    methods = dimensions.drop_duplicates("model").set_index("model")["method"]
    if len(set(methods)) > 1:
        labels = {model: f"{label}, {methods[model]}" for model, label in labels.items()}
    for table in tables.values():
        table.index = pd.Index([labels[model] for model in models], name="entry")
    scores = tables["score"]
    notes = (*notes, BEST_NOTE)
    place_note = PARTIAL_NOTE if (tables["complete"] == 0).to_numpy().any() else PLACE_NOTE
    notes += (EMPTY_NOTE,) if scores.isna().to_numpy().any() else ()
    return draw_grid(
        scores,
        scale=Scale(label_scores(statistic), *span_colors(scores), RISING),
        wording=Wording(DIMENSIONS_HEADING, "", notes),
        writings=_write_cells(scores, tables["rank"], place_note),
        marks=(Mark(tables["rank"] == 1),),
    )


def _name_entries(entries: pd.DataFrame) -> dict[str, str]:
    """The label of each model among those of its method."""
    firsts = entries.drop_duplicates("model")
    labels: dict[str, str] = {}
    for _, own in firsts.groupby("method", dropna=False):
        labels |= dict(zip(own["model"], label_entries(own), strict=True))
    return labels


def _choose_first(dimensions: pd.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """The entries that a figure has room for, method by method, and a note on the others."""
    overall = dimensions["dimension"].iloc[0]
    places = dimensions[dimensions["dimension"] == overall].set_index("model")["rank"]
    entries = dimensions.drop_duplicates("model")
    entries = entries.assign(place=entries["model"].map(places.astype("float64")))
    entries = entries.sort_values(["method", "place", "name", "model"], na_position="last")
    most = max(MAX_MODELS // entries["method"].nunique(), 1)
    kept = entries.groupby("method").head(most).head(MAX_MODELS)
    if len(kept) == len(entries):
        return kept["model"].tolist(), ()
    return kept["model"].tolist(), (f"The first {len(kept)} of {len(entries)} entries.",)


def _write_cells(scores: pd.DataFrame, ranks: pd.DataFrame, note: str) -> Sequence[Writing]:
    """Ways to write scores with ranks, the fullest first."""
    ways = [Writing(write_places(scores, ranks, decimals), note) for decimals in (3, 2)]
    return [*ways, Writing(scores.map(format_decimal))]


@figure_style()
def draw_rank_history(rank_history: pd.DataFrame) -> Figure:
    """Draw the ranks of entries over the releases of a leaderboard.

    Parameters
    ----------
    rank_history : DataFrame
        release, method, model, name, rank; releases in their order, at least one row; rank may be
        empty.

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
    history = rank_history.assign(submission="")
    releases = list(dict.fromkeys(history["release"]))
    methods = dict(zip(history["model"], history["method"], strict=True))
    ranks = _choose_ranked(history, releases[-MOST_RELEASES:], methods)
    notes: tuple[str, ...] = ()
    if len(ranks) < len(methods):
        notes = (HIDDEN_NOTE,)
    if len(releases) > MOST_RELEASES:
        notes += (f"The last {MOST_RELEASES} of {len(releases)} releases.",)
    notes += (GAP_NOTE,) if ranks.isna().to_numpy().any() else ()
    named = _name_entries(history)
    return draw_bump(
        ranks,
        names=[named[model] for model in ranks.index],
        cast=cast_models(ranks.index, list(ranks.index)),
        groups=[methods[model] for model in ranks.index],
        wording=Wording(HISTORY_HEADING, "", (*notes, NUMBERS_NOTE)),
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
    trainings where it is of three or more. A training without such a mean has its interval over
    datasets. The best ten models have colors, the others are gray and have no marker. With more
    than twelve intervals, none is drawn.
    """
    split = checkpoints["split"].iloc[0]
    metric = metric or _find_main(curves, split)
    is_drawn = (curves["metric"] == metric) & (curves["split"] == split)
    own = curves[is_drawn].fillna({"training": ""}).sort_values(["model", "training", "step"])
    if own.empty:
        raise NothingToDraw(NO_CURVE)
    cast = cast_models(own["model"], order)
    own = _plan_lines(own, cast)
    sheet = make_sheet(
        width=column_width(),
        height=CURVES_HEIGHT,
        wording=Wording(CURVES_HEADING, "step", (*cast.notes, *_write_notes(own))),
        left=0.55,
        right=3 * PADDING,
        keys=make_keys(cast, marked=cast.colored),
    )
    chosen = selected.set_index(["model", "training"])["step"].to_dict()
    for (model, training), rows in own.groupby(["model", "training"]):
        points = rows[["step", "mean", "ci_low", "ci_high"]].astype("float64").to_numpy()
        width = float(rows["width"].iloc[0])
        _draw_training(sheet, cast, str(model), points, chosen.get((model, training)), width)
    _dress_curves(sheet, metric, split, is_normalized=own["datasets"].max() > 1)
    return sheet.figure


def _find_main(curves: pd.DataFrame, split: str) -> str:
    counts = curves[curves["split"] == split].groupby("metric")["datasets"].sum()
    return str(counts.idxmax()) if len(counts) else ""


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
        [line] = sheet.axes.plot(steps, means, color=OTHERS_COLOR, linewidth=THIN, zorder=1)
        mark(line, model, text=write_points(points[:, :2]))
        return
    look = cast.styles[model]
    sheet.axes.fill_between(steps, low, high, color=look.color, alpha=0.15, linewidth=0)
    style: Any = look.line
    [line] = sheet.axes.plot(
        steps, means, color=look.color, linestyle=style, linewidth=width, zorder=2
    )
    mark(line, model, text=write_points(points[:, :2]))
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
    lines = [
        shorten_names([name], width=CURVES_HEIGHT - GAP, size=TEXT_SIZE)[name] for name in names
    ]
    sheet.axes.set_ylabel("\n".join(lines), linespacing=1.05)
    sheet.axes.grid()
