"""Results that several publications report, beside each other."""

import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    ROW_HEIGHT,
    Margins,
    Wording,
    draw_note,
    fit_labels,
    make_sheet,
)
from capmap.figures.marks import Mark, mark_members
from capmap.figures.style import FAINT_INK, PALETTE, figure_style

HEADING = "Results that several publications report"
X_LABEL = "normalized score"
NOTHING = "No result is reported by several publications."
MOST_CELLS = 30
NARROW_LABEL, WIDE_LABEL = 1.7, 3.5


@figure_style()
def draw_disagreements(disagreements: pd.DataFrame, publications: pd.DataFrame) -> Figure:
    """Draw what publications report of the same model on the same dataset.

    Parameters
    ----------
    disagreements : DataFrame
        model, dataset, low and high (normalized scores), a row per cell with several publications,
        the widest range first.
    publications : DataFrame
        model, dataset, publication, score, normalized.

    Returns
    -------
    matplotlib.figure.Figure
        A row per cell, with a point per publication and a line from the lowest to the highest; at
        most 30. A column wide (3.4 in), or a page (7 in) where names need it.
    """
    if disagreements.empty:
        return draw_note(NOTHING, heading=HEADING)
    shown = disagreements.head(MOST_CELLS).reset_index(drop=True)
    names = list(shown["model"] + " on " + shown["dataset"])
    labels = fit_labels(names, narrow=NARROW_LABEL, wide=WIDE_LABEL)
    rest = len(disagreements) - len(shown)
    sheet = make_sheet(
        width=labels.sheet_width,
        height=len(shown) * ROW_HEIGHT,
        margins=Margins(
            left=PADDING + max(labels.width, 0.45) + GAP,
            right=2 * PADDING + 0.06,
            head=HEADER_HEIGHT,
        ),
        wording=Wording(HEADING, X_LABEL, (f"{rest} more agree better.",) if rest else ()),
    )
    spans = [[(low, row), (high, row)] for row, low, high in shown[["low", "high"]].itertuples()]
    sheet.axes.add_collection(LineCollection(spans, colors=FAINT_INK, linewidths=0.8, zorder=1))
    rows = shown[["model", "dataset"]].rename_axis("row").reset_index()
    points = publications.merge(rows, on=["model", "dataset"])
    [drawn] = sheet.axes.plot(
        points["normalized"], points["row"], "o", markersize=4, color=PALETTE[0], alpha=0.8
    )
    points = points.fillna({"publication": "no name"})
    results = points[["model", "dataset", "publication", "score"]].itertuples(index=False)
    mark_members(
        drawn,
        [Mark(model, dataset, f"{who}: {score:.4g}") for model, dataset, who, score in results],
    )
    sheet.axes.grid(axis="x")
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="result", names=labels.names)
    return sheet.figure
