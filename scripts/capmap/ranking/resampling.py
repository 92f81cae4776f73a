"""A model's runs in strata, stratified resamples of them as counts, and draws of datasets.

A resample of n runs from n is given by how often each run was drawn. Counts are what the statistics
need, and they are cheap: for datasets of up to five runs all equally likely resamples stand in a
table, and one random number per dataset picks a row.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.ranking.aggregation import TRIMMED, FloatArray, IntArray, require_finite
from capmap.settings.choices import Cut, Direction, Statistic

Counts = npt.NDArray[np.unsignedinteger[Any]]

TABLE_LIMIT = 5**5
TALLY_CELLS = 1 << 17
BLOCK_CELLS = 1 << 24
BLOCK_RESAMPLES = (256, 8192)
OPTIMUM = 1.0


@dataclass(frozen=True)
class Stratum:
    """Datasets with the same number of runs, of which a resample draws as many from each.

    Parameters
    ----------
    scores : numpy.ndarray, shape (runs, datasets)
        Normalized scores, ascending down each dataset's column.
    datasets : numpy.ndarray of int, shape (datasets,)
        Places of the datasets in the sorted list of the model's datasets.
    seeds : numpy.ndarray of int, shape (runs, datasets)
        Place of the seed of each run in the sorted list of the model's seeds.
    """

    scores: FloatArray
    datasets: IntArray
    seeds: IntArray


@dataclass(frozen=True)
class Strata:
    """A model's runs, stratified by dataset.

    Parameters
    ----------
    parts : tuple of Stratum
        By number of runs.
    names : list
        Names of the datasets, in order.
    resolutions : numpy.ndarray, shape (datasets,)
        The unit in which the scores of each dataset are written, 0 where they are not rounded.
    trimmed : float, optional
        Share of the weight that the interquartile mean cuts from each tail.
    """

    parts: tuple[Stratum, ...]
    names: list[Any]
    resolutions: FloatArray
    trimmed: float = TRIMMED

    @cached_property
    def scores(self) -> FloatArray:
        """Scores of all runs, part after part, in the order of the rows of counts."""
        return np.concatenate([part.scores.ravel() for part in self.parts])

    @cached_property
    def datasets(self) -> IntArray:
        """Dataset of each run."""
        return np.concatenate([np.tile(part.datasets, len(part.scores)) for part in self.parts])

    @cached_property
    def seeds(self) -> IntArray:
        """Seed of each run."""
        return np.concatenate([part.seeds.ravel() for part in self.parts])

    @cached_property
    def draws(self) -> IntArray:
        """Runs that a resample draws from each dataset."""
        return np.bincount(self.datasets)

    @cached_property
    def dataset_weights(self) -> FloatArray:
        """Weight of one run of each dataset; the weights of a resample's runs sum to their number.

        Each dataset weighs the same; they are 1 where all have the same number of runs.
        """
        return np.asarray(self.draws.sum() / (len(self.draws) * self.draws))

    @cached_property
    def run_weights(self) -> FloatArray:
        """Weight of each run."""
        return self.dataset_weights[self.datasets]


@dataclass(frozen=True)
class Resamples:
    """Resamples of a model's runs.

    Parameters
    ----------
    counts : numpy.ndarray, shape (runs, resamples)
        How often each run was drawn; rows as in `Strata.scores`. Fractions are allowed.
    total : float or numpy.ndarray, shape (resamples,)
        Sum of their weights.
    times : numpy.ndarray of int, shape (datasets, resamples), or None
        How often each dataset was drawn; None means once.
    """

    counts: npt.NDArray[Any]
    total: float | FloatArray
    times: IntArray | None = None


def stratify_runs(
    scores: npt.ArrayLike,
    datasets: Sequence[str] | Sequence[int],
    *,
    seeds: Sequence[str] | Sequence[int] | None = None,
    resolutions: Mapping[Any, float] | None = None,
    cut: Cut = "exact",
) -> Strata:
    """Arrange a model's runs by dataset, datasets by name and runs by value.

    Without seeds no two runs have the same. The interquartile mean cuts exactly a quarter of the
    weight from each tail, or as many whole runs as fit into a quarter. No run, or a score that is
    NaN or infinite, raises ValueError.
    """
    numbers = require_finite(scores)
    if not len(numbers):
        raise ValueError("A model without runs has no scores to resample.")
    names, codes = np.unique(np.asarray(datasets, dtype=object), return_inverse=True)
    sizes = np.bincount(codes, minlength=len(names))
    marks = np.arange(len(numbers))
    if seeds is not None:
        marks = np.unique(np.asarray(seeds, dtype=object), return_inverse=True)[1]
    order = np.lexsort((marks, numbers, codes))
    starts = np.cumsum(sizes) - sizes
    parts = []
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        rows = starts[members] + np.arange(size)[:, None]
        runs = order[rows]
        parts.append(Stratum(numbers[runs], members, marks[runs]))
    units = np.array([(resolutions or {}).get(name, 0.0) for name in names])
    n = len(numbers)
    trimmed = TRIMMED if cut == "exact" else int(TRIMMED * n) / n
    return Strata(tuple(parts), names.tolist(), units, trimmed)


def draw_resamples(
    strata: Strata,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    times: IntArray | None = None,
) -> Resamples:
    """Draw runs with replacement within each dataset, each of them once or so many times."""
    most = int(strata.draws.max()) * (1 if times is None else max(int(times.max()), 1))
    kind = np.min_scalar_type(most)
    counts = np.empty((len(strata.scores), n_resamples), dtype=kind)
    first = 0
    for part in strata.parts:
        last = first + part.scores.size
        rows = counts[first:last].reshape(len(part.scores), -1)
        if times is None:
            draw_counts(rng=rng, out=rows)
        else:
            _draw_repeatedly(times[part.datasets].ravel(), rng=rng, out=rows)
        first = last
    if times is None:
        return Resamples(counts=counts, total=float(strata.draws.sum()))
    return _gather(strata, counts, times)


def repeat_datasets(strata: Strata, times: IntArray) -> Resamples:
    """Take datasets with all their runs as they are, each some number of times."""
    return _gather(strata, times[strata.datasets], times)


def draw_counts(*, rng: np.random.Generator, out: Counts) -> None:
    """Draw from the runs of datasets that all have the same number of them, as many as these.

    Each column of `out` receives how often each run was drawn. The generator is consumed once per
    column where all ``size ** size`` resamples fit a table of 3125 rows (five runs or fewer),
    otherwise once per draw.
    """
    size, columns = out.shape
    if size**size <= TABLE_LIMIT:
        table = _tabulate_resamples(size).astype(out.dtype, copy=False)
        picks = rng.integers(table.shape[1], size=columns)
        for row, run in zip(out, table, strict=True):
            np.take(run, picks, out=row, mode="clip")
        return
    step = max(TALLY_CELLS // size, 1)
    # Half a random word per draw where that is enough; a quarter of one takes NumPy far longer.
    kind = np.uint16 if size <= 1 << 16 else np.intp
    for first in range(0, columns, step):
        part = out[:, first : first + step]
        width = part.shape[1]
        cells: IntArray = rng.integers(size, size=(size, width), dtype=kind) * np.intp(width)
        cells += np.arange(width)
        part[:] = np.bincount(cells.ravel(), minlength=size * width).reshape(size, width)


def iterate_blocks(n_resamples: int, *, runs: int) -> Iterator[slice]:
    """Split resamples into blocks that bound memory and are worth the calls for each run."""
    low, high = BLOCK_RESAMPLES
    step = min(max(BLOCK_CELLS // runs, low), high)
    for first in range(0, n_resamples, step):
        yield slice(first, min(first + step, n_resamples))


def _gather(strata: Strata, counts: npt.NDArray[Any], times: IntArray) -> Resamples:
    drawn = strata.draws[:, None] * times
    total = (drawn * strata.dataset_weights[:, None]).sum(axis=0)
    return Resamples(counts=counts, total=total, times=times)


def _draw_repeatedly(times: IntArray, *, rng: np.random.Generator, out: Counts) -> None:
    out[:] = 0
    for repeat in range(int(times.max(initial=0))):
        cells = np.flatnonzero(times > repeat)
        drawn = np.empty((len(out), len(cells)), dtype=out.dtype)
        draw_counts(rng=rng, out=drawn)
        out[:, cells] += drawn


@cache
def _tabulate_resamples(size: int) -> npt.NDArray[np.uint8]:
    """Counts of each run (rows) in each of the size ** size ordered resamples (columns)."""
    resamples = np.array(list(product(range(size), repeat=size)))
    return np.array([(resamples == run).sum(axis=1) for run in range(size)], dtype=np.uint8)


@dataclass(frozen=True)
class DatasetPool:
    """The datasets of a study, for resampling them together for all its models.

    Parameters
    ----------
    names : sequence of str
        All datasets of the study, whether or not a model has runs on them.
    rng : numpy.random.Generator
        A fresh generator of the study's stream of dataset draws: the same for each model, so that
        the n-th replicates of all models rest on the same datasets.
    """

    names: Sequence[str]
    rng: np.random.Generator


def draw_datasets(
    own: Sequence[str], *, pool: DatasetPool, n_resamples: int, rng: np.random.Generator
) -> IntArray:
    """How often a model's own datasets are drawn, with replacement, from those of the study.

    Several calls in a row draw the same as one.

    Each resample draws as many datasets as the study has. Those that the model lacks are passed
    over. If none is left, as many as the model has are drawn from its own, by its own stream.
    """
    names = sorted(set(pool.names))
    places = np.array([bisect_left(names, name) for name in own])
    picks = pool.rng.integers(len(names), size=(n_resamples, len(names)))
    times: IntArray = _count_picks(picks, len(names))[places]
    empty = np.flatnonzero(~times.any(axis=0))
    picks = rng.integers(len(own), size=(len(empty), len(own)))
    times[:, empty] = _count_picks(picks, len(own))
    return times


def _count_picks(picks: IntArray, n: int) -> IntArray:
    """How often each of n things is among the picks of each row, shape (n, rows)."""
    rows = len(picks)
    flat = picks * rows + np.arange(rows)[:, None]
    counts: IntArray = np.bincount(flat.ravel(), minlength=n * rows).reshape(n, rows)
    return counts


def evaluate_statistic(statistic: Statistic, strata: Strata, resamples: Resamples) -> FloatArray:
    """Compute a statistic of each resample.

    ``iqm`` is the 25% trimmed mean of the weighted runs of all datasets, ``mean`` their weighted
    mean (under equal weights the mean of dataset means), ``trimmed_mean`` the 25% trimmed mean of
    dataset means, ``median`` their median, and ``optimality_gap`` the weighted mean of ``max(1 −
    score, 0)``.

    The interquartile mean cuts `Strata.trimmed` of the total weight from each tail and splits the
    run at the cut. Where whole runs of equal weights are cut, this is `scipy.stats.trim_mean` of
    the flat array.
    """
    return STATISTICS[statistic].evaluate(strata, resamples)


def evaluate_runs(statistic: Statistic, strata: Strata) -> float:
    """Compute a statistic of the runs themselves."""
    n = len(strata.scores)
    whole = Resamples(counts=np.ones((n, 1)), total=float(n))
    return float(evaluate_statistic(statistic, strata, whole)[0])


def average_datasets(strata: Strata, resamples: Resamples) -> FloatArray:
    """Mean of each dataset's drawn runs; its lowest run where none was drawn."""
    means = np.empty((len(strata.draws), resamples.counts.shape[1]))
    first = 0
    for part in strata.parts:
        last = first + part.scores.size
        counts = resamples.counts[first:last].reshape(*part.scores.shape, -1)
        drawn = np.maximum(counts.sum(axis=0, dtype=np.float64), 1)
        above = np.zeros(counts.shape[1:])
        for count, distance in zip(counts[1:], part.scores[1:] - part.scores[0], strict=True):
            above += count * distance[:, None]
        means[part.datasets] = part.scores[0][:, None] + above / drawn
        first = last
    return means


def resample_models(
    runs: pd.DataFrame,
    *,
    n_resamples: int,
    make_rng: Callable[[str], np.random.Generator],
) -> dict[str, tuple[Strata, Resamples]]:
    """Draw the runs of each model with replacement within each cell, by its own generator."""
    found = {}
    for model, own in runs.groupby("model", sort=True, observed=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist())
        rng = make_rng(str(model))
        found[str(model)] = strata, draw_resamples(strata, n_resamples=n_resamples, rng=rng)
    return found


def _sum_moves(
    values: FloatArray,
    counts: npt.NDArray[Any],
    order: IntArray,
    *,
    weights: FloatArray,
    cut: float | FloatArray,
    kept: float | FloatArray,
) -> FloatArray:
    """Move the kept weight run by run from a tail to the middle: sum of weight times distance."""
    shape, steps = counts.shape[1:], np.diff(values)
    # Full arrays, because NumPy compares an array with an array far faster than with a number.
    nothing, everything = np.zeros(shape), np.zeros(shape) + kept
    beyond, moved = nothing - cut, np.zeros(shape)
    drawn, moving = np.empty(shape), np.empty(shape)
    most = float(counts.max() * weights.max())
    # So many rows cannot take any resample past its cut; then it is looked at again.
    idle, is_past_cut = 0, False
    for row, step, weight in zip(order.tolist(), steps, weights.tolist(), strict=False):
        beyond += counts[row] if weight == 1 else np.multiply(counts[row], weight, out=drawn)
        if idle > 0:
            idle -= 1
            continue
        if not is_past_cut:
            idle = int(-beyond.max() // most)
            is_past_cut = idle < 0
            if not is_past_cut:
                continue
        np.maximum(beyond, nothing, out=moving)
        np.minimum(moving, everything, out=moving)
        np.multiply(moving, step, out=moving)
        moved += moving
    return moved


def _trim_means(strata: Strata, resamples: Resamples) -> FloatArray:
    """Trimmed means, by how far the kept weight is from the middle run.

    With the kept weight at or below the k-th run, ``K_k = clip(C_k − cut, 0, kept)`` where ``C_k``
    is the cumulated weight, summation by parts turns the mean into the middle run's value, minus
    the sum of ``K_k`` times the gap above run k over the runs below it, plus its mirror image over
    the runs above. Each run then costs a few operations on contiguous rows.
    """
    order = np.argsort(strata.scores, kind="stable")
    values, weights, middle = strata.scores[order], strata.run_weights[order], len(order) // 2
    cut = np.asarray(strata.trimmed * resamples.total)
    kept = resamples.total - 2 * cut
    moved = [
        _sum_moves(
            values[side], resamples.counts, order[side], weights=weights[side], cut=cut, kept=kept
        )
        for side in (np.arange(middle + 1), np.arange(len(values) - 1, middle - 1, -1))
    ]
    return np.asarray(values[middle] - sum(moved) / kept)


def _average(strata: Strata, resamples: Resamples, *, gaps: bool = False) -> FloatArray:
    """The mean of scores, or of what they lack to the optimum."""
    values = np.maximum(OPTIMUM - strata.scores, 0) if gaps else strata.scores
    middle = float(np.sort(values)[len(values) // 2])
    scales = (values - middle) * strata.run_weights
    total, product = np.zeros(resamples.counts.shape[1]), np.empty(resamples.counts.shape[1])
    for count, scale in zip(resamples.counts, scales, strict=True):
        total += np.multiply(count, scale, out=product)
    return middle + total / resamples.total


def _median_over_datasets(strata: Strata, resamples: Resamples) -> FloatArray:
    means = average_datasets(strata, resamples)
    if resamples.times is None:
        return np.asarray(np.median(means, axis=0))
    return _weighted_median(means, resamples.times)


def _weighted_median(values: FloatArray, times: IntArray) -> FloatArray:
    """Weighted median of each column, by how many equal values each stands for."""
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, axis=0)
    reached = np.cumsum(np.take_along_axis(times, order, axis=0), axis=0)
    number = reached[-1]
    low = np.argmax(reached > (number - 1) // 2, axis=0)
    high = np.argmax(reached > number // 2, axis=0)
    columns = np.arange(values.shape[1])
    lower, upper = ascending[low, columns], ascending[high, columns]
    return np.asarray(lower + (upper - lower) / 2)


def _trim_over_datasets(strata: Strata, resamples: Resamples) -> FloatArray:
    """As `scipy.stats.trim_mean` of the means of datasets."""
    means = np.sort(average_datasets(strata, resamples), axis=0)
    cut = int(TRIMMED * len(means))
    return np.asarray(means[cut : len(means) - cut].mean(axis=0))


class Measure(NamedTuple):
    """A statistic of a model: how it is computed, and which end is better."""

    evaluate: Callable[[Strata, Resamples], FloatArray]
    best: Direction = "max"


STATISTICS: Mapping[Statistic, Measure] = {
    "iqm": Measure(_trim_means),
    "mean": Measure(_average),
    "trimmed_mean": Measure(_trim_over_datasets),
    "median": Measure(_median_over_datasets),
    "optimality_gap": Measure(partial(_average, gaps=True), best="min"),
}
