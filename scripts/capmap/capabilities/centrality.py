"""Whether models near the center of the space are good everywhere."""

import math

import numpy as np
import pandas as pd
from scipy.stats import norm

from capmap.comparison.correlation import compute_spearman_rho
from capmap.settings.choices import PREDICTION_LEVEL

FEWEST = 4


def correlate_centrality(
    positions: pd.DataFrame, models: pd.DataFrame, *, confidence_level: float = PREDICTION_LEVEL
) -> pd.DataFrame:
    """Correlate the distance to the center with the mean gap, over models.

    Parameters
    ----------
    positions : pandas.DataFrame
        Columns ``kind``, ``name`` and ``centrality``.
    models : pandas.DataFrame
        Columns ``model`` and ``mean_gap``, missing for a model that is dropped.
    confidence_level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        One row: ``statistic`` ("spearman_rho"), ``estimate`` from −1 to 1 (NaN where either does
        not vary), ``low`` and ``high`` (NaN below 4 models), ``confidence`` and ``models``.

    Notes
    -----
    The interval is Fisher's with the variance (1 + ρ² / 2) / (n − 3) of Bonett and Wright (2000),
    doi:10.1007/BF02294183. It takes positions for known.

    Examples
    --------
    >>> positions = pd.DataFrame({"kind": "model", "name": ["A", "B"], "centrality": [1.0, 2.0]})
    >>> models = pd.DataFrame({"model": ["B", "A"], "mean_gap": [0.9, 0.1]})
    >>> correlate_centrality(positions, models, confidence_level=0.9)["estimate"].tolist()
    [1.0]
    """
    places = positions[positions["kind"] == "model"].set_index("name")["centrality"]
    gaps = models.set_index("model")["mean_gap"].dropna()
    count = len(gaps)
    ranks, others = (
        side.rank(method="dense").to_numpy().astype(np.intp)[:, None]
        for side in (places.loc[gaps.index], gaps)
    )
    estimate = float(compute_spearman_rho(ranks, others)[0])
    low = high = math.nan
    if count >= FEWEST and abs(estimate) < 1:
        half = norm.ppf((1 + confidence_level) / 2)
        half *= math.sqrt((1 + estimate**2 / 2) / (count - 3))
        low, high = np.tanh(np.arctanh(estimate) + np.array([-half, half])).tolist()
    row = {"estimate": estimate, "low": low, "high": high, "confidence": confidence_level}
    return pd.DataFrame([{"statistic": "spearman_rho", **row, "models": count}])
