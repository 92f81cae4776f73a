"""What happens on each dataset, in the data and in resamples of its runs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.bootstrap.resampling import Counts, draw_counts, draw_resamples, stratify_runs
from capmap.cells import BoolArray, arrange_runs, resample_means
from capmap.ratings.battles import compare_means, compare_runs, compare_seeds, raise_bars

Battles = Literal["means", "runs", "seeds"]
MakeRng = Callable[..., np.random.Generator]

NOISE = 1e-12


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

    def raise_bars(self, scores: npt.NDArray[np.floating[Any]], dataset: int) -> FloatArray:
        noise = float(self.noise[dataset])
        return raise_bars(scores, tie_threshold=self.tie_threshold, noise=noise)


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
        ``means``: two models meet once, by the means of their runs. ``runs``: every run of one
        meets every run of the other. ``seeds``: runs of the same seed meet; pairs without a seed in
        common do not.
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
    scores = runs.groupby("dataset", sort=True)["score"]
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
        bars = np.hstack([setup.raise_bars(kind, dataset) for kind in kinds])
        yield Meeting(present, compare_means(np.hstack(kinds), bars), _meet_all(len(present)))


def _meet_by_runs(setup: _Setup) -> Iterator[Meeting]:
    matrix = arrange_runs(setup.runs)
    places = {name: place for place, name in enumerate(matrix.datasets)}
    most = np.min_scalar_type(int(matrix.counts.max()))
    scores, datasets, counts = [], [], []
    for model, own in setup.runs.groupby("model", sort=True):
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
            setup.raise_bars(all_scores[rows], dataset),
            sizes=matrix.counts[present, dataset],
            counts=all_counts[rows],
        )
        yield Meeting(present, gains, _meet_all(len(present)))


def _meet_by_seeds(setup: _Setup) -> Iterator[Meeting]:
    models = np.unique(setup.runs["model"].astype(object))
    for dataset, (name, own) in enumerate(setup.runs.groupby("dataset", sort=True)):
        present, rows = np.unique(own["model"].astype(object), return_inverse=True)
        seeds, columns = np.unique(own["seed"].astype(object), return_inverse=True)
        scores = np.full((len(present), len(seeds)), np.nan)
        scores[rows, columns] = own["score"]
        drawn: Counts = np.empty(
            (len(seeds), setup.n_resamples), dtype=np.min_scalar_type(len(seeds))
        )
        rng = setup.make_rng("seeds", str(name))
        draw_counts(len(seeds), len(seeds), rng=rng, out=drawn)
        bars = setup.raise_bars(scores, dataset)
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
