"""Mean ranks of the models, and groups of models that tests cannot separate."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.claims import FEWEST_RANKED, claim_mean_ranks, claim_nemenyi
from capmap.ranking.aggregation import (
    FloatArray,
    ScoreMatrix,
    arrange_runs,
    list_pairs,
    order_runs,
    round_significant,
)
from capmap.ranking.dependence import Dependence, vary_by_seed
from capmap.ranking.rank_sets import display_letters
from capmap.wording import MOST_LETTERED

TESTS = ["test", "test_statistic", "df", "p", "p_dependent", "models", "datasets"]
PAIRS = [
    *("model_a", "model_b", "rank_difference", "critical_difference", "p", "separated"),
    "datasets",
]
DECIMALS = 9
MOST_FREEDOM = 1000


@dataclass(frozen=True)
class Allowance:
    """How much less mean ranks say than those of independent datasets and new seeds would.

    Parameters
    ----------
    share : float
        Variance of a difference of mean ranks, were all independent, over what it is.
    freedom : float
        Degrees of freedom of the latter.
    """

    share: float = 1.0
    freedom: float = np.inf

    def find_p(self, statistic: float, df: int) -> float:
        """The p-value of a chi-squared statistic; with finite freedom it is F."""
        own = statistic * self.share
        if np.isinf(self.freedom):
            return float(scipy.special.chdtrc(df, own))
        return float(scipy.special.fdtrc(df, self.freedom, own / df))


NONE = Allowance()


def measure_allowance(runs: pd.DataFrame, dependence: Dependence) -> Allowance:
    """Measure how alike datasets, and what seeds share, change the variance of mean ranks."""
    ranked = order_runs(runs)
    ranked = ranked.assign(score=ranked.groupby("dataset", observed=True)["score"].rank())
    matrix = arrange_runs(
        ranked.drop(columns="resolution", errors="ignore"), by_seed=dependence.seed_variance > 0
    )
    many, n = matrix.is_filled.sum(axis=0) > 1, len(matrix.datasets)
    if n < 2 or not many.any():
        return NONE
    # Of the mean difference of two equal models, on average over all pairs.
    plain = 2 * float(np.nanmean(np.nanvar(matrix.means[:, many], axis=0, ddof=1))) / n
    effective = float(dependence.count_effective(n))
    variance = plain * (n - 1) / max(effective - 1, 1)
    found, freedom = vary_by_seed(matrix)
    seeds = 2 * float(found.mean()) if len(found) else 0.0
    total = variance + seeds
    if not plain > 0:
        return NONE
    own = total**2 * float(freedom.sum()) / seeds**2 if seeds else np.inf
    # SciPy's studentized range is not exact for many degrees of freedom, which are as good as none.
    return Allowance(plain / total, own if own < MOST_FREEDOM else np.inf)


def rank_within_datasets(means: FloatArray) -> FloatArray:
    """Rank the models on each dataset, among those that have runs there.

    1 is best; equal models share the mean of their ranks.

    Scores are compared after rounding to 12 significant digits.

    Examples
    --------
    >>> rank_within_datasets(np.array([[0.3, np.nan], [0.5, 0.1], [0.1 + 0.2, 0.2]])).tolist()
    [[2.5, nan], [1.0, 2.0], [2.5, 1.0]]
    """
    return pd.DataFrame(-round_significant(means)).rank(axis=0).to_numpy(np.float64)


def rescale_ranks(ranks: FloatArray) -> FloatArray:
    """Rescale the ranks of each dataset to the range from 1 to the number of models.

    A rank r among the ``k_d`` of k models that have runs on the dataset becomes
    ``1 + (r - 1) (k - 1) / (k_d - 1)``.

    The best and the worst of any number of models thus get the same ranks on every dataset. A rank
    among one is no comparison, so a dataset that a single model has is NaN for it, unless there is
    only one model at all. Complete datasets keep their ranks exactly.

    Examples
    --------
    >>> rescale_ranks(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, np.nan]])).tolist()
    [[1.0, 1.0], [2.0, 3.0], [3.0, nan]]
    """
    present = np.count_nonzero(~np.isnan(ranks), axis=0)
    factors = (len(ranks) - 1) / np.maximum(present - 1, 1)
    is_compared = (present > 1) | (len(ranks) == 1)
    return np.asarray(np.where(is_compared, 1 + (ranks - 1) * factors, np.nan))


def average_ranks(ranks: FloatArray) -> FloatArray:
    """Average each model's ranks over the datasets where it has one, shape (models,).

    Examples
    --------
    >>> average_ranks(np.array([[1.0, 2.0], [np.nan, 1.0], [np.nan, np.nan]])).tolist()
    [1.5, 1.0, nan]
    """
    return pd.DataFrame(ranks).mean(axis=1).to_numpy()


def compute_friedman(ranks: FloatArray) -> tuple[float, int]:
    """Friedman's test (1937), corrected for ties as in `scipy.stats.friedmanchisquare`.

    Ranks are within complete datasets. Returned are chi-squared and its degrees of freedom.

    With k models on N datasets and rank sums R, the statistic is ``N (k - 1) W``, where Kendall's W
    is the sum of squares of the R about their mean, over its largest possible value. Where all
    models are equal on all datasets the statistic is 0 and p is 1.

    Examples
    --------
    >>> compute_friedman(np.array([[1.0, 1.0], [2.0, 2.0]]))
    (2.0, 1)
    """
    n_models, n_datasets = ranks.shape
    apart = ranks.sum(axis=1) - n_datasets * (n_models + 1) / 2
    # Twelve times the squares of rank sums and their largest value, which are exact.
    spread = 12 * float((apart**2).sum())
    most = n_datasets * 12 * float(((ranks - (n_models + 1) / 2) ** 2).sum())
    statistic = n_datasets * (n_models - 1) * spread / most if most else 0.0
    return statistic, n_models - 1


def compute_skillings_mack(ranks: FloatArray) -> tuple[float, int] | None:
    """Skillings and Mack's test, Friedman's for datasets that lack some of the models.

    Returned are chi-squared and its degrees of freedom; None where no dataset has two models.

    Each dataset adds ``sqrt((k_d - 1) / v_d) (r - (k_d + 1) / 2)`` to the sums A of the ``k_d``
    models that it has, v_d being the variance of its ranks: ``(k_d² - 1) / 12`` without ties. The
    statistic is ``A' C⁻ A``; C, the covariance of A, has minus the number of common datasets of two
    models beside its diagonal, and rows that sum to zero. There are as many degrees of freedom as
    models, less one for each set of models that datasets connect. Where all models of a dataset are
    tied, it does not count. On complete datasets without ties this is Friedman's statistic.
    """
    is_ranked = ~np.isnan(ranks)
    if not (is_ranked.sum(axis=0) > 1).any():
        return None
    sizes = is_ranked.sum(axis=0)
    apart = np.where(is_ranked, ranks - (sizes + 1) / 2, 0.0)
    variances = (apart**2).sum(axis=0) / np.maximum(sizes, 1)
    has_order = variances > 0
    if not has_order.any():
        return 0.0, len(ranks) - 1
    is_ranked = is_ranked & has_order
    scales = np.divide(sizes - 1, variances, out=np.zeros(len(sizes)), where=has_order)
    sums = (apart * np.sqrt(scales)).sum(axis=1)
    common = is_ranked.astype(np.float64) @ is_ranked.T
    np.fill_diagonal(common, 0.0)
    covariance = np.diag(common.sum(axis=1)) - common
    n_sets, sets = scipy.sparse.csgraph.connected_components(common > 0, directed=False)
    # Within a set, sums add up to zero; a constant there makes the matrix regular and adds nothing.
    statistic = float(sums @ np.linalg.solve(covariance + (sets[:, None] == sets), sums))
    return max(statistic, 0.0), len(ranks) - int(n_sets)


def tabulate_rank_tests(matrix: ScoreMatrix, allowance: Allowance = NONE) -> pd.DataFrame:
    """Test whether the models differ at all, in a single row; none where no two models meet.

    Friedman's test is for complete cells; otherwise Skillings and Mack's is on all datasets that
    two models have.
    """
    ranks, name, rows = rank_within_datasets(matrix.means), "friedman", []
    if not matrix.is_filled.all():
        name, test = "skillings_mack", compute_skillings_mack(ranks)
    else:
        test = compute_friedman(ranks) if len(ranks) > 1 else None
    if test:
        datasets = int((matrix.is_filled.sum(axis=0) > 1).sum())
        p = NONE.find_p(*test)
        rows.append((name, *test, p, max(p, allowance.find_p(*test)), len(ranks), datasets))
    return pd.DataFrame(rows, columns=TESTS)


def find_critical_difference(
    *, models: int, datasets: int, alpha: float, allowance: Allowance = NONE
) -> float:
    """The difference of mean ranks that Nemenyi's test calls significant (Demšar 2006).

    It is ``q sqrt(k (k + 1) / (6 N))`` with q the upper quantile of the studentized range with
    infinite degrees of freedom, over the square root of 2.

    Examples
    --------
    >>> round(find_critical_difference(models=4, datasets=14, alpha=0.05), 2)
    1.25
    """
    quantile = float(scipy.stats.studentized_range.isf(alpha, models, allowance.freedom))
    return quantile * _scale_differences(models, datasets) / math.sqrt(allowance.share)


def compare_mean_ranks(
    matrix: ScoreMatrix, *, alpha: float, allowance: Allowance = NONE
) -> pd.DataFrame:
    """Compare the mean ranks of all pairs of models by Nemenyi's test (1963).

    Below zero, a is better. Only datasets that all models have count; without any, or with a single
    model, there are no rows.

    Two models are separated when their mean ranks differ by the critical difference or more. The
    verdict on two models depends on which others are compared: they change the ranks between the
    two, and the critical difference. p is that of `scikit_posthocs.posthoc_nemenyi_friedman`. Ties
    are not corrected for.
    """
    n_models, common = len(matrix.models), average_common(matrix)
    if common is None or n_models < 2:
        return pd.DataFrame(columns=PAIRS).astype({"separated": "bool"})
    n_datasets = int(matrix.is_filled.all(axis=0).sum())
    pairs = list_pairs(n_models)
    differences = common[pairs.first] - common[pairs.second]
    # SciPy takes 5 ms for each p-value, and many differences are equal.
    sizes, places = np.unique(np.abs(differences).round(12), return_inverse=True)
    critical = find_critical_difference(
        models=n_models, datasets=n_datasets, alpha=alpha, allowance=allowance
    )
    ranges = sizes / _scale_differences(n_models, n_datasets) * math.sqrt(allowance.share)
    p = scipy.stats.studentized_range.sf(ranges, n_models, allowance.freedom)[places]
    names, separated = np.array(matrix.models, dtype=object), np.abs(differences) >= critical
    values = names[pairs.first], names[pairs.second], differences, critical, p, separated
    return pd.DataFrame(dict(zip(PAIRS, (*values, n_datasets), strict=True)))


def average_common(matrix: ScoreMatrix) -> FloatArray | None:
    """Mean rank of each model over the datasets that all models have; None without any."""
    is_common = matrix.is_filled.all(axis=0)
    if not is_common.any():
        return None
    return average_ranks(rank_within_datasets(matrix.means[:, is_common]))


def _scale_differences(models: int, datasets: int) -> float:
    """Difference of mean ranks per unit of the studentized range."""
    return math.sqrt(models * (models + 1) / (12 * datasets))


def tabulate_mean_ranks(matrix: ScoreMatrix, nemenyi: pd.DataFrame) -> pd.DataFrame:
    """Rank the models by their mean rank over datasets, with groups that cannot be separated.

    Where cells are empty, a model's rank on a dataset is that among the models there, stretched to
    the number of all models (`rescale_ranks`). A model that never meets another has no mean rank,
    0 datasets and stands last.

    Letters of groups follow the mean ranks on the datasets that all models have; there are none
    without such a dataset, and of more than 200 models.
    """
    ranks = rescale_ranks(rank_within_datasets(matrix.means))
    mean_ranks, common, n = average_ranks(ranks), average_common(matrix), len(ranks)
    letters = [""] * n
    if common is not None and n <= MOST_LETTERED:
        pairs, tied, order = list_pairs(n), np.ones((n, n), dtype=np.bool_), _order_models(common)
        tied[pairs.first, pairs.second] = ~nemenyi["separated"].to_numpy(dtype=np.bool_)
        names = display_letters((tied & tied.T)[np.ix_(order, order)])
        letters = [names[place] for place in np.argsort(order)]
    table = pd.DataFrame(
        {
            "model": pd.Series(matrix.models, dtype="str"),
            "mean_rank": mean_ranks,
            "datasets": np.count_nonzero(~np.isnan(ranks), axis=1),
            "nemenyi_group": letters,
        }
    )
    return table.iloc[_order_models(mean_ranks)].reset_index(drop=True)


def _order_models(mean_ranks: FloatArray) -> list[int]:
    """Places of the models by mean rank; equal ones as they stand, by name."""
    order: list[int] = np.argsort(round_significant(mean_ranks), kind="stable").tolist()
    return order


def compare_ranks(
    runs: pd.DataFrame, dependence: pd.DataFrame, *, alpha: float
) -> dict[str, pd.DataFrame]:
    """Test whether mean ranks differ, and which: ``friedman``, ``nemenyi`` and ``mean_ranks``."""
    matrix = arrange_runs(order_runs(runs))
    allowance = measure_allowance(runs, Dependence.read(dependence.iloc[0].to_dict()))
    nemenyi = compare_mean_ranks(matrix, alpha=alpha, allowance=allowance)
    return {
        "friedman": tabulate_rank_tests(matrix, allowance),
        "nemenyi": nemenyi,
        "mean_ranks": tabulate_mean_ranks(matrix, nemenyi),
    }


def find_facts(
    friedman: pd.DataFrame, nemenyi: pd.DataFrame, mean_ranks: pd.DataFrame, *, alpha: float
) -> dict[str, Any]:
    """Whether mean ranks differ, who has the best one, and which pairs Nemenyi's test separates."""
    ranks = mean_ranks["mean_rank"].round(DECIMALS)
    test: Any = next(iter(friedman.to_dict("records")), {"test": "", "models": 0})
    return {
        "models": len(mean_ranks),
        "omnibus": test,
        # The smallest p-value is that of the same order on all datasets.
        "is_testable": bool(
            test["models"] >= FEWEST_RANKED
            and scipy.special.chdtrc(test["df"], test["datasets"] * test["df"]) < alpha
        ),
        "differ": bool(claim_mean_ranks(friedman, alpha=alpha)),
        "first": mean_ranks.loc[ranks == ranks.min(), "model"].tolist(),
        "best_rank": ranks.min(),
        "separated": len(claim_nemenyi(nemenyi, alpha=alpha)),
        "pairs": len(nemenyi),
        "critical": next(iter(nemenyi["critical_difference"]), np.nan),
    }


ANALYSIS = Analysis(
    question="Do the mean ranks differ?",
    position=20,
    tables={
        "friedman": Table(
            "Test of all models together: Friedman's, or that of Skillings and Mack if cells are "
            "empty.",
            " ".join(TESTS),
        ),
        "nemenyi": Table(
            "Nemenyi's test of every pair of mean ranks, which depends on the models compared.",
            " ".join(PAIRS),
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
            draw="capmap.figures.comparison:draw_critical_difference",
        )
    },
    steps={"compare_ranks": Step(compare_ranks, pairs=True)},
    find_facts=find_facts,
    meanings={
        "critical_difference": "Difference of mean ranks that Nemenyi's test needs.",
        "df": "Degrees of freedom.",
        "nemenyi_group": "Models that share a letter are not separated by Nemenyi's test.",
        "p_dependent": "p-value that allows for what datasets and seeds have in common.",
        "test_statistic": "Statistic of the test, chi-squared.",
    },
)
