"""How far predictions of hidden results were off, model by model and dataset by dataset."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    Margins,
    Sheet,
    Wording,
    make_sheet,
)
from capmap.figures.heatmap import SCALE_ROOM, Scale, color_cells, pivot_cells, span_evenly
from capmap.figures.names import shorten_names, widest
from capmap.figures.note import draw_note
from capmap.figures.style import COLUMN_WIDTH, PAGE_WIDTH, SMALL_SIZE, figure_style

HEADING = "Errors of predictions"
UNIT = "error of the predicted gap (absolute)"
NOTHING = "No result was hidden and predicted."
ORDER = (
    "Models and datasets with the most results first. Blank: no result, or none that was hidden."
)
COLORS = "cividis_r"
EMPTY_COLOR = "#F5F5F5"
MAX_MODELS = 50
MAX_DATASETS = 75
NAME_WIDTH = 1.5
MODEL_NAME_WIDTH = 1.0
NARROW_MODELS = 12
ROW_HEIGHT = (0.088, 0.15)
MAX_HEIGHT = 6.6


@figure_style()
def draw_prediction_errors(predictions: pd.DataFrame) -> Figure:
    """Draw the absolute error of each prediction whose result was hidden.

    Parameters
    ----------
    predictions : DataFrame
        model, dataset, observed (gap; NaN where there is no result), predicted, held_out (whether
        the result was hidden when it was predicted); rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        Datasets as rows and models as columns. A column wide (3.4 in) up to 12 models, beyond that
        a page (7 in).

    Notes
    -----
    Of more than 50 models or 75 datasets, those with the most results are drawn; ties go by name.
    The colors span 98% of the errors, so an outlier does not hide the rest.
    """
    known = predictions[predictions["held_out"].astype(bool)].dropna(
        subset=["observed", "predicted"]
    )
    if known.empty:
        return draw_note(NOTHING, heading=HEADING)
    datasets, notes = _choose_names(predictions, "dataset", MAX_DATASETS)
    models, more = _choose_names(predictions, "model", MAX_MODELS)
    cells = known.set_index(["dataset", "model"])
    table = pivot_cells((cells["predicted"] - cells["observed"]).abs(), datasets, models)
    sheet = _make_grid(table, " ".join((*notes, *more, ORDER)))
    sheet.axes.patch.set_facecolor(EMPTY_COLOR)
    color_cells(sheet, table, Scale(UNIT, 0.0, span_evenly(table), (), COLORS))
    return sheet.figure


def _make_grid(table: pd.DataFrame, note: str) -> Sheet:
    """Make the sheet with the names of rows and columns, as small as they can be read."""
    rows = shorten_names(table.index, width=NAME_WIDTH, size=SMALL_SIZE)
    columns = shorten_names(table.columns, width=MODEL_NAME_WIDTH, size=SMALL_SIZE)
    sheet = make_sheet(
        width=COLUMN_WIDTH if len(columns) <= NARROW_MODELS else PAGE_WIDTH,
        height=len(rows) * float(np.clip(MAX_HEIGHT / len(rows), *ROW_HEIGHT)),
        margins=Margins(
            left=PADDING + max(widest(rows.values(), size=SMALL_SIZE), 0.45) + GAP,
            right=2 * PADDING,
            head=SCALE_ROOM + HEADER_HEIGHT,
            ticks=GAP + widest(columns.values(), size=SMALL_SIZE),
        ),
        wording=Wording(HEADING, "model", (note,)),
    )
    sheet.axes.set_xticks(np.arange(len(columns)) + 0.5, table.columns.map(columns), rotation=90)
    sheet.axes.set_yticks(np.arange(len(rows)) + 0.5, table.index.map(rows))
    sheet.axes.tick_params(length=0, labelsize=SMALL_SIZE)
    sheet.head_rows("dataset", distance=GAP / 2)
    return sheet


def _choose_names(
    predictions: pd.DataFrame, kind: str, limit: int
) -> tuple[list[str], tuple[str, ...]]:
    """Names by number of results, the most first, with a note about those left out."""
    counts = predictions.dropna(subset="observed")[kind].value_counts()
    names = sorted(counts.index, key=lambda name: (-counts[name], name))
    if len(names) <= limit:
        return names, ()
    return names[:limit], (f"{limit} of {len(names)} {kind}s, those with the most results.",)
