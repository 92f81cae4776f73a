"""How many runs each cell of models and datasets rests on."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording, choose_datasets, choose_models
from capmap.figures.heatmap import Scale, draw_heatmap
from capmap.figures.style import figure_style


@figure_style()
def draw_runs_per_cell(seeds: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the number of runs per model and dataset as a heat map.

    Parameters
    ----------
    seeds : DataFrame
        model, dataset, n (runs); rows in any order, empty cells absent or 0.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names or datasets need it. Cells without
        runs are hatched. At most the first 40 models and 60 datasets.
    """
    models, model_note = choose_models(seeds["model"], order)
    datasets, dataset_note = choose_datasets(seeds["dataset"])
    counts = seeds.pivot(index="model", columns="dataset", values="n").astype(float)  # noqa: PD010
    counts = counts.where(counts > 0).loc[models, datasets]
    notes = model_note + dataset_note
    if counts.isna().to_numpy().any():
        notes += ("Hatched: no run.",)
    scale = Scale(
        label="runs per cell",
        low=0,
        high=max(1.0, float(np.nanmax(counts.to_numpy(), initial=0))),
        formats=(lambda count: f"{count:.0f}",),
        colors=LinearSegmentedColormap.from_list("runs", ("#EDF3F9", "#3B82BD")),
        integer=True,
    )
    wording = Wording("Runs per model and dataset", "dataset", notes)
    return draw_heatmap(counts, scale=scale, wording=wording)
