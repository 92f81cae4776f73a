"""How much of each model's error the best model saves."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording, choose_datasets, choose_models
from capmap.figures.forest import draw_forest
from capmap.figures.heatmap import RISING, Scale, draw_heatmap, pivot_cells
from capmap.figures.side_columns import RANK_NOTE, write_ranks
from capmap.figures.style import figure_style

UNIT = "error that the best model would save (%, lower is better)"


@figure_style()
def draw_improvability(improvability: pd.DataFrame) -> Figure:
    """Draw each model's improvability with its interval and rank.

    Parameters
    ----------
    improvability : DataFrame
        model, improvability, ci_low, ci_high (percent), rank, rank_low, rank_high; rows in any
        order; ends of intervals may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A row per model, the lowest improvability on top, at most 40. A column wide (3.4 in), or a
        page (7 in) where names need it.
    """
    table = improvability.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(table.index, list(table.index))
    table = table.loc[models]
    if table[["rank_low", "rank_high"]].notna().to_numpy().any():
        notes = (*notes, RANK_NOTE)
    named = {"improvability": "estimate", "ci_low": "low", "ci_high": "high"}
    return draw_forest(
        table.rename(columns=named),
        everyone=improvability["model"],
        columns={"rank": write_ranks(table)},
        wording=Wording("Improvability", f"mean over datasets of the {UNIT}", notes),
    )


@figure_style()
def draw_improvability_datasets(
    improvability_datasets: pd.DataFrame, *, order: Sequence[str] = ()
) -> Figure:
    """Draw the improvability of each model on each dataset as a heat map.

    Parameters
    ----------
    improvability_datasets : DataFrame
        model, dataset, improvability (percent); rows in any order, empty cells absent.
    order : sequence of str
        Models from the lowest improvability to the highest; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        At most 40 models and 60 datasets; a cell without a run is hatched.
    """
    models, model_note = choose_models(improvability_datasets["model"], order)
    datasets, dataset_note = choose_datasets(improvability_datasets["dataset"])
    cells = improvability_datasets.set_index(["model", "dataset"])["improvability"]
    table = pivot_cells(cells, models, datasets)
    notes = (*model_note, *dataset_note)
    if table.isna().to_numpy().any():
        notes = (*notes, "Hatched: no score.")
    scale = Scale(UNIT, 0.0, 100.0, (lambda percent: f"{percent:.0f}",), RISING.reversed())
    wording = Wording("Improvability per dataset", "", notes)
    return draw_heatmap(table, scale=scale, wording=wording)
