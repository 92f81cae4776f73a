"""Differences between all pairs of models."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording, choose_models
from capmap.figures.forest import draw_forest
from capmap.figures.heatmap import (
    DIVERGING,
    Mark,
    Scale,
    Writing,
    draw_grid,
    mark_diagonal,
    span_evenly,
)
from capmap.figures.note import draw_note
from capmap.figures.pairs import (
    HATCH_NOTE,
    NO_PAIR,
    NO_SHARED,
    arrange_pairs,
    face_reference,
    list_paired,
    square_pairs,
    write_counts,
)
from capmap.figures.side_columns import format_decimal, format_p
from capmap.figures.style import figure_style

HEADING = "Pairwise comparison"
UNIT = "mean difference in normalized score (row \N{MINUS SIGN} column)"
REFERENCE_UNIT = "mean difference in normalized score (model \N{MINUS SIGN} reference)"
COUNTS_NOTE = "Second line of a cell: datasets won/tied/lost by the row."
COLUMN_NOTES = (
    "w/t/l: datasets won/tied/lost against the reference. p: Wilcoxon signed-rank test, "
    "Holm-corrected over all pairs.",
    "r: matched-pairs rank-biserial correlation.",
)


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
        return draw_note(NO_PAIR, heading=HEADING)
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
        scale=Scale(UNIT, -limit, limit, (), DIVERGING),
        wording=Wording(HEADING, "", notes),
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
        return draw_note(NO_PAIR, heading=HEADING)
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
