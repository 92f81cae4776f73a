"""Ranks of the models on each dataset."""

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, round_significant


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


def stretch_ranks(ranks: FloatArray) -> FloatArray:
    """Stretch the ranks of each dataset to the range 1 to the number of models.

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
    >>> stretch_ranks(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, np.nan]])).tolist()
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
