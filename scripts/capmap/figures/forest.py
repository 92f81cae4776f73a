"""The mark forest: a row per model with its estimate, its interval, and texts at the right."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    ONE_MODEL,
    PADDING,
    RANK_NOTE,
    ROW_HEIGHT,
    NothingToDraw,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
    plan_columns,
    write_columns,
    write_ranks,
)
from capmap.figures.marks import write_estimates
from capmap.figures.style import (
    FAINT_INK,
    SMALL_SIZE,
    TEXT_SIZE,
    column_width,
    current_look,
    figure_style,
    model_colors,
    page_width,
    printable_text,
    shorten_names,
    widest,
)
from capmap.ranking import choose
from capmap.wording import SHARED_LETTERS, depends_on_ridge, spell_statistic

MIN_AXES = 0.9
WIDE_LABEL = 3.6
NO_INTERVAL = "Open marker: no interval."
LETTERS_WIDTH = 0.6
BEYOND = "An interval that reaches \N{PLUS-MINUS SIGN}{:g} goes on."
UNIT_NOTES = {
    "runs": "Intervals: other runs on these datasets.",
    "seeds": "Intervals: other seeds on these datasets.",
    "items": "Intervals: other items like these on these datasets.",
    "runs_and_datasets": "Intervals: other datasets like these; they allow for all models.",
}
ODDS = "200 points more: 76% of battles won. Elo depends on which models are compared."
UNBOUNDED = (
    "Some models only won or only lost in {:.1%} of the resamples: ratings cannot be estimated "
    "from these datasets."
)


class Column(NamedTuple):
    """Texts at the right of the rows of a forest, and a note that explains them."""

    header: str
    texts: Sequence[str]
    note: str = ""


def draw_forest(
    table: pd.DataFrame,
    *,
    everyone: Iterable[str],
    columns: Sequence[Column],
    wording: Wording,
    line: float | None = None,
    most: float = np.inf,
    empty: str = "",
) -> Figure:
    """Draw estimates with their intervals, one model below the other.

    Parameters
    ----------
    table : DataFrame
        Index model, in the order in which they are drawn; estimate, low, high; NaN where missing.
    everyone : iterable of str
        All models of the study, whose set decides on colors.
    columns : sequence of Column
        Beside the rows, the most important first. A figure of a width that a study asks for has
        only those that leave room for whole names.
    wording : Wording
        Words around the axes.
    line : float, optional
        Where a vertical line says that there is no difference.
    most : float
        Intervals are drawn up to this distance from 0, and a note says so.
    empty : str
        What is written in a row without an estimate.

    Notes
    -----
    A model without an interval has an open marker, and a note says so.
    """
    if len(table) < 2:
        raise NothingToDraw(ONE_MODEL)
    kept = _keep_columns(list(table.index), columns)
    side = plan_columns({column.header: column.texts for column in kept})
    right = 2 * PADDING + max(side.width, 0.06)
    room = WIDE_LABEL
    if current_look().width:
        room = min(room, page_width() - PADDING - GAP - right - MIN_AXES)
    labels = fit_labels(list(table.index), narrow=room, wide=room)
    left = PADDING + max(labels.width, 0.35) + GAP
    is_narrow = column_width() - left - right >= MIN_AXES
    notes = (*wording.notes, *(column.note for column in kept if any(column.texts) and column.note))
    if (table["estimate"].notna() & table[["low", "high"]].isna().any(axis=1)).any():
        notes = (*notes, NO_INTERVAL)
    if table[["low", "high"]].abs().gt(most).any(axis=None):
        notes = (*notes, BEYOND.format(most))
    sheet = make_sheet(
        width=column_width() if is_narrow else page_width(),
        height=len(table) * (ROW_HEIGHT + labels.extra_height),
        wording=replace(wording, notes=notes),
        left=left,
        right=right,
    )
    if line is not None:
        sheet.axes.axvline(line, color=FAINT_INK, linewidth=0.7, linestyle=(0, (3, 2)))
    colors = model_colors(everyone)
    values = table[["estimate", "low", "high"]].to_numpy(float)
    for row, (model, (estimate, low, high)) in enumerate(zip(table.index, values, strict=True)):
        color = colors[str(model)]
        look: Any = {"color": color, "clip_on": False}
        if estimate != estimate:
            place = sheet.axes.get_yaxis_transform()
            text = sheet.axes.text(0.5, row, empty, transform=place, size=SMALL_SIZE, ha="center")
            text.set(color=FAINT_INK, va="center_baseline")
        elif np.isfinite([low, high]).all():
            bar: Any = {"linewidth": 4.5, "alpha": 0.45, "solid_capstyle": "butt"}
            sheet.axes.plot(np.clip((low, high), -most, most), (row, row), **bar, **look)
            sheet.axes.plot(estimate, row, marker="|", markersize=6.5, markeredgewidth=1.4, **look)
        else:
            sheet.axes.plot(estimate, row, "o", markersize=4, markerfacecolor="white", **look)
    sheet.axes.grid()
    sheet.limit_ticks()
    estimates = write_estimates(table[["estimate", "low", "high"]])
    sheet.label_rows(labels.texts, header="model", names=table.index, texts=estimates)
    write_columns(sheet, side)
    return sheet.figure


def _keep_columns(names: Sequence[str], columns: Sequence[Column]) -> list[Column]:
    """Leave out the last columns until whole names have room beside the axes."""
    needed = PADDING + GAP + widest(map(printable_text, names), size=TEXT_SIZE) + MIN_AXES
    kept = list(columns)
    while kept and current_look().width:
        side = plan_columns({column.header: column.texts for column in kept})
        if needed + 2 * PADDING + side.width <= page_width():
            break
        kept.pop()
    return kept


def rank_rows(table: pd.DataFrame, column: str) -> tuple[pd.DataFrame, Column, tuple[str, ...]]:
    """Take the best models of a ranking by a column as rows of a forest.

    Parameters
    ----------
    table : DataFrame
        model, rank and the column; rank_low, rank_high, ci_low and ci_high where they are known;
        rows in any order.
    column : str
        The estimate.

    Returns
    -------
    DataFrame
        The other columns, and estimate, low and high, by model.
    Column
        The ranks of the rows, with their intervals.
    tuple of str
        A note on models that are left out.
    """
    ends = pd.Index(["ci_low", "ci_high", "rank_low", "rank_high"])
    table = table.reindex(columns=table.columns.union(ends, sort=False))
    ranked = table.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(ranked.index, list(ranked.index))
    rows = ranked.loc[models].rename(
        columns={column: "estimate", "ci_low": "low", "ci_high": "high"}
    )
    note = RANK_NOTE if rows["rank_low"].notna().any() else ""
    return rows, Column("rank", write_ranks(rows), note), notes


@figure_style()
def draw_intervals(ranking: pd.DataFrame) -> Figure:
    """Draw each model's score with its interval, rank and tie groups.

    Parameters
    ----------
    ranking : DataFrame
        group, unit, statistic, model, score, ci_low, ci_high (normalized scores), rank, rank_low,
        rank_high, behind, behind_low, behind_high, tie_group; of the headline, which comes first
        and alone is drawn. Ends of intervals and tie groups may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    At the right stand the rank with its interval and the letters of the model's tie groups. Of more
    than 40 models the best 40 are drawn. Over datasets, differences to the first model are drawn:
    how hard datasets are would hide them in intervals of scores.
    """
    everyone = choose(ranking)
    own = everyone
    name = spell_statistic(own["statistic"].iloc[0]).removesuffix(" (IQM)").capitalize()
    heading = f"{name} with interval" if own["ci_low"].notna().any() else name
    wording = Wording(heading, f"{name} of normalized scores", ())
    if own["unit"].iloc[0] == "runs_and_datasets" and own["behind"].notna().any():
        own = _subtract_first(own.dropna(subset="behind"))
        heading = f"{name}, difference to the first"
        wording = Wording(heading, f"{name} less that of the first model", ())
    table, ranks, notes = rank_rows(own, "score")
    letters = table["tie_group"].fillna("").astype("str")
    short = shorten_names(letters, width=LETTERS_WIDTH, size=TEXT_SIZE)
    if table["low"].notna().any():
        notes = (*notes, UNIT_NOTES[table["unit"].iloc[0]])
    return draw_forest(
        table,
        everyone=everyone["model"],
        columns=[ranks, Column("ties", letters.map(short).tolist(), SHARED_LETTERS)],
        wording=replace(wording, notes=notes),
    )


def _subtract_first(ranking: pd.DataFrame) -> pd.DataFrame:
    """Put the difference to the first model, with its interval, in place of scores."""
    is_first = ranking["behind"] == 0
    return ranking.assign(
        score=-ranking["behind"],
        ci_low=-ranking["behind_high"].mask(is_first, 0.0),
        ci_high=-ranking["behind_low"].mask(is_first, 0.0),
    )


@figure_style()
def draw_elo(elo: pd.DataFrame, *, order: Sequence[str] = (), confidence_level: float) -> Figure:
    """Draw each model's Elo rating with its interval and rank.

    Parameters
    ----------
    elo : DataFrame
        model, elo, ci_low, ci_high (points), rank; rows in any order. Ends of intervals may be
        empty. separated (share of resamples, 0 to 1, in which some models only won or only lost;
        the same in all rows).
    order : sequence of str
        All models of the study, in whose order they stand; empty: the best on top.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    Of more than 40 models the best 40 are drawn. Where separated resamples reach the ends of
    intervals, there is no figure: the ends would depend on the ridge of the fit.
    """
    separated = float(elo["separated"].iloc[0])
    if depends_on_ridge(separated, confidence_level=confidence_level):
        raise NothingToDraw(UNBOUNDED.format(separated))
    place = {model: position for position, model in enumerate(order)}
    table, ranks, notes = rank_rows(elo, "elo")
    table = table.assign(ranks=ranks.texts).sort_index(
        key=lambda names: names.map(place), kind="stable"
    )
    ratings = [f"{rating:.0f}" if rating == rating else "" for rating in table["estimate"]]
    return draw_forest(
        table,
        everyone=[*elo["model"], *order],
        columns=[Column("Elo", ratings), ranks._replace(texts=list(table["ranks"]))],
        wording=Wording("Elo rating with interval", "Elo rating (points)", (ODDS, *notes)),
    )
