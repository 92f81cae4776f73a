"""Normalized scores per model and dataset: grouped bars of small studies, a heat map of others."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    Margins,
    Sheet,
    Wording,
    choose_datasets,
    choose_models,
    fit_labels,
    make_sheet,
)
from capmap.figures.heatmap import Scale, draw_heatmap
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.style import PALETTE, figure_style, model_colors

MAX_BARRED_MODELS = len(PALETTE)
MAX_BARS = 72
BAR_HEIGHT = 0.06
GROUP_GAP = 0.1
NARROW_LABEL = 1.1
WIDE_LABEL = 2.2
HEADING = "Scores per dataset"
UNIT = "normalized score (0 = low bound, 1 = high bound)"


@figure_style()
def draw_scores(scores: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the mean normalized score of each model on each dataset.

    Parameters
    ----------
    scores : DataFrame
        model, then one column per dataset; rows and columns in any order; NaN where a model has
        no run.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        Grouped bars up to 8 models and 72 bars, beyond that a heat map of at most the first 40
        models and 60 datasets. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    A missing score is a cross in place of a bar, or a hatched cell. The colors of the heat map
    span the middle 96% of the scores, so an outlier does not hide the rest.
    """
    table = scores.set_axis(scores.iloc[:, 0]).iloc[:, 1:].astype(float)
    datasets, dataset_note = choose_datasets(table.columns)
    models, model_note = choose_models(table.index, order)
    colors = model_colors(table.index)
    table = table.loc[models, datasets]
    notes = model_note + dataset_note
    if len(models) <= MAX_BARRED_MODELS and table.size <= MAX_BARS:
        return _draw_bars(table, notes, colors)
    if table.isna().to_numpy().any():
        notes += ("Hatched: no score.",)
    low, high = _span_colors(table.to_numpy())
    scale = Scale(UNIT, low, high, (lambda score: f"{score:.2f}", _write_short), "cividis")
    wording = Wording(HEADING, "dataset", notes)
    return draw_heatmap(table, scale=scale, wording=wording)


def _span_colors(values: np.ndarray) -> tuple[float, float]:
    """Ends of the color scale, apart even when all scores are equal or missing."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = (float(end) for end in np.quantile(finite, (0.02, 0.98)))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _write_short(score: float) -> str:
    """Two decimals without the zero in front: ``.53``."""
    return f"{score:.2f}".replace("0.", ".", 1) if abs(score) < 1 else f"{score:.2f}"


def _draw_bars(table: pd.DataFrame, notes: tuple[str, ...], colors: dict[str, str]) -> Figure:
    models, datasets = list(table.index), list(table.columns)
    labels = fit_labels(datasets, narrow=NARROW_LABEL, wide=WIDE_LABEL)
    if table.isna().to_numpy().any():
        notes += ("\N{MULTIPLICATION SIGN}: no score.",)
    group = len(models) * BAR_HEIGHT + GROUP_GAP
    legend = plan_legend(models, sheet_width=labels.sheet_width)
    sheet = make_sheet(
        width=labels.sheet_width,
        height=len(datasets) * group,
        margins=Margins(
            left=PADDING + max(labels.width, 0.45) + GAP,
            right=2 * PADDING + 0.06,
            head=HEADER_HEIGHT + legend.height,
        ),
        wording=Wording(HEADING, UNIT, notes),
    )
    bar = BAR_HEIGHT / group
    for position, model in enumerate(models):
        middle = np.arange(len(datasets)) + (position - (len(models) - 1) / 2) * bar
        _draw_model(sheet, middle, table.loc[model].to_numpy(), bar, colors[model])
    sheet.axes.axvline(0, color="black", linewidth=0.6)
    sheet.axes.grid(axis="x")
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="dataset")
    draw_legend(sheet, legend, [Patch(color=colors[model]) for model in models])
    return sheet.figure


def _draw_model(
    sheet: Sheet, middle: np.ndarray, values: np.ndarray, bar: float, color: str
) -> None:
    """Draw the bars of a model; a score of 0 stays visible by the bar's edge."""
    missing = np.isnan(values)
    sheet.axes.barh(
        middle[~missing], values[~missing], bar, color=color, edgecolor=color, linewidth=0.3
    )
    sheet.axes.plot(
        np.zeros(missing.sum()),
        middle[missing],
        linestyle="none",
        marker="x",
        markersize=3.5,
        markeredgewidth=0.9,
        color=color,
        clip_on=False,
    )
