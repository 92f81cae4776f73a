"""How far models rise or fall when they are ranked by ASMA instead of top-1 accuracy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from capmap.figures.canvas import HEADER_HEIGHT, PADDING, Margins, Wording, make_sheet
from capmap.figures.labels import FloatArray, Label, draw_labels, place_labels
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.metric_lines import name_compared
from capmap.figures.names import shorten_names
from capmap.figures.note import draw_note
from capmap.figures.side_columns import MINUS
from capmap.figures.style import FAINT_INK, PAGE_WIDTH, PALETTE, SMALL_SIZE, figure_style
from capmap.wording import format_count

HEADING = "Ranks by top-1 accuracy and by ASMA"
NOTHING = "No model has both a top-1 accuracy and an ASMA."
LOOKS = {
    1: ("rises", PALETTE[0], "^"),
    -1: ("falls", PALETTE[3], "v"),
    0: ("stays", FAINT_INK, "o"),
}
MAX_LABELS = 16
LABEL_WIDTH = 1.5
LEFT = 0.5
HEIGHT = 4.6
RADIUS = 0.03
DATASET_WIDTH = 1.6


def choose_shifts(
    rank_shift: pd.DataFrame, degradation: pd.DataFrame, metrics: pd.DataFrame
) -> pd.DataFrame:
    """Choose the two datasets whose ranks are set against each other.

    Parameters
    ----------
    rank_shift : DataFrame
        dataset_top1, dataset_asma.
    degradation, metrics : DataFrame
        As in `capmap.figures.metric_lines.name_compared`.

    Returns
    -------
    DataFrame
        The rows of the first compared dataset and of a dataset that is not compared, such as
        PatchML, where there is one.
    """
    compared = name_compared(degradation, metrics)
    first = rank_shift[rank_shift["dataset_top1"] == compared[0]]
    other = min(set(first["dataset_asma"]) - set(compared), default=compared[-1])
    return first[first["dataset_asma"] == other]


@figure_style()
def draw_metric_rank_shift(
    rank_shift: pd.DataFrame, degradation: pd.DataFrame, metrics: pd.DataFrame
) -> Figure:
    """Draw each model's rank by ASMA against its rank by top-1 accuracy.

    Parameters
    ----------
    rank_shift : DataFrame
        model, dataset_top1, dataset_asma, top1_rank, asma_rank, shift (positive for a model that
        rises); rows in any order, also of other datasets.
    degradation, metrics : DataFrame
        As in `choose_shifts`.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in); the best ranks are at the left and on top, so models above the line
        rise. The 16 largest shifts are named, as far as there is room.
    """
    rank_shift = choose_shifts(rank_shift, degradation, metrics)
    if rank_shift.empty:
        return draw_note(NOTHING, heading=HEADING)
    size = rank_shift["shift"].abs()
    table = rank_shift.assign(size=size).sort_values(["size", "model"], ascending=[False, True])
    last = int(table[["top1_rank", "asma_rank"]].to_numpy().max())
    low, high = 1 - 0.04 * last, 1.04 * last
    area = (PAGE_WIDTH - LEFT - 2 * PADDING, HEIGHT)
    across, down = (table[["top1_rank", "asma_rank"]].to_numpy(float) - low).T / (high - low)
    points = np.column_stack([across, 1 - down]) * area
    labels = _label_shifts(table, points)
    diagonal = ((0.0, area[1]), (area[0], 0.0))
    found = place_labels(labels, area=area, points=points, radius=RADIUS, lines=[diagonal])
    names = [f"{LOOKS[sign][0]} ({_count_sign(table, sign)})" for sign in LOOKS]
    legend = plan_legend(names, sheet_width=PAGE_WIDTH)
    sheet = make_sheet(
        width=PAGE_WIDTH,
        height=area[1],
        margins=Margins(LEFT, 2 * PADDING, head=HEADER_HEIGHT + legend.height),
        wording=Wording(HEADING, _name_axis(table, "top1", "top-1"), _write_notes(table, found)),
    )
    sheet.axes.plot((low, high), (low, high), color=FAINT_INK, linewidth=0.6, zorder=1)
    for sign, (_, color, marker) in LOOKS.items():
        own = table[np.sign(table["shift"]) == sign]
        look: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "markersize": 3.5,
            "markeredgewidth": 0,
        }
        sheet.axes.plot(own["top1_rank"], own["asma_rank"], linestyle="none", alpha=0.8, **look)
    sheet.axes.set(xlim=(low, high), ylim=(high, low), ylabel=_name_axis(table, "asma", "ASMA"))
    for axis in (sheet.axes.xaxis, sheet.axes.yaxis):
        ticks = MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]).tick_values(1, last)
        axis.set_ticks([1, *(tick for tick in ticks if 1 < tick <= last)])
    sheet.axes.grid()
    draw_legend(sheet, legend, [_make_key(color, marker) for _, color, marker in LOOKS.values()])
    layer = sheet.add_axes(left=0, bottom=0, width=area[0], height=area[1])
    layer.set(xlim=(0, area[0]), ylim=(0, area[1]))
    layer.set_axis_off()
    draw_labels(layer, labels, found)
    return sheet.figure


def _make_key(color: str, marker: str) -> Line2D:
    return Line2D([], [], linestyle="none", marker=marker, markersize=4, color=color)


def _count_sign(table: pd.DataFrame, sign: int) -> int:
    return int((np.sign(table["shift"]) == sign).sum())


def _label_shifts(table: pd.DataFrame, points: FloatArray) -> list[Label]:
    """Labels of the largest shifts, such as ``ResNet-50 +12``."""
    chosen = table.head(MAX_LABELS)
    names = shorten_names(chosen["model"], width=LABEL_WIDTH, size=SMALL_SIZE)
    return [
        Label(
            f"{names[model]} {f'{shift:+d}'.replace('-', MINUS) if shift else '±0'}",
            SMALL_SIZE,
            LOOKS[int(np.sign(shift))][1],
            ((float(x), float(y)),),
        )
        for model, shift, (x, y) in zip(chosen["model"], chosen["shift"], points, strict=False)
    ]


def _name_axis(table: pd.DataFrame, metric: str, name: str) -> str:
    """Label of an axis; a dataset's name is shortened to what an axis has room for."""
    dataset = str(table[f"dataset_{metric}"].iloc[0])
    short = shorten_names([dataset], width=DATASET_WIDTH, size=SMALL_SIZE)[dataset]
    return f"rank by {name} on {short} (1 = best)"


def _write_notes(table: pd.DataFrame, found: Sequence[object]) -> tuple[str, ...]:
    named = sum(place is not None for place in found)
    if named == len(table):
        return ()
    return (f"Named: {named} of {format_count(len(table), 'model')}, by the largest shifts.",)
