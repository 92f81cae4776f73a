"""Nemenyi's test: which mean ranks differ by more than chance, given all models together."""

import math

import numpy as np
import pandas as pd
from scipy import optimize, special

from capmap.aggregation import FloatArray
from capmap.cells import ScoreMatrix, list_pairs
from capmap.comparison.dataset_ranks import average_ranks, rank_within_datasets

COLUMNS = {
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


def exceed_range(values: FloatArray, *, n: int) -> FloatArray:
    """Probability that n standard normal numbers spread over more than some values.

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
    >>> exceed_range(np.array([0.0, 3.3145]), n=3).round(4).tolist()
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
        probabilities[first : first + step] = -np.expm1(none_beyond) @ density
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
        return float(exceed_range(np.array([q]), n=models)[0]) - alpha

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
        return pd.DataFrame(columns=list(COLUMNS)).astype(COLUMNS)
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
            "p": exceed_range(sizes / _scale_differences(n_models, n_datasets), n=n_models)[places],
            "separated": np.abs(differences) >= critical,
            "datasets": n_datasets,
        }
    )
    return table.astype(COLUMNS)


def average_common(matrix: ScoreMatrix) -> FloatArray | None:
    """Mean rank of each model over the datasets that all models have; None without any."""
    is_common = matrix.is_filled.all(axis=0)
    if not is_common.any():
        return None
    return average_ranks(rank_within_datasets(matrix.means[:, is_common]))


def _scale_differences(models: int, datasets: int) -> float:
    """Difference of mean ranks per unit of the studentized range."""
    return math.sqrt(models * (models + 1) / (12 * datasets))
