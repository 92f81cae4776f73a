"""Pairs of models: differences, the signed-rank test, and ratings of who beats whom.

A table lists each pair once; a figure shows it from both sides, or all models against a reference.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    NothingToDraw,
    Wording,
    choose_models,
    format_decimal,
    format_p,
)
from capmap.figures.forest import draw_forest, rank_rows
from capmap.figures.heatmap import (
    DIVERGING,
    RISING,
    Mark,
    Scale,
    Writing,
    draw_grid,
    mark_diagonal,
    span_evenly,
)
from capmap.figures.style import figure_style
from capmap.wording import depends_on_ridge

# What a quantity of the pair (a, b) is for the pair (b, a).
SWAPPED = {
    "model_a": "model_b",
    "ci_low": "ci_high",
    "wins": "losses",
    "p_a_better": "p_b_better",
}
NEGATED = ("mean_difference", "ci_low", "ci_high", "effect_size")
DECISIONS = {"a better": "b better", "b better": "a better"}
NO_PAIR = "One model: there is no pair to compare."
NO_SHARED = "no dataset in common"
HATCH_NOTE = f"Hatched: {NO_SHARED}."

DIFFERENCE_HEADING = "Pairwise comparison"
DIFFERENCE_UNIT = "mean difference in normalized score (row \N{MINUS SIGN} column)"
REFERENCE_UNIT = "mean difference in normalized score (model \N{MINUS SIGN} reference)"
COUNTS_NOTE = "Second line of a cell: datasets won/tied/lost by the row."
COLUMN_NOTES = (
    "w/t/l: datasets won/tied/lost against the reference. p: Wilcoxon signed-rank test, "
    "Holm-corrected over all pairs.",
    "r: matched-pairs rank-biserial correlation.",
)


BAYES_HEADING = "Bayesian signed-rank test"
BAYES_UNIT = "probability that the row is better than the column"
ALONE = "Decisions are of each pair alone."
MARK_NOTE = f"Corner: one is better. Bar: they are equivalent. {ALONE}"


def mirror_pairs(pairwise: pd.DataFrame) -> pd.DataFrame:
    """List each pair in both directions.

    Parameters
    ----------
    pairwise : DataFrame
        Columns of comparisons/pairwise.csv; each pair once.

    Returns
    -------
    DataFrame
        The same columns; twice as many rows, in which every model has been model_a.

    Examples
    --------
    >>> pair = pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "mean_difference": [0.5]})
    >>> list(mirror_pairs(pair).itertuples(index=False, name=None))
    [('x', 'y', 0.5), ('y', 'x', -0.5)]
    """
    swaps = {**SWAPPED, **{second: first for first, second in SWAPPED.items()}}
    mirrored = pairwise.rename(columns=swaps)[list(pairwise.columns)]
    for name in pairwise.columns.intersection(list(NEGATED)):
        mirrored[name] = -mirrored[name]
    if "decision" in pairwise:
        mirrored["decision"] = mirrored["decision"].replace(DECISIONS)
    return pd.concat([pairwise, mirrored], ignore_index=True)


def arrange_pairs(pairwise: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Index the pairs of some models by row and column, in both directions.

    Returns
    -------
    DataFrame
        Columns of the table; index (model_a, model_b), every pair of the models, themselves
        included, in their order; missing values where the table lacks a pair.
    """
    both = pairwise["model_a"].isin(models) & pairwise["model_b"].isin(models)
    places = pd.MultiIndex.from_product([models, models], names=["model_a", "model_b"])
    return mirror_pairs(pairwise[both]).set_index(["model_a", "model_b"]).reindex(places)


def square_pairs(values: "pd.Series[Any]", models: Sequence[str]) -> pd.DataFrame:
    """Arrange a value per pair, in the order of `arrange_pairs`, as rows against columns."""
    return pd.DataFrame(
        values.to_numpy().reshape(len(models), len(models)),
        index=pd.Index(models, name="model"),
        columns=pd.Index(models, name="against"),
    )


def face_reference(pairwise: pd.DataFrame, reference: str, models: Sequence[str]) -> pd.DataFrame:
    """Compare some models (as model_a) with the reference (as model_b).

    Returns
    -------
    DataFrame
        Index model, in the order of the models; the other columns of the table.
    """
    either = (pairwise["model_a"] == reference) | (pairwise["model_b"] == reference)
    facing = mirror_pairs(pairwise[either])
    facing = facing[facing["model_b"] == reference]
    return facing.set_index("model_a").rename_axis("model").reindex(list(models))


def list_paired(pairwise: pd.DataFrame) -> list[str]:
    """All models of a table of pairs, by name."""
    return sorted({*pairwise["model_a"], *pairwise["model_b"]})


def write_counts(table: pd.DataFrame) -> list[str]:
    """Write wins, ties and losses as ``9/1/0``; empty where a pair shares no dataset."""
    counts = table[["wins", "ties", "losses"]].astype(float)
    return [
        "" if counts.sum() == 0 or counts.isna().any() else "/".join(f"{n:.0f}" for n in counts)
        for _, counts in counts.iterrows()
    ]


@figure_style()
def draw_comparison_matrix(
    pairwise: pd.DataFrame, *, order: Sequence[str] = (), alpha: float
) -> Figure:
    """Draw how much each model (row) is better than each other one (column).

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, mean_difference (normalized score), wins, ties, losses, wilcoxon_p_holm;
        rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.
    alpha : float
        Level of the tests, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models, the best first, with the difference and wins/ties/losses
        in its cells where they fit. A column wide (3.4 in), or a page (7 in) where models need it.

    Notes
    -----
    A corner marks a pair whose Holm-corrected p value is below the level. A pair without a dataset
    in common is hatched.
    """
    models, pairs, notes = _choose_pairs(pairwise, order)
    table = square_pairs(pairs["mean_difference"], models)
    limit = span_evenly(table)
    corner = f"Corner: Wilcoxon signed-rank test, Holm-corrected over all pairs, p < {alpha:g}."
    return _draw_pairs(
        table,
        scale=Scale(DIFFERENCE_UNIT, -limit, limit, (), DIVERGING),
        wording=Wording(DIFFERENCE_HEADING, "", (*notes, corner)),
        writings=_write_cells(pairs, models),
        marks=[Mark(square_pairs(pairs["wilcoxon_p_holm"] < alpha, models))],
    )


def _choose_pairs(
    pairwise: pd.DataFrame, order: Sequence[str]
) -> tuple[list[str], pd.DataFrame, tuple[str, ...]]:
    """The models that a figure has room for, their pairs, and a note on those left out."""
    models, notes = choose_models(list_paired(pairwise), order)
    return models, arrange_pairs(pairwise, models), notes


def _draw_pairs(
    table: pd.DataFrame,
    *,
    scale: Scale,
    wording: Wording,
    writings: Sequence[Writing] = (),
    marks: Sequence[Mark] = (),
) -> Figure:
    """Draw models against models, gray where one would meet itself, hatched where a pair lacks."""
    if table.isna().to_numpy().sum() > len(table):
        wording = replace(wording, notes=(*wording.notes, HATCH_NOTE))
    marks = [mark_diagonal(table), *marks]
    return draw_grid(table, scale=scale, wording=wording, writings=writings, marks=marks).figure


def _write_cells(pairs: pd.DataFrame, models: Sequence[str]) -> list[Writing]:
    """Ways to write into the cells, the fullest first."""
    differences = {decimals: _format_all(pairs["mean_difference"], decimals) for decimals in (3, 2)}
    counts = pd.Series(write_counts(pairs), pairs.index)
    both = [text.str.cat(counts, sep="\n").str.strip("\n") for text in differences.values()]
    return [
        *(Writing(square_pairs(text, models), COUNTS_NOTE) for text in both),
        *(Writing(square_pairs(text, models)) for text in differences.values()),
    ]


def _format_all(values: pd.Series, decimals: int) -> pd.Series:
    return values.map(lambda value: format_decimal(value, decimals))


@figure_style()
def draw_comparison_reference(
    pairwise: pd.DataFrame, *, reference: str, order: Sequence[str] = ()
) -> Figure:
    """Draw how much each model differs from the reference, with intervals.

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, mean_difference, ci_low, ci_high (normalized score), wins, ties, losses,
        wilcoxon_p_holm, effect_size; rows in any order; ends of intervals may be empty.
    reference : str
        The model that others are compared with; empty: the first of `order`.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A row per model, at most 40. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    At the right stand the model's wins/ties/losses against the reference, the Holm-corrected p
    value of Wilcoxon's signed-rank test, and the matched-pairs rank-biserial correlation r.
    """
    reference = reference or order[0]
    heading = f"Difference from {reference}"
    everyone = list_paired(pairwise)
    models, notes = choose_models(set(everyone) - {reference}, order)
    if not models:
        raise NothingToDraw(NO_PAIR)
    facing = face_reference(pairwise, reference, models)
    named = {"mean_difference": "estimate", "ci_low": "low", "ci_high": "high"}
    return draw_forest(
        facing.rename(columns=named),
        everyone=everyone,
        columns={
            "w/t/l": write_counts(facing),
            "p (Holm)": [format_p(value) for value in facing["wilcoxon_p_holm"]],
            "r": [format_decimal(value) for value in facing["effect_size"]],
        },
        wording=Wording(heading, REFERENCE_UNIT, (*notes, *COLUMN_NOTES)),
        line=0.0,
        empty=NO_SHARED,
    )


@figure_style()
def draw_bayes_matrix(pairwise: pd.DataFrame, *, order: Sequence[str] = ()) -> Figure:
    """Draw the probability that each model (row) is better than each other one (column).

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, p_a_better, p_b_better, decision; rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models, the best first.

    Notes
    -----
    Where the test decided that one of a pair is better, both cells of the pair have a corner;
    where it decided that they are practically equivalent, both have a bar.
    """
    models, pairs, notes = _choose_pairs(pairwise, order)
    table = square_pairs(pairs["p_a_better"], models)
    decided = pairs["decision"].isin(["a better", "b better"])
    return _draw_pairs(
        table,
        scale=Scale(BAYES_UNIT, 0.0, 1.0, (), RISING),
        wording=Wording(BAYES_HEADING, "", (*notes, MARK_NOTE)),
        writings=[Writing(table.map(format_decimal))],
        marks=[
            Mark(square_pairs(decided, models)),
            Mark(square_pairs(pairs["decision"] == "equivalent", models), "bar"),
        ],
    )


ODDS = "200 points more: 76% of battles won. Elo depends on which models are compared."
SEPARATED_NOTE = (
    "In {:.1%} of the resamples some models only won or only lost: ends of intervals there depend "
    "on the ridge of the fit."
)
# 10 battles won to one lost, in points.
REACH = 400.0


@figure_style()
def draw_elo(elo: pd.DataFrame, *, order: Sequence[str] = (), confidence_level: float) -> Figure:
    """Draw each model's Elo rating with its interval and rank, the best model on top.

    Parameters
    ----------
    elo : DataFrame
        model, elo, ci_low, ci_high (points), rank; rows in any order. Ends of intervals may be
        empty. separated (share of resamples, 0 to 1, in which some models only won or only lost;
        the same in all rows).
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
    best 40 are drawn. A note tells of separated resamples where they reach the ends of an interval.
    """
    table, ranks, notes = rank_rows(elo, "elo")
    separated = float(elo["separated"].iloc[0])
    if depends_on_ridge(separated, confidence_level=confidence_level):
        notes += (SEPARATED_NOTE.format(separated),)
    ratings = [f"{rating:.0f}" if rating == rating else "" for rating in table["estimate"]]
    return draw_forest(
        table,
        everyone=[*elo["model"], *order],
        columns={"Elo": ratings, "rank": ranks},
        wording=Wording("Elo rating with interval", "Elo rating (points)", (ODDS, *notes)),
        reach=max(REACH, float(elo["elo"].max() - elo["elo"].min())),
    )
