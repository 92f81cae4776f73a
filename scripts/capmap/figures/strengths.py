"""On which datasets models do better or worse than expected."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording, choose_datasets, choose_models, draw_note
from capmap.figures.heatmap import (
    DIVERGING,
    Mark,
    Scale,
    draw_heatmap,
    pivot_cells,
    span_evenly,
)
from capmap.figures.side_columns import format_decimal
from capmap.figures.style import figure_style

HEADING = "Strengths and weaknesses"
UNIT = "normalized score (observed \N{MINUS SIGN} expected)"
NOTHING = "Without runs that vary, nothing separates a strength from chance."
# A largest difference below which two decimals say little.
FINE = 0.1
CORNER = "Corner: the interval, for all cells at once, excludes 0."


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
        A heat map of at most 40 models and 60 datasets; a cell without a run is hatched. Without
        any interval a sentence says why there is nothing to show.
    """
    if strengths["ci_low"].isna().all():
        return draw_note(NOTHING, heading=HEADING)
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
    finer = (partial(format_decimal, decimals=3),) if end < FINE else ()
    scale = Scale(UNIT, -end, end, (*finer, format_decimal), DIVERGING)
    return draw_heatmap(
        table, scale=scale, wording=Wording(HEADING, "", notes), marks=[Mark(sure.eq(True))]
    )
