"""How likely a run of the reference is better than a run of each other model."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording, choose_models
from capmap.figures.forest import draw_forest
from capmap.figures.note import draw_note
from capmap.figures.pairs import NO_PAIR, NO_SHARED, face_reference, list_paired
from capmap.figures.side_columns import format_decimal
from capmap.figures.style import figure_style

HEADING = "Probability of improvement"
UNIT = "probability that a run of the reference is better, averaged over datasets"
LINE_NOTE = "Dashed: neither is better (0.5). At the right: the probability and its interval."


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
        return draw_note(NO_PAIR, heading=HEADING)
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
        wording=Wording(f"{HEADING} of {reference}", UNIT, (*notes, LINE_NOTE)),
        line=0.5,
        limits=(0.0, 1.0),
        empty=NO_SHARED,
    )


def _write_ends(low: float, high: float) -> str:
    if low != low or high != high:
        return ""
    return f"{format_decimal(low)}\N{EN DASH}{format_decimal(high)}"
