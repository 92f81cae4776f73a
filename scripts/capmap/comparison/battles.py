"""Battles of models on datasets by their mean scores, in the data and in resamples.

A strength is fitted from two things only: who meets whom, and each model's wins minus its losses.
The latter needs no table of pairs where a sort gives it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.comparison.score_matrix import BoolArray, ScoreMatrix, arrange_runs, resample_means
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.ranking.resampling import DatasetPool, draw_datasets

MakeRng = Callable[..., np.random.Generator]

NOISE = 1e-12
WIN_COLUMNS = ["model", "opponent", "win_rate", "wins", "ties", "losses", "datasets"]


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


def resample_battles(runs: pd.DataFrame, *, n_resamples: int, make_rng: MakeRng) -> Tournament:
    """Let the means of all models meet on all datasets, in the data and in resamples.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, higher is better), at least one
        row.
    n_resamples : int
        Number of resamples.
    make_rng : callable
        Makes a random generator from what it is for: ``("datasets",)`` or ``("runs", model)``.

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
    each cell. A dataset that it draws k times takes part with k draws of runs: its own and those of
    the k − 1 resamples that follow.

    Scores are taken relative to their dataset's median, so that the single precision of resampled
    means costs nothing. Differences of less than 10⁻¹² (times the largest score of the dataset,
    where that exceeds 1) are noise: a tie.
    """
    models, datasets = (sorted(runs[name].unique()) for name in ("model", "dataset"))
    pool = DatasetPool(datasets, make_rng("datasets"))
    drawn = draw_datasets(datasets, pool=pool, n_resamples=n_resamples, rng=make_rng("datasets"))
    times = np.hstack([np.ones((len(datasets), 1), dtype=np.intp), drawn])
    scores = runs.groupby("dataset", sort=True, observed=True)["score"]
    noise = NOISE * np.maximum(scores.agg(_find_largest).to_numpy(dtype=np.float64), 1)
    centered = runs.assign(score=runs["score"] - scores.transform("median"))
    matrix = arrange_runs(centered)
    resampled = resample_means(
        centered, n_resamples=n_resamples, make_rng=lambda model: make_rng("runs", model)
    )
    met = np.zeros((len(datasets), len(models), len(models)), dtype=np.bool_)
    points = np.zeros((len(models), 1 + n_resamples))
    for place in range(len(datasets)):
        present = np.flatnonzero(matrix.is_filled[:, place])
        meets = ~np.eye(len(present), dtype=np.bool_)
        met[place][np.ix_(present, present)] = meets
        kinds = [matrix.means[present, place, None], resampled[present, place]]
        bars = np.hstack([find_bars(kind, float(noise[place])) for kind in kinds])
        gains = count_gains(np.hstack(kinds), bars)
        battled = meets.sum(axis=1)[:, None] * times[place]
        won = (battled + _repeat_gains(gains, times[place])) / 2
        points[present] += won * _weigh_pairs(meets)
    return Tournament(models, met, times, points)


def find_bars(scores: npt.NDArray[np.floating[Any]], noise: float) -> FloatArray:
    """What a rival's score must exceed to beat each score.

    They are never below the scores and ascend with them, NaN where the scores are. Scores that lost
    digits as float32 have their bar higher by these.
    """
    sizes = np.abs(scores.astype(np.float64))
    return np.asarray(scores + noise + 2 * np.finfo(scores.dtype).eps * sizes)


def count_gains(means: FloatArray, bars: FloatArray) -> FloatArray:
    """Count the rivals that each model beats, less those that it loses to.

    Parameters
    ----------
    means, bars : numpy.ndarray, shape (models, resamples)
        Finite means, and what `find_bars` says of them.

    Examples
    --------
    >>> means = np.array([[0.9], [0.5], [0.5], [0.1]])
    >>> count_gains(means, find_bars(means, 1e-12)).ravel().tolist()
    [3.0, 0.0, 0.0, -3.0]
    """
    gains = np.empty(means.shape)
    for own, mean, bar in zip(gains, means, bars, strict=True):
        own[:] = np.count_nonzero(mean > bars, axis=0) - np.count_nonzero(means > bar, axis=0)
    return gains


def _find_largest(scores: "pd.Series[float]") -> float:
    return float(scores.abs().max())


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
    return pd.DataFrame(dict(zip(WIN_COLUMNS, values, strict=True)))
