"""The mark distribution, a row of values per dataset; and models on datasets and their groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from capmap.figures.canvas import (
    GAP,
    MAX_MODELS,
    PADDING,
    ROW_HEIGHT,
    NothingToDraw,
    Wording,
    choose_datasets,
    choose_models,
    fit_labels,
    make_sheet,
)
from capmap.figures.heatmap import (
    DIVERGING,
    RISING,
    Scale,
    draw_grid,
    draw_places,
    pivot_cells,
    span_colors,
    write_decimals,
)
from capmap.figures.marks import Mark, mark_members
from capmap.figures.style import (
    GRID_COLOR,
    PALETTE,
    figure_style,
    model_colors,
)
from capmap.ranking import choose, choose_of_groups
from capmap.wording import find_statistic

MOST_KEYED = len(PALETTE)
MOST_STRIPPED = 12
APART = 0.055
NARROW_LABEL = 1.3
WIDE_LABEL = 2.1
LEAST_STRIP = 1.1
CELL = ["model", "dataset"]
SCORES_HEADING = "Scores per dataset"
SCORES_UNIT = "normalized score (0 = low bound, 1 = high bound)"
SCORES_NOTE = "Lines beyond points: one standard deviation over runs."
STRENGTHS_HEADING = "Strengths and weaknesses"
STRENGTHS_UNIT = "normalized score (observed \N{MINUS SIGN} expected)"
NOTHING = "Without runs that vary, nothing separates a strength from chance."
# A largest difference below which two decimals say little.
FINE = 0.1
CORNER = "Corner: the interval, for all cells at once, excludes 0."


def _draw_strip(
    cells: pd.DataFrame, *, datasets: Sequence[str], models: Sequence[str], wording: Wording
) -> Figure:
    """Draw values of models on datasets as points, the models of a dataset below each other.

    Parameters
    ----------
    cells : DataFrame
        model, dataset, value and spread (either side of the value).
    datasets, models : sequence of str
        In the order in which they are drawn.
    wording : Wording
        Words around the axes.
    """
    colors = model_colors(models)
    rest = 3 * PADDING + GAP + LEAST_STRIP
    labels = fit_labels(datasets, narrow=NARROW_LABEL, wide=WIDE_LABEL, rest=rest)
    height = max(ROW_HEIGHT + labels.extra_height, APART * (len(models) + 1))
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.2}
    sheet = make_sheet(
        width=labels.sheet_width,
        height=len(datasets) * height,
        wording=wording,
        left=PADDING + max(labels.width, 0.45) + GAP,
        right=2 * PADDING + 0.06,
        keys={model: Line2D([], [], color=colors[model], **look) for model in models},
    )
    rows = {dataset: row for row, dataset in enumerate(datasets)}
    for position, model in enumerate(models):
        own = cells[cells["model"] == model]
        shift = (position - (len(models) - 1) / 2) * APART / height
        y = own["dataset"].map(rows).to_numpy(float) + shift
        value, spread = own[["value", "spread"]].fillna(0).to_numpy(float).T
        color = colors[model]
        sheet.axes.hlines(y, value - spread, value + spread, color=color, linewidth=0.9, alpha=0.6)
        [points] = sheet.axes.plot(value, y, color=color, clip_on=False, zorder=3, **look)
        told = zip(own["dataset"], value, strict=True)
        mark_members(points, [Mark(model, dataset=name, text=f"{v:.3f}") for name, v in told])
    for edge in range(1, len(datasets)):
        sheet.axes.axhline(edge - 0.5, color=GRID_COLOR, linewidth=0.5)
    sheet.axes.grid(axis="x")
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="dataset", names=datasets)
    return sheet.figure


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
        model, dataset, normalized_std (over runs; NaN where there is one run).
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        Points up to 8 models and 12 datasets, beyond that a heat map of at most the first 40
        models and 60 datasets. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    The colors of the heat map span the middle 96% of the scores, so an outlier does not hide the
    rest.
    """
    table = scores.set_axis(scores.iloc[:, 0]).iloc[:, 1:].astype(float)
    datasets, dataset_note = choose_datasets(table.columns)
    models, model_note = choose_models(table.index, order)
    table = table.loc[models, datasets].rename_axis(index="model", columns="dataset")
    notes = model_note + dataset_note
    if len(models) <= MOST_KEYED and len(datasets) <= MOST_STRIPPED:
        cells = table.melt(value_name="value", ignore_index=False).dropna().reset_index()
        known = cells.assign(normalized_std=np.nan) if seeds is None else seeds
        spread = known[[*CELL, "normalized_std"]].rename(columns={"normalized_std": "spread"})
        cells = cells.merge(spread, how="left", on=CELL)
        if table.isna().to_numpy().any():
            notes += ("No point: no score.",)
        notes += (SCORES_NOTE,) if cells["spread"].gt(0).any() else ()
        wording = Wording(SCORES_HEADING, SCORES_UNIT, notes)
        return _draw_strip(cells, datasets=datasets, models=models, wording=wording)
    if table.isna().to_numpy().any():
        notes += ("Hatched: no score.",)
    return draw_grid(
        table,
        scale=Scale(SCORES_UNIT, *span_colors(table, share=0.96), RISING),
        wording=Wording(SCORES_HEADING, "", notes),
        writings=write_decimals(table, 2),
    )


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
        A heat map of at most 40 models, the best of the headline first, and the first 40 groups
        by name. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    The best of each group has a corner; a model that a group leaves out is hatched.
    """
    groups = choose_of_groups(ranking)
    if groups.empty:
        raise NothingToDraw("No model is ranked in a group.")
    models, notes = choose_models(groups["model"], list(choose(ranking)["model"]))
    return draw_places(
        groups.set_index(["model", "group"]),
        models,
        sorted(set(groups["group"])),
        statistic=groups["statistic"].iloc[0],
        wording=Wording("Groups of datasets", "", notes),
    )


@figure_style()
def draw_leaderboard_dimensions(dimensions: pd.DataFrame) -> Figure:
    """Draw what ranks the entries in each dimension, with ranks.

    Parameters
    ----------
    dimensions : DataFrame
        method, dimension, rank (may be empty), model, and iqm or another statistic. Dimensions in
        their order, the one of all datasets first.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map with a row per entry, method by method by the rank over all datasets: at most 40,
        the same number of each method.
    """
    entries = dimensions.drop_duplicates("model").sort_values(["method", "rank", "model"])
    most = max(MAX_MODELS // entries["method"].nunique(), 1)
    kept = entries.groupby("method").head(most).head(MAX_MODELS)
    left_out = len(entries) - len(kept)
    notes = (f"The first {len(kept)} of {len(entries)} entries.",) if left_out else ()
    statistic = find_statistic(dimensions.columns)
    return draw_places(
        dimensions.rename(columns={statistic: "score"}).set_index(["model", "dimension"]),
        kept["model"].tolist(),
        list(dict.fromkeys(dimensions["dimension"])),
        statistic=statistic,
        wording=Wording("Leaderboard by dimension", "", notes),
    )


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
    end = max(map(abs, span_colors(table, share=0.96)))
    return draw_grid(
        table,
        scale=Scale(STRENGTHS_UNIT, -end, end, DIVERGING),
        wording=Wording(STRENGTHS_HEADING, "", notes),
        writings=write_decimals(table, *((3, 2) if end < FINE else (2,))),
        corners=sure.eq(True),
    )
