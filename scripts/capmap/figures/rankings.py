"""Models ranked: scores with their intervals, ranks by other aggregations, and improvability."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.bump import NUMBERS_NOTE, Ticks, draw_bump
from capmap.figures.canvas import (
    GAP,
    Sheet,
    Wording,
    choose_models,
    fit_labels,
    format_decimal,
    format_interval,
)
from capmap.figures.curves import cast_models, gray_out
from capmap.figures.forest import draw_forest, rank_rows
from capmap.figures.heatmap import (
    DIVERGING,
    Scale,
    Writing,
    draw_grid,
    pivot_cells,
    span_evenly,
)
from capmap.figures.names import shorten_names
from capmap.figures.style import FAINT_INK, SMALL_SIZE, TEXT_SIZE, figure_style
from capmap.ranking.table import choose, compare_ranks
from capmap.wording import AGGREGATION_NAMES, SHARED_LETTERS, spell_statistic

LETTERS_WIDTH = 0.6
UNIT_NOTES = {
    "runs": "Intervals: other runs on these datasets.",
    "seeds": "Intervals: other seeds on these datasets.",
    "runs_and_datasets": "Intervals: other datasets like these; they allow for all models.",
}

NARROW_LABEL = 0.8
WIDE_LABEL = 2.2
BOUNDS = {"configured": "configured bounds", "observed": "observed bounds", "ranks": "ranks"}
LINE = 0.13
HEAD = 3 * LINE + 0.05
LEAST_CELL = 0.32
HEADING = "Ranks under other aggregations and bounds"
SHIFT_UNIT = "places above (+) or below (\N{MINUS SIGN}) the reported rank"
RANGE_NOTE = (
    "In a cell: the rank; below it, its range when each dataset is left out in turn, if it changes."
)
TAU = "\N{GREEK SMALL LETTER TAU}"
TAU_NOTE = (
    f"{TAU}: Kendall's rank correlation with the reported ranking; "
    "least: when each dataset is left out in turn."
)

Columns = list[tuple[str, str]]


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
        A line per model through its rank by each aggregation, with its name at both ends.

    Notes
    -----
    The number on a line is the rank. Tied models have the same number and stand below each other,
    in the order in which they came, so that a tie crosses no lines. Of more than 40 models the best
    40 by IQM are drawn.
    """
    ranks = compare_ranks(ranking)
    by_iqm = list(ranks.reset_index().sort_values(["iqm", "model"])["model"])
    cast = cast_models(ranks.index, by_iqm)
    models, notes = choose_models(ranks.index, by_iqm)
    notes += cast.notes
    ranks = ranks.loc[models]
    names = [AGGREGATION_NAMES[str(name)].replace(" ", "\n") for name in ranks]
    known = [own[np.isfinite(own)] for own in ranks.to_numpy()]
    return draw_bump(
        ranks.to_numpy(),
        labels=fit_labels(models, narrow=NARROW_LABEL, wide=WIDE_LABEL),
        models=models,
        looks=[gray_out(cast, model) for model in models],
        groups=[""] * len(models),
        texts=["ranks " + ", ".join(f"{rank:.0f}" for rank in own) for own in known],
        label_columns=lambda _: Ticks(names, 0, 0.29),
        wording=Wording(
            heading="Rank by each aggregation",
            x_label="aggregation of normalized scores",
            notes=(*notes, NUMBERS_NOTE),
        ),
    )


UNIT = "error that the best model would save (%, lower is better)"


@figure_style()
def draw_improvability(improvability: pd.DataFrame) -> Figure:
    """Draw each model's improvability with its rank.

    Parameters
    ----------
    improvability : DataFrame
        model, improvability (percent), rank; rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A row per model, the lowest improvability on top, at most 40. A column wide (3.4 in), or a
        page (7 in) where names need it.
    """
    table, ranks, notes = rank_rows(improvability, "improvability")
    return draw_forest(
        table,
        everyone=improvability["model"],
        columns={"rank": ranks},
        wording=Wording("Improvability", f"mean over datasets of the {UNIT}", notes),
    )


@figure_style()
def draw_robustness(
    robustness: pd.DataFrame,
    robustness_ranks: pd.DataFrame,
    *,
    order: Sequence[str] = (),
) -> Figure:
    """Draw the rank of each model under each aggregation and kind of bounds.

    Parameters
    ----------
    robustness : DataFrame
        aggregation, bounds, left_out (empty: none), kendall_tau.
    robustness_ranks : DataFrame
        model, aggregation, bounds, rank, rank_low, rank_high, shift (rank minus reported rank).
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map, a page wide (7 in), of at most 40 models, colored by the shift of the rank.
        Above each column stand Kendall's tau and its least value over left out datasets. Rows
        of tables may come in any order.
    """
    models, notes = choose_models(robustness_ranks["model"], order)
    variations = pd.Series(
        list(zip(robustness_ranks["bounds"], robustness_ranks["aggregation"], strict=True))
    )
    columns = [column for column in product(BOUNDS, AGGREGATION_NAMES) if column in set(variations)]
    number = variations.map(columns.index).to_numpy()
    cells = robustness_ranks.assign(variation=number).set_index(["model", "variation"])
    table = _arrange(-cells["shift"].astype(float), models, columns)
    limit = max(1.0, span_evenly(table))
    notes = (*notes, TAU_NOTE)
    if table.isna().to_numpy().any():
        notes = (*notes, "Hatched: no rank.")
    sheet = draw_grid(
        table,
        scale=Scale(SHIFT_UNIT, -limit, limit, (), DIVERGING, integer=True),
        wording=Wording(HEADING, "", notes),
        writings=[
            Writing(_arrange(texts, models, columns), note) for texts, note in _write_ranks(cells)
        ],
        head=HEAD,
        least=LEAST_CELL,
    )
    _head_bounds(sheet, [bounds for bounds, _ in columns])
    _head_taus(sheet, robustness, columns)
    return sheet.figure


def _arrange(values: "pd.Series[Any]", models: Sequence[str], columns: Columns) -> pd.DataFrame:
    """Arrange a value per model and variation as rows against columns."""
    labels = [(bounds, AGGREGATION_NAMES[aggregation]) for bounds, aggregation in columns]
    table = pivot_cells(values, models, range(len(columns)))
    table.columns = pd.MultiIndex.from_tuples(labels, names=["bounds", "aggregation"])
    return table


def _write_ranks(cells: pd.DataFrame) -> list[tuple["pd.Series[Any]", str]]:
    """Ways to write ranks, the fullest first, with what is to be said about each."""
    ranks = cells["rank"].map(lambda rank: "" if pd.isna(rank) else f"{rank:.0f}")
    ends = cells[["rank_low", "rank_high"]].astype(float).to_numpy()
    ranges = pd.Series(
        ["" if low == high else format_interval(low, high) for low, high in ends], cells.index
    )
    plain = (ranks, "In a cell: the rank.")
    if not ranges.any():
        return [plain]
    return [(ranks.str.cat(ranges, sep="\n").str.strip("\n"), RANGE_NOTE), plain]


def _head_bounds(sheet: Sheet, bounds: Sequence[str]) -> None:
    """Group the columns by their bounds, under a line per group."""
    y = sheet.height + HEAD
    width = sheet.width / len(bounds)
    line = -(HEAD - 0.02) / sheet.height * sheet.axes.get_ylim()[0]
    for name, group in groupby(enumerate(bounds), key=lambda item: item[1]):
        places = [place for place, _ in group]
        middle = (places[0] + places[-1] + 1) / 2
        sheet.write(BOUNDS[name], x=middle * width, y=y, ha="center", va="bottom")
        ends = (places[0] + 0.1, places[-1] + 0.9)
        sheet.axes.plot(ends, [line, line], color=FAINT_INK, linewidth=0.6, clip_on=False)


def _head_taus(sheet: Sheet, robustness: pd.DataFrame, columns: Columns) -> None:
    """Write Kendall's tau of each column above it, and its least value over left out datasets."""
    whole = robustness["left_out"].fillna("") == ""
    by = ["bounds", "aggregation"]
    rows = {
        TAU: robustness[whole].set_index(by)["kendall_tau"],
        f"least {TAU}": robustness[~whole].groupby(by)["kendall_tau"].min(),
    }
    width = sheet.width / len(columns)
    for line, (label, taus) in enumerate(rows.items()):
        y = sheet.height + HEAD - LINE * (line + 1)
        look = {"size": SMALL_SIZE, "color": FAINT_INK, "va": "baseline"}
        sheet.write(label, x=-GAP / 2, y=y, ha="right", **look)
        for column, tau in enumerate(taus.reindex(columns)):
            sheet.write(format_decimal(tau), x=(column + 0.5) * width, y=y, ha="center", **look)
