"""How reliable an order by mean scores is, and how many datasets it needs."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from capmap.analyses.declarations import Analysis, Step, Table
from capmap.comparison.score_matrix import ScoreMatrix, arrange_runs, count_unused
from capmap.ranking.aggregation import FloatArray

COEFFICIENTS = ["datasets", "seeds", "relative", "ci_low", "ci_high"]
EFFECTIVE = ["datasets", "models", "effective", "effective_independent", "cells_unused"]
NEGLIGIBLE = 1e-12
RELIABLE = 0.9


def assess_reliability(runs: pd.DataFrame, *, confidence_level: float) -> dict[str, pd.DataFrame]:
    """Say how reliable the order of the models is, on the datasets that all of them have."""
    every = arrange_runs(runs)
    matrix = every.choose_datasets(every.is_filled.all(axis=0))
    shape = len(matrix.models), len(matrix.datasets)
    effective = (*shape[::-1], *count_effective(matrix.means), count_unused(every, matrix))
    rows = _generalize(matrix, confidence_level) if min(shape) > 1 else []
    return {
        "generalizability": pd.DataFrame(rows, columns=COEFFICIENTS),
        "effective_datasets": pd.DataFrame([effective], columns=EFFECTIVE),
    }


def _generalize(matrix: ScoreMatrix, level: float) -> list[tuple[float, ...]]:
    """Rows of coefficients: of the study, and of the fewest datasets with which 0.9 is expected.

    Variance components come from the expected mean squares of the random two-way layout; negative
    ones become 0. The coefficient is that of relative decisions (Brennan 2001, equation 1.13), with
    the interval of ICC(C,k) (McGraw and Wong 1996), stretched to it where a component became 0.
    """
    (n, datasets), means, counts = matrix.means.shape, matrix.means, matrix.counts
    rows, columns = (means.mean(axis=axis, keepdims=True) - means.mean() for axis in (1, 0))
    rest = means - means.mean() - rows - columns
    df = n - 1, (n - 1) * (datasets - 1)
    squares = datasets * float((rows**2).sum()) / df[0], float((rest**2).sum()) / df[1]
    size = NEGLIGIBLE * float((means**2).max())
    model, cell = (0.0 if value <= size else value for value in squares)
    run, freedom = float(np.nansum(matrix.variances * (counts - 1))), int((counts - 1).sum())
    seeds = round(1 / float((1 / counts).mean()), 9)
    of_runs = run / max(freedom, 1) / seeds
    spread, noise = max(model - cell, 0) / datasets, (max(cell - of_runs, 0) + of_runs) / datasets
    relative = spread / (spread + noise) if spread else 0.0
    tail = (1 - level) / 2
    quantiles = special.fdtri(*df, [1 - tail, tail])
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.maximum(np.divide(model, cell) / quantiles - 1, 0) if model else np.zeros(2)
        low, high = np.where(np.isinf(gains), 1.0, gains / (1 + gains))
    found: list[tuple[float, ...]] = [
        (datasets, seeds, relative, min(low, relative), max(high, relative))
    ]
    if 0 < relative < RELIABLE and low > 0:
        # The formula of Spearman and Brown.
        needed = math.ceil(round(RELIABLE / (1 - RELIABLE) * noise / spread * datasets, 6))
        expected = spread / (spread + noise * datasets / needed)
        found.append((needed, seeds, expected, np.nan, np.nan))
    return found


def count_effective(means: FloatArray) -> tuple[float, float]:
    """How many independent datasets would separate models in as many ways.

    Returned are the participation ratio of the eigenvalues of the datasets' correlations, from 1 to
    the number of datasets (Bretherton et al. 1999), and about what it would be for independent
    datasets and as many models; NaN for fewer than two models or datasets, or additive scores. The
    means of models and datasets are taken off, so the correlations are of what a dataset adds to
    the order. For n models and D independent datasets squared correlations average about
    1 / (n - 1) + 1 / (D - 1)^2.
    """
    if min(means.shape) < 2:
        return np.nan, np.nan
    apart = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
    lengths = np.sqrt((apart**2).sum(axis=0))
    differs = lengths > NEGLIGIBLE * np.abs(means).max(initial=1)
    n = int(differs.sum())
    if n < 2:
        return np.nan, np.nan
    directions = apart[:, differs] / lengths[differs]
    small = directions.T @ directions if n <= len(means) else directions @ directions.T
    independent = n / (1 + (n - 1) / (len(means) - 1) + 1 / (n - 1))
    return n**2 / float((small**2).sum()), independent


def find_facts(generalizability: pd.DataFrame, effective_datasets: pd.DataFrame) -> dict[str, Any]:
    """The coefficient with its interval, the number of datasets needed, and the effective one."""
    columns = ["relative", "ci_low", "ci_high", "datasets"]
    return {
        "coefficients": generalizability[columns].to_numpy().tolist(),
        "effective": next(iter(effective_datasets["effective"]), math.nan),
    }


ANALYSIS = Analysis(
    question="How reliable is the order, and how many datasets does it need?",
    position=90,
    tables={
        "generalizability": Table(
            "Generalizability coefficient of means over datasets, and the datasets needed for 0.9.",
            "datasets seeds relative ci_low ci_high",
        ),
        "effective_datasets": Table(
            "Effective number of datasets beyond models' levels, and that of independent ones.",
            "datasets models effective effective_independent cells_unused",
        ),
    },
    steps={
        "assess_reliability": Step(
            assess_reliability,
            tables=["generalizability", "effective_datasets"],
            reads=["runs"],
            options={"confidence_level": "bootstrap/confidence"},
        )
    },
    find_facts=find_facts,
    meanings={
        "effective": "Effective number of datasets, by what they say beyond overall levels.",
        "effective_independent": "What that number would be if datasets were independent.",
        "relative": "Generalizability of the order of the models, 0 to 1.",
        "effective_datasets.models": "Number of models that have all of them.",
    },
)
