"""Mean ranks of the models, and groups of models that tests cannot separate."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.claims import FEWEST_RANKED, claim_mean_ranks, claim_nemenyi
from capmap.comparison.rank_tests import (
    average_common,
    average_ranks,
    compare_mean_ranks,
    find_critical_difference,
    rank_within_datasets,
    rescale_ranks,
    tabulate_rank_tests,
)
from capmap.comparison.score_matrix import (
    BoolArray,
    ScoreMatrix,
    arrange_runs,
)
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.ranking.ranks import display_letters
from capmap.wording import MOST_LETTERED

DECIMALS = 9


def tabulate_mean_ranks(matrix: ScoreMatrix, *, alpha: float) -> pd.DataFrame:
    """Rank the models by their mean rank over datasets, with groups that cannot be separated.

    Parameters
    ----------
    matrix : ScoreMatrix
        All cells.
    alpha : float
        Significance level of the tests, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        Columns ``model``, ``mean_rank``, ``datasets`` and ``nemenyi_group``; best first, equal mean
        ranks by name.

    Notes
    -----
    Where cells are empty, a model's rank on a dataset is that among the models there, stretched to
    the number of all models (`rescale_ranks`). A model that never meets another has no mean rank,
    0 datasets and stands last.

    Nemenyi groups rest on the datasets that all models have, and are empty without any; their
    letters follow the mean ranks on these.
    """
    ranks = rescale_ranks(rank_within_datasets(matrix.means))
    mean_ranks = average_ranks(ranks)
    table = pd.DataFrame(
        {
            "model": pd.Series(matrix.models, dtype="str"),
            "mean_rank": mean_ranks,
            "datasets": np.count_nonzero(~np.isnan(ranks), axis=1),
            "nemenyi_group": group_by_nemenyi(matrix, alpha=alpha),
        }
    )
    return table.iloc[_order_models(mean_ranks)].reset_index(drop=True)


def group_by_nemenyi(matrix: ScoreMatrix, *, alpha: float) -> list[str]:
    """Name the largest groups of models whose mean ranks lie within one critical difference.

    Parameters
    ----------
    matrix : ScoreMatrix
        All cells; the datasets that all models have are used.
    alpha : float
        Significance level, between 0 and 1.

    Returns
    -------
    list of str
        The letters of each model's groups; empty without a dataset that all have, and of more than
        200 models. Groups are consecutive in the order of mean ranks, and a model may be a group of
        its own.
    """
    common = average_common(matrix)
    if common is None or len(common) > MOST_LETTERED:
        return [""] * len(matrix.models)
    n_datasets = int(matrix.is_filled.all(axis=0).sum())
    critical = np.inf
    if len(common) > 1:
        critical = find_critical_difference(models=len(common), datasets=n_datasets, alpha=alpha)
    return _name_models(np.abs(common[:, None] - common) < critical, common)


def _name_models(tied: BoolArray, mean_ranks: FloatArray) -> list[str]:
    order = _order_models(mean_ranks)
    names = display_letters(tied[np.ix_(order, order)])
    return [names[place] for place in np.argsort(order)]


def _order_models(mean_ranks: FloatArray) -> list[int]:
    """Places of the models by mean rank; equal ones as they stand, by name."""
    order: list[int] = np.argsort(round_significant(mean_ranks), kind="stable").tolist()
    return order


def compare_ranks(runs: pd.DataFrame, *, alpha: float) -> dict[str, pd.DataFrame]:
    """Test whether mean ranks differ, and which.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    alpha
        As in the setting `comparison`.

    Returns
    -------
    dict
        The tables ``friedman``, ``nemenyi`` and ``mean_ranks``.
    """
    matrix = arrange_runs(runs)
    return {
        "friedman": tabulate_rank_tests(matrix),
        "nemenyi": compare_mean_ranks(matrix, alpha=alpha),
        "mean_ranks": tabulate_mean_ranks(matrix, alpha=alpha),
    }


def find_facts(
    friedman: pd.DataFrame, nemenyi: pd.DataFrame, mean_ranks: pd.DataFrame, *, alpha: float
) -> dict[str, Any]:
    """Whether mean ranks differ, who has the best one, and which pairs Nemenyi's test separates."""
    known = friedman.dropna(subset="p")
    ranks = mean_ranks["mean_rank"].round(DECIMALS)
    firsts = mean_ranks.loc[ranks == ranks.min(), "model"].tolist()
    claims = claim_nemenyi(nemenyi, alpha=alpha)
    pairs = [{claim.subject, claim.object} for claim in claims]
    datasets, compared = (
        int(known[name].max()) if len(known) else 0 for name in ("datasets", "models")
    )
    return {
        "models": len(mean_ranks),
        "compared": compared,
        "tests": known["test"].tolist(),
        "datasets": datasets,
        # The smallest p-value is that of the same order on all datasets.
        "is_testable": bool(
            compared >= FEWEST_RANKED
            and special.chdtrc(compared - 1, datasets * (compared - 1)) < alpha
        ),
        "p": known["p"].max() if len(known) else np.nan,
        "differ": bool(claim_mean_ranks(friedman, alpha=alpha)),
        "first": firsts,
        "best_rank": ranks.min(),
        "behind": sum(firsts[0] in pair for pair in pairs) if len(firsts) == 1 else 0,
        "separated": len(claims),
        "pairs": len(nemenyi),
        "critical": next(iter(nemenyi["critical_difference"]), np.nan),
    }


ANALYSIS = Analysis(
    question="Do the mean ranks differ?",
    position=20,
    default=True,
    tables={
        "friedman": Table(
            "Tests of all models together: do they rank alike on the datasets that all have?",
            "test test_statistic df p models datasets cells_used cells_unused",
        ),
        "nemenyi": Table(
            "Nemenyi's test of every pair of mean ranks, which depends on the models compared.",
            "model_a model_b rank_difference critical_difference p separated datasets",
        ),
        "mean_ranks": Table(
            "Mean rank of each model over its datasets. Models that share a letter are not "
            "separated by Nemenyi's test on the datasets that all have.",
            "model mean_rank datasets nemenyi_group",
            best={"mean_rank": "min"},
            formats="csv tex",
        ),
    },
    figures={
        "critical_difference": Figure(
            "Mean ranks on the datasets that all models have. Models joined by a bar differ by "
            "less than Nemenyi's critical difference, which depends on the models compared.",
            draw="capmap.figures.rank_tests:draw_critical_difference",
            reads=["mean_ranks", "nemenyi", "friedman"],
            options={"alpha": "bootstrap/alpha"},
        )
    },
    steps={
        "compare_ranks": Step(
            compare_ranks,
            tables=["friedman", "nemenyi", "mean_ranks"],
            reads=["runs"],
            options={"alpha": "bootstrap/alpha"},
            pairs=True,
        )
    },
    find_facts=find_facts,
    meanings={
        "cells_used": "Cells that take part.",
        "critical_difference": "Difference of mean ranks that Nemenyi's test needs.",
        "df": "Degrees of freedom.",
        "mean_rank": "Mean rank over datasets; 1 is best.",
        "nemenyi_group": "Models that share a letter are not separated by Nemenyi's test.",
        "rank_difference": "Difference of the mean ranks.",
        "test": "The test.",
        "test_statistic": "Statistic of the test, chi-squared.",
    },
)
