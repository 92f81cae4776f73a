"""How the order of the models changes under another condition."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.bump import NUMBERS_NOTE, Ticks, draw_bump
from capmap.figures.canvas import (
    MAX_MODELS,
    TICKS_HEIGHT,
    NothingToDraw,
    Wording,
    choose_models,
    fit_labels,
)
from capmap.figures.style import figure_style, model_styles
from capmap.wording import count_things

HEADING = "Ranks under another condition"
MAX_CONDITIONS = 4
NARROW_LABEL = 0.9
WIDE_LABEL = 2.4
NO_CONDITION = "No other condition was given."
NO_MODEL = "No model is in common with another condition."


@figure_style()
def draw_conditions(
    conditions: pd.DataFrame, condition_ranks: pd.DataFrame, *, order: Sequence[str] = ()
) -> Figure:
    """Draw, per other condition, a line per model from its rank here to its rank there.

    Parameters
    ----------
    conditions : DataFrame
        condition, statistic, estimate, ci_low, ci_high, models, datasets; Kendall's tau is told
        from the rows ``kendall_tau``. Estimates and intervals may be empty.
    condition_ranks : DataFrame
        condition, model, rank, rank_other; rows in any order.
    order : sequence of str
        All models of the study, for their colors; empty: those of the table.

    Returns
    -------
    matplotlib.figure.Figure
        Condition below condition. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    Notes name the conditions from the top, with how alike the rankings are. At most the first four
    conditions by name are drawn, and the best models of each, 40 rows in all. A model has its color
    of all figures.
    """
    taus = conditions[conditions["statistic"] == "kendall_tau"].sort_values("condition")
    if taus.empty:
        raise NothingToDraw(NO_CONDITION)
    notes = [_describe(row) for row in taus[:MAX_CONDITIONS].itertuples()]
    if len(taus) > MAX_CONDITIONS:
        notes.append(f"First {MAX_CONDITIONS} of {len(taus)} conditions by name.")
    drawn = []
    limit = MAX_MODELS // min(len(taus), MAX_CONDITIONS)
    for condition in taus["condition"][:MAX_CONDITIONS]:
        own = condition_ranks[condition_ranks["condition"] == condition]
        own = own.sort_values(["rank", "model"])
        models, _ = choose_models(own["model"], list(own["model"]))
        drawn.append(own[own["model"].isin(models[:limit])])
        if len(own) > limit:
            notes.append(f"Top {limit} of {len(own)} models.")
    rows = pd.concat(drawn)
    if rows.empty:
        raise NothingToDraw(NO_MODEL)
    ranks = rows[["rank", "rank_other"]].to_numpy(float)
    styles = model_styles([*condition_ranks["model"], *order])
    return draw_bump(
        ranks,
        models=list(rows["model"]),
        looks=[styles[model] for model in rows["model"]],
        labels=fit_labels(list(rows["model"]), narrow=NARROW_LABEL, wide=WIDE_LABEL),
        groups=list(rows["condition"]),
        texts=[f"rank {here:.0f}, then {there:.0f}" for here, there in ranks],
        label_columns=lambda _: Ticks(["here", "there"], 0, TICKS_HEIGHT),
        wording=Wording(HEADING, "condition", (*dict.fromkeys(notes), NUMBERS_NOTE)),
    )


def _describe(row: Any) -> str:
    """Name a condition, how alike the rankings are, and what they have in common."""
    shared = f"{count_things(int(row.models), 'model')}, "
    shared += f"{count_things(int(row.datasets), 'dataset')} in common"
    if np.isnan(row.estimate):
        return f"{row.condition}: too little in common for Kendall's tau ({shared})."
    known = not np.isnan([row.ci_low, row.ci_high]).any()
    ends = f" ({row.ci_low:z.2f} to {row.ci_high:z.2f})" if known else ""
    tau = f"Kendall's tau {row.estimate:z.2f}{ends}".replace("-", "\N{MINUS SIGN}")
    return f"{row.condition}: {tau}, {shared}."
