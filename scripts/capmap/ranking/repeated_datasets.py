"""Interquartile means of resampled datasets with many runs each, without going through the runs."""

import numpy as np

from capmap.ranking.aggregation import TRIMMED, FloatArray, IntArray
from capmap.ranking.resampling import Strata, repeat_datasets, sum_datasets
from capmap.ranking.statistics import evaluate_statistic

# Where runs are so many per dataset, and the tables of both no larger.
FEWEST_RUNS, MOST_CELLS = 50, 1 << 24


class RepeatedDatasets:
    """The interquartile mean of datasets that are each taken, with all runs, some number of times.

    Parameters
    ----------
    strata : Strata
        A model's runs.

    Notes
    -----
    What each dataset weighs below each run, and the sum of its scores there, are tabulated once;
    where a resample's tails end is then found by bisection.
    """

    def __init__(self, strata: Strata) -> None:
        self._strata = strata
        runs, datasets = len(strata.scores), len(strata.draws)
        self._is_tabulated = runs >= FEWEST_RUNS * datasets and runs * datasets <= MOST_CELLS
        if self._is_tabulated:
            order = np.argsort(strata.scores, kind="stable")
            ascending = strata.scores[order]
            self._middle = float(ascending[runs // 2])
            self._above = ascending - self._middle
            rows, weights = np.arange(1, runs + 1), strata.run_weights[order]
            self._weights, self._sums = np.zeros((2, runs + 1, datasets))
            self._weights[rows, strata.datasets[order]] = weights
            self._sums[rows, strata.datasets[order]] = weights * self._above
            self._weights.cumsum(axis=0, out=self._weights)
            self._sums.cumsum(axis=0, out=self._sums)

    def trim(self, times: IntArray) -> FloatArray:
        """Interquartile mean of each resample.

        Parameters
        ----------
        times : numpy.ndarray of int, shape (datasets, resamples)
            How often each of the model's datasets is in each resample; once or more in all.

        Returns
        -------
        numpy.ndarray, shape (resamples,)
            Those of `evaluate_statistic`, but for rounding.
        """
        if not self._is_tabulated:
            return evaluate_statistic("iqm", self._strata, repeat_datasets(self._strata, times))
        drawn, total = sum_datasets(self._strata, times)
        cut = np.floor(TRIMMED * drawn) / drawn * total
        kept = self._sum_to(total - cut, times) - self._sum_to(cut, times)
        return np.asarray(self._middle + kept / (total - 2 * cut))

    def _sum_to(self, weight: FloatArray, times: IntArray) -> FloatArray:
        """Weighted sum of the lowest scores up to a weight in each resample."""
        own = times.T.astype(np.float64)
        low, high = np.zeros(len(own), dtype=np.intp), np.full(len(own), len(self._above))
        while (low < high).any():
            middle = (low + high + 1) // 2
            fits = np.einsum("rd,rd->r", self._weights[middle], own) <= weight
            low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
        rest = weight - np.einsum("rd,rd->r", self._weights[low], own)
        whole = np.einsum("rd,rd->r", self._sums[low], own)
        return np.asarray(whole + rest * self._above[np.minimum(low, len(self._above) - 1)])
