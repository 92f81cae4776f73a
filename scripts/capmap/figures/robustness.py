"""How ranks depend on the aggregation, the bounds, and the choice of datasets."""

from collections.abc import Sequence
from itertools import groupby, product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    Sheet,
    Wording,
    choose_models,
    format_decimal,
    format_interval,
)
from capmap.figures.heatmap import (
    DIVERGING,
    Scale,
    Writing,
    draw_grid,
    pivot_cells,
    span_evenly,
)
from capmap.figures.names import shorten_names
from capmap.figures.style import FAINT_INK, SMALL_SIZE, figure_style
from capmap.wording import AGGREGATION_NAMES

BOUNDS = {"configured": "configured bounds", "observed": "observed bounds", "ranks": "ranks"}
LINE = 0.13
HEAD = 3 * LINE + 0.05
LEAST_CELL = 0.32
NAME_WIDTH = 1.5
MOST_FLIPS = 3
HEADING = "Ranks under other aggregations and bounds"
UNIT = "places above (+) or below (\N{MINUS SIGN}) the reported rank"
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
def draw_robustness(
    robustness: pd.DataFrame,
    robustness_ranks: pd.DataFrame,
    flips: pd.DataFrame,
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
    flips : DataFrame
        model_a, model_b, flips, variations.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map, a page wide (7 in), of at most 40 models, colored by the shift of the rank.
        Above each column stand Kendall's tau and its least value over left out datasets. The
        three pairs that flip most often are named below. Rows of tables may come in any order.
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
    notes = (*notes, TAU_NOTE, *_name_flips(flips))
    if table.isna().to_numpy().any():
        notes = (*notes, "Hatched: no rank.")
    sheet = draw_grid(
        table,
        scale=Scale(UNIT, -limit, limit, (), DIVERGING, integer=True),
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


def _name_flips(flips: pd.DataFrame) -> tuple[str, ...]:
    """Name the pairs that change places in most variations."""
    most = flips[flips["flips"] > 0].sort_values(
        ["flips", "model_a", "model_b"], ascending=[False, True, True]
    )[:MOST_FLIPS]
    if most.empty:
        return ()
    names = shorten_names({*most["model_a"], *most["model_b"]}, width=NAME_WIDTH, size=SMALL_SIZE)
    pairs = [
        f"{names[model_a]} and {names[model_b]} ({count} of {variations} variations)"
        for model_a, model_b, count, variations in zip(
            *(most[name] for name in ("model_a", "model_b", "flips", "variations")), strict=True
        )
    ]
    return ("Change places most often: " + "; ".join(pairs) + ".",)


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
