"""Pairs of models: differences, probabilities of improvement, and the signed-rank test.

A table lists each pair once; a figure shows it from both sides, or all models against a reference.
"""

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
    draw_legend,
    draw_note,
    fit_labels,
    make_sheet,
    plan_legend,
)
from capmap.figures.forest import WIDE_LABEL, draw_forest, plan_rows
from capmap.figures.heatmap import (
    DIVERGING,
    RISING,
    Mark,
    Scale,
    Writing,
    draw_grid,
    mark_diagonal,
    span_evenly,
)
from capmap.figures.look import COLUMN_WIDTH
from capmap.figures.names import text_width
from capmap.figures.side_columns import format_decimal, format_p, plan_columns, write_columns
from capmap.figures.style import FAINT_INK, INK, SMALL_SIZE, figure_style

# What a quantity of the pair (a, b) is for the pair (b, a).
SWAPPED = {
    "model_a": "model_b",
    "ci_low": "ci_high",
    "wins": "losses",
    "p_improvement_low": "p_improvement_high",
    "p_a_better": "p_b_better",
}
NEGATED = ("mean_difference", "ci_low", "ci_high", "effect_size")
COMPLEMENTED = ("p_improvement", "p_improvement_low", "p_improvement_high")
DECISIONS = {"a better": "b better", "b better": "a better"}
NO_PAIR = "One model: there is no pair to compare."
NO_SHARED = "no dataset in common"
HATCH_NOTE = f"Hatched: {NO_SHARED}."

DIFFERENCE_HEADING = "Pairwise comparison"
DIFFERENCE_UNIT = "mean difference in normalized score (row \N{MINUS SIGN} column)"
REFERENCE_UNIT = "mean difference in normalized score (model \N{MINUS SIGN} reference)"
COUNTS_NOTE = "Second line of a cell: datasets won/tied/lost by the row."
COLUMN_NOTES = (
    "w/t/l: datasets won/tied/lost against the reference. p: Wilcoxon signed-rank test, "
    "Holm-corrected over all pairs.",
    "r: matched-pairs rank-biserial correlation.",
)

IMPROVEMENT_HEADING = "Probability of improvement"
IMPROVEMENT_UNIT = "probability that a run of the reference is better, averaged over datasets"
LINE_NOTE = "Dashed: neither is better (0.5). At the right: the probability and its interval."

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
BAYES_HEADING = "Bayesian signed-rank test"
BAYES_UNIT = "probability that the row is better than the column"
ALONE = "Decisions are of each pair alone."
MARK_NOTE = f"Corner: one is better. Bar: they are equivalent. {ALONE}"
LETTER_NOTE = f"R: reference better. E: equivalent. M: model better. Pale: undecided. {ALONE}"
DASH = "\N{EN DASH}"
DASH_NOTE = f"{DASH}: {NO_SHARED}."

Numbers = npt.NDArray[np.float64]


def mirror_pairs(pairwise: pd.DataFrame) -> pd.DataFrame:
    """List each pair in both directions.

    Parameters
    ----------
    pairwise : DataFrame
        Columns of tables/pairwise.csv; each pair once.

    Returns
    -------
    DataFrame
        The same columns; twice as many rows, in which every model has been model_a.

    Examples
    --------
    >>> pair = pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "mean_difference": [0.5]})
    >>> list(mirror_pairs(pair).itertuples(index=False, name=None))
    [('x', 'y', 0.5), ('y', 'x', -0.5)]
    """
    swaps = {**SWAPPED, **{second: first for first, second in SWAPPED.items()}}
    mirrored = pairwise.rename(columns=swaps)[list(pairwise.columns)]
    for name in pairwise.columns.intersection(list(NEGATED)):
        mirrored[name] = -mirrored[name]
    for name in pairwise.columns.intersection(list(COMPLEMENTED)):
        mirrored[name] = 1 - mirrored[name]
    if "decision" in pairwise:
        mirrored["decision"] = mirrored["decision"].replace(DECISIONS)
    return pd.concat([pairwise, mirrored], ignore_index=True)


def arrange_pairs(pairwise: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Index the pairs of some models by row and column, in both directions.

    Returns
    -------
    DataFrame
        Columns of the table; index (model_a, model_b), every pair of the models, themselves
        included, in their order; missing values where the table lacks a pair.
    """
    both = pairwise["model_a"].isin(models) & pairwise["model_b"].isin(models)
    places = pd.MultiIndex.from_product([models, models], names=["model_a", "model_b"])
    return mirror_pairs(pairwise[both]).set_index(["model_a", "model_b"]).reindex(places)


def square_pairs(values: "pd.Series[Any]", models: Sequence[str]) -> pd.DataFrame:
    """Arrange a value per pair, in the order of `arrange_pairs`, as rows against columns."""
    return pd.DataFrame(
        values.to_numpy().reshape(len(models), len(models)),
        index=pd.Index(models, name="model"),
        columns=pd.Index(models, name="against"),
    )


def face_reference(pairwise: pd.DataFrame, reference: str, models: Sequence[str]) -> pd.DataFrame:
    """Compare some models (as model_a) with the reference (as model_b).

    Returns
    -------
    DataFrame
        Index model, in the order of the models; the other columns of the table.
    """
    either = (pairwise["model_a"] == reference) | (pairwise["model_b"] == reference)
    facing = mirror_pairs(pairwise[either])
    facing = facing[facing["model_b"] == reference]
    return facing.set_index("model_a").rename_axis("model").reindex(list(models))


def list_paired(pairwise: pd.DataFrame) -> list[str]:
    """All models of a table of pairs, by name."""
    return sorted({*pairwise["model_a"], *pairwise["model_b"]})


def write_counts(table: pd.DataFrame) -> list[str]:
    """Write wins, ties and losses as ``9/1/0``; empty where a pair shares no dataset."""
    counts = table[["wins", "ties", "losses"]].astype(float)
    return [
        "" if counts.sum() == 0 or counts.isna().any() else "/".join(f"{n:.0f}" for n in counts)
        for _, counts in counts.iterrows()
    ]


@figure_style()
def draw_comparison_matrix(
    pairwise: pd.DataFrame, *, order: Sequence[str] = (), alpha: float
) -> Figure:
    """Draw how much each model (row) is better than each other one (column).

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, mean_difference (normalized score), wins, ties, losses, wilcoxon_p_holm;
        rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.
    alpha : float
        Level of the tests, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models, the best first, with the difference and wins/ties/losses
        in its cells where they fit. A column wide (3.4 in), or a page (7 in) where models need it.

    Notes
    -----
    A corner marks a pair whose Holm-corrected p value is below the level. A pair without a dataset
    in common is hatched. One model alone gets a figure that says so.
    """
    if pairwise.empty:
        return draw_note(NO_PAIR, heading=DIFFERENCE_HEADING)
    models, notes = choose_models(list_paired(pairwise), order)
    pairs = arrange_pairs(pairwise, models)
    table = square_pairs(pairs["mean_difference"], models)
    limit = span_evenly(table)
    corner = f"Wilcoxon signed-rank test, Holm-corrected over all pairs, p < {alpha:g}."
    notes = (*notes, f"Corner: {corner}")
    if table.isna().to_numpy().sum() > len(models):
        notes = (*notes, HATCH_NOTE)
    return draw_grid(
        table,
        scale=Scale(DIFFERENCE_UNIT, -limit, limit, (), DIVERGING),
        wording=Wording(DIFFERENCE_HEADING, "", notes),
        writings=_write_cells(pairs, models),
        marks=(
            mark_diagonal(table),
            Mark(square_pairs(pairs["wilcoxon_p_holm"] < alpha, models)),
        ),
    ).figure


def _write_cells(pairs: pd.DataFrame, models: Sequence[str]) -> list[Writing]:
    """Ways to write into the cells, the fullest first."""
    differences = {decimals: _format_all(pairs["mean_difference"], decimals) for decimals in (3, 2)}
    counts = pd.Series(write_counts(pairs), pairs.index)
    both = [text.str.cat(counts, sep="\n").str.strip("\n") for text in differences.values()]
    return [
        *(Writing(square_pairs(text, models), COUNTS_NOTE) for text in both),
        *(Writing(square_pairs(text, models)) for text in differences.values()),
    ]


def _format_all(values: pd.Series, decimals: int) -> pd.Series:
    return values.map(lambda value: format_decimal(value, decimals))


@figure_style()
def draw_comparison_reference(
    pairwise: pd.DataFrame, *, reference: str, order: Sequence[str] = ()
) -> Figure:
    """Draw how much each model differs from the reference, with intervals.

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, mean_difference, ci_low, ci_high (normalized score), wins, ties, losses,
        wilcoxon_p_holm, effect_size; rows in any order; ends of intervals may be empty.
    reference : str
        The model that others are compared with; empty: the first of `order`.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A row per model, at most 40. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    At the right stand the model's wins/ties/losses against the reference, the Holm-corrected p
    value of Wilcoxon's signed-rank test, and the matched-pairs rank-biserial correlation r.
    """
    reference = reference or order[0]
    heading = f"Difference from {reference}"
    everyone = list_paired(pairwise)
    models, notes = choose_models(set(everyone) - {reference}, order)
    if not models:
        return draw_note(NO_PAIR, heading=DIFFERENCE_HEADING)
    facing = face_reference(pairwise, reference, models)
    named = {"mean_difference": "estimate", "ci_low": "low", "ci_high": "high"}
    return draw_forest(
        facing.rename(columns=named),
        everyone=everyone,
        columns={
            "w/t/l": write_counts(facing),
            "p (Holm)": [format_p(value) for value in facing["wilcoxon_p_holm"]],
            "r": [format_decimal(value) for value in facing["effect_size"]],
        },
        wording=Wording(heading, REFERENCE_UNIT, (*notes, *COLUMN_NOTES)),
        line=0.0,
        empty=NO_SHARED,
    )


@figure_style()
def draw_improvement(
    pairwise: pd.DataFrame, *, reference: str, order: Sequence[str] = ()
) -> Figure:
    """Draw the probability of improvement of the reference over each model.

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, p_improvement, p_improvement_low, p_improvement_high (of a over b); rows
        in any order; ends of intervals may be empty.
    reference : str
        The model that others are compared with; empty: the first of `order`.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A row per model, at most 40. A column wide (3.4 in), or a page (7 in) where names need it.
    """
    reference = reference or order[0]
    everyone = list_paired(pairwise)
    models, notes = choose_models(set(everyone) - {reference}, order)
    if not models:
        return draw_note(NO_PAIR, heading=IMPROVEMENT_HEADING)
    facing = 1 - face_reference(pairwise, reference, models)[
        ["p_improvement", "p_improvement_low", "p_improvement_high"]
    ].set_axis(["estimate", "high", "low"], axis=1)
    return draw_forest(
        facing,
        everyone=everyone,
        columns={
            "P": [format_decimal(value) for value in facing["estimate"]],
            "interval": [
                _write_ends(low, high) for low, high in facing[["low", "high"]].to_numpy()
            ],
        },
        wording=Wording(
            f"{IMPROVEMENT_HEADING} of {reference}", IMPROVEMENT_UNIT, (*notes, LINE_NOTE)
        ),
        line=0.5,
        limits=(0.0, 1.0),
        empty=NO_SHARED,
    )


def _write_ends(low: float, high: float) -> str:
    if low != low or high != high:
        return ""
    return f"{format_decimal(low)}\N{EN DASH}{format_decimal(high)}"


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
        return draw_note(NO_PAIR, heading=BAYES_HEADING)
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
        scale=Scale(BAYES_UNIT, 0.0, 1.0, (), RISING),
        wording=Wording(BAYES_HEADING, "", notes),
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
        return draw_note(NO_PAIR, heading=BAYES_HEADING)
    facing = face_reference(pairwise, reference, models)
    shares = facing[["p_b_better", "p_equivalent", "p_a_better"]].to_numpy(float)
    names = {"a better": "model", "b better": "reference", "equivalent": "equivalent"}
    side = plan_columns({"decided": [names.get(word, "") for word in facing["decision"]]})
    rows = plan_rows(models, side)
    strong = facing["decision"].isin(list(names)).to_numpy()
    notes = (*notes, ALONE if strong.all() else f"Pale: undecided. {ALONE}")
    wording = Wording(f"{BAYES_HEADING} against {reference}", "probability (%)", notes)
    sheet = _make_bars(rows.sheet_width, len(models), rows.margins, wording)
    _stack(sheet.axes, shares, strong, width=100)
    _write_shares(sheet, shares, strong)
    sheet.axes.set_xlim(0, 100)
    sheet.axes.set_xticks([0, 25, 50, 75, 100])
    texts = [_write_outcomes(row) for row in shares]
    sheet.label_rows(rows.labels, header="model", names=models, texts=texts)
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
        return draw_note(NO_PAIR, heading=BAYES_HEADING)
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
    lines: list[list[str]] = [[] for _ in models]
    for column, factor in enumerate(factors):
        at = rope[rope["factor"] == factor].set_index("model").reindex(models)
        shares = at[["p_reference_better", "p_equivalent", "p_model_better"]].to_numpy(float)
        letters = [LETTERS.get(word, "") for word in at["decision"]]
        decided = np.array(letters) != ""
        _stack(sheet.axes, shares, decided, left=column, width=bar - 0.04, empty=DASH)
        for row, letter in enumerate(letters):
            lines[row].append(f"\N{MULTIPLICATION SIGN}{factor:g}: {_write_outcomes(shares[row])}")
            if letter:
                sheet.axes.text(column + bar, row, letter, size=SMALL_SIZE, va="center_baseline")
    sheet.axes.set_xlim(0, len(factors))
    middle = np.arange(len(factors)) + (bar - 0.04) / 2
    sheet.axes.set_xticks(middle, _label_factors(rope, factors), linespacing=1.1)
    sheet.axes.tick_params(length=0)
    sheet.axes.spines[["left", "bottom"]].set_visible(False)
    texts = ["\n".join(words) for words in lines]
    sheet.label_rows(labels.texts, header="model", names=labels.names, texts=texts)
    return sheet.figure


def _write_outcomes(shares: Numbers) -> str:
    """How probable each outcome is, in percent."""
    if np.isnan(shares).any():
        return ""
    pairs = zip(OUTCOMES, shares, strict=True)
    return ", ".join(f"{outcome} {share:.0%}" for outcome, share in pairs)


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
