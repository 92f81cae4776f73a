"""Points of a whole study: the battles of all datasets, in the data and in resamples."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.bootstrap.datasets import DatasetPool, draw_datasets
from capmap.cells import BoolArray
from capmap.ratings.meetings import Battles, MakeRng, iterate_meetings


@dataclass(frozen=True)
class Tournament:
    """All battles of a study.

    Parameters
    ----------
    models : list of str
        By name.
    met : numpy.ndarray of bool, shape (datasets, models, models)
        Which pairs meet on each dataset, datasets by name.
    times : numpy.ndarray of int, shape (datasets, 1 + n_resamples)
        How often each dataset takes part; first in the data, where that is once.
    points : numpy.ndarray, shape (models, 1 + n_resamples)
        Weight of the battles that each model won, ties as half of theirs. Every dataset weighs 1
        each time it takes part, shared equally by the pairs that meet on it.
    """

    models: list[str]
    met: BoolArray
    times: IntArray
    points: FloatArray

    def sum_meetings(self, columns: slice) -> FloatArray:
        """Weight of each pair's battles, shape (columns, models, models)."""
        weights = (self.times[:, columns] * _weigh_pairs(self.met)[:, None]).T
        flat = self.met.reshape(len(self.met), -1).astype(np.float64)
        return np.asarray((weights @ flat).reshape(-1, *self.met.shape[1:]))

    def find_active(self) -> BoolArray:
        """Which models meet a rival, shape (models, 1 + n_resamples)."""
        return np.asarray(self.met.any(axis=2).T.astype(np.intp) @ self.times > 0)


def hold_tournament(
    runs: pd.DataFrame,
    *,
    battles: Battles,
    tie_threshold: float,
    n_resamples: int,
    make_rng: MakeRng,
) -> Tournament:
    """Let all models meet on all datasets, in the data and in resamples.

    Parameters
    ----------
    runs, battles, tie_threshold, n_resamples
        As in `capmap.ratings.meetings.iterate_meetings`.
    make_rng : callable
        As there; also asked for ``("datasets",)``.

    Returns
    -------
    Tournament
        The order of the rows has no influence.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    A resample draws as many datasets as the study has, the same for all models, and runs within
    each. A dataset that it draws k times takes part with k draws of runs: its own and those of the
    k − 1 resamples that follow.
    """
    models, datasets = (sorted(runs[name].unique()) for name in ("model", "dataset"))
    pool = DatasetPool(datasets, make_rng("datasets"))
    drawn = draw_datasets(datasets, pool=pool, n_resamples=n_resamples, rng=make_rng("datasets"))
    met = np.zeros((len(datasets), len(models), len(models)), dtype=np.bool_)
    times = np.hstack([np.ones((len(datasets), 1), dtype=np.intp), drawn])
    points = np.zeros((len(models), 1 + n_resamples))
    meetings = iterate_meetings(
        runs,
        battles=battles,
        tie_threshold=tie_threshold,
        n_resamples=n_resamples,
        make_rng=make_rng,
    )
    for place, meeting in enumerate(meetings):
        met[place][np.ix_(meeting.models, meeting.models)] = meeting.met
        battled = meeting.met.sum(axis=1)[:, None] * times[place]
        won = (battled + _repeat_gains(meeting.gains, times[place])) / 2
        points[meeting.models] += won * _weigh_pairs(meeting.met)
    return Tournament(models, met, times, points)


def _repeat_gains(gains: FloatArray, times: IntArray) -> FloatArray:
    """Sum the gains of as many resamples in a row as the dataset takes part in each of them."""
    resampled = gains[:, 1:]
    total = np.zeros_like(resampled)
    for repeat in range(int(times[1:].max(initial=0))):
        total += np.roll(resampled, -repeat, axis=1) * (times[1:] > repeat)
    return np.hstack([gains[:, :1], total])


def _weigh_pairs(met: BoolArray) -> FloatArray:
    """Weight of each pair, so that all that meet on a dataset weigh 1; 0 where none does."""
    pairs = np.asarray(met.sum(axis=(-2, -1)) / 2)
    return np.asarray(np.divide(1.0, pairs, out=np.zeros_like(pairs), where=pairs > 0))
