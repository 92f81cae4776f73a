"""Mean ranks and which of them differ: by Nemenyi's critical difference, and by Wilcoxon–Holm."""

from collections.abc import Collection

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording
from capmap.figures.note import draw_note
from capmap.figures.rank_axis import draw_rank_axis
from capmap.figures.style import figure_style
from capmap.wording import count_things

HEADING = "Mean ranks and critical difference"
CLIQUES_HEADING = "Mean ranks and groups by Wilcoxon\N{EN DASH}Holm"
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
ONE_MODEL = "One model: there are no ranks to compare."
NO_DATASET = "No dataset has scores of all models, so there is no Nemenyi test."


@figure_style()
def draw_critical_difference(
    mean_ranks: pd.DataFrame,
    nemenyi: pd.DataFrame,
    friedman: pd.DataFrame,
    *,
    highlight: Collection[str] = (),
    alpha: float,
) -> Figure:
    """Draw the critical difference diagram of mean ranks, the best rank at the left.

    Parameters
    ----------
    mean_ranks : DataFrame
        model, mean_rank, datasets, nemenyi_group (letters, may be empty); rows in any order.
    nemenyi : DataFrame
        critical_difference and datasets, the same in all rows; no row where no dataset is common
        to all models.
    friedman : DataFrame
        test and p.
    highlight : collection of str
        Models in bold, with a line in their color.
    alpha : float
        Level of the tests, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) where names are short, otherwise a page (7 in).

    Notes
    -----
    A bar joins models that Nemenyi's test does not separate. Demšar draws the best rank at the
    right; here it is at the left, and an arrow says so. Fewer than two models, or an empty Nemenyi
    table, give a figure that says why there is no diagram.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.
    """
    if mean_ranks["mean_rank"].count() < 2:
        return draw_note(ONE_MODEL, heading=HEADING)
    if nemenyi.empty:
        return draw_note(NO_DATASET, heading=HEADING)
    difference = float(nemenyi["critical_difference"].iloc[0])
    datasets = int(nemenyi["datasets"].iloc[0])
    notes = [
        "Bars join models that the Nemenyi test does not separate "
        f"({count_things(datasets, 'dataset')} common to all models).",
        "Nemenyi: depends on which models are compared.",
    ]
    if (mean_ranks["datasets"] != datasets).any():
        notes.append("Mean ranks: over all datasets of a model. Bars: over the common ones.")
    return draw_rank_axis(
        mean_ranks,
        group_column="nemenyi_group",
        highlight=highlight,
        wording=Wording(HEADING, "", (*notes, *_tell_friedman(friedman, alpha))),
        critical_difference=(difference, f"CD = {difference:.2f} ({ALPHA} = {alpha:g})"),
    )


@figure_style()
def draw_rank_cliques(
    mean_ranks: pd.DataFrame, *, highlight: Collection[str] = (), alpha: float
) -> Figure:
    """Draw mean ranks with the groups that pairwise Wilcoxon tests with Holm's correction leave.

    Parameters
    ----------
    mean_ranks : DataFrame
        model, mean_rank, datasets, wilcoxon_group (letters, may be empty); rows in any order.
    highlight : collection of str
        Models in bold, with a line in their color.
    alpha : float
        Level of the tests, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) where names are short, otherwise a page (7 in).

    Notes
    -----
    Models that share a bar are not separated. A group need not be consecutive: then its bar has a
    dot at each member. One model gives a figure that says so.
    """
    if mean_ranks["mean_rank"].count() < 2:
        return draw_note(ONE_MODEL, heading=CLIQUES_HEADING)
    fewest, most = (int(count) for count in mean_ranks["datasets"].agg(["min", "max"]))
    span = f"{fewest}\N{EN DASH}{most} datasets" if fewest < most else count_things(most, "dataset")
    notes = (
        "Bars join models that pairwise Wilcoxon signed-rank tests do not separate "
        f"(Holm-corrected, {ALPHA} = {alpha:g}).",
        f"Each model ranked on {span}.",
    )
    return draw_rank_axis(
        mean_ranks,
        group_column="wilcoxon_group",
        highlight=highlight,
        wording=Wording(CLIQUES_HEADING, "", notes),
    )


def _tell_friedman(friedman: pd.DataFrame, alpha: float) -> tuple[str, ...]:
    """Result of the Friedman test, and what follows where it finds nothing."""
    p = friedman.loc[friedman["test"] == "friedman", "p"].dropna()
    if p.empty:
        return ()
    value = float(p.iloc[0])
    text = "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
    verdict = "" if value < alpha else ": no evidence that any models differ"
    return (f"Friedman test: {text}{verdict}.",)
