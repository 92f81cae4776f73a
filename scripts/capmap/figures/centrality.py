"""Whether models near the center of the map are good at most datasets."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capmap.figures.canvas import HEADER_HEIGHT, PADDING, Margins, Sheet, Wording, make_sheet
from capmap.figures.capability_map import COLORS, LOOKS, MAX_LABELS, NAME_WIDTH, RADIUS
from capmap.figures.labels import FloatArray, Label, draw_labels, place_labels
from capmap.figures.names import shorten_names
from capmap.figures.note import draw_note
from capmap.figures.panels import number_axis
from capmap.figures.style import COLUMN_WIDTH, PAGE_WIDTH, SMALL_SIZE, figure_style
from capmap.wording import format_count

HEADING = "Generalists and specialists"
X_LABEL = "distance to the center of the map (all dimensions)"
Y_LABEL = "mean gap (0 = best, 1 = worst model)"
NOTHING = "No model has both a place on the map and a mean gap."
NARROW_MODELS = 12
HEIGHTS = {COLUMN_WIDTH: 2.2, PAGE_WIDTH: 4.2}
LEFT = 0.5


@figure_style()
def draw_centrality(
    positions: pd.DataFrame, models: pd.DataFrame, correlation: pd.DataFrame | None = None
) -> Figure:
    """Draw each model's mean gap against its distance to the center.

    Parameters
    ----------
    positions : DataFrame
        kind, name, centrality (distance to the center); rows in any order, those of datasets do
        not matter.
    models : DataFrame
        model, mean_gap (over the model's results, 0 to 1), kept (number of results).
    correlation : DataFrame, optional
        A row with estimate, low, high and models: Spearman's correlation of the two columns, which
        a note states. All but models may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) up to 12 models, beyond that a page (7 in).

    Notes
    -----
    Names with the most results are placed first; those that find no place are left out, and a note
    counts them.
    """
    places = positions.loc[positions["kind"] == "model", ["name", "centrality"]]
    table = models.merge(places, left_on="model", right_on="name")
    table = table.dropna(subset=["centrality", "mean_gap"])
    if table.empty:
        return draw_note(NOTHING, heading=HEADING)
    table = table.sort_values(["kept", "model"], ascending=[False, True])
    sheet_width = COLUMN_WIDTH if len(table) <= NARROW_MODELS else PAGE_WIDTH
    area = (sheet_width - LEFT - 2 * PADDING, HEIGHTS[sheet_width])
    limits = _span_axes(table)
    low, high = np.array(limits).T
    points = (table[["centrality", "mean_gap"]].to_numpy(float) - low) / (high - low) * area
    labels = _label_points(list(table["model"]), points)
    found = place_labels(labels, area=area, points=points, radius=RADIUS)
    unnamed = len(table) - sum(place is not None for place in found)
    sheet = make_sheet(
        width=sheet_width,
        height=area[1],
        margins=Margins(LEFT, 2 * PADDING, head=HEADER_HEIGHT),
        wording=Wording(HEADING, X_LABEL, _write_notes(correlation, unnamed)),
    )
    sheet.axes.plot(table["centrality"], table["mean_gap"], **LOOKS["model"])
    sheet.axes.set(xlim=limits[0], ylim=limits[1], ylabel=Y_LABEL)
    sheet.axes.grid()
    number_axis(sheet.axes.xaxis, most=int(sheet.width))
    number_axis(sheet.axes.yaxis, most=5)
    draw_labels(_add_layer(sheet), labels, found)
    return sheet.figure


def _add_layer(sheet: Sheet) -> Axes:
    """Add axes over those of a sheet, whose unit is an inch."""
    layer = sheet.add_axes(left=0, bottom=0, width=sheet.width, height=sheet.height)
    layer.set(xlim=(0, sheet.width), ylim=(0, sheet.height))
    layer.set_axis_off()
    return layer


def _label_points(models: list[str], points: FloatArray) -> list[Label]:
    names = shorten_names(models, width=NAME_WIDTH, size=SMALL_SIZE)
    return [
        Label(names[model], SMALL_SIZE, COLORS["model"], ((float(x), float(y)),))
        for model, (x, y) in zip(models[:MAX_LABELS], points, strict=False)
    ]


def _span_axes(table: pd.DataFrame) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of both axes, a little beyond the values, and apart where these are all the same."""
    ends = []
    for column in ("centrality", "mean_gap"):
        low, high = float(table[column].min()), float(table[column].max())
        margin = 0.06 * (high - low) or 0.1
        ends.append((low - margin, high + margin))
    return ends[0], ends[1]


def _write_notes(correlation: pd.DataFrame | None, unnamed: int) -> tuple[str, ...]:
    notes = []
    known = [] if correlation is None else correlation.dropna(subset="estimate").to_dict("records")
    for row in known[:1]:
        text = f"Spearman's rank correlation: {row['estimate']:z.2f}"
        if pd.notna(row["low"]) and pd.notna(row["high"]):
            text += f" ({row['low']:z.2f} to {row['high']:z.2f})"
        text = text.replace("-", "\N{MINUS SIGN}")
        notes.append(f"{text}, {format_count(row['models'], 'model')}.")
    if unnamed:
        notes.append(f"Without a name, for want of room: {format_count(unnamed, 'model')}.")
    return tuple(notes)
