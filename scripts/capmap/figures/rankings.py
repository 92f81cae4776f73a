"""Models ranked: scores with their intervals, ranks by other aggregations, and improvability."""

from itertools import groupby

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.bump import NUMBERS_NOTE, Ticks, draw_bump
from capmap.figures.canvas import (
    Wording,
    choose_models,
    fit_labels,
)
from capmap.figures.curves import cast_models, gray_out
from capmap.figures.forest import draw_forest, rank_rows
from capmap.figures.names import shorten_names
from capmap.figures.style import TEXT_SIZE, figure_style
from capmap.ranking.table import choose, compare_ranks
from capmap.wording import AGGREGATION_NAMES, SHARED_LETTERS, spell_statistic

LETTERS_WIDTH = 0.6
UNIT_NOTES = {
    "runs": "Intervals: other runs on these datasets.",
    "seeds": "Intervals: other seeds on these datasets.",
    "runs_and_datasets": "Intervals: other datasets like these.",
}

NARROW_LABEL = 0.8
WIDE_LABEL = 2.2


@figure_style()
def draw_intervals(ranking: pd.DataFrame) -> Figure:
    """Draw each model's score with its interval, rank and tie groups.

    Parameters
    ----------
    ranking : DataFrame
        group, unit, statistic, model, score, ci_low, ci_high (normalized scores), rank, rank_low,
        rank_high, tie_group; of the headline, which comes first and alone is drawn. Ends of
        intervals and tie groups may be empty.

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
    own = choose(ranking)
    table, ranks, notes = rank_rows(own, "score")
    name = spell_statistic(own["statistic"].iloc[0]).removesuffix(" (IQM)").capitalize()
    spans = [_join_spans(ties) if isinstance(ties, str) else "" for ties in table["tie_group"]]
    short = shorten_names(spans, width=LETTERS_WIDTH, size=TEXT_SIZE)
    if table["rank_low"].notna().any():
        notes = (*notes[:-1], UNIT_NOTES[table["unit"].iloc[0]], notes[-1])
    if any(spans):
        notes += (SHARED_LETTERS,)
    return draw_forest(
        table,
        everyone=own["model"],
        columns={"rank": ranks, "ties": [short[span] for span in spans]},
        wording=Wording(f"{name} with interval", f"{name} of normalized scores", notes),
    )


def _join_spans(letters: str) -> str:
    """Write three or more consecutive letters as a span: ``abcdf`` becomes ``a\N{EN DASH}df``."""
    if not letters.isalpha():
        return letters
    runs = groupby(enumerate(letters), key=lambda item: ord(item[1]) - item[0])
    parts = ["".join(letter for _, letter in run) for _, run in runs]
    return "".join(f"{part[0]}\N{EN DASH}{part[-1]}" if len(part) > 2 else part for part in parts)


@figure_style()
def draw_rank_shift(ranking: pd.DataFrame) -> Figure:
    """Draw how ranks move between mean, trimmed mean, median and interquartile mean.

    Parameters
    ----------
    ranking : DataFrame
        group, unit, statistic, model, rank; the headline first.

    Returns
    -------
    matplotlib.figure.Figure
        A line per model through its rank by each aggregation, with its name at both ends.

    Notes
    -----
    The number on a line is the rank. Tied models have the same number and stand below each other,
    in the order in which they came, so that a tie crosses no lines. Of more than 40 models the best
    40 by IQM are drawn.
    """
    ranks = compare_ranks(ranking)
    by_iqm = list(ranks.reset_index().sort_values(["iqm", "model"])["model"])
    cast = cast_models(ranks.index, by_iqm)
    models, notes = choose_models(ranks.index, by_iqm)
    notes += cast.notes
    ranks = ranks.loc[models]
    names = [AGGREGATION_NAMES[str(name)].replace(" ", "\n") for name in ranks]
    known = [own[np.isfinite(own)] for own in ranks.to_numpy()]
    return draw_bump(
        ranks.to_numpy(),
        labels=fit_labels(models, narrow=NARROW_LABEL, wide=WIDE_LABEL),
        models=models,
        looks=[gray_out(cast, model) for model in models],
        groups=[""] * len(models),
        texts=["ranks " + ", ".join(f"{rank:.0f}" for rank in own) for own in known],
        label_columns=lambda _: Ticks(names, 0, 0.29),
        wording=Wording(
            heading="Rank by each aggregation",
            x_label="aggregation of normalized scores",
            notes=(*notes, NUMBERS_NOTE),
        ),
    )


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
    table, ranks, notes = rank_rows(improvability, "improvability")
    return draw_forest(
        table,
        everyone=improvability["model"],
        columns={"rank": ranks},
        wording=Wording("Improvability", f"mean over datasets of the {UNIT}", notes),
    )
