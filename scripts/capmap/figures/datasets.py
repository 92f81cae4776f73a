"""The mark distribution, a row of values per dataset; and models on datasets and their groups."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from capmap.figures.canvas import (
    GAP,
    MAX_DATASETS,
    MAX_MODELS,
    PADDING,
    ROW_HEIGHT,
    NothingToDraw,
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
    pivot_cells,
    span_colors,
    span_evenly,
    write_places,
)
from capmap.figures.marks import Mark as Told
from capmap.figures.marks import mark_members
from capmap.figures.style import (
    GRID_COLOR,
    PALETTE,
    figure_style,
    model_colors,
)
from capmap.ranking.table import choose, choose_of_groups
from capmap.wording import label_scores

MOST_KEYED = len(PALETTE)
MOST_STRIPPED = 12
APART = 0.055
NARROW_LABEL = 1.3
WIDE_LABEL = 2.1
CELL = ["model", "dataset"]
SCORES_HEADING = "Scores per dataset"
SCORES_UNIT = "normalized score (0 = low bound, 1 = high bound)"
SCORES_NOTE = "Lines beyond points: one standard deviation over runs."
SPREAD_HEADING = "Spread over seeds per dataset"
SPREAD_UNIT = "standard deviation over seeds (normalized score)"
NO_SPREAD = "Fewer than two datasets have several runs of a model."
GROUPS_HEADING = "Groups of datasets"
MARK_NOTE = "Corner: best of the group."
PLACE_NOTE = "In brackets: rank within the group."
STRENGTHS_HEADING = "Strengths and weaknesses"
STRENGTHS_UNIT = "normalized score (observed \N{MINUS SIGN} expected)"
NOTHING = "Without runs that vary, nothing separates a strength from chance."
# A largest difference below which two decimals say little.
FINE = 0.1
CORNER = "Corner: the interval, for all cells at once, excludes 0."


def draw_strip(
    cells: pd.DataFrame, *, datasets: Sequence[str], models: Sequence[str], wording: Wording
) -> Figure:
    """Draw values of models on datasets as points, the models of a dataset below each other.

    Parameters
    ----------
    cells : DataFrame
        model, dataset, value, spread (either side of the value) and text, which pages show.
    datasets, models : sequence of str
        In the order in which they are drawn.
    wording : Wording
        Words around the axes.
    """
    colors = model_colors(models)
    labels = fit_labels(datasets, narrow=NARROW_LABEL, wide=WIDE_LABEL)
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
        own = cells[(cells["model"] == model) & cells["dataset"].isin(rows)].dropna(subset="value")
        shift = (position - (len(models) - 1) / 2) * APART / height
        y = own["dataset"].map(rows).to_numpy(float) + shift
        value, spread = own[["value", "spread"]].fillna(0).to_numpy(float).T
        color = colors[model]
        sheet.axes.hlines(y, value - spread, value + spread, color=color, linewidth=0.9, alpha=0.6)
        [points] = sheet.axes.plot(value, y, color=color, clip_on=False, zorder=3, **look)
        told = zip(own["dataset"], own["text"], strict=True)
        mark_members(points, [Told(model, dataset=name, text=text) for name, text in told])
    for edge in range(1, len(datasets)):
        sheet.axes.axhline(edge - 0.5, color=GRID_COLOR, linewidth=0.5)
    sheet.axes.grid(axis="x")
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="dataset", names=labels.names)
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
        model, dataset, normalized_std (over runs; NaN where there is one run), and perhaps
        reported_by, which pages show of a cell.
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
    known = pd.DataFrame(columns=[*CELL, "normalized_std"]) if seeds is None else seeds
    known = known.set_index(CELL).reindex(columns=["normalized_std", "reported_by"])
    origins = pivot_cells(known["reported_by"].astype(object), models, datasets)
    notes = model_note + dataset_note
    if len(models) <= MOST_KEYED and len(datasets) <= MOST_STRIPPED:
        spread = pivot_cells(known["normalized_std"], models, datasets).astype(float)
        cells = pd.DataFrame(list(product(models, datasets)), columns=CELL)
        cells["value"], cells["spread"] = table.to_numpy().ravel(), spread.to_numpy().ravel()
        told = zip(cells["value"], origins.fillna("").to_numpy().ravel(), strict=True)
        cells["text"] = [f"{value:.3f}\n{origin}".rstrip() for value, origin in told]
        if table.isna().to_numpy().any():
            notes += ("No point: no score.",)
        notes += (SCORES_NOTE,) if cells["spread"].gt(0).any() else ()
        wording = Wording(SCORES_HEADING, SCORES_UNIT, notes)
        return draw_strip(cells, datasets=datasets, models=models, wording=wording)
    if table.isna().to_numpy().any():
        notes += ("Hatched: no score.",)
    return draw_grid(
        table,
        scale=Scale(SCORES_UNIT, *span_colors(table, share=0.96), RISING),
        wording=Wording(SCORES_HEADING, "", notes),
        writings=_write_decimals(table, (2,)),
        hover=origins,
    )


@figure_style()
def draw_seed_spread(seeds: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the standard deviations over seeds of all models, per dataset.

    Parameters
    ----------
    seeds : DataFrame
        model, dataset, normalized_std (NaN for a cell with one run); rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        Points up to 8 models and 12 datasets, beyond that a heat map of at most the first 40
        models and the 60 noisiest datasets, by their median model the noisiest first. A column wide
        (3.4 in), or a page (7 in) where names need it.
    """
    cells = seeds.rename(columns={"normalized_std": "value"})[[*CELL, "value"]]
    cells = cells.dropna().sort_values(CELL)
    if cells["dataset"].nunique() < 2:
        raise NothingToDraw(NO_SPREAD)
    medians = cells.groupby("dataset")["value"].median().sort_values(ascending=False, kind="stable")
    datasets = list(medians.index[:MAX_DATASETS])
    notes: tuple[str, ...] = ()
    if len(medians) > MAX_DATASETS:
        notes = (f"The {MAX_DATASETS} noisiest of {len(medians)} datasets.",)
    models, model_note = choose_models(seeds["model"], order)
    notes += model_note
    if len(models) <= MOST_KEYED and len(datasets) <= MOST_STRIPPED:
        cells = cells.assign(spread=0.0, text=cells["value"].map("{:.3f}".format))
        wording = Wording(SPREAD_HEADING, SPREAD_UNIT, notes)
        return draw_strip(cells, datasets=datasets, models=models, wording=wording)
    table = pivot_cells(cells.set_index(CELL)["value"], models, datasets)
    if table.isna().to_numpy().any():
        notes += ("Hatched: no spread.",)
    return draw_grid(
        table,
        scale=Scale(SPREAD_UNIT, *span_colors(table), "Oranges"),
        wording=Wording(SPREAD_HEADING, "", notes),
        writings=_write_decimals(table, (3, 2)),
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
        scale=Scale(label_scores(statistic), *span_colors(scores), RISING),
        wording=Wording(GROUPS_HEADING, "", notes),
        writings=[*ways, Writing(scores.map(format_decimal))],
        marks=(Mark(ranks == 1),),
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
    end = span_evenly(table)
    return draw_grid(
        table,
        scale=Scale(STRENGTHS_UNIT, -end, end, DIVERGING),
        wording=Wording(STRENGTHS_HEADING, "", notes),
        writings=_write_decimals(table, (3, 2) if end < FINE else (2,)),
        marks=[Mark(sure.eq(True))],
    )


def _write_decimals(table: pd.DataFrame, ways: Sequence[int]) -> list[Writing]:
    """Ways to write values, by their number of decimals."""
    return [
        Writing(table.map(lambda value, own=decimals: format_decimal(value, own)))
        for decimals in ways
    ]
