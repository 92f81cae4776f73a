"""On which datasets models do better or worse than their overall level leads one to expect."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.ranking.aggregation import FloatArray, IntArray, arrange_runs
from capmap.ranking.holes import fit_levels

COLUMNS = ["model", "dataset", "score", "expected", "difference", "ci_low", "ci_high"]
NEGLIGIBLE = 1e-9
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
    """Compare every filled cell with what the levels of its model and of its dataset add up to.

    Models are in the order of the ranking, their best dataset first. Intervals are over new runs
    and hold for all cells at once: Student's, with Bonferroni's correction. The residual of the
    additive model is a linear form of the means, so its variance follows from those of the cells,
    which `moderate_variances` estimates; its degrees of freedom are Satterthwaite's, with the
    fewest of any cell for what the other cells add. There are none where no cell has two runs, none
    varies, or the cell's model or dataset has no other cell.
    """
    matrix = arrange_runs(runs)
    filled = matrix.is_filled
    rows, columns = np.nonzero(filled)
    variance, df = moderate_variances(matrix.variances, matrix.counts)
    known = np.isfinite(variance) & filled
    noise = np.where(known, variance, 0) / np.maximum(matrix.counts, 1)
    fitted, leverage, spread = fit_levels(matrix.means, noise, filled)
    own = (1 - leverage) ** 2 * noise
    total = np.maximum(noise * (1 - 2 * leverage) + spread, own)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = total**2 / (own**2 / df + (total - own) ** 2 / df[known].min(initial=np.inf))
    is_sure = (known == filled).all() & (1 - leverage > NEGLIGIBLE) & (total > 0) & filled
    tail = (1 - confidence_level) / (2 * max(is_sure.sum(), 1))
    reach = scipy.special.stdtrit(np.where(is_sure, freedom, 1), 1 - tail)
    half = np.where(is_sure, reach * np.sqrt(np.where(is_sure, total, 0)), np.nan)[rows, columns]
    means, expected = matrix.means[rows, columns], fitted[rows, columns]
    difference = np.where(np.abs(means - expected) < NEGLIGIBLE, 0.0, means - expected)
    names = np.array(matrix.models, dtype=object)[rows], np.array(matrix.datasets, object)[columns]
    values = *names, means, means - difference, difference, difference - half, difference + half
    table = pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))
    table = table.sort_values(["difference", "dataset"], ascending=[False, True])
    ranked = pd.Index(ranking["model"].unique()).get_indexer(table["model"])
    return table.iloc[np.argsort(ranked, kind="stable")].reset_index(drop=True)


def moderate_variances(variances: FloatArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Variance of the runs of each cell, drawn towards that of the cells of its dataset.

    Empirical Bayes (Smyth 2004): variances of a dataset are scaled inverse chi-squared with a
    center of its own and degrees of freedom common to all, both by the moments of their logarithms.
    Returned are the variances and their degrees of freedom; NaN on datasets where no variance is
    known, and everywhere if none is above zero.
    """
    df = np.where(np.isfinite(variances), counts - 1, 0)
    known = df > 0
    if not (variances[known] > 0).any():
        return np.full(counts.shape, np.nan), np.full(counts.shape, np.nan)
    pooled_df = df.sum(axis=0)
    with np.errstate(invalid="ignore"):
        pooled = np.where(known, df * variances, 0).sum(axis=0) / pooled_df
    floor = SMALLEST * np.where(pooled > 0, pooled, np.nanmax(pooled))
    half = np.maximum(df, 1) / 2
    logs = np.log(np.maximum(np.where(known, variances, 1), floor))
    logs = np.where(known, logs - scipy.special.digamma(half) + np.log(half), 0)
    cells = known.sum(axis=0)
    shared = np.maximum(cells, 1)
    center = logs.sum(axis=0) / shared
    spread = np.where(known, (logs - center) ** 2, 0).sum()
    noise = np.where(known, scipy.special.polygamma(1, half), 0).sum(axis=0)
    own, freedom = noise - noise / shared, np.maximum(cells - 1, 0).sum()
    excess = max((spread - own.sum()) / freedom, 0.0) if freedom else np.inf
    # The center is uncertain as well.
    prior_df = 2 * _invert_trigamma(excess + (excess + noise / shared) / shared)
    half = np.maximum(prior_df, NEGLIGIBLE) / 2
    prior = np.exp(center + scipy.special.digamma(half) - np.log(half))
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
    >>> _invert_trigamma(scipy.special.polygamma(1, np.array([0.5, 2.5]))).round(9).tolist()
    [0.5, 2.5]
    """
    finite = np.isfinite(values) & (values > 0)
    target = np.where(finite, values, 1.0)
    x = 0.5 + 1 / target
    for _ in range(STEPS):
        trigamma = scipy.special.polygamma(1, x)
        x += trigamma * (1 - trigamma / target) / scipy.special.polygamma(2, x)
    return np.where(finite, x, 0.0)


def find_facts(strengths: pd.DataFrame, ranking: pd.DataFrame) -> dict[str, Any]:
    """Where models do better and worse than expected, the largest residuals first."""
    above, below = strengths[strengths["ci_low"] > 0], strengths[strengths["ci_high"] < 0]
    shown = ["model", "dataset", "difference"]
    return {
        "tested": int(strengths["ci_low"].notna().sum()),
        "found": len(above) + len(below),
        "strongest": above.nlargest(SHOWN_CELLS, "difference")[shown].to_numpy().tolist(),
        "unit": next(iter(ranking["unit"]), "runs"),
        "weakest": below.nsmallest(SHOWN_CELLS, "difference")[shown].to_numpy().tolist(),
    }


ANALYSIS = Analysis(
    question="Where does each model do better than expected?",
    position=5,
    default=True,
    tables={
        "strengths": Table(
            "Mean normalized score of each model on each dataset, what the overall levels of both "
            "add up to, and the difference, with intervals for all cells at once.",
            " ".join(COLUMNS),
        ),
    },
    figures={
        "strengths": Figure(
            "By how much each model beats, on each dataset, what its overall level and that of "
            "the dataset lead one to expect; best model on top.",
            draw="capmap.figures.datasets:draw_strengths",
        ),
    },
    steps={"measure_strengths": Step(measure_strengths)},
    find_facts=find_facts,
    meanings={
        "strengths.difference": "Score less the expected one; above 0: a strength.",
        "strengths.expected": "What the overall levels of model and dataset add up to.",
        "strengths.score": "Mean normalized score over runs.",
    },
)
