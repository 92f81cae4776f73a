"""How reliable an order by mean scores is, and how many datasets it needs."""

import math
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.analyses import Analysis, Step, Table
from capmap.ranking.aggregation import arrange_runs

COEFFICIENTS = ["datasets", "relative", "ci_low", "ci_high"]
NEGLIGIBLE = 1e-12
RELIABLE = 0.9


def assess_reliability(runs: pd.DataFrame, *, confidence_level: float) -> pd.DataFrame:
    """Say how reliable the order of the models is, on the datasets that all of them have.

    A second row is of the fewest datasets with which 0.9 is expected. Variance components come from
    the expected mean squares of the random two-way layout; negative ones become 0. The coefficient
    is that of relative decisions (Brennan 2001, equation 1.13), with the interval of ICC(C,k)
    (McGraw and Wong 1996), stretched to it where a component became 0.
    """
    matrix = arrange_runs(runs)
    is_common = matrix.is_filled.all(axis=0)
    if min(len(matrix.models), is_common.sum()) < 2:
        return pd.DataFrame(columns=COEFFICIENTS)
    means, counts = matrix.means[:, is_common], matrix.counts[:, is_common]
    n, datasets = means.shape
    rows, columns = (means.mean(axis=axis, keepdims=True) - means.mean() for axis in (1, 0))
    rest = means - means.mean() - rows - columns
    df = n - 1, (n - 1) * (datasets - 1)
    squares = datasets * float((rows**2).sum()) / df[0], float((rest**2).sum()) / df[1]
    size = NEGLIGIBLE * float((means**2).max())
    model, cell = (0.0 if value <= size else value for value in squares)
    freedom = counts - 1
    run = float(np.nansum(matrix.variances[:, is_common] * freedom)) / max(int(freedom.sum()), 1)
    of_runs = run * float((1 / counts).mean())
    spread, noise = max(model - cell, 0) / datasets, max(cell, of_runs) / datasets
    relative = spread / (spread + noise) if spread else 0.0
    tail = (1 - confidence_level) / 2
    quantiles = scipy.special.fdtri(*df, [1 - tail, tail])
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.maximum(np.divide(model, cell) / quantiles - 1, 0) if model else np.zeros(2)
        low, high = np.where(np.isinf(gains), 1.0, gains / (1 + gains))
    found: list[tuple[float, ...]] = [(datasets, relative, min(low, relative), max(high, relative))]
    if 0 < relative < RELIABLE and low > 0:
        # The formula of Spearman and Brown.
        needed = math.ceil(round(RELIABLE / (1 - RELIABLE) * noise / spread * datasets, 6))
        expected = spread / (spread + noise * datasets / needed)
        found.append((needed, expected, np.nan, np.nan))
    return pd.DataFrame(found, columns=COEFFICIENTS)


def find_facts(generalizability: pd.DataFrame) -> dict[str, Any]:
    """The coefficient with its interval, and the number of datasets needed."""
    return {"coefficients": generalizability[COEFFICIENTS].to_numpy().tolist()}


ANALYSIS = Analysis(
    question="How reliable is the order, and how many datasets does it need?",
    position=90,
    tables={
        "generalizability": Table(
            "Generalizability coefficient of means over datasets, and the datasets needed for 0.9.",
            " ".join(COEFFICIENTS),
        ),
    },
    steps={"assess_reliability": Step(assess_reliability)},
    find_facts=find_facts,
    meanings={"relative": "Generalizability of the order of the models, 0 to 1."},
)
