"""Battles of models on datasets: what each gains against its rivals, in the data and in resamples.

A strength is fitted from two things only: who meets whom, and each model's wins minus its losses.
The latter needs no table of pairs where a sort gives it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.comparison.score_matrix import BoolArray, arrange_runs, resample_means
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.ranking.resampling import (
    Counts,
    DatasetPool,
    draw_counts,
    draw_datasets,
    draw_resamples,
    stratify_runs,
)
from capmap.settings.choices import Battles

CHUNK_CELLS = 1 << 20

MakeRng = Callable[..., np.random.Generator]

NOISE = 1e-12


def winning_thresholds(
    scores: npt.NDArray[np.floating[Any]], *, tie_threshold: float, noise: float
) -> FloatArray:
    """Thresholds that a rival's score must exceed to beat each score.

    Parameters
    ----------
    scores : numpy.ndarray of float32 or float64
        Scores; NaN where there are none.
    tie_threshold : float
        Differences up to this one are ties, at least 0.
    noise : float
        Differences up to this one beyond the threshold are rounding noise.

    Returns
    -------
    numpy.ndarray
        Never below the scores and ascending with them; NaN where the scores are. Scores that lost
        digits as float32 have their bar higher by these.
    """
    sizes = np.abs(scores.astype(np.float64)) + tie_threshold
    return np.asarray(scores + (tie_threshold + noise) + 2 * np.finfo(scores.dtype).eps * sizes)


def compare_means(means: FloatArray, bars: FloatArray) -> FloatArray:
    """Wins minus losses of models that all meet by their means.

    Parameters
    ----------
    means, bars : numpy.ndarray, shape (models, resamples)
        Finite means, and their `winning_thresholds`.

    Returns
    -------
    numpy.ndarray, shape (models, resamples)
        Rivals beaten less rivals lost to.

    Examples
    --------
    >>> means = np.array([[0.9], [0.5], [0.5], [0.1]])
    >>> thresholds = winning_thresholds(means, tie_threshold=0.0, noise=1e-12)
    >>> compare_means(means, thresholds).ravel().tolist()
    [3.0, 0.0, 0.0, -3.0]
    """
    n = len(means)
    keys = np.concatenate([means, bars]).T
    order = np.argsort(keys, axis=1, kind="stable")
    is_bar = order >= n
    bars_passed = np.cumsum(is_bar, axis=1)
    means_passed = np.arange(1, 2 * n + 1) - bars_passed
    gains = np.empty(keys.shape)
    np.put_along_axis(gains, order, np.where(is_bar, means_passed - n, bars_passed), axis=1)
    return np.asarray((gains[:, :n] + gains[:, n:]).T)


def compare_runs(
    scores: FloatArray, bars: FloatArray, *, sizes: IntArray, counts: npt.NDArray[Any]
) -> FloatArray:
    """Wins minus losses of models of which every run meets every run of the rivals.

    Parameters
    ----------
    scores, bars : numpy.ndarray, shape (runs,)
        Runs on the dataset, model after model, and their `winning_thresholds`.
    sizes : numpy.ndarray of int, shape (models,)
        Number of runs of each model, at least one.
    counts : numpy.ndarray, shape (runs, resamples)
        How often each run was drawn; those of a model sum to its size.

    Returns
    -------
    numpy.ndarray, shape (models, resamples)
        Sum over rivals of the share of battles won less the share lost.

    Examples
    --------
    >>> scores = np.array([0.9, 0.3, 0.5])
    >>> bars = winning_thresholds(scores, tie_threshold=0.0, noise=1e-12)
    >>> compare_runs(scores, bars, sizes=np.array([1, 2]), counts=np.ones((3, 1))).ravel().tolist()
    [1.0, -1.0]
    """
    order = np.argsort(scores, kind="stable")
    ascending, lifted = scores[order], bars[order]
    shares = counts / np.repeat(sizes, sizes)[:, None]
    reached = np.zeros((len(scores) + 1, counts.shape[1]))
    np.cumsum(shares[order], axis=0, out=reached[1:])
    beaten = reached[np.searchsorted(lifted, ascending, side="left")]
    lost = reached[-1] - reached[np.searchsorted(ascending, lifted, side="right")]
    gains = np.empty_like(shares)
    gains[order] = shares[order] * (beaten - lost)
    return np.add.reduceat(gains, np.cumsum(sizes) - sizes, axis=0)


def compare_seeds(
    scores: FloatArray, bars: FloatArray, *, counts: npt.NDArray[Any]
) -> tuple[FloatArray, BoolArray]:
    """Wins minus losses of models of which runs of the same seed meet.

    Parameters
    ----------
    scores, bars : numpy.ndarray, shape (models, seeds)
        Runs on the dataset, NaN where a model lacks a seed, and their `winning_thresholds`.
    counts : numpy.ndarray, shape (seeds, resamples)
        How often each seed was drawn.

    Returns
    -------
    gains : numpy.ndarray, shape (models, resamples)
        Sum over rivals of the share of battles won less the share lost.
    met : numpy.ndarray of bool, shape (models, models)
        Which pairs have a seed in common.

    Notes
    -----
    A pair's shares are of the drawn seeds that it has in common. Where none of them was drawn, each
    counts once.
    """
    n, seeds = scores.shape
    beats = (scores[:, None] > bars[None]).astype(np.float64)
    won = (beats - beats.transpose(1, 0, 2)).reshape(n * n, seeds)
    is_filled = ~np.isnan(scores)
    shared = (is_filled[:, None] & is_filled[None]).reshape(n * n, seeds).astype(np.float64)
    usual = won.sum(axis=1) / np.maximum(shared.sum(axis=1), 1)
    gains = np.empty((n, counts.shape[1]))
    step = max(CHUNK_CELLS // (n * n), 1)
    for first in range(0, counts.shape[1], step):
        drawn = counts[:, first : first + step].astype(np.float64)
        battles = shared @ drawn
        shares = (won @ drawn) / np.maximum(battles, 1)
        shares = np.where(battles > 0, shares, usual[:, None])
        gains[:, first : first + step] = shares.reshape(n, n, -1).sum(axis=1)
    met = shared.any(axis=1).reshape(n, n)
    np.fill_diagonal(met, False)
    return gains, met


@dataclass(frozen=True)
class Meeting:
    """The battles on one dataset.

    Parameters
    ----------
    models : numpy.ndarray of int, shape (present,)
        Places of the models that have runs, in the order of all names.
    gains : numpy.ndarray, shape (present, 1 + n_resamples)
        Sum over rivals of the share of battles won less the share lost; first in the data.
    met : numpy.ndarray of bool, shape (present, present)
        Which pairs meet.
    """

    models: IntArray
    gains: FloatArray
    met: BoolArray


@dataclass(frozen=True)
class _Setup:
    runs: pd.DataFrame
    noise: FloatArray
    tie_threshold: float
    n_resamples: int
    make_rng: MakeRng

    def winning_thresholds(self, scores: npt.NDArray[np.floating[Any]], dataset: int) -> FloatArray:
        noise = float(self.noise[dataset])
        return winning_thresholds(scores, tie_threshold=self.tie_threshold, noise=noise)


def iterate_meetings(
    runs: pd.DataFrame,
    *,
    battles: Battles,
    tie_threshold: float,
    n_resamples: int,
    make_rng: MakeRng,
) -> Iterator[Meeting]:
    """Let the models of each dataset meet.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed`` and ``score`` (normalized, higher is better), at
        least one row.
    battles : {"means", "runs", "seeds"}
        As in `capmap.settings.analyses.Ratings`; pairs without a seed in common do not meet.
    tie_threshold : float
        Normalized scores that differ by no more are a tie, at least 0.
    n_resamples : int
        Number of resamples.
    make_rng : callable
        Makes a random generator from what it is for: ``("runs", model)`` or
        ``("seeds", dataset)``.

    Yields
    ------
    Meeting
        One per dataset, by name.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    A resample draws the runs of each cell, those of each model by itself; for ``seeds`` it draws
    the seeds of each dataset, the same for all models, so that runs of a seed stay together.

    Scores are taken relative to their dataset's median, so that the single precision of resampled
    means costs nothing. Differences that exceed the threshold by less than 10⁻¹² (times the largest
    score of the dataset, where that exceeds 1) are noise: a tie.
    """
    scores = runs.groupby("dataset", sort=True, observed=True)["score"]
    noise = NOISE * np.maximum(scores.agg(_find_largest).to_numpy(dtype=np.float64), 1)
    centered = runs.assign(score=runs["score"] - scores.transform("median"))
    setup = _Setup(centered, noise, tie_threshold, n_resamples, make_rng)
    return METHODS[battles](setup)


def _find_largest(scores: "pd.Series[float]") -> float:
    return float(scores.abs().max())


def _meet_by_means(setup: _Setup) -> Iterator[Meeting]:
    matrix = arrange_runs(setup.runs)
    resampled = resample_means(
        setup.runs,
        n_resamples=setup.n_resamples,
        make_rng=lambda model: setup.make_rng("runs", model),
    )
    for dataset in range(len(matrix.datasets)):
        present = np.flatnonzero(matrix.is_filled[:, dataset])
        kinds = [matrix.means[present, dataset, None], resampled[present, dataset]]
        bars = np.hstack([setup.winning_thresholds(kind, dataset) for kind in kinds])
        yield Meeting(present, compare_means(np.hstack(kinds), bars), _meet_all(len(present)))


def _meet_by_runs(setup: _Setup) -> Iterator[Meeting]:
    matrix = arrange_runs(setup.runs)
    places = {name: place for place, name in enumerate(matrix.datasets)}
    most = np.min_scalar_type(int(matrix.counts.max()))
    scores, datasets, counts = [], [], []
    for model, own in setup.runs.groupby("model", sort=True, observed=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist())
        names = sorted(own["dataset"].unique())
        scores.append(strata.scores)
        datasets.append(np.array([places[name] for name in names])[strata.datasets])
        rng = setup.make_rng("runs", str(model))
        drawn = draw_resamples(strata, n_resamples=setup.n_resamples, rng=rng).counts
        counts.append(_add_data(drawn).astype(most, copy=False))
    all_scores, all_datasets = np.concatenate(scores), np.concatenate(datasets)
    all_counts = np.concatenate(counts)
    for dataset in range(len(matrix.datasets)):
        present = np.flatnonzero(matrix.is_filled[:, dataset])
        rows = np.flatnonzero(all_datasets == dataset)
        gains = compare_runs(
            all_scores[rows],
            setup.winning_thresholds(all_scores[rows], dataset),
            sizes=matrix.counts[present, dataset],
            counts=all_counts[rows],
        )
        yield Meeting(present, gains, _meet_all(len(present)))


def _meet_by_seeds(setup: _Setup) -> Iterator[Meeting]:
    models = np.unique(setup.runs["model"].astype(object))
    for dataset, (name, own) in enumerate(setup.runs.groupby("dataset", sort=True, observed=True)):
        present, rows = np.unique(own["model"].astype(object), return_inverse=True)
        seeds, columns = np.unique(own["seed"].astype(object), return_inverse=True)
        scores = np.full((len(present), len(seeds)), np.nan)
        scores[rows, columns] = own["score"]
        drawn: Counts = np.empty(
            (len(seeds), setup.n_resamples), dtype=np.min_scalar_type(len(seeds))
        )
        rng = setup.make_rng("seeds", str(name))
        draw_counts(len(seeds), len(seeds), rng=rng, out=drawn)
        bars = setup.winning_thresholds(scores, dataset)
        gains, met = compare_seeds(scores, bars, counts=_add_data(drawn))
        yield Meeting(np.searchsorted(models, present), gains, met)


METHODS: Mapping[Battles, Callable[[_Setup], Iterator[Meeting]]] = {
    "means": _meet_by_means,
    "runs": _meet_by_runs,
    "seeds": _meet_by_seeds,
}


def _meet_all(n: int) -> BoolArray:
    return ~np.eye(n, dtype=np.bool_)


def _add_data(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Put the data, every run once, in front of the resamples."""
    return np.hstack([np.ones((len(counts), 1), dtype=counts.dtype), counts])


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


def resample_battles(
    runs: pd.DataFrame,
    *,
    battles: Battles,
    tie_threshold: float,
    n_resamples: int,
    make_rng: MakeRng,
) -> Tournament:
    """Battles of all models on all datasets, in the data and in resamples.

    Parameters
    ----------
    runs, battles, tie_threshold, n_resamples
        As in `iterate_meetings`.
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
