"""Do the models differ at all: Friedman, Iman-Davenport and Skillings-Mack tests."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse, special

from capmap.aggregation import FloatArray
from capmap.cells import BoolArray, Missing, ScoreMatrix, choose_common
from capmap.comparison.dataset_ranks import rank_within_datasets

TESTS = [
    "friedman",
    "friedman_without_tie_correction",
    "iman_davenport",
    "iman_davenport_without_tie_correction",
    "skillings_mack",
]
COLUMNS = {
    "test": "str",
    "statistic": "float64",
    "df1": "Int64",
    "df2": "Int64",
    "p": "float64",
    "models": "int64",
    "datasets": "int64",
    "cells_used": "int64",
    "cells_unused": "int64",
}


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
    Each dataset adds ``sqrt(12 / (k_d + 1)) (r - (k_d + 1) / 2)`` to the sums A of the ``k_d``
    models that it has. The statistic is ``A' C⁻ A``; C, the covariance of A, has minus the number
    of common datasets of two models beside its diagonal, and rows that sum to zero. There are as
    many degrees of freedom as models, less one for each set of models that datasets connect. Ties
    have mean ranks and are not corrected for. On complete datasets this is Friedman's statistic
    without correction.

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
    scaled = np.sqrt(12 / (sizes + 1)) * (ranks - (sizes + 1) / 2)
    sums = np.where(is_ranked, scaled, 0.0).sum(axis=1)
    common = is_ranked.astype(np.float64) @ is_ranked.T
    np.fill_diagonal(common, 0.0)
    covariance = np.diag(common.sum(axis=1)) - common
    n_sets, sets = sparse.csgraph.connected_components(common > 0, directed=False)
    # Within a set, sums add up to zero; a constant there makes the matrix regular and adds nothing.
    statistic = float(sums @ np.linalg.solve(covariance + (sets[:, None] == sets), sums))
    statistic = max(statistic, 0.0)
    df = len(ranks) - int(n_sets)
    return RankTest(statistic, df, None, float(special.chdtrc(df, statistic)))


def tabulate_rank_tests(matrix: ScoreMatrix, *, missing: Missing) -> pd.DataFrame:
    """Test whether the models differ at all.

    Parameters
    ----------
    matrix : ScoreMatrix
        All cells.
    missing : {"pairwise", "common"}
        Policy for empty cells. Under ``pairwise``, cells that not all models have are used by the
        Skillings-Mack test.

    Returns
    -------
    pandas.DataFrame
        Columns ``test``, ``statistic`` (missing where it is infinite, which has p = 0, or not
        defined, which has none), ``df1``, ``df2`` (missing for chi-squared), ``p``, ``models``,
        ``datasets``, ``cells_used`` and ``cells_unused``. Rows ``friedman``,
        ``friedman_without_tie_correction``, ``iman_davenport`` and
        ``iman_davenport_without_tie_correction`` on the datasets that all models have, if any, and
        ``skillings_mack`` on all datasets that two models have, if cells are empty. No row for a
        single model.

    Raises
    ------
    ValidationError
        If no dataset has runs of every model under ``common``.
    """
    filled = choose_common(matrix, missing=missing).is_filled
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
    skillings_mack = None if filled.all() else compute_skillings_mack(ranks)
    if skillings_mack:
        rows.append(_make_row("skillings_mack", skillings_mack, matrix, is_shared))
    rows.sort(key=lambda row: TESTS.index(row["test"]))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _make_row(
    name: str, result: RankTest, matrix: ScoreMatrix, is_used: BoolArray
) -> dict[str, Any]:
    used = int(matrix.is_filled[:, is_used].sum())
    return {
        "test": name,
        **asdict(result),
        "statistic": result.statistic if np.isfinite(result.statistic) else np.nan,
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
