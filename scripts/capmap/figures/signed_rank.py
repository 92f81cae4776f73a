"""Decisions of the Bayesian signed-rank test: all pairs, a reference, and other regions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    ROW_HEIGHT,
    Margins,
    Sheet,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
)
from capmap.figures.forest import WIDE_LABEL, plan_rows
from capmap.figures.heatmap import RISING, Mark, Scale, Writing, draw_grid, mark_diagonal
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.names import text_width
from capmap.figures.note import draw_note
from capmap.figures.pairs import (
    HATCH_NOTE,
    NO_PAIR,
    NO_SHARED,
    arrange_pairs,
    face_reference,
    list_paired,
    square_pairs,
)
from capmap.figures.side_columns import format_decimal, plan_columns, write_columns
from capmap.figures.style import (
    COLUMN_WIDTH,
    FAINT_INK,
    INK,
    SMALL_SIZE,
    figure_style,
)

NARROW_LABEL = 1.0
BAR_HEIGHT = 0.72
UNDECIDED_STRENGTH = 0.4
LETTER_ROOM = 0.2
OUTCOMES = {
    "reference better": "#2B6CB0",
    "equivalent": "#CFCFCF",
    "model better": "#E69F00",
}
LETTERS = {"reference better": "R", "equivalent": "E", "model better": "M"}
HEADING = "Bayesian signed-rank test"
UNIT = "probability that the row is better than the column"
MARK_NOTE = "Corner: decided that one is better. Bar: decided that they are equivalent."
LETTER_NOTE = "Decision: R reference better, E equivalent, M model better. Pale: undecided."
DASH = "\N{EN DASH}"
DASH_NOTE = f"{DASH}: {NO_SHARED}."

Numbers = npt.NDArray[np.float64]


@figure_style()
def draw_bayes_matrix(pairwise: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the probability that each model (row) is better than each other one (column).

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, p_a_better, p_b_better, decision; rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models, the best first.

    Notes
    -----
    Where the test decided that one of a pair is better, both cells of the pair have a corner;
    where it decided that they are practically equivalent, both have a bar.
    """
    if pairwise.empty:
        return draw_note(NO_PAIR, heading=HEADING)
    models, notes = choose_models(list_paired(pairwise), order)
    pairs = arrange_pairs(pairwise, models)
    table = square_pairs(pairs["p_a_better"], models)
    notes = (*notes, MARK_NOTE)
    if table.isna().to_numpy().sum() > len(models):
        notes = (*notes, HATCH_NOTE)
    decided = pairs["decision"].isin(["a better", "b better"])
    marks = (
        mark_diagonal(table),
        Mark(square_pairs(decided, models)),
        Mark(square_pairs(pairs["decision"] == "equivalent", models), "bar"),
    )
    return draw_grid(
        table,
        scale=Scale(UNIT, 0.0, 1.0, (), RISING),
        wording=Wording(HEADING, "", notes),
        writings=[Writing(table.map(format_decimal))],
        marks=marks,
    ).figure


@figure_style()
def draw_bayes_reference(
    pairwise: pd.DataFrame, *, reference: str, order: Sequence[str] = ()
) -> Figure:
    """Draw the probabilities that the reference is better, equivalent or worse, per model.

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, p_a_better, p_equivalent, p_b_better, decision; rows in any order.
    reference : str
        The model that others are compared with; empty: the first of `order`.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A bar per model, at most 40, in percent where a part has room for it. A column wide
        (3.4 in), or a page (7 in) where names need it. Bars without a decision are pale.
    """
    reference = reference or order[0]
    models, notes = choose_models(set(list_paired(pairwise)) - {reference}, order)
    if not models:
        return draw_note(NO_PAIR, heading=HEADING)
    facing = face_reference(pairwise, reference, models)
    shares = facing[["p_b_better", "p_equivalent", "p_a_better"]].to_numpy(float)
    names = {"a better": "model", "b better": "reference", "equivalent": "equivalent"}
    side = plan_columns({"decided": [names.get(word, "") for word in facing["decision"]]})
    rows = plan_rows(models, side)
    strong = facing["decision"].isin(list(names)).to_numpy()
    notes = notes if strong.all() else (*notes, "Pale: undecided.")
    wording = Wording(f"{HEADING} against {reference}", "probability (%)", notes)
    sheet = _make_bars(rows.sheet_width, len(models), rows.margins, wording)
    _stack(sheet.axes, shares, strong, width=100)
    _write_shares(sheet, shares, strong)
    sheet.axes.set_xlim(0, 100)
    sheet.axes.set_xticks([0, 50, 100])
    sheet.label_rows(rows.labels, header="model")
    write_columns(sheet, side)
    return sheet.figure


@figure_style()
def draw_rope(rope: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw how decisions against the reference depend on the region of practical equivalence.

    Parameters
    ----------
    rope : DataFrame
        reference, model, factor, rope (half-width; may be empty), p_reference_better, p_equivalent,
        p_model_better, decision; rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A bar per model (at most 40) and factor, with the letter of the decision. A column wide
        (3.4 in), or a page (7 in) where names need it.
    """
    if rope.empty:
        return draw_note(NO_PAIR, heading=HEADING)
    models, notes = choose_models(rope["model"], order)
    factors = sorted(set(rope["factor"]))
    labels = fit_labels(models, narrow=NARROW_LABEL, wide=WIDE_LABEL)
    lacking = rope.loc[rope["model"].isin(models), "p_equivalent"].isna().any()
    sheet = _make_bars(
        labels.sheet_width,
        len(models),
        Margins(left=PADDING + max(labels.width, 0.35) + GAP, right=2 * PADDING, ticks=0.3),
        Wording(
            f"Decisions by region of equivalence, against {rope['reference'].iloc[0]}",
            "half-width (multiple of the configured one)",
            (*notes, LETTER_NOTE, *((DASH_NOTE,) if lacking else ())),
        ),
    )
    bar = 1 - LETTER_ROOM * (COLUMN_WIDTH / labels.sheet_width)
    for column, factor in enumerate(factors):
        at = rope[rope["factor"] == factor].set_index("model").reindex(models)
        shares = at[["p_reference_better", "p_equivalent", "p_model_better"]].to_numpy(float)
        letters = [LETTERS.get(word, "") for word in at["decision"]]
        decided = np.array(letters) != ""
        _stack(sheet.axes, shares, decided, left=column, width=bar - 0.04, empty=DASH)
        for row, letter in enumerate(letters):
            if letter:
                sheet.axes.text(column + bar, row, letter, size=SMALL_SIZE, va="center_baseline")
    sheet.axes.set_xlim(0, len(factors))
    middle = np.arange(len(factors)) + (bar - 0.04) / 2
    sheet.axes.set_xticks(middle, _label_factors(rope, factors), linespacing=1.1)
    sheet.axes.tick_params(length=0)
    sheet.axes.spines[["left", "bottom"]].set_visible(False)
    sheet.label_rows(labels.texts, header="model")
    return sheet.figure


def _label_factors(rope: pd.DataFrame, factors: Sequence[float]) -> list[str]:
    """Each factor, with its half-width below where it is known."""
    half = rope.groupby("factor")["rope"].first()
    signs = {factor: f"\N{MULTIPLICATION SIGN}{factor:g}" for factor in factors}
    return [
        sign if pd.isna(half[factor]) else f"{sign}\n±{half[factor]:.3g}"
        for factor, sign in signs.items()
    ]


def _make_bars(width: float, rows: int, margins: Margins, wording: Wording) -> Sheet:
    """Make a sheet for stacked bars, with the legend of their parts."""
    legend = plan_legend(list(OUTCOMES), sheet_width=width)
    head = HEADER_HEIGHT + legend.height
    roomy = Margins(margins.left, margins.right, head, margins.ticks)
    sheet = make_sheet(width=width, height=rows * ROW_HEIGHT, margins=roomy, wording=wording)
    draw_legend(sheet, legend, [Patch(color=color) for color in OUTCOMES.values()])
    return sheet


def _stack(
    axes: Axes,
    shares: Numbers,
    strong: npt.NDArray[np.bool_],
    *,
    width: float,
    left: float = 0.0,
    empty: str = NO_SHARED,
) -> None:
    """Draw a bar per row, its parts next to each other; pale where it is not strong."""
    known = np.isfinite(shares).all(axis=1)
    rows = np.flatnonzero(known)
    starts = left + width * (shares.cumsum(axis=1) - shares)
    for part, color in enumerate(OUTCOMES.values()):
        colors = [to_rgba(color, 1.0 if strong[row] else UNDECIDED_STRENGTH) for row in rows]
        lengths = width * shares[rows, part]
        axes.barh(rows, lengths, BAR_HEIGHT, starts[rows, part], color=colors, linewidth=0)
    look: Any = {"size": SMALL_SIZE, "color": FAINT_INK, "ha": "center", "va": "center_baseline"}
    for row in np.flatnonzero(~known):
        axes.text(left + width / 2, float(row), empty, **look)


def _write_shares(sheet: Sheet, shares: Numbers, strong: npt.NDArray[np.bool_]) -> None:
    """Write each part's percentage into it where it fits."""
    for row, parts in enumerate(100 * shares):
        colors = ("white" if strong[row] else INK, INK, INK)
        for part, start, color in zip(parts, np.cumsum(parts) - parts, colors, strict=True):
            text = f"{part:.0f}"
            if part / 100 * sheet.width >= text_width(text, size=SMALL_SIZE) + 0.04:
                sheet.axes.text(
                    start + part / 2,
                    row,
                    text,
                    size=SMALL_SIZE,
                    color=color,
                    ha="center",
                    va="center_baseline",
                )
