"""A row per model with its estimate, its interval, and texts at the right."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import CARETLEFT, CARETRIGHT

from capmap.figures.canvas import (
    GAP,
    LEAST_LABEL,
    PADDING,
    RANK_NOTE,
    ROW_HEIGHT,
    SideColumns,
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
    ModelStyle,
    column_width,
    current_look,
    figure_style,
    model_styles,
    page_width,
    shorten_names,
)
from capmap.ranking.table import choose
from capmap.wording import SHARED_LETTERS, depends_on_ridge, spell_statistic

MIN_AXES = 1.2
WIDE_LABEL = 2.6
NO_INTERVAL = "Open marker: no interval."
GOES_ON = "Arrow: the interval goes on."


class Rows(NamedTuple):
    """Labels of rows, the width of a figure with room for them, and its margins, in inches."""

    labels: list[str]
    sheet_width: float
    left: float
    right: float


def plan_rows(names: Sequence[str], side: SideColumns) -> Rows:
    """Make room for the labels of rows and the columns beside them, in a column if they fit."""
    right = 2 * PADDING + max(side.width, 0.06)
    room = WIDE_LABEL
    if current_look().width:
        room = min(room, max(page_width() - PADDING - GAP - right - MIN_AXES, LEAST_LABEL))
    labels = fit_labels(names, narrow=room, wide=room)
    left = PADDING + max(labels.width, 0.35) + GAP
    is_narrow = column_width() - left - right >= MIN_AXES
    width = column_width() if is_narrow else page_width()
    return Rows(labels.texts, width, left, right)


def draw_forest(
    table: pd.DataFrame,
    *,
    everyone: Iterable[str],
    columns: Mapping[str, Sequence[str]],
    wording: Wording,
    line: float | None = None,
    reach: float = np.inf,
    empty: str = "",
) -> Figure:
    """Draw estimates with their intervals, one model below the other.

    Parameters
    ----------
    table : DataFrame
        Index model, in the order in which they are drawn; estimate, low, high; NaN where missing.
    everyone : iterable of str
        All models of the study, whose set decides on colors.
    columns : mapping of str to sequence of str
        Texts at the right of each row, by the header of their column.
    wording : Wording
        Words around the axes.
    line : float, optional
        Where a vertical line says that there is no difference.
    reach : float
        How far beyond the estimates intervals are drawn; an arrow says where one goes on.
    empty : str
        What is written in a row without an estimate.

    Notes
    -----
    A model without an interval has an open marker, and a note says so.
    """
    side = plan_columns(columns)
    rows = plan_rows(list(table.index), side)
    lacking = table["estimate"].notna() & table[["low", "high"]].isna().any(axis=1)
    notes = (*wording.notes, NO_INTERVAL) if lacking.any() else wording.notes
    shown = table.assign(
        low=table["low"].clip(lower=table["estimate"].min() - reach),
        high=table["high"].clip(upper=table["estimate"].max() + reach),
    )
    if (table["low"].lt(shown["low"]) | table["high"].gt(shown["high"])).any():
        notes = (*notes, GOES_ON)
    sheet = make_sheet(
        width=rows.sheet_width,
        height=len(table) * ROW_HEIGHT,
        wording=Wording(wording.heading, wording.x_label, notes),
        left=rows.left,
        right=rows.right,
    )
    if line is not None:
        sheet.axes.axvline(line, color=FAINT_INK, linewidth=0.7, linestyle=(0, (3, 2)))
    _draw_rows(sheet.axes, shown, model_styles(everyone), empty)
    _draw_arrows(sheet.axes, table, shown, model_styles(everyone))
    estimates = write_estimates(table[["estimate", "low", "high"]])
    sheet.axes.grid()
    sheet.limit_ticks()
    sheet.label_rows(rows.labels, header="model", names=table.index, texts=estimates)
    write_columns(sheet, side)
    return sheet.figure


def rank_rows(table: pd.DataFrame, column: str) -> tuple[pd.DataFrame, list[str], tuple[str, ...]]:
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
    list of str
        The ranks of the rows, with their intervals.
    tuple of str
        Notes on models that are left out, and on the intervals of ranks.
    """
    ends = pd.Index(["ci_low", "ci_high", "rank_low", "rank_high"])
    table = table.reindex(columns=table.columns.union(ends, sort=False))
    ranked = table.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(ranked.index, list(ranked.index))
    rows = ranked.loc[models].rename(
        columns={column: "estimate", "ci_low": "low", "ci_high": "high"}
    )
    if rows["rank_low"].notna().any():
        notes = (*notes, RANK_NOTE)
    return rows, write_ranks(rows), notes


def _draw_rows(axes: Axes, table: pd.DataFrame, styles: dict[str, ModelStyle], empty: str) -> None:
    values = table[["estimate", "low", "high"]].to_numpy(float)
    for row, (model, (estimate, low, high)) in enumerate(zip(table.index, values, strict=True)):
        look = styles[str(model)]
        if estimate != estimate:
            _write_empty(axes, row, empty)
            continue
        closed = bool(np.isfinite([low, high]).all())
        if closed:
            axes.plot((low, high), (row, row), color=look.color, linewidth=1.4, clip_on=False)
        axes.plot(
            estimate,
            row,
            marker=look.marker,
            markersize=4,
            color=look.color,
            markerfacecolor=look.color if closed else "white",
            clip_on=False,
        )


def _draw_arrows(
    axes: Axes, table: pd.DataFrame, shown: pd.DataFrame, styles: dict[str, ModelStyle]
) -> None:
    """Mark the ends of intervals that go on beyond what is shown."""
    for end, arrow in (("low", CARETLEFT), ("high", CARETRIGHT)):
        for row, (model, limit) in enumerate(shown[end].items()):
            if abs(limit - table[end].iloc[row]) > 0:
                color = styles[str(model)].color
                axes.plot(limit, row, marker=arrow, markersize=4, color=color, clip_on=False)


def _write_empty(axes: Axes, row: int, text: str) -> None:
    """Write in the middle of a row, whatever the x axis shows."""
    place = axes.get_yaxis_transform()
    look: Any = {"size": SMALL_SIZE, "color": FAINT_INK, "ha": "center", "va": "center_baseline"}
    axes.text(0.5, row, text, transform=place, **look)


LETTERS_WIDTH = 0.6


UNIT_NOTES = {
    "runs": "Intervals: other runs on these datasets.",
    "seeds": "Intervals: other seeds on these datasets.",
    "runs_and_datasets": "Intervals: other datasets like these; they allow for all models.",
}


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
    A model without an interval has an open marker, and a note says so. At the right stand the
    rank with its interval and the letters of the model's tie groups. Of more than 40 models the
    best 40 are drawn. Over datasets, differences to the first model are drawn: how hard datasets
    are would hide them in intervals of scores.
    """
    everyone = choose(ranking)
    own = everyone
    name = spell_statistic(own["statistic"].iloc[0]).removesuffix(" (IQM)").capitalize()
    wording = Wording(f"{name} with interval", f"{name} of normalized scores", ())
    if own["unit"].iloc[0] == "runs_and_datasets" and own["behind"].notna().any():
        own = _subtract_first(own.dropna(subset="behind"))
        heading = f"{name}, difference to the first"
        wording = Wording(heading, f"{name} less that of the first model", ())
    table, ranks, notes = rank_rows(own, "score")
    spans = [_join_spans(ties) if isinstance(ties, str) else "" for ties in table["tie_group"]]
    short = shorten_names(spans, width=LETTERS_WIDTH, size=TEXT_SIZE)
    if table["rank_low"].notna().any():
        notes = (*notes[:-1], UNIT_NOTES[table["unit"].iloc[0]], notes[-1])
    if any(spans):
        notes += (SHARED_LETTERS,)
    return draw_forest(
        table,
        everyone=everyone["model"],
        columns={"rank": ranks, "ties": [short[span] for span in spans]},
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


def _join_spans(letters: str) -> str:
    """Write three or more consecutive letters as a span: ``abcdf`` becomes ``a\N{EN DASH}df``."""
    if not letters.isalpha():
        return letters
    runs = groupby(enumerate(letters), key=lambda item: ord(item[1]) - item[0])
    parts = ["".join(letter for _, letter in run) for _, run in runs]
    return "".join(f"{part[0]}\N{EN DASH}{part[-1]}" if len(part) > 2 else part for part in parts)


ODDS = "200 points more: 76% of battles won. Elo depends on which models are compared."


SEPARATED_NOTE = (
    "In {:.1%} of the resamples some models only won or only lost: ends of intervals there depend "
    "on the ridge of the fit."
)


# 10 battles won to one lost, in points.
REACH = 400.0


@figure_style()
def draw_elo(elo: pd.DataFrame, *, order: Sequence[str] = (), confidence_level: float) -> Figure:
    """Draw each model's Elo rating with its interval and rank, the best model on top.

    Parameters
    ----------
    elo : DataFrame
        model, elo, ci_low, ci_high (points), rank; rows in any order. Ends of intervals may be
        empty. separated (share of resamples, 0 to 1, in which some models only won or only lost;
        the same in all rows).
    order : sequence of str
        All models of the study, for their colors; empty: those of the table.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    A model without an interval has an open marker, and a note says so. Of more than 40 models the
    best 40 are drawn. A note tells of separated resamples where they reach the ends of an interval.
    """
    table, ranks, notes = rank_rows(elo, "elo")
    separated = float(elo["separated"].iloc[0])
    if depends_on_ridge(separated, confidence_level=confidence_level):
        notes += (SEPARATED_NOTE.format(separated),)
    ratings = [f"{rating:.0f}" if rating == rating else "" for rating in table["estimate"]]
    return draw_forest(
        table,
        everyone=[*elo["model"], *order],
        columns={"Elo": ratings, "rank": ranks},
        wording=Wording("Elo rating with interval", "Elo rating (points)", (ODDS, *notes)),
        reach=max(REACH, float(elo["elo"].max() - elo["elo"].min())),
    )
