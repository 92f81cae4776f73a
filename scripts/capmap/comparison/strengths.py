"""On which datasets models do better or worse than their overall level leads one to expect."""

import numpy as np
import pandas as pd
from scipy import special

from capmap.comparison.score_matrix import BoolArray, ScoreMatrix, arrange_runs
from capmap.ranking.aggregation import FloatArray, IntArray

COLUMNS = ["model", "dataset", "score", "expected", "difference", "ci_low", "ci_high"]
NEGLIGIBLE = 1e-9
# Variances far below the median of their dataset say that the scores are coarse.
SMALLEST = 1e-5
STEPS = 50
# Of the degrees of freedom of the center, as it is estimated itself and variances have heavier
# tails than chi-squared ones: with all of them, 18% of studies of 20 models on 20 datasets with
# three runs and very unequal noise had a false finding at 5%, with half 3 to 5%.
TRUSTED = 0.5


def measure_strengths(
    runs: pd.DataFrame, scopes: pd.DataFrame, *, confidence_level: float
) -> pd.DataFrame:
    """Compare every cell with what the levels of its model and of its dataset add up to.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, finite), a row per run.
    scopes : pandas.DataFrame
        Column ``model``, best first.
    confidence_level : float
        Probability that all intervals hold at once, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        The columns of `COLUMNS`, a row per filled cell; models by rank, their best dataset first.
        Intervals are over new runs; NaN where runs do not tell: no cell has two, none varies, or
        the cell's model or dataset has no other cell.

    Notes
    -----
    Expected is the fit of an additive model of the cells' means, by least squares over the filled
    cells. The residual is a linear form of the means, so its variance follows from those of the
    cells, which `moderate_variances` estimates; its degrees of freedom are Satterthwaite's, with
    the fewest of any cell for what the other cells add. Intervals are Student's, with Bonferroni's
    correction over all cells. Runs are taken as independent: where runs of a seed have something in
    common over datasets or models, that leaves with the levels, and intervals are too wide.
    """
    matrix = arrange_runs(runs)
    rows, columns = np.nonzero(matrix.is_filled)
    means = matrix.means[rows, columns]
    inverse = _invert_design(rows, columns, matrix.means.shape)
    expected = _fit_levels(inverse, rows, columns, means, matrix.means.shape)
    difference = np.where(np.abs(means - expected) < NEGLIGIBLE, 0.0, means - expected)
    error, df = _measure_errors(matrix, inverse, rows, columns)
    is_sure = error > 0
    tail = (1 - confidence_level) / (2 * max(is_sure.sum(), 1))
    half = np.where(is_sure, special.stdtrit(df, 1 - tail) * error, np.nan)
    table = pd.DataFrame(
        {
            "model": np.array(matrix.models, dtype=object)[rows],
            "dataset": np.array(matrix.datasets, dtype=object)[columns],
            "score": means,
            "expected": means - difference,
            "difference": difference,
            "ci_low": difference - half,
            "ci_high": difference + half,
        }
    )
    place = {model: number for number, model in enumerate(scopes["model"].unique())}
    order = table["model"].map(place).fillna(len(place))
    table = table.assign(order=order).sort_values(
        ["order", "model", "difference", "dataset"], ascending=[True, True, False, True]
    )
    return table[COLUMNS].reset_index(drop=True)


def moderate_variances(
    variances: FloatArray, counts: IntArray
) -> tuple[FloatArray, FloatArray] | None:
    """Variance of the runs of each cell, drawn towards that of the cells of its dataset.

    Parameters
    ----------
    variances : numpy.ndarray, shape (models, datasets)
        Sample variances; NaN with fewer than two runs.
    counts : numpy.ndarray of int, shape (models, datasets)
        Number of runs.

    Returns
    -------
    tuple of numpy.ndarray, shape (models, datasets), or None
        Variances and their degrees of freedom, NaN on datasets where no variance is known; None
        where none is known at all, or none is above zero.

    Notes
    -----
    Empirical Bayes: variances of a dataset are scaled inverse chi-squared with a center of its own
    and degrees of freedom common to all, both by the moments of their logarithms. No cell gets more
    degrees of freedom than its dataset has altogether.

    References
    ----------
    Smyth, G. K. (2004). Linear models and empirical Bayes methods for assessing differential
    expression in microarray experiments. Statistical Applications in Genetics and Molecular Biology
    3(1), article 3. Section 6.
    """
    df = np.where(np.isfinite(variances), counts - 1, 0)
    known = df > 0
    if not (variances[known] > 0).any():
        return None
    pooled_df = df.sum(axis=0)
    with np.errstate(invalid="ignore"):
        pooled = np.where(known, df * variances, 0).sum(axis=0) / pooled_df
    floor = SMALLEST * np.where(pooled > 0, pooled, np.nanmax(pooled))
    half = np.maximum(df, 1) / 2
    logs = np.log(np.maximum(np.where(known, variances, 1), floor))
    logs = np.where(known, logs - special.digamma(half) + np.log(half), 0)
    cells = known.sum(axis=0)
    center = logs.sum(axis=0) / np.maximum(cells, 1)
    spread = np.where(known, (logs - center) ** 2, 0).sum()
    noise = np.where(known, special.polygamma(1, half), 0).sum(axis=0)
    own = noise - noise / np.maximum(cells, 1)
    freedom = np.maximum(cells - 1, 0).sum()
    excess = max((spread - own.sum()) / freedom, 0.0) if freedom else np.inf
    # The center is uncertain as well.
    wide = excess + (excess + noise / np.maximum(cells, 1)) / np.maximum(cells, 1)
    prior_df = 2 * _invert_trigamma(wide)
    half = np.maximum(prior_df, NEGLIGIBLE) / 2
    prior = np.exp(center + special.digamma(half) - np.log(half))
    total = prior_df + df
    with np.errstate(invalid="ignore"):
        moderated = (prior_df * prior + df * np.where(known, variances, 0)) / total
    usable = (pooled_df > 0) & (total > 0)
    counted = df + TRUSTED * prior_df
    return np.where(usable, moderated, np.nan), np.where(usable, counted, np.nan)


def _invert_trigamma(values: FloatArray) -> FloatArray:
    """Where the trigamma function has values above 0, by Newton's method (Smyth 2004, appendix).

    Examples
    --------
    >>> _invert_trigamma(special.polygamma(1, np.array([0.5, 2.5]))).round(9).tolist()
    [0.5, 2.5]
    """
    finite = np.isfinite(values) & (values > 0)
    target = np.where(finite, values, 1.0)
    x = 0.5 + 1 / target
    for _ in range(STEPS):
        trigamma = special.polygamma(1, x)
        x += trigamma * (1 - trigamma / target) / special.polygamma(2, x)
    return np.where(finite, x, 0.0)


def _invert_design(rows: IntArray, columns: IntArray, shape: tuple[int, ...]) -> FloatArray:
    """Pseudo-inverse of the normal equations of levels of models, then of datasets."""
    return np.asarray(np.linalg.pinv(_weigh_design(rows, columns, shape, 1.0), hermitian=True))


def _weigh_design(
    rows: IntArray, columns: IntArray, shape: tuple[int, ...], weights: FloatArray | float
) -> FloatArray:
    """Z'WZ, where Z tells which model and which dataset each cell has."""
    cells = np.zeros(shape)
    cells[rows, columns] = weights
    return np.block([[np.diag(cells.sum(axis=1)), cells], [cells.T, np.diag(cells.sum(axis=0))]])


def _fit_levels(
    inverse: FloatArray,
    rows: IntArray,
    columns: IntArray,
    means: FloatArray,
    shape: tuple[int, ...],
) -> FloatArray:
    sums = np.concatenate(
        [
            np.bincount(rows, weights=means, minlength=shape[0]),
            np.bincount(columns, weights=means, minlength=shape[1]),
        ]
    )
    levels = inverse @ sums
    return np.asarray(levels[rows] + levels[shape[0] + columns])


def _measure_errors(
    matrix: ScoreMatrix, inverse: FloatArray, rows: IntArray, columns: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Standard error of each residual and its degrees of freedom; 0 where runs do not tell."""
    nothing = np.zeros(len(rows)), np.ones(len(rows))
    found = moderate_variances(matrix.variances, matrix.counts)
    if found is None:
        return nothing
    variance, df = (values[rows, columns] for values in found)
    known: BoolArray = np.isfinite(variance)
    noise = np.where(known, variance, 0) / matrix.counts[rows, columns]
    places = rows, matrix.means.shape[0] + columns
    leverage = _read_form(inverse, *places)
    spread = inverse @ _weigh_design(rows, columns, matrix.means.shape, noise) @ inverse
    own = (1 - leverage) ** 2 * noise
    total = np.maximum(noise * (1 - 2 * leverage) + _read_form(spread, *places), own)
    fewest = df[known].min()
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = total**2 / (own**2 / df + (total - own) ** 2 / fewest)
    sure = known.all() & (1 - leverage > NEGLIGIBLE) & (total > 0)
    return np.where(sure, np.sqrt(total), 0), np.where(sure, freedom, 1)


def _read_form(matrix: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Z'Mz of each cell, whose z has a one at two places."""
    return np.asarray(matrix[first, first] + 2 * matrix[first, second] + matrix[second, second])
