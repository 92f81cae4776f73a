"""Win rates of all ordered pairs of models."""

import numpy as np
import pandas as pd

from capmap.comparison.battles import NOISE, find_bars
from capmap.comparison.score_matrix import ScoreMatrix

COLUMNS = ["model", "opponent", "win_rate", "wins", "ties", "losses", "datasets"]


def count_wins(matrix: ScoreMatrix) -> pd.DataFrame:
    """Count the datasets on which each model's mean is better than each opponent's.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cell means, higher is better.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``opponent``, ``win_rate`` (wins and half the ties, of all datasets that both
        have; NaN if there are none), ``wins``, ``ties``, ``losses`` and ``datasets``; a row per
        ordered pair, by name. Without a row for a single model.

    Notes
    -----
    Differences of less than 10⁻¹² (times the dataset's largest mean,
    where that exceeds 1) are noise: a tie.
    """
    n = len(matrix.models)
    wins, datasets = np.zeros((n, n), dtype=np.intp), np.zeros((n, n), dtype=np.intp)
    for means, is_filled in zip(matrix.means.T, matrix.is_filled.T, strict=True):
        noise = NOISE * max(float(np.abs(means[is_filled]).max(initial=0)), 1)
        wins += means[:, None] > find_bars(means, noise)
        datasets += is_filled[:, None] & is_filled
    rows, columns = np.nonzero(~np.eye(n, dtype=np.bool_))
    won, lost, shared = wins[rows, columns], wins[columns, rows], datasets[rows, columns]
    ties = shared - won - lost
    rate = np.full(len(rows), np.nan)
    np.divide(won + ties / 2, shared, out=rate, where=shared > 0)
    names = np.array(matrix.models, dtype=object)
    values = [names[rows], names[columns], rate, won, ties, lost, shared]
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))
