"""Top-1 accuracy, ReaL and ASMA of all models on two datasets, and how far these are apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    MAX_MODELS,
    PADDING,
    TICKS_HEIGHT,
    Margins,
    Sheet,
    Wording,
    make_sheet,
)
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.names import shorten_names, widest
from capmap.figures.note import draw_note
from capmap.figures.side_columns import MINUS
from capmap.figures.style import PAGE_WIDTH, PALETTE, TEXT_SIZE, ModelStyle, figure_style

HEADING = "Metrics on two datasets"
NOTHING = "There are no two datasets with a metric of the same models."
METRICS = {
    "top1": ("top-1", ModelStyle(PALETTE[0], "o", "-")),
    "real": ("ReaL", ModelStyle(PALETTE[3], "s", "-")),
    "asma": ("ASMA", ModelStyle(PALETTE[2], "D", "-")),
}
DASHES: Any = (0, (3.0, 1.2))
LEFT = 0.5
UPPER, LOWER, GUTTER = 1.9, 1.2, 0.12
NAME_WIDTH = 1.3
DATASET_WIDTH = 1.6
MARKED = 60


def name_compared(degradation: pd.DataFrame, cells: pd.DataFrame) -> list[str]:
    """The two datasets that are compared, or the first two by name.

    Parameters
    ----------
    degradation : DataFrame
        dataset_a, dataset_b; may be empty.
    cells : DataFrame
        dataset: all that there are.
    """
    pairs = degradation[["dataset_a", "dataset_b"]].drop_duplicates().to_numpy().tolist()
    return pairs[0] if pairs else sorted(set(cells["dataset"]))[:2]


@figure_style()
def draw_metric_lines(summary: pd.DataFrame, degradation: pd.DataFrame) -> Figure:
    """Draw the metrics of all models on two datasets, and the differences below.

    Parameters
    ----------
    summary : DataFrame
        model, dataset, top1, real, asma (from 0 to 1, may be empty); rows in any order.
    degradation : DataFrame
        dataset_a, dataset_b, see `name_compared`; the first of the two datasets is drawn solid, the
        second dashed. With one, a note says so.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): the metrics in percent above, the first dataset's less the second's in
        points below, from the best model by the first dataset's top-1 accuracy (or the first
        metric that there is). Up to 40 models are named.
    """
    datasets = name_compared(degradation, summary)
    if len(datasets) < 2:
        return draw_note(NOTHING, heading=HEADING)
    first, second = (_take_metrics(summary, name) for name in datasets)
    models = _order_models(first, second)
    if not models:
        return draw_note(NOTHING, heading=HEADING)
    first, second = first.reindex(models), second.reindex(models)
    names = shorten_names(datasets, width=DATASET_WIDTH, size=TEXT_SIZE)
    a, b = (names[name] for name in datasets)
    metrics = [name for name in METRICS if first[name].notna().any() or second[name].notna().any()]
    labels = _name_models(models)
    upper, lower = _place_panels(_make_keys(metrics, a, b), labels, f"Below: {a} less {b}.")
    x = np.arange(1, len(models) + 1)
    marker_size = 2.2 if len(models) <= MARKED else 0.0
    for name in metrics:
        look = METRICS[name][1]
        style: dict[str, Any] = {"color": look.color, "linewidth": 0.9, "markeredgewidth": 0}
        style |= {"marker": look.marker, "markersize": marker_size}
        upper.axes.plot(x, first[name], **style)
        upper.axes.plot(x, second[name], **style, linestyle=DASHES)
        lower.axes.plot(x, first[name] - second[name], **style)
    lower.axes.axhline(0, color="black", linewidth=0.6, zorder=1)
    _dress_axes(upper.axes, len(models), "metric (%)")
    _dress_axes(lower.axes, len(models), "difference (points)")
    upper.axes.tick_params(labelbottom=False)
    if labels:
        lower.axes.set_xticks(x, labels, rotation=90)
    return lower.figure


def _take_metrics(summary: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Metrics of a dataset in percent, by model."""
    own = summary[summary["dataset"] == dataset].set_index("model")
    return 100 * own[list(METRICS)].astype("float64")


def _order_models(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Models with any metric on both datasets, the best on the first one first."""
    shared = first.index.intersection(second.index)
    values = first.loc[shared]
    has = (values.notna() & second.loc[shared].notna()).any(axis=1)
    values = values[has.to_numpy()]
    keys = [name for name in METRICS if values[name].notna().any()]
    order = values.rename_axis("model").reset_index()
    columns = [*keys, "model"]
    ascending = [*[False] * len(keys), True]
    return [str(name) for name in order.sort_values(columns, ascending=ascending)["model"]]


def _name_models(models: Sequence[str]) -> list[str]:
    """Labels of few models; none of many."""
    if len(models) > MAX_MODELS:
        return []
    names = shorten_names(models, width=NAME_WIDTH, size=TEXT_SIZE)
    return [names[model] for model in models]


def _make_keys(metrics: Sequence[str], first: str, second: str) -> list[Line2D]:
    keys = [
        Line2D([], [], color=METRICS[name][1].color, linewidth=1.2, label=METRICS[name][0])
        for name in metrics
    ]
    lines: tuple[tuple[str, Any], ...] = ((first, "-"), (second, DASHES))
    for label, line in lines:
        keys.append(Line2D([], [], color="black", linestyle=line, linewidth=1.0, label=label))
    return keys


def _place_panels(keys: Sequence[Line2D], labels: Sequence[str], note: str) -> tuple[Sheet, Sheet]:
    """Make the figure with its legend, and the upper and the lower panel."""
    legend = plan_legend([str(key.get_label()) for key in keys], sheet_width=PAGE_WIDTH)
    ticks = GAP + widest(labels, size=TEXT_SIZE) if labels else TICKS_HEIGHT
    sheet = make_sheet(
        width=PAGE_WIDTH,
        height=UPPER + GUTTER + LOWER,
        margins=Margins(LEFT, 2 * PADDING, head=HEADER_HEIGHT + legend.height, ticks=ticks),
        wording=Wording(HEADING, "models, the best on the first dataset first", (note,)),
    )
    sheet.axes.set(frame_on=False, xticks=[], yticks=[])
    draw_legend(sheet, legend, keys)
    panels = []
    for bottom, height in ((LOWER + GUTTER, UPPER), (0.0, LOWER)):
        axes = sheet.add_axes(left=0, bottom=bottom, width=sheet.width, height=height)
        box = (sheet.left, sheet.bottom + bottom, sheet.width, height)
        panels.append(Sheet(sheet.figure, axes, *box))
    return panels[0], panels[1]


def _dress_axes(axes: Axes, count: int, label: str) -> None:
    axes.set_xlim(0.5, count + 0.5)
    axes.set_ylabel(label)
    axes.grid(axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", MINUS))
