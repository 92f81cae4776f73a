"""Models on datasets: normalized scores, runs, spread over seeds, groups, and strengths."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from capmap.figures.canvas import (
    GAP,
    MAX_DATASETS,
    MAX_MODELS,
    PADDING,
    ROW_HEIGHT,
    Labels,
    NothingToDraw,
    Sheet,
    Wording,
    choose_datasets,
    choose_models,
    fit_labels,
    format_decimal,
    make_sheet,
)
from capmap.figures.heatmap import (
    DIVERGING,
    RISING,
    Mark,
    Scale,
    Writing,
    draw_grid,
    draw_heatmap,
    pivot_cells,
    span_colors,
    span_evenly,
    write_places,
)
from capmap.figures.marks import mark
from capmap.figures.style import (
    FAINT_INK,
    INK,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    figure_style,
    model_colors,
    shorten_names,
    widest,
)
from capmap.ranking.table import choose_of_groups
from capmap.wording import label_scores

MAX_BARRED_MODELS = len(PALETTE)
MAX_BARS = 72
BAR_HEIGHT = 0.06
GROUP_GAP = 0.1
NARROW_BAR_LABEL = 1.1
WIDE_BAR_LABEL = 2.2
SCORES_HEADING = "Scores per dataset"
SPREAD_NOTE = "Lines: one standard deviation over runs, up and down."
SCORES_UNIT = "normalized score (0 = low bound, 1 = high bound)"

NARROW_SPREAD_LABEL = 1.3
WIDE_SPREAD_LABEL = 2.1
MODEL_LABEL = 2.1
MAX_KEYED_MODELS = len(PALETTE)
MAX_POINTS = 400
CELL = ["model", "dataset"]
SPREAD_HEADING = "Spread over seeds per dataset"
SPREAD_UNIT = "standard deviation over seeds (normalized score)"
NO_SPREAD = "One run per cell: no spread over seeds to show."
BOX_NOTE = "Box: median and quartiles of the models. Whiskers: least and most noisy model."


@figure_style()
def draw_scores(
    scores: pd.DataFrame, seeds: pd.DataFrame | None = None, *, order: Sequence[str] = ()
) -> Figure:
    """Draw the mean normalized score of each model on each dataset.

    Parameters
    ----------
    scores : DataFrame
        model, then one column per dataset; rows and columns in any order; NaN where a model has
        no run.
    seeds : DataFrame, optional
        model, dataset, normalized_std (over runs; NaN where there is one run), and perhaps
        reported_by, which pages show of a cell.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        Grouped bars up to 8 models and 72 bars, beyond that a heat map of at most the first 40
        models and 60 datasets. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    A missing score is a cross in place of a bar, or a hatched cell. The colors of the heat map
    span the middle 96% of the scores, so an outlier does not hide the rest.
    """
    table = scores.set_axis(scores.iloc[:, 0]).iloc[:, 1:].astype(float)
    datasets, dataset_note = choose_datasets(table.columns)
    models, model_note = choose_models(table.index, order)
    colors = model_colors(table.index)
    table = table.loc[models, datasets]
    origins = pd.DataFrame(index=models, columns=datasets, dtype=object)
    if seeds is not None and "reported_by" in seeds:
        origins = pivot_cells(seeds.set_index(CELL)["reported_by"], models, datasets)
    notes = model_note + dataset_note
    if len(models) <= MAX_BARRED_MODELS and table.size <= MAX_BARS:
        spread = pd.DataFrame(0.0, models, datasets)
        if seeds is not None:
            known = seeds.set_index(CELL)["normalized_std"]
            spread = pivot_cells(known, models, datasets).astype(float).fillna(0)
        return _draw_bars(table, spread, origins, notes, colors)
    if table.isna().to_numpy().any():
        notes += ("Hatched: no score.",)
    formats = (lambda score: f"{score:.2f}", format_decimal)
    scale = Scale(SCORES_UNIT, *span_colors(table, share=0.96), formats, RISING)
    wording = Wording(SCORES_HEADING, "dataset", notes)
    return draw_heatmap(table, scale=scale, wording=wording, hover=origins)


def _draw_bars(
    table: pd.DataFrame,
    spread: pd.DataFrame,
    origins: pd.DataFrame,
    notes: tuple[str, ...],
    colors: dict[str, str],
) -> Figure:
    models, datasets = list(table.index), list(table.columns)
    labels = fit_labels(datasets, narrow=NARROW_BAR_LABEL, wide=WIDE_BAR_LABEL)
    if table.isna().to_numpy().any():
        notes += ("\N{MULTIPLICATION SIGN}: no score.",)
    if spread.gt(0).to_numpy().any():
        notes += (SPREAD_NOTE,)
    group = len(models) * BAR_HEIGHT + GROUP_GAP
    sheet = make_sheet(
        width=labels.sheet_width,
        height=len(datasets) * group,
        wording=Wording(SCORES_HEADING, SCORES_UNIT, notes),
        left=PADDING + max(labels.width, 0.45) + GAP,
        right=2 * PADDING + 0.06,
        keys={model: Patch(color=colors[model]) for model in models},
    )
    bar = BAR_HEIGHT / group
    for position, model in enumerate(models):
        middle = np.arange(len(datasets)) + (position - (len(models) - 1) / 2) * bar
        _draw_model(
            sheet, middle, table.loc[model], origins.loc[model].fillna(""), bar, colors[model]
        )
        ends = [table.loc[model] + sign * spread.loc[model] for sign in (-1, 1)]
        sheet.axes.hlines(middle, *ends, color=INK, linewidth=0.6)
    sheet.axes.axvline(0, color="black", linewidth=0.6)
    sheet.axes.grid(axis="x")
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="dataset", names=labels.names)
    return sheet.figure


def _draw_model(
    sheet: Sheet,
    middle: np.ndarray,
    scores: "pd.Series[float]",
    origins: "pd.Series[str]",
    bar: float,
    color: str,
) -> None:
    """Draw the bars of a model; a score of 0 stays visible by the bar's edge."""
    values = scores.to_numpy()
    missing = np.isnan(values)
    bars = sheet.axes.barh(
        middle[~missing], values[~missing], bar, color=color, edgecolor=color, linewidth=0.3
    )
    known = zip(bars, scores.dropna().items(), origins[~missing], strict=True)
    for drawn, (dataset, value), more in known:
        text = f"{value:.3f}\n{more}".rstrip()
        mark(drawn, str(scores.name), dataset=str(dataset), text=text)
    sheet.axes.plot(
        np.zeros(missing.sum()),
        middle[missing],
        linestyle="none",
        marker="x",
        markersize=3.5,
        markeredgewidth=0.9,
        color=color,
        clip_on=False,
    )


@figure_style()
def draw_seed_spread(seeds: pd.DataFrame) -> Figure:
    """Draw the standard deviations over seeds of all models, per dataset.

    Parameters
    ----------
    seeds : DataFrame
        model, dataset, normalized_std (NaN for a cell with one run); rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A row per dataset, the noisiest (by its median model) on top, with a point per model. A
        column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    Up to 8 models have their colors and a legend. Of more models, the noisiest of each dataset is
    named at the right, and boxes show median and quartiles, whiskers the extremes; beyond 400
    points the boxes stand alone. At most the 60 noisiest datasets are drawn.
    """
    colors = model_colors(seeds["model"])
    datasets, notes = _choose_noisiest(seeds)
    points = _place_points(seeds, datasets)
    if points.empty:
        raise NothingToDraw(NO_SPREAD)
    if len(colors) <= MAX_KEYED_MODELS:
        return _draw_keyed(points, datasets, notes, colors)
    return _draw_boxed(points, datasets, notes, colors)


def _choose_noisiest(seeds: pd.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """Order datasets from the noisiest, those without any spread last, and keep 60."""
    middle = seeds.groupby("dataset")["normalized_std"].median()
    order = list(middle.sort_values(ascending=False, kind="stable").index)
    if len(order) <= MAX_DATASETS:
        return order, ()
    return order[:MAX_DATASETS], (f"The {MAX_DATASETS} noisiest of {len(order)} datasets.",)


def _place_points(seeds: pd.DataFrame, datasets: list[str]) -> pd.DataFrame:
    """Each cell with a spread: model, x (its standard deviation) and y (its dataset's row)."""
    rows = seeds["dataset"].map({dataset: row for row, dataset in enumerate(datasets)})
    points = pd.DataFrame({"model": seeds["model"], "x": seeds["normalized_std"], "y": rows})
    return points.dropna().sort_values(["y", "model"], ignore_index=True)


def _draw_keyed(
    points: pd.DataFrame, datasets: list[str], notes: tuple[str, ...], colors: dict[str, str]
) -> Figure:
    labels = fit_labels(datasets, narrow=NARROW_SPREAD_LABEL, wide=WIDE_SPREAD_LABEL)
    keys = {
        model: Line2D([], [], linestyle="none", marker="o", markersize=4, color=color)
        for model, color in colors.items()
    }
    sheet = _make_sheet(points, labels, notes, right=2 * PADDING, keys=keys)
    _draw_points(sheet, points, points["model"].map(colors))
    return sheet.figure


def _draw_boxed(
    points: pd.DataFrame, datasets: list[str], notes: tuple[str, ...], colors: dict[str, str]
) -> Figure:
    labels = fit_labels(datasets, narrow=0.0, wide=WIDE_SPREAD_LABEL)
    noisiest = points.loc[points.groupby("y")["x"].idxmax()]
    names = shorten_names(noisiest["model"], width=MODEL_LABEL, size=TEXT_SIZE)
    room = widest([*names.values(), "noisiest model"], size=TEXT_SIZE)
    sheet = _make_sheet(points, labels, (*notes, BOX_NOTE), right=room + 2 * GAP, keys={})
    rows = points["y"].unique()
    edge = {"color": "#8C8C8C", "linewidth": 0.5, "solid_capstyle": "butt"}
    sheet.axes.boxplot(
        [points.loc[points["y"] == row, "x"].to_numpy(float) for row in rows],
        positions=list(rows),
        widths=0.6,
        whis=(0, 100),
        orientation="horizontal",
        showcaps=False,
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": "#DDDDDD", "edgecolor": "#8C8C8C", "linewidth": 0.5},
        whiskerprops=edge,
        medianprops={"color": "black", "linewidth": 1.2, "solid_capstyle": "butt"},
    )
    if len(points) <= MAX_POINTS:
        _draw_points(sheet, points, FAINT_INK, size=1.6)
    _draw_points(sheet, noisiest, noisiest["model"].map(colors))
    header = sheet.height + 0.02
    sheet.write("noisiest model", x=sheet.width + GAP, y=header, color=FAINT_INK, va="bottom")
    for row, model in enumerate(noisiest["model"]):
        y = sheet.height - (row + 0.5) * ROW_HEIGHT
        sheet.write(names[model], x=sheet.width + GAP, y=y, va="center_baseline")
    return sheet.figure


def _write_spread(points: pd.DataFrame) -> str:
    """The median spread on a dataset, and the largest with its model."""
    if points.empty:
        return ""
    noisiest = points.nlargest(1, "x").iloc[0]
    return f"median {points['x'].median():.3f}, largest {noisiest['x']:.3f} ({noisiest['model']})"


def _make_sheet(
    points: pd.DataFrame,
    labels: Labels,
    notes: tuple[str, ...],
    *,
    right: float,
    keys: Mapping[str, Line2D],
) -> Sheet:
    sheet = make_sheet(
        width=labels.sheet_width,
        height=len(labels.texts) * ROW_HEIGHT,
        wording=Wording(SPREAD_HEADING, SPREAD_UNIT, notes),
        left=PADDING + max(labels.width, 0.45) + GAP,
        right=right,
        keys=keys,
    )
    sheet.axes.grid()
    sheet.limit_ticks()
    texts = [_write_spread(points[points["y"] == row]) for row in range(len(labels.texts))]
    sheet.label_rows(labels.texts, header="dataset", names=labels.names, texts=texts)
    sheet.axes.set_xlim(0, 1.04 * points["x"].max() or 1.0)
    for row in range(points["y"].nunique(), len(labels.texts)):
        sheet.axes.text(
            0, row, " one run per cell", size=SMALL_SIZE, color=FAINT_INK, va="center_baseline"
        )
    return sheet


def _draw_points(sheet: Sheet, points: pd.DataFrame, color: Any, *, size: float = 3.5) -> None:
    look: Any = {"c": color, "linewidths": 0, "alpha": 0.85, "clip_on": False, "zorder": 3}
    sheet.axes.scatter(points["x"], points["y"], s=size**2, **look)


HEADING = "Groups of datasets"
MARK_NOTE = "Corner: best of the group."
PLACE_NOTE = "In brackets: rank within the group."


@figure_style()
def draw_groups(ranking: pd.DataFrame) -> Figure:
    """Draw the score and the rank of each model in each group of datasets.

    Parameters
    ----------
    ranking : DataFrame
        group, unit, statistic, model, score (normalized), rank; the headline first; a model that a
        group leaves out has no row there.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models, the best by mean rank over its groups first, and the first
        40 groups by name. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    The best of each group has a corner; a model that a group leaves out is hatched.
    """
    groups = choose_of_groups(ranking)
    if groups.empty:
        raise NothingToDraw("No model is ranked in a group.")
    means = groups.groupby("model")["rank"].mean().reset_index()
    models, notes = choose_models(
        groups["model"], list(means.sort_values(["rank", "model"])["model"])
    )
    names = sorted(set(groups["group"]))
    if len(names) > MAX_MODELS:
        notes = (*notes, f"First {MAX_MODELS} of {len(names)} groups by name.")
        names = names[:MAX_MODELS]
    statistic = groups["statistic"].iloc[0]
    cells = groups.set_index(["model", "group"])[["score", "rank"]].astype(float)
    scores, ranks = (pivot_cells(cells[name], models, names) for name in ("score", "rank"))
    notes = (*notes, MARK_NOTE)
    if scores.isna().to_numpy().any():
        notes = (*notes, "Hatched: left out of the group.")
    ways = [Writing(write_places(scores, ranks, decimals), PLACE_NOTE) for decimals in (3, 2)]
    ways.append(Writing(ways[-1].texts.map(lambda text: text.replace(" ", "\n")), PLACE_NOTE))
    return draw_grid(
        scores,
        scale=Scale(label_scores(statistic), *span_colors(scores), (), RISING),
        wording=Wording(HEADING, "", notes),
        writings=[*ways, Writing(scores.map(format_decimal))],
        marks=(Mark(ranks == 1),),
    ).figure


STRENGTHS_HEADING = "Strengths and weaknesses"
UNIT = "normalized score (observed \N{MINUS SIGN} expected)"
NOTHING = "Without runs that vary, nothing separates a strength from chance."
# A largest difference below which two decimals say little.
FINE = 0.1
CORNER = "Corner: the interval, for all cells at once, excludes 0."


@figure_style()
def draw_strengths(strengths: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw by how much each model beats expectation on each dataset.

    Parameters
    ----------
    strengths : DataFrame
        model, dataset, difference (normalized score), ci_low, ci_high; rows in any order, empty
        cells absent; ends of intervals may be empty.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models and 60 datasets; a cell without a run is hatched.
    """
    if strengths["ci_low"].isna().all():
        raise NothingToDraw(NOTHING)
    models, model_note = choose_models(strengths["model"], order)
    datasets, dataset_note = choose_datasets(strengths["dataset"])
    cells = strengths.set_index(["model", "dataset"])
    table = pivot_cells(cells["difference"], models, datasets)
    sure = pivot_cells((cells["ci_low"] > 0) | (cells["ci_high"] < 0), models, datasets)
    notes = (*model_note, *dataset_note)
    if table.isna().to_numpy().any():
        notes = (*notes, "Hatched: no score.")
    if sure.eq(True).to_numpy().any():
        notes = (*notes, CORNER)
    end = span_evenly(table)
    finer = (partial(format_decimal, decimals=3),) if end < FINE else ()
    scale = Scale(UNIT, -end, end, (*finer, format_decimal), DIVERGING)
    return draw_heatmap(
        table,
        scale=scale,
        wording=Wording(STRENGTHS_HEADING, "", notes),
        marks=[Mark(sure.eq(True))],
    )
