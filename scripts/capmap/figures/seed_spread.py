"""How much scores vary over seeds, dataset by dataset."""

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    MAX_DATASETS,
    PADDING,
    ROW_HEIGHT,
    Labels,
    Margins,
    Sheet,
    Wording,
    fit_labels,
    make_sheet,
)
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.names import shorten_names, widest
from capmap.figures.style import (
    COLUMN_WIDTH,
    FAINT_INK,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    figure_style,
    model_colors,
)

NARROW_LABEL = 1.3
WIDE_LABEL = 2.1
MODEL_LABEL = 2.1
MAX_KEYED_MODELS = len(PALETTE)
MAX_POINTS = 400
HEADING = "Spread over seeds per dataset"
UNIT = "standard deviation over seeds (normalized score)"
NO_SPREAD = "One run per cell: no spread over seeds to show."
BOX_NOTE = "Box: median and quartiles of the models. Whiskers: least and most noisy model."


@figure_style()
def draw_seed_spread(seeds: pd.DataFrame) -> Figure:
    """Draw the standard deviations over seeds of all models, per dataset.

    Parameters
    ----------
    seeds : DataFrame
        model, dataset, normalized_std (NaN for a cell with one run); rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A row per dataset, the noisiest (by its median model) on top, with a point per model. A
        column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    Up to 8 models have their colors and a legend. Of more models, the noisiest of each dataset is
    named at the right, and boxes show median and quartiles, whiskers the extremes; beyond 400
    points the boxes stand alone. At most the 60 noisiest datasets are drawn. A study with one run
    per cell gets a figure that says so.
    """
    colors = model_colors(seeds["model"])
    datasets, notes = _choose_noisiest(seeds)
    points = _place_points(seeds, datasets)
    if points.empty:
        return _draw_nothing()
    if len(colors) <= MAX_KEYED_MODELS:
        return _draw_keyed(points, datasets, notes, colors)
    return _draw_boxed(points, datasets, notes, colors)


def _choose_noisiest(seeds: pd.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """Order datasets from the noisiest, those without any spread last, and keep 60."""
    middle = seeds.groupby("dataset")["normalized_std"].median()
    order = list(middle.sort_values(ascending=False, kind="stable").index)
    if len(order) <= MAX_DATASETS:
        return order, ()
    return order[:MAX_DATASETS], (f"The {MAX_DATASETS} noisiest of {len(order)} datasets.",)


def _place_points(seeds: pd.DataFrame, datasets: list[str]) -> pd.DataFrame:
    """Each cell with a spread: model, x (its standard deviation) and y (its dataset's row)."""
    rows = seeds["dataset"].map({dataset: row for row, dataset in enumerate(datasets)})
    points = pd.DataFrame({"model": seeds["model"], "x": seeds["normalized_std"], "y": rows})
    return points.dropna().sort_values(["y", "model"], ignore_index=True)


def _draw_nothing() -> Figure:
    margins = Margins(left=PADDING, right=PADDING, head=0.0, ticks=0.0)
    wording = Wording(HEADING, "")
    sheet = make_sheet(width=COLUMN_WIDTH, height=3 * ROW_HEIGHT, margins=margins, wording=wording)
    sheet.axes.set_axis_off()
    sheet.write(NO_SPREAD, x=0, y=ROW_HEIGHT)
    return sheet.figure


def _draw_keyed(
    points: pd.DataFrame, datasets: list[str], notes: tuple[str, ...], colors: dict[str, str]
) -> Figure:
    labels = fit_labels(datasets, narrow=NARROW_LABEL, wide=WIDE_LABEL)
    legend = plan_legend(list(colors), sheet_width=labels.sheet_width)
    sheet = _make_sheet(points, labels, notes, head=legend.height, right=2 * PADDING)
    _draw_points(sheet, points, hue="model", palette=colors)
    keys = [
        Line2D([], [], linestyle="none", marker="o", markersize=4, color=color)
        for color in colors.values()
    ]
    draw_legend(sheet, legend, keys)
    return sheet.figure


def _draw_boxed(
    points: pd.DataFrame, datasets: list[str], notes: tuple[str, ...], colors: dict[str, str]
) -> Figure:
    labels = fit_labels(datasets, narrow=0.0, wide=WIDE_LABEL)
    noisiest = points.loc[points.groupby("y")["x"].idxmax()]
    names = shorten_names(noisiest["model"], width=MODEL_LABEL, size=TEXT_SIZE)
    room = widest([*names.values(), "noisiest model"], size=TEXT_SIZE)
    sheet = _make_sheet(points, labels, (*notes, BOX_NOTE), right=room + 2 * GAP)
    sns.boxplot(
        points,
        x="x",
        y="y",
        ax=sheet.axes,
        orientation="horizontal",
        vert=None,  # seaborn's own, which Matplotlib has deprecated
        orient="y",
        native_scale=True,
        whis=(0, 100),
        width=0.6,
        showcaps=False,
        showfliers=False,
        color="#DDDDDD",
        linecolor="#8C8C8C",
        linewidth=0.5,
        medianprops={"color": "black", "linewidth": 1.2},
    )
    if len(points) <= MAX_POINTS:
        _draw_points(sheet, points, color=FAINT_INK, size=1.6)
    _draw_points(sheet, noisiest, hue="model", palette=colors)
    header = sheet.height + 0.02
    sheet.write("noisiest model", x=sheet.width + GAP, y=header, color=FAINT_INK, va="bottom")
    for row, model in enumerate(noisiest["model"]):
        y = sheet.height - (row + 0.5) * ROW_HEIGHT
        sheet.write(names[model], x=sheet.width + GAP, y=y, va="center_baseline")
    return sheet.figure


def _make_sheet(
    points: pd.DataFrame,
    labels: Labels,
    notes: tuple[str, ...],
    *,
    right: float,
    head: float = 0.0,
) -> Sheet:
    margins = Margins(
        left=PADDING + max(labels.width, 0.45) + GAP, right=right, head=HEADER_HEIGHT + head
    )
    sheet = make_sheet(
        width=labels.sheet_width,
        height=len(labels.texts) * ROW_HEIGHT,
        margins=margins,
        wording=Wording(HEADING, UNIT, notes),
    )
    sheet.axes.grid()
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="dataset")
    sheet.axes.set_xlim(0, 1.04 * points["x"].max() or 1.0)
    for row in range(points["y"].nunique(), len(labels.texts)):
        sheet.axes.text(
            0, row, " one run per cell", size=SMALL_SIZE, color=FAINT_INK, va="center_baseline"
        )
    return sheet


def _draw_points(sheet: Sheet, points: pd.DataFrame, *, size: float = 3.5, **look: Any) -> None:
    sns.scatterplot(
        points,
        x="x",
        y="y",
        ax=sheet.axes,
        s=size**2,
        linewidth=0,
        alpha=0.85,
        legend=False,
        clip_on=False,
        zorder=3,
        **look,
    )
