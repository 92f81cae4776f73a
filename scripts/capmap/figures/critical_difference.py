"""Mean ranks and which of them differ: by Nemenyi's critical difference, and by Wilcoxon–Holm."""

from collections.abc import Collection

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import Wording
from capmap.figures.note import draw_note
from capmap.figures.rank_axis import draw_rank_axis
from capmap.figures.style import figure_style
from capmap.problems import require_known
from capmap.wording import count_things, format_p

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
        model, mean_rank, nemenyi_group (letters, may be empty); rows in any order.
    nemenyi : DataFrame
        model_a, model_b, rank_difference (a minus b) of all pairs, and critical_difference and
        datasets, the same in all rows; no row where no dataset is common to all models.
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
    Models stand at their mean ranks over the datasets that all have, which are those that the
    test compares. A bar joins models that it does not separate. Demšar draws the best rank at the
    right; here it is at the left, and an arrow says so. Fewer than two models, or an empty Nemenyi
    table, give a figure that says why there is no diagram.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.
    """
    require_known(highlight, set(mean_ranks["model"]), option="comparison.highlight", kind="model")
    if mean_ranks["mean_rank"].count() < 2:
        return draw_note(ONE_MODEL, heading=HEADING)
    if nemenyi.empty:
        return draw_note(NO_DATASET, heading=HEADING)
    difference = float(nemenyi["critical_difference"].iloc[0])
    datasets = int(nemenyi["datasets"].iloc[0])
    notes = (
        f"Mean ranks over the {count_things(datasets, 'dataset')} common to all models. "
        "Bars join models that the Nemenyi test does not separate.",
        "Nemenyi: depends on which models are compared.",
    )
    return draw_rank_axis(
        mean_ranks.assign(mean_rank=mean_ranks["model"].map(_place_ranks(nemenyi))),
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
    require_known(highlight, set(mean_ranks["model"]), option="comparison.highlight", kind="model")
    if mean_ranks["mean_rank"].count() < 2:
        return draw_note(ONE_MODEL, heading=CLIQUES_HEADING)
    fewest, most = (int(count) for count in mean_ranks["datasets"].agg(["min", "max"]))
    span = f"{fewest}\N{EN DASH}{most} datasets" if fewest < most else count_things(most, "dataset")
    notes = (
        "Bars join models that pairwise Wilcoxon signed-rank tests do not separate "
        f"(Holm-corrected, {ALPHA} = {alpha:g}).",
        f"Each model ranked on {span}.",
        *_warn_of_few(len(mean_ranks), most, alpha),
    )
    return draw_rank_axis(
        mean_ranks,
        group_column="wilcoxon_group",
        highlight=highlight,
        wording=Wording(CLIQUES_HEADING, "", notes),
    )


def _place_ranks(nemenyi: pd.DataFrame) -> "pd.Series[float]":
    """Mean rank of each model, recovered from the differences of all pairs.

    Notes
    -----
    Mean ranks of k models have the mean (k + 1) / 2, from which each is its mean difference to all
    models away.
    """
    pairs = nemenyi.sort_values(["model_a", "model_b"])
    ahead = pairs.set_index("model_a")["rank_difference"]
    behind = -pairs.set_index("model_b")["rank_difference"]
    sums = pd.concat([ahead, behind]).groupby(level=0).sum()
    ranks: pd.Series[float] = (len(sums) + 1) / 2 + sums / len(sums)
    return ranks.round(12)


def _warn_of_few(models: int, datasets: int, alpha: float) -> tuple[str, ...]:
    """Say when the least exact p value, that of a model that wins everywhere, is not enough."""
    pairs = models * (models - 1) // 2
    if pairs * 2.0 ** (1 - datasets) < alpha:
        return ()
    number = count_things(datasets, "dataset")
    correction = f"after correction over {count_things(pairs, 'pair')}"
    return (f"With {number} no pair can be separated {correction}.",)


def _tell_friedman(friedman: pd.DataFrame, alpha: float) -> tuple[str, ...]:
    """Result of the Friedman test, and what follows where it finds nothing."""
    p = friedman.loc[friedman["test"] == "friedman", "p"].dropna()
    if p.empty:
        return ()
    value = float(p.iloc[0])
    verdict = "" if value < alpha else ": no evidence that any models differ"
    return (f"Friedman test: {format_p(value)}{verdict}.",)
