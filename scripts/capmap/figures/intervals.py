"""Interquartile means with their intervals, the best model on top."""

from itertools import groupby

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording, choose_models
from capmap.figures.forest import draw_forest
from capmap.figures.names import shorten_names
from capmap.figures.side_columns import RANK_NOTE, write_ranks
from capmap.figures.style import TEXT_SIZE, figure_style

LETTERS_WIDTH = 0.6
TIES_NOTE = "Models that share a letter cannot be separated."


@figure_style()
def draw_intervals(iqm: pd.DataFrame) -> Figure:
    """Draw each model's interquartile mean with its interval, rank and tie groups.

    Parameters
    ----------
    iqm : DataFrame
        model, iqm, ci_low, ci_high (normalized scores), rank, rank_low, rank_high, ties; rows in
        any order. Ends of intervals and ties may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    A model without an interval has an open marker, and a note says so. At the right stand the
    rank with its interval and the letters of the model's tie groups. Of more than 40 models the
    best 40 are drawn.
    """
    table = iqm.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(table.index, list(table.index))
    table = table.loc[models].rename(
        columns={"iqm": "estimate", "ci_low": "low", "ci_high": "high"}
    )
    spans = [_join_spans(ties) if isinstance(ties, str) else "" for ties in table["ties"]]
    short = shorten_names(spans, width=LETTERS_WIDTH, size=TEXT_SIZE)
    if table["rank_low"].notna().any():
        notes += (RANK_NOTE,)
    if any(spans):
        notes += (TIES_NOTE,)
    return draw_forest(
        table,
        everyone=iqm["model"],
        columns={"rank": write_ranks(table), "ties": [short[span] for span in spans]},
        wording=Wording(
            "Interquartile mean with interval", "Interquartile mean of normalized scores", notes
        ),
    )


def _join_spans(letters: str) -> str:
    """Write three or more consecutive letters as a span: ``abcdf`` becomes ``a\N{EN DASH}df``."""
    if not letters.isalpha():
        return letters
    runs = groupby(enumerate(letters), key=lambda item: ord(item[1]) - item[0])
    parts = ["".join(letter for _, letter in run) for _, run in runs]
    return "".join(f"{part[0]}\N{EN DASH}{part[-1]}" if len(part) > 2 else part for part in parts)
