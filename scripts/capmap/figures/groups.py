"""Scores and ranks of models within groups of datasets."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import MAX_MODELS, Wording, choose_models
from capmap.figures.heatmap import RISING, Mark, Scale, Writing, draw_grid, pivot_cells
from capmap.figures.side_columns import format_decimal
from capmap.figures.style import figure_style
from capmap.wording import find_statistic, label_scores

HEADING = "Groups of datasets"
MARK_NOTE = "Corner: best of the group."
PLACE_NOTE = "In brackets: rank within the group."


@figure_style()
def draw_groups(groups: pd.DataFrame) -> Figure:
    """Draw the interquartile mean and the rank of each model in each group of datasets.

    Parameters
    ----------
    groups : DataFrame
        group, model, iqm or another statistic (normalized score), rank; rows in any order; a model
        that a group leaves out has no row there.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models, the best by mean rank over its groups first, and the first
        40 groups by name. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    The best of each group has a corner; a model that a group leaves out is hatched.
    """
    means = groups.groupby("model")["rank"].mean().reset_index()
    models, notes = choose_models(
        groups["model"], list(means.sort_values(["rank", "model"])["model"])
    )
    names = sorted(set(groups["group"]))
    if len(names) > MAX_MODELS:
        notes = (*notes, f"First {MAX_MODELS} of {len(names)} groups by name.")
        names = names[:MAX_MODELS]
    statistic = find_statistic(groups.columns)
    cells = groups.set_index(["model", "group"])[[statistic, "rank"]].astype(float)
    scores, ranks = (pivot_cells(cells[name], models, names) for name in (statistic, "rank"))
    notes = (*notes, MARK_NOTE)
    if scores.isna().to_numpy().any():
        notes = (*notes, "Hatched: left out of the group.")
    return draw_grid(
        scores,
        scale=Scale(label_scores(statistic), *_span_colors(scores), (), RISING),
        wording=Wording(HEADING, "", notes),
        writings=_write_cells(scores, ranks),
        marks=(Mark(ranks == 1),),
    ).figure


def _span_colors(scores: pd.DataFrame) -> tuple[float, float]:
    """Ends of the color scale, apart even when all scores are equal or missing."""
    low, high = np.nanmin(scores.to_numpy(), initial=np.inf), np.nanmax(scores, initial=-np.inf)
    if not np.isfinite([low, high]).all():
        return 0.0, 1.0
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(high) + 0.5)


def _write_cells(scores: pd.DataFrame, ranks: pd.DataFrame) -> list[Writing]:
    """Ways to write scores with ranks, the fullest first."""
    places = ranks.map(lambda rank: "" if rank != rank else f"({rank:.0f})")
    ways = []
    for space, decimals in ((" ", 3), (" ", 2), ("\n", 2)):
        texts = scores.map(lambda score, decimals=decimals: format_decimal(score, decimals))
        ways.append(Writing((texts + space + places).map(str.strip), PLACE_NOTE))
    return [*ways, Writing(scores.map(format_decimal))]
