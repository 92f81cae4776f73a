"""Models ranked: scores with their intervals, ranks by other aggregations, and improvability."""

from itertools import groupby

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    PADDING,
    Sheet,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
)
from capmap.figures.curves import cast_models, gray_out
from capmap.figures.forest import draw_forest
from capmap.figures.marks import mark
from capmap.figures.names import shorten_names, widest
from capmap.figures.side_columns import RANK_NOTE, write_ranks
from capmap.figures.style import SMALL_SIZE, TEXT_SIZE, ModelStyle, figure_style
from capmap.wording import AGGREGATION_NAMES, SHARED_LETTERS, spell_statistic

LETTERS_WIDTH = 0.6
UNIT_NOTES = {
    "runs": "Intervals: other runs on these datasets.",
    "seeds": "Intervals: other seeds on these datasets.",
    "runs_and_datasets": "Intervals: other datasets like these.",
}

NARROW_LABEL = 0.8
WIDE_LABEL = 2.2
ROW_HEIGHT = 0.19
FRAME = "round,pad=0.25,rounding_size=0.7"

Numbers = npt.NDArray[np.float64]


@figure_style()
def draw_intervals(scopes: pd.DataFrame) -> Figure:
    """Draw each model's score with its interval, rank and tie groups.

    Parameters
    ----------
    scopes : DataFrame
        unit, statistic, model, score, ci_low, ci_high (normalized scores), rank, rank_low,
        rank_high, tie_group; rows in any order. Ends of intervals and tie groups may be empty.
        Where there are other rows, those over datasets are not drawn.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    A model without an interval has an open marker, and a note says so. At the right stand the
    rank with its interval and the letters of the model's tie groups. Of more than 40 models the
    best 40 are drawn.
    """
    here = scopes[scopes["unit"] != "runs_and_datasets"]
    ranking = scopes if here.empty else here
    table = ranking.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(table.index, list(table.index))
    table = table.loc[models].rename(
        columns={"score": "estimate", "ci_low": "low", "ci_high": "high"}
    )
    name = spell_statistic(ranking["statistic"].iloc[0]).removesuffix(" (IQM)").capitalize()
    spans = [_join_spans(ties) if isinstance(ties, str) else "" for ties in table["tie_group"]]
    short = shorten_names(spans, width=LETTERS_WIDTH, size=TEXT_SIZE)
    if table["rank_low"].notna().any():
        notes += (UNIT_NOTES[table["unit"].iloc[0]], RANK_NOTE)
    if any(spans):
        notes += (SHARED_LETTERS,)
    return draw_forest(
        table,
        everyone=ranking["model"],
        columns={"rank": write_ranks(table), "ties": [short[span] for span in spans]},
        wording=Wording(f"{name} with interval", f"{name} of normalized scores", notes),
    )


def _join_spans(letters: str) -> str:
    """Write three or more consecutive letters as a span: ``abcdf`` becomes ``a\N{EN DASH}df``."""
    if not letters.isalpha():
        return letters
    runs = groupby(enumerate(letters), key=lambda item: ord(item[1]) - item[0])
    parts = ["".join(letter for _, letter in run) for _, run in runs]
    return "".join(f"{part[0]}\N{EN DASH}{part[-1]}" if len(part) > 2 else part for part in parts)


@figure_style()
def draw_rank_shift(aggregate: pd.DataFrame, iqm: pd.DataFrame) -> Figure:
    """Draw how ranks move between mean, trimmed mean, median and interquartile mean.

    Parameters
    ----------
    aggregate : DataFrame
        model and any of rank_mean, rank_trimmed_mean, rank_median; rows in any order.
    iqm : DataFrame
        model and rank.

    Returns
    -------
    matplotlib.figure.Figure
        A line per model through its rank by each aggregation, with its name at both ends.

    Notes
    -----
    The number on a line is the rank. Tied models have the same number and stand below each other,
    in the order in which they came, so that a tie crosses no lines. A model that an aggregation
    leaves out has no mark there. Of more than 40 models the best 40 by IQM are drawn.
    """
    ranks = _collect_ranks(aggregate, iqm)
    by_iqm = list(ranks.reset_index().sort_values(["iqm", "model"])["model"])
    cast = cast_models(ranks.index, by_iqm)
    models, notes = choose_models(ranks.index, by_iqm)
    notes += cast.notes
    styles = {model: gray_out(cast, model) for model in models}
    ranks = ranks.loc[models]
    heights = _place_ranks(ranks)
    labels = fit_labels(models, narrow=NARROW_LABEL, wide=WIDE_LABEL)
    numbers = [f"{rank:.0f}" for rank in ranks.to_numpy().ravel()]
    distance = widest(numbers, size=SMALL_SIZE) / 2 + GAP
    side = PADDING + max(labels.width, 0.35) + distance
    sheet = make_sheet(
        width=labels.sheet_width,
        height=len(models) * ROW_HEIGHT,
        left=side,
        right=side,
        ticks=0.29,
        wording=Wording(
            heading="Rank by each aggregation",
            x_label="aggregation of normalized scores",
            notes=(*notes, "Numbers: rank; equal numbers are ties."),
        ),
    )
    for model, height, rank in zip(models, heights.to_numpy(), ranks.to_numpy(), strict=True):
        _draw_line(sheet.axes, model, height, rank, styles[model])
    _label_ends(sheet, heights, dict(zip(models, labels.texts, strict=True)), distance)
    sheet.head_rows("model", distance=distance)
    _dress_axes(sheet.axes, ranks)
    return sheet.figure


def _dress_axes(axes: Axes, ranks: pd.DataFrame) -> None:
    axes.set_xticks(
        range(ranks.shape[1]),
        [AGGREGATION_NAMES[str(name)].replace(" ", "\n") for name in ranks],
        linespacing=1.0,
    )
    axes.set_xlim(0, max(1, ranks.shape[1] - 1))
    axes.set_ylim(len(ranks) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.grid(axis="x")


def _collect_ranks(aggregate: pd.DataFrame, iqm: pd.DataFrame) -> pd.DataFrame:
    """Ranks by model (rows) and aggregation (columns), NaN where an aggregation has none."""
    by_model = aggregate.set_index("model")
    ranks = {
        name: by_model[f"rank_{name}"] for name in AGGREGATION_NAMES if f"rank_{name}" in by_model
    }
    ranks["iqm"] = iqm.set_index("model")["rank"]
    ranked = pd.DataFrame(ranks).dropna(subset="iqm")
    return ranked.sort_index().rename_axis("model").astype(float)


def _place_ranks(ranks: pd.DataFrame) -> pd.DataFrame:
    """Row of each mark, counted from the top within its column."""
    heights = pd.DataFrame(np.nan, index=ranks.index, columns=ranks.columns)
    previous = pd.Series(range(len(ranks)), index=ranks.index, dtype=float)
    for name in ranks:
        order = pd.DataFrame({"rank": ranks[name], "previous": previous}).dropna(subset=["rank"])
        models = order.sort_values(["rank", "previous"]).index
        heights.loc[models, name] = np.arange(len(models), dtype=float)
        previous = heights[name].fillna(previous)
    return heights


def _draw_line(axes: Axes, model: str, heights: Numbers, ranks: Numbers, look: ModelStyle) -> None:
    [line] = axes.plot(heights, color=look.color, linestyle=look.line, clip_on=False)
    known = ", ".join(f"{rank:.0f}" for rank in ranks if np.isfinite(rank))
    mark(line, model, text=f"ranks {known}")
    frame = {"boxstyle": FRAME, "facecolor": "white", "edgecolor": look.color, "linewidth": 1.1}
    for column in np.flatnonzero(np.isfinite(heights)):
        number = axes.text(
            float(column),
            heights[column],
            f"{ranks[column]:.0f}",
            size=SMALL_SIZE,
            ha="center",
            va="center_baseline",
            bbox=frame,
            zorder=3,
        )
        mark(number, model, text=f"rank {ranks[column]:.0f}")


def _label_ends(
    sheet: Sheet, heights: pd.DataFrame, labels: dict[str, str], distance: float
) -> None:
    """Write the names beside the first and the last column, clear of the marks."""
    for column, x, side in ((0, -distance, "right"), (-1, sheet.width + distance, "left")):
        for model, height in heights.iloc[:, column].dropna().items():
            y = sheet.height * (1 - (height + 0.5) / len(heights))
            name = str(model)
            mark(sheet.write(labels[name], x=x, y=y, ha=side, va="center_baseline"), name)


UNIT = "error that the best model would save (%, lower is better)"


@figure_style()
def draw_improvability(improvability: pd.DataFrame) -> Figure:
    """Draw each model's improvability with its interval and rank.

    Parameters
    ----------
    improvability : DataFrame
        model, improvability, ci_low, ci_high (percent), rank, rank_low, rank_high; rows in any
        order; ends of intervals may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A row per model, the lowest improvability on top, at most 40. A column wide (3.4 in), or a
        page (7 in) where names need it.
    """
    table = improvability.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(table.index, list(table.index))
    table = table.loc[models]
    if table[["rank_low", "rank_high"]].notna().to_numpy().any():
        notes = (*notes, RANK_NOTE)
    named = {"improvability": "estimate", "ci_low": "low", "ci_high": "high"}
    return draw_forest(
        table.rename(columns=named),
        everyone=improvability["model"],
        columns={"rank": write_ranks(table)},
        wording=Wording("Improvability", f"mean over datasets of the {UNIT}", notes),
    )
