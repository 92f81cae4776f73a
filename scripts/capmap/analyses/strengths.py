"""On which datasets models do better or worse than their overall level leads one to expect."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.claims import BETTER, WORSE, Claim, claim_strengths
from capmap.comparison.score_matrix import BoolArray, ScoreMatrix, arrange_runs
from capmap.ranking.aggregation import FloatArray, IntArray

COLUMNS = ["model", "dataset", "score", "expected", "difference", "ci_low", "ci_high"]
NEGLIGIBLE = 1e-9
# Eigenvalues below this part of the largest are rounding.
SINGULAR = 1e-12
# Variances far below the median of their dataset say that the scores are coarse.
SMALLEST = 1e-5
STEPS = 50
SHOWN_CELLS = 3
# Of the degrees of freedom of the center, as it is estimated itself and variances have heavier
# tails than chi-squared ones: with all of them, 18% of studies of 20 models on 20 datasets with
# three runs and very unequal noise had a false finding at 5%, with half 3 to 5%.
TRUSTED = 0.5


def measure_strengths(
    runs: pd.DataFrame, ranking: pd.DataFrame, *, confidence_level: float
) -> pd.DataFrame:
    """Compare every cell with what the levels of its model and of its dataset add up to.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, finite), a row per run.
    ranking : pandas.DataFrame
        Column ``model``, best first.
    confidence_level : float
        Probability that all intervals hold at once, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        The columns of `COLUMNS`, a row per filled cell; models by rank, their best dataset first.
        Intervals are over new runs; NaN without an estimate of their noise: no cell has two, none
        varies, or the cell's model or dataset has no other cell.

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
    fit = AdditiveFit(matrix.is_filled)
    expected = fit.predict(matrix.means)[rows, columns]
    error, df = (found[rows, columns] for found in _measure_errors(matrix, fit))
    difference = np.where(np.abs(means - expected) < NEGLIGIBLE, 0.0, means - expected)
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
    place = {model: number for number, model in enumerate(ranking["model"].unique())}
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


class AdditiveFit:
    """Least squares of a level for each model and each dataset.

    Of the normal equations only what the longer axis leaves of those of the shorter one is
    inverted (Schur's complement).

    Parameters
    ----------
    filled : numpy.ndarray of bool, shape (models, datasets)
        Which cells there are; each model and dataset has one or more.
    """

    def __init__(self, filled: BoolArray) -> None:
        self._lay = np.transpose if filled.shape[1] > filled.shape[0] else np.asarray
        self._filled = self._lay(filled)
        self._cells = self._filled.sum(axis=1, keepdims=True)
        self._shares = self._filled / self._cells
        left = np.diag(self._filled.sum(axis=0)) - self._shares.T @ self._filled
        self._inverse = np.linalg.pinv(left, rcond=SINGULAR, hermitian=True)

    def predict(self, means: FloatArray) -> FloatArray:
        """Fitted values of all cells; `means` of empty ones are not read."""
        known = np.where(self._filled, self._lay(means), 0)
        rows = known.sum(axis=1, keepdims=True) / self._cells
        columns = self._inverse @ (known - self._filled * rows).sum(axis=0)
        return self._lay(rows - (self._shares @ columns)[:, None] + columns)

    def measure_leverages(self) -> FloatArray:
        """Leverage of each cell."""
        return self._lay(1 / self._cells + self._read_form(self._inverse))

    def spread_noise(self, noise: FloatArray) -> FloatArray:
        """Variances of the fitted values from those of the cells' means, 0 for empty cells."""
        noise = self._lay(noise)
        rows = noise.sum(axis=1, keepdims=True)
        crossed = noise.T @ self._shares
        moved = np.diag(noise.sum(axis=0)) - crossed - crossed.T
        moved += self._shares.T @ (rows * self._shares)
        common = (noise - rows * self._shares) @ self._inverse
        common -= (common * self._shares).sum(axis=1, keepdims=True)
        own = (rows / self._cells + 2 * common) / self._cells
        return self._lay(own + self._read_form(self._inverse @ moved @ self._inverse))

    def _read_form(self, matrix: FloatArray) -> FloatArray:
        """Form u'Mu of each cell, whose u is one in its column, less the shares of its row."""
        crossed = self._shares @ matrix
        rows = (crossed * self._shares).sum(axis=1, keepdims=True)
        return np.asarray(np.diag(matrix) - 2 * crossed + rows)


def _measure_errors(matrix: ScoreMatrix, fit: AdditiveFit) -> tuple[FloatArray, FloatArray]:
    """Standard error of each residual and its degrees of freedom; 0 where runs do not allow one."""
    found = moderate_variances(matrix.variances, matrix.counts)
    if found is None:
        return np.zeros(matrix.counts.shape), np.ones(matrix.counts.shape)
    variance, df = found
    known: BoolArray = np.isfinite(variance) & matrix.is_filled
    noise = np.where(known, variance, 0) / np.maximum(matrix.counts, 1)
    leverage = fit.measure_leverages()
    own = (1 - leverage) ** 2 * noise
    total = np.maximum(noise * (1 - 2 * leverage) + fit.spread_noise(noise), own)
    fewest = df[known].min()
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = total**2 / (own**2 / df + (total - own) ** 2 / fewest)
    sure = (known == matrix.is_filled).all() & (1 - leverage > NEGLIGIBLE) & (total > 0)
    return np.where(sure, np.sqrt(total), 0), np.where(sure, freedom, 1)


def find_facts(strengths: pd.DataFrame, *, confidence_level: float) -> dict[str, Any]:
    """Where models do better and worse than expected, the largest residuals first."""
    claims = claim_strengths(strengths, confidence_level=confidence_level)
    return {
        "tested": int(strengths["ci_low"].notna().sum()),
        "found": len(claims),
        "strongest": _list_cells(strengths, claims, BETTER),
        "weakest": _list_cells(strengths, claims, WORSE),
    }


def _list_cells(
    strengths: pd.DataFrame, claims: list[Claim], relation: str
) -> list[tuple[str, str, float]]:
    """Model, dataset and residual of the cells of which that is claimed, the first three."""
    claimed = {(claim.subject, claim.object) for claim in claims if claim.relation == relation}
    cells = zip(strengths["model"], strengths["dataset"], strengths["difference"], strict=True)
    own = [cell for cell in cells if cell[:2] in claimed]
    return sorted(own, key=lambda cell: -abs(cell[2]))[:SHOWN_CELLS]


ANALYSIS = Analysis(
    question="Where does each model do better than expected?",
    position=5,
    default=True,
    tables={
        "strengths": Table(
            "Mean normalized score of each model on each dataset, what the overall levels of both"
            " add up to, and the difference with its interval over new runs, for all cells at "
            "once.",
            "model dataset score expected difference ci_low ci_high",
        ),
    },
    figures={
        "strengths": Figure(
            "By how much each model beats, on each dataset, what its overall level and that of "
            "the dataset lead one to expect; best model on top.",
            draw="capmap.figures.datasets:draw_strengths",
            reads=["strengths"],
            order="ranking",
        ),
    },
    steps={
        "measure_strengths": Step(
            measure_strengths,
            tables=["strengths"],
            reads=["runs", "ranking"],
            options={
                "confidence_level": "bootstrap/confidence",
            },
        ),
    },
    find_facts=find_facts,
    meanings={
        "strengths.difference": "Score less the expected one; above 0: a strength.",
        "strengths.expected": "What the overall levels of model and dataset add up to.",
        "strengths.score": "Mean normalized score over runs.",
    },
)
