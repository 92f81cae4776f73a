"""Tests of mean ranks: Friedman, Iman–Davenport, Skillings–Mack, and Nemenyi's."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, sparse, special

from capmap.comparison.score_matrix import BoolArray, ScoreMatrix, list_pairs
from capmap.ranking.aggregation import FloatArray, round_significant

TESTS = [
    "friedman",
    "friedman_without_tie_correction",
    "iman_davenport",
    "iman_davenport_without_tie_correction",
    "skillings_mack",
]
TEST_COLUMNS = {
    "test": "str",
    "test_statistic": "float64",
    "df1": "Int64",
    "df2": "Int64",
    "p": "float64",
    "models": "int64",
    "datasets": "int64",
    "cells_used": "int64",
    "cells_unused": "int64",
}

PAIR_COLUMNS = {
    "model_a": "str",
    "model_b": "str",
    "rank_difference": "float64",
    "critical_difference": "float64",
    "p": "float64",
    "separated": "bool",
    "datasets": "int64",
}

# The integrand is that of the largest of k normal numbers: nothing is left of it outside.
NORMAL_RANGE = (-9.0, 30.0)
NORMAL_STEP = 1 / 32
CHUNK_CELLS = 1 << 20
LARGEST_RANGE = 40.0


def rank_within_datasets(means: FloatArray) -> FloatArray:
    """Rank the models on each dataset, among those that have runs there.

    Parameters
    ----------
    means : numpy.ndarray, shape (models, datasets)
        Mean scores, higher is better; NaN where there are no runs.

    Returns
    -------
    numpy.ndarray, shape (models, datasets)
        1 is best; equal models share the mean of their ranks. NaN where there are no runs.

    Notes
    -----
    Scores are compared after rounding to 12 significant digits.

    Examples
    --------
    >>> rank_within_datasets(np.array([[0.3, np.nan], [0.5, 0.1], [0.1 + 0.2, 0.2]])).tolist()
    [[2.5, nan], [1.0, 2.0], [2.5, 1.0]]
    """
    return pd.DataFrame(-round_significant(means)).rank(axis=0).to_numpy(np.float64)


def rescale_ranks(ranks: FloatArray) -> FloatArray:
    """Rescale the ranks of each dataset to the range from 1 to the number of models.

    Parameters
    ----------
    ranks : numpy.ndarray, shape (models, datasets)
        From `rank_within_datasets`.

    Returns
    -------
    numpy.ndarray, shape (models, datasets)
        ``1 + (r - 1) (k - 1) / (k_d - 1)`` for a rank r among the ``k_d`` of k models that have
        runs on the dataset. NaN where there are no runs.

    Notes
    -----
    The best and the worst of any number of models thus get the same ranks on every dataset. A rank
    among one is no comparison, so a dataset that a single model has is NaN for it, unless there is
    only one model at all. Complete datasets keep their ranks exactly.

    Examples
    --------
    >>> rescale_ranks(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, np.nan]])).tolist()
    [[1.0, 1.0], [2.0, 3.0], [3.0, nan]]
    """
    n_models = len(ranks)
    present = np.count_nonzero(~np.isnan(ranks), axis=0)
    factors = (n_models - 1) / np.maximum(present - 1, 1)
    is_compared = (present > 1) | (n_models == 1)
    return np.asarray(np.where(is_compared, 1 + (ranks - 1) * factors, np.nan))


def average_ranks(ranks: FloatArray) -> FloatArray:
    """Average each model's ranks over the datasets where it has one, shape (models,).

    Examples
    --------
    >>> average_ranks(np.array([[1.0, 2.0], [np.nan, 1.0], [np.nan, np.nan]])).tolist()
    [1.5, 1.0, nan]
    """
    is_ranked = ~np.isnan(ranks)
    counts = np.count_nonzero(is_ranked, axis=1)
    sums = np.where(is_ranked, ranks, 0.0).sum(axis=1)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


@dataclass(frozen=True)
class RankTest:
    """A test of the hypothesis that all models are equal.

    Parameters
    ----------
    statistic : float
        Its statistic; infinite for the F of models in the same order on every dataset, NaN where
        it is not defined.
    df1, df2 : int or None
        Degrees of freedom; `df2` is None for chi-squared distributions.
    p : float
        Probability of a statistic as large or larger if all models are equal.
    """

    statistic: float
    df1: int
    df2: int | None
    p: float


def compute_friedman(ranks: FloatArray, *, correct_ties: bool = True) -> RankTest:
    """Friedman's test, with or without correction for ties.

    Parameters
    ----------
    ranks : numpy.ndarray, shape (models, datasets)
        Ranks within complete datasets, two models and one dataset at least.
    correct_ties : bool, optional
        Whether the variance of ranks is that of the ranks at hand, as in
        `scipy.stats.friedmanchisquare`, or that of ranks without ties, as in Demšar (2006).

    Returns
    -------
    RankTest
        Chi-squared with one degree of freedom less than models.

    Notes
    -----
    With k models on N datasets and rank sums R, the statistic is ``N (k - 1) W``, where Kendall's W
    is the sum of squares of the R about their mean, over its largest possible value. Where all
    models are equal on all datasets the statistic is 0 and p is 1.

    References
    ----------
    Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the
    analysis of variance. JASA 32, 675–701.

    Examples
    --------
    >>> compute_friedman(np.array([[1.0, 1.0], [2.0, 2.0]])).statistic
    2.0
    """
    n_models, n_datasets = ranks.shape
    spread, most = _measure_agreement(ranks, correct_ties=correct_ties)
    statistic = n_datasets * (n_models - 1) * spread / most if most else 0.0
    p = float(special.chdtrc(n_models - 1, statistic))
    return RankTest(statistic=statistic, df1=n_models - 1, df2=None, p=p)


def compute_iman_davenport(ranks: FloatArray, *, correct_ties: bool = True) -> RankTest:
    """Iman and Davenport's F, which is less conservative than Friedman's statistic.

    Parameters
    ----------
    ranks : numpy.ndarray, shape (models, datasets)
        Ranks within complete datasets, two models and one dataset at least.
    correct_ties : bool, optional
        As in `compute_friedman`.

    Returns
    -------
    RankTest
        F with ``k - 1`` and ``(k - 1) (N - 1)`` degrees of freedom.

    Notes
    -----
    ``F = (N - 1) X / (N (k - 1) - X)`` with Friedman's X. It is infinite, and p is 0, where all
    datasets order the models alike; it is NaN for a single dataset, which leaves no freedom.

    References
    ----------
    Iman, R. L. and Davenport, J. M. (1980). Approximations of the critical region of the Friedman
    statistic. Communications in Statistics A 9, 571–595.
    """
    n_models, n_datasets = ranks.shape
    df1, df2 = n_models - 1, (n_models - 1) * (n_datasets - 1)
    if df2 == 0:
        return RankTest(statistic=np.nan, df1=df1, df2=df2, p=np.nan)
    spread, most = _measure_agreement(ranks, correct_ties=correct_ties)
    if spread == 0:
        return RankTest(statistic=0.0, df1=df1, df2=df2, p=1.0)
    if spread == most:
        return RankTest(statistic=np.inf, df1=df1, df2=df2, p=0.0)
    statistic = (n_datasets - 1) * spread / (most - spread)
    return RankTest(statistic, df1, df2, float(special.fdtrc(df1, df2, statistic)))


def compute_skillings_mack(ranks: FloatArray) -> RankTest | None:
    """Skillings and Mack's test, Friedman's for datasets that lack some of the models.

    Parameters
    ----------
    ranks : numpy.ndarray, shape (models, datasets)
        Ranks within datasets; NaN where a model has no runs.

    Returns
    -------
    RankTest or None
        Chi-squared; None where no dataset has two models.

    Notes
    -----
    Each dataset adds ``sqrt((k_d - 1) / v_d) (r - (k_d + 1) / 2)`` to the sums A of the ``k_d``
    models that it has, v_d being the variance of its ranks: ``(k_d² - 1) / 12`` without ties. The
    statistic is ``A' C⁻ A``; C, the covariance of A, has minus the number of common datasets of two
    models beside its diagonal, and rows that sum to zero. There are as many degrees of freedom as
    models, less one for each set of models that datasets connect. Where all models of a dataset are
    tied, it does not count. On complete datasets without ties this is Friedman's statistic.

    References
    ----------
    Skillings, J. H. and Mack, G. A. (1981). On the use of a Friedman-type statistic in balanced and
    unbalanced block designs. Technometrics 23, 171–177.
    """
    is_ranked = ~np.isnan(ranks)
    ranks, is_ranked = (part[:, is_ranked.sum(axis=0) > 1] for part in (ranks, is_ranked))
    if not is_ranked.size:
        return None
    sizes = is_ranked.sum(axis=0)
    apart = np.where(is_ranked, ranks - (sizes + 1) / 2, 0.0)
    variances = (apart**2).sum(axis=0) / sizes
    has_order = variances > 0
    if not has_order.any():
        return RankTest(0.0, len(ranks) - 1, None, 1.0)
    apart, is_ranked, sizes, variances = (
        part[..., has_order] for part in (apart, is_ranked, sizes, variances)
    )
    sums = (apart * np.sqrt((sizes - 1) / variances)).sum(axis=1)
    common = is_ranked.astype(np.float64) @ is_ranked.T
    np.fill_diagonal(common, 0.0)
    covariance = np.diag(common.sum(axis=1)) - common
    n_sets, sets = sparse.csgraph.connected_components(common > 0, directed=False)
    # Within a set, sums add up to zero; a constant there makes the matrix regular and adds nothing.
    statistic = float(sums @ np.linalg.solve(covariance + (sets[:, None] == sets), sums))
    statistic = max(statistic, 0.0)
    df = len(ranks) - int(n_sets)
    return RankTest(statistic, df, None, float(special.chdtrc(df, statistic)))


def tabulate_rank_tests(matrix: ScoreMatrix) -> pd.DataFrame:
    """Test whether the models differ at all.

    Parameters
    ----------
    matrix : ScoreMatrix
        All cells.

    Returns
    -------
    pandas.DataFrame
        Columns ``test``, ``test_statistic`` (missing where it is infinite, which has p = 0, or
        not defined, which has none), ``df1``, ``df2`` (missing for chi-squared), ``p``,
        ``models``, ``datasets``, ``cells_used`` and ``cells_unused``. Rows ``friedman``,
        ``friedman_without_tie_correction``, ``iman_davenport`` and
        ``iman_davenport_without_tie_correction`` on the datasets that all models have, if any, and
        ``skillings_mack`` on all datasets that two models have, if cells are empty. No row for a
        single model.
    """
    ranks = rank_within_datasets(matrix.means)
    present = matrix.is_filled.sum(axis=0)
    is_common, is_shared = present == len(matrix.models), present > 1
    rows = []
    if is_common.any() and len(matrix.models) > 1:
        complete = ranks[:, is_common]
        for suffix, correct in (("", True), ("_without_tie_correction", False)):
            friedman = compute_friedman(complete, correct_ties=correct)
            iman_davenport = compute_iman_davenport(complete, correct_ties=correct)
            rows.append(_make_row(f"friedman{suffix}", friedman, matrix, is_common))
            rows.append(_make_row(f"iman_davenport{suffix}", iman_davenport, matrix, is_common))
    skillings_mack = None if matrix.is_filled.all() else compute_skillings_mack(ranks)
    if skillings_mack:
        rows.append(_make_row("skillings_mack", skillings_mack, matrix, is_shared))
    rows.sort(key=lambda row: TESTS.index(row["test"]))
    return pd.DataFrame(rows, columns=list(TEST_COLUMNS)).astype(TEST_COLUMNS)


def _make_row(
    name: str, result: RankTest, matrix: ScoreMatrix, is_used: BoolArray
) -> dict[str, Any]:
    used = int(matrix.is_filled[:, is_used].sum())
    return {
        "test": name,
        "test_statistic": result.statistic if np.isfinite(result.statistic) else np.nan,
        **asdict(result),
        "models": len(matrix.models),
        "datasets": int(is_used.sum()),
        "cells_used": used,
        "cells_unused": int(matrix.is_filled.sum()) - used,
    }


def _measure_agreement(ranks: FloatArray, *, correct_ties: bool) -> tuple[float, float]:
    """Twelve times the squares of rank sums about their mean, and their largest value; exact."""
    n_models, n_datasets = ranks.shape
    apart = ranks.sum(axis=1) - n_datasets * (n_models + 1) / 2
    most = n_datasets * (n_models**3 - n_models)
    if correct_ties:
        most = 12 * float(((ranks - (n_models + 1) / 2) ** 2).sum())
    return 12 * float((apart**2).sum()), float(n_datasets * most)


def studentized_range_sf(values: FloatArray, *, n: int) -> FloatArray:
    """Survival function of the studentized range of n standard normal numbers.

    Parameters
    ----------
    values : numpy.ndarray, shape (values,)
        Not negative.
    n : int
        How many numbers, two or more.

    Returns
    -------
    numpy.ndarray, shape (values,)
        ``scipy.stats.studentized_range.sf(values, n, inf)``, for all values at once and with small
        probabilities to their relative precision.

    Notes
    -----
    The largest number z has the density ``n φ(z) Φ(z)^(n-1)``, and the others all lie within q of
    it with probability ``(1 - Φ(z - q) / Φ(z))^(n-1)``. The integral of one minus that over z is a
    sum on an even grid, which is exact to rounding for such a smooth integrand.

    References
    ----------
    Lund, R. E. and Lund, J. R. (1983). Algorithm AS 190: Probabilities and upper quantiles for the
    studentized range. Applied Statistics 32, 204–210.

    Examples
    --------
    >>> studentized_range_sf(np.array([0.0, 3.3145]), n=3).round(4).tolist()
    [1.0, 0.05]
    """
    z = np.arange(*NORMAL_RANGE, NORMAL_STEP)
    below = special.log_ndtr(z)
    density = n * NORMAL_STEP * np.exp(-(z**2) / 2 + (n - 1) * below) / math.sqrt(2 * math.pi)
    probabilities = np.empty(len(values))
    step = max(CHUNK_CELLS // len(z), 1)
    for first in range(0, len(values), step):
        q = values[first : first + step, None]
        beyond = np.exp(np.minimum(special.log_ndtr(z - q) - below, 0.0))
        with np.errstate(divide="ignore"):
            none_beyond = (n - 1) * np.log1p(-beyond)
        # Not by `@`, whose last digit depends on where the arrays lie in memory.
        probabilities[first : first + step] = (-np.expm1(none_beyond) * density).sum(axis=1)
    return np.clip(probabilities, 0.0, 1.0)


def find_critical_difference(*, models: int, datasets: int, alpha: float) -> float:
    """The difference of mean ranks that Nemenyi's test calls significant.

    Parameters
    ----------
    models, datasets : int
        How many were ranked; two models and one dataset at least.
    alpha : float
        Significance level, between 0 and 1.

    Returns
    -------
    float
        ``q sqrt(k (k + 1) / (6 N))`` with q the upper quantile of the studentized range with
        infinite degrees of freedom, over the square root of 2.

    References
    ----------
    Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1–30.

    Examples
    --------
    >>> round(find_critical_difference(models=4, datasets=14, alpha=0.05), 2)
    1.25
    """

    def miss(q: float) -> float:
        return float(studentized_range_sf(np.array([q]), n=models)[0]) - alpha

    quantile = float(optimize.brentq(miss, 0.0, LARGEST_RANGE, xtol=1e-13))
    return quantile * _scale_differences(models, datasets)


def compare_mean_ranks(matrix: ScoreMatrix, *, alpha: float) -> pd.DataFrame:
    """Compare the mean ranks of all pairs of models by Nemenyi's test.

    Parameters
    ----------
    matrix : ScoreMatrix
        All cells.
    alpha : float
        Significance level, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        A row per pair, by names: ``model_a``, ``model_b``, ``rank_difference`` (mean rank of a
        minus that of b, so negative where a is better), ``critical_difference``, ``p``,
        ``separated`` and ``datasets``. Only datasets that all models have count; without any, or
        with a single model, there are no rows.

    Notes
    -----
    Two models are separated when their mean ranks differ by the critical difference or more. The
    verdict on two models depends on which others are compared: they change the ranks between the
    two, and the critical difference. p is that of `scikit_posthocs.posthoc_nemenyi_friedman`. Ties
    are not corrected for.

    References
    ----------
    Nemenyi, P. B. (1963). Distribution-free multiple comparisons. PhD thesis, Princeton.
    Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1–30.
    """
    n_models, common = len(matrix.models), average_common(matrix)
    if common is None or n_models < 2:
        return pd.DataFrame(columns=list(PAIR_COLUMNS)).astype(PAIR_COLUMNS)
    n_datasets = int(matrix.is_filled.all(axis=0).sum())
    pairs = list_pairs(n_models)
    differences = common[pairs.first] - common[pairs.second]
    sizes, places = np.unique(np.abs(differences).round(12), return_inverse=True)
    critical = find_critical_difference(models=n_models, datasets=n_datasets, alpha=alpha)
    names = np.array(matrix.models, dtype=object)
    table = pd.DataFrame(
        {
            "model_a": names[pairs.first],
            "model_b": names[pairs.second],
            "rank_difference": differences,
            "critical_difference": critical,
            "p": studentized_range_sf(sizes / _scale_differences(n_models, n_datasets), n=n_models)[
                places
            ],
            "separated": np.abs(differences) >= critical,
            "datasets": n_datasets,
        }
    )
    return table.astype(PAIR_COLUMNS)


def average_common(matrix: ScoreMatrix) -> FloatArray | None:
    """Mean rank of each model over the datasets that all models have; None without any."""
    is_common = matrix.is_filled.all(axis=0)
    if not is_common.any():
        return None
    return average_ranks(rank_within_datasets(matrix.means[:, is_common]))


def _scale_differences(models: int, datasets: int) -> float:
    """Difference of mean ranks per unit of the studentized range."""
    return math.sqrt(models * (models + 1) / (12 * datasets))
