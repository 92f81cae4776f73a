"""How much scores vary over seeds, dataset by dataset."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    MAX_DATASETS,
    MAX_MODELS,
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
    ModelStyle,
    figure_style,
    model_styles,
)

NARROW_LABEL = 1.3
WIDE_LABEL = 2.1
MODEL_LABEL = 2.1
MAX_KEYED_MODELS = len(PALETTE)
HEADING = "Spread over seeds per dataset"
UNIT = "standard deviation over seeds (normalized score)"
NO_SPREAD = "One run per cell: no spread over seeds to show."


@figure_style()
def draw_seed_spread(seeds: pd.DataFrame, *, title: str = "") -> Figure:
    """Draw the standard deviations over seeds of all models, per dataset.

    Parameters
    ----------
    seeds : DataFrame
        model, dataset, normalized_std (NaN for a cell with one run); rows in any order.
    title : str
        The study's title.

    Returns
    -------
    matplotlib.figure.Figure
        A row per dataset, the noisiest (by its median model) on top, with a point per model. A
        column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    Up to 8 models have their colors and a legend. Of more models, the noisiest of each dataset is
    named at the right, and boxes show median and quartiles, whiskers the extremes; beyond 40 models
    the boxes stand alone. At most the 60 noisiest datasets are drawn. A study with one run per
    cell gets a figure that says so.
    """
    styles = model_styles(seeds["model"])
    spread = seeds.pivot(index="dataset", columns="model", values="normalized_std")  # noqa: PD010
    spread, notes = _choose_noisiest(spread.astype(float))
    if not np.isfinite(spread.to_numpy()).any():
        return _draw_nothing(title)
    if len(styles) <= MAX_KEYED_MODELS:
        return _draw_keyed(spread, title, notes, styles)
    return _draw_boxed(spread, title, notes, styles)


def _choose_noisiest(spread: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Order datasets from the noisiest, those without any spread last, and keep 60."""
    middle = spread.median(axis=1)
    order = sorted(spread.index, key=lambda name: (-middle.fillna(-1.0)[name], name))
    if len(order) <= MAX_DATASETS:
        return spread.loc[order], ()
    note = f"The {MAX_DATASETS} noisiest of {len(order)} datasets."
    return spread.loc[order[:MAX_DATASETS]], (note,)


def _draw_nothing(title: str) -> Figure:
    margins = Margins(left=PADDING, right=PADDING, head=0.0, ticks=0.0)
    wording = Wording(HEADING, title, "")
    sheet = make_sheet(width=COLUMN_WIDTH, height=3 * ROW_HEIGHT, margins=margins, wording=wording)
    sheet.axes.set_axis_off()
    sheet.write(NO_SPREAD, x=0, y=ROW_HEIGHT)
    return sheet.figure


def _draw_keyed(
    spread: pd.DataFrame, title: str, notes: tuple[str, ...], styles: dict[str, ModelStyle]
) -> Figure:
    labels = fit_labels(list(spread.index), narrow=NARROW_LABEL, wide=WIDE_LABEL)
    legend = plan_legend(sorted(styles), sheet_width=labels.sheet_width)
    sheet = _make_sheet(spread, labels, title, notes, head=legend.height, right=2 * PADDING)
    for model, look in styles.items():
        _draw_points(sheet, spread[model].to_numpy(), look.color, look.marker)
    keys = [
        Line2D([], [], linestyle="none", color=look.color, marker=look.marker, markersize=4)
        for look in styles.values()
    ]
    draw_legend(sheet, legend, keys)
    return sheet.figure


def _draw_boxed(
    spread: pd.DataFrame, title: str, notes: tuple[str, ...], styles: dict[str, ModelStyle]
) -> Figure:
    labels = fit_labels(list(spread.index), narrow=0.0, wide=WIDE_LABEL)
    noisiest = spread.dropna(how="all").idxmax(axis=1).astype(str)
    names = shorten_names(list(noisiest), width=MODEL_LABEL, size=TEXT_SIZE)
    room = widest([*names.values(), "noisiest model"], size=TEXT_SIZE)
    notes += ("Box: median and quartiles of the models. Whiskers: least and most noisy model.",)
    sheet = _make_sheet(spread, labels, title, notes, right=room + 2 * GAP)
    rows = [row.dropna().to_numpy() for _, row in spread.iterrows()]
    sheet.axes.boxplot(
        rows,
        positions=range(len(rows)),
        orientation="horizontal",
        whis=(0, 100),
        widths=0.6,
        showcaps=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": "#DDDDDD", "edgecolor": "#8C8C8C", "linewidth": 0.5},
        whiskerprops={"color": "#8C8C8C", "linewidth": 0.5},
        medianprops={"color": "black", "linewidth": 1.2},
    )
    if len(styles) <= MAX_MODELS:
        for model in styles:
            _draw_points(sheet, spread[model].to_numpy(), FAINT_INK, "o", size=1.6)
    header = sheet.height + 0.02
    sheet.write("noisiest model", x=sheet.width + GAP, y=header, color=FAINT_INK, va="bottom")
    for row, dataset in enumerate(spread.index):
        if dataset in noisiest:
            model = noisiest[dataset]
            look = styles[model]
            _draw_points(sheet, [spread.loc[dataset, model]], look.color, look.marker, rows=[row])
            y = sheet.height - (row + 0.5) * ROW_HEIGHT
            sheet.write(names[model], x=sheet.width + GAP, y=y, va="center_baseline")
    return sheet.figure


def _make_sheet(
    spread: pd.DataFrame,
    labels: Labels,
    title: str,
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
        height=len(spread) * ROW_HEIGHT,
        margins=margins,
        wording=Wording(HEADING, title, UNIT, notes),
    )
    sheet.axes.grid()
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="dataset")
    sheet.axes.set_xlim(0, 1.04 * float(np.nanmax(spread.to_numpy())) or 1.0)
    for row in np.flatnonzero(spread.isna().to_numpy().all(axis=1)):
        sheet.axes.text(
            0,
            float(row),
            " one run per cell",
            size=SMALL_SIZE,
            color=FAINT_INK,
            va="center_baseline",
        )
    return sheet


def _draw_points(
    sheet: Sheet,
    values: npt.ArrayLike,
    color: str,
    marker: str,
    *,
    rows: Sequence[int] | None = None,
    size: float = 3.5,
) -> None:
    sheet.axes.plot(
        values,
        np.arange(np.size(values)) if rows is None else rows,
        linestyle="none",
        marker=marker,
        markersize=size,
        color=color,
        markeredgewidth=0,
        alpha=0.85,
        clip_on=False,
        zorder=3,
    )
