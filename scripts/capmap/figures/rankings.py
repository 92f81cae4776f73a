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
def draw_intervals(scopes: pd.DataFrame) -> Figure:
    """Draw each model's score with its interval, rank and tie groups.

    Parameters
    ----------
    scopes : DataFrame
        unit, statistic, model, score, ci_low, ci_high (normalized scores), rank, rank_low,
        rank_high, tie_group; rows in any order. Ends of intervals and tie groups may be empty.
        Where there are other rows, those over datasets are not drawn.

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
    here = scopes[scopes["unit"] != "runs_and_datasets"]
    ranking = scopes if here.empty else here
    table, ranks, notes = rank_rows(ranking, "score")
    name = spell_statistic(ranking["statistic"].iloc[0]).removesuffix(" (IQM)").capitalize()
    spans = [_join_spans(ties) if isinstance(ties, str) else "" for ties in table["tie_group"]]
    short = shorten_names(spans, width=LETTERS_WIDTH, size=TEXT_SIZE)
    if table["rank_low"].notna().any():
        notes = (*notes[:-1], UNIT_NOTES[table["unit"].iloc[0]], notes[-1])
    if any(spans):
        notes += (SHARED_LETTERS,)
    return draw_forest(
        table,
        everyone=ranking["model"],
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
def draw_rank_shift(aggregate: pd.DataFrame, iqm: pd.DataFrame) -> Figure:
    """Draw how ranks move between mean, trimmed mean, median and interquartile mean.

    Parameters
    ----------
    aggregate : DataFrame
        model and any of rank_mean, rank_trimmed_mean, rank_median; rows in any order.
    iqm : DataFrame
        model and rank.

    Returns
    -------
    matplotlib.figure.Figure
        A line per model through its rank by each aggregation, with its name at both ends.

    Notes
    -----
    The number on a line is the rank. Tied models have the same number and stand below each other,
    in the order in which they came, so that a tie crosses no lines. A model that an aggregation
    leaves out has no mark there. Of more than 40 models the best 40 by IQM are drawn.
    """
    ranks = _collect_ranks(aggregate, iqm)
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


def _collect_ranks(aggregate: pd.DataFrame, iqm: pd.DataFrame) -> pd.DataFrame:
    """Ranks by model (rows) and aggregation (columns), NaN where an aggregation has none."""
    by_model = aggregate.set_index("model")
    ranks = {
        name: by_model[f"rank_{name}"] for name in AGGREGATION_NAMES if f"rank_{name}" in by_model
    }
    ranks["iqm"] = iqm.set_index("model")["rank"]
    ranked = pd.DataFrame(ranks).dropna(subset="iqm")
    return ranked.sort_index().rename_axis("model").astype(float)


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
