"""Elo ratings with their intervals, and how often each model beats each other."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording, choose_models, draw_note
from capmap.figures.forest import draw_forest
from capmap.figures.heatmap import DIVERGING, Scale, draw_grid, mark_diagonal
from capmap.figures.pairwise import HATCH_NOTE
from capmap.figures.side_columns import RANK_NOTE, write_ranks
from capmap.figures.style import figure_style
from capmap.wording import depends_on_ridge

SCALE_LABEL = "datasets on which the row beats the column (%)"
ODDS = "200 points more: 76% of battles won. Elo depends on which models are compared."
SEPARATED_NOTE = (
    "In {:.1%} of the resamples some models only won or only lost: ends of intervals there depend "
    "on the ridge of the fit."
)
# 10 battles won to one lost, in points.
REACH = 400.0
GROUPS_NOTE = "Groups that never met: ratings between them mean nothing."


@figure_style()
def draw_elo(elo: pd.DataFrame, *, order: Sequence[str] = (), confidence_level: float) -> Figure:
    """Draw each model's Elo rating with its interval and rank, the best model on top.

    Parameters
    ----------
    elo : DataFrame
        model, elo, ci_low, ci_high (points), rank, rank_low, rank_high; rows in any order. Ends of
        intervals may be empty. separated (share of resamples, 0 to 1, in which some models only
        won or only lost; the same in all rows) and component (number of a group of models that met
        each other).
    order : sequence of str
        All models of the study, for their colors; empty: those of the table.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    A model without an interval has an open marker, and a note says so. Of more than 40 models the
    best 40 are drawn. Of several groups of models that never met, each model's is stated, with a
    note; so are separated resamples where they reach the ends of an interval.
    """
    table = elo.sort_values(["rank", "model"]).set_index("model")
    drawn, notes = choose_models(table.index, list(table.index))
    table = table.loc[drawn].rename(columns={"elo": "estimate", "ci_low": "low", "ci_high": "high"})
    if table["rank_low"].notna().any():
        notes += (RANK_NOTE,)
    separated = float(elo["separated"].iloc[0])
    if depends_on_ridge(separated, confidence_level=confidence_level):
        notes += (SEPARATED_NOTE.format(separated),)
    groups = [""] * len(table)
    if elo["component"].max() > 1:
        groups = [f"{component:.0f}" for component in table["component"]]
        notes += (GROUPS_NOTE,)
    ratings = [f"{rating:.0f}" if rating == rating else "" for rating in table["estimate"]]
    return draw_forest(
        table,
        everyone=[*elo["model"], *order],
        columns={"Elo": ratings, "rank": write_ranks(table), "group": groups},
        wording=Wording("Elo rating with interval", "Elo rating (points)", (ODDS, *notes)),
        reach=max(REACH, float(elo["elo"].max() - elo["elo"].min())),
    )


@figure_style()
def draw_winrate(winrate: pd.DataFrame) -> Figure:
    """Draw the share of datasets on which one model beats another, as a matrix.

    Parameters
    ----------
    winrate : DataFrame
        model, opponent, win_rate (0 to 1; may be empty) for ordered pairs; rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map with the model of the highest average win rate on top and at the left. A column
        wide (3.4 in), or a page (7 in) where names or cells need it.

    Notes
    -----
    The middle of the colors is 50%. The diagonal is gray, and pairs without a common dataset are
    hatched. Of more than 40 models the best 40 are drawn. Without a pair a note says so.
    """
    if winrate.empty:
        return draw_note("One model: there is no opponent to win against.", heading="Win rate")
    by_pair = winrate.set_index(["model", "opponent"])["win_rate"].astype(float).sort_index()
    rates = 100 * by_pair.unstack()  # noqa: PD010
    average = rates.mean(axis=1).rename("average").reset_index()
    order = list(average.sort_values(["average", "model"], ascending=[False, True])["model"])
    models, notes = choose_models(order, order)
    table = rates.reindex(index=models, columns=models)
    pairs = len(models) * (len(models) - 1)
    if table.count().sum() < pairs:
        notes += (HATCH_NOTE,)
    return draw_grid(
        table,
        scale=Scale(SCALE_LABEL, 0.0, 100.0, (lambda rate: f"{rate:.0f}",), DIVERGING),
        wording=Wording("Win rate", "", ("A tie counts half.", *notes)),
        marks=(mark_diagonal(table),),
    ).figure
