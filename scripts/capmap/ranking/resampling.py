"""A model's runs in strata, stratified resamples of them as counts, and draws of datasets.

A resample of n runs from n is given by how often each run was drawn. Counts are what the statistics
need, and they are cheap: for datasets of up to five runs all equally likely resamples stand in a
table, and one random number per dataset picks a row.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from capmap.ranking.aggregation import TRIMMED, FloatArray, IntArray, require_finite
from capmap.settings.choices import Cut

Counts = npt.NDArray[np.unsignedinteger[Any]]

TABLE_LIMIT = 5**5
TALLY_CELLS = 1 << 17
BLOCK_CELLS = 1 << 24
BLOCK_RESAMPLES = (256, 8192)


@dataclass(frozen=True)
class Stratum:
    """Datasets with the same number of runs.

    Parameters
    ----------
    scores : numpy.ndarray, shape (runs, datasets)
        Normalized scores, ascending down each dataset's column.
    draws : int
        How many runs a resample draws from each dataset.
    datasets : numpy.ndarray of int, shape (datasets,)
        Places of the datasets in the sorted list of the model's datasets.
    seeds : numpy.ndarray of int, shape (runs, datasets)
        Place of the seed of each run in the sorted list of the model's seeds.
    """

    scores: FloatArray
    draws: int
    datasets: IntArray
    seeds: IntArray


@dataclass(frozen=True)
class Strata:
    """A model's runs, stratified by dataset.

    Parameters
    ----------
    parts : tuple of Stratum
        By number of runs.
    resolutions : numpy.ndarray, shape (datasets,)
        The unit in which the scores of each dataset are written, 0 where they are not rounded.
    trimmed : float, optional
        Share of the weight that the interquartile mean cuts from each tail.
    """

    parts: tuple[Stratum, ...]
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
        draws = np.empty(sum(len(part.datasets) for part in self.parts), dtype=np.intp)
        for part in self.parts:
            draws[part.datasets] = part.draws
        return draws

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

    def choose_datasets(self, chosen: npt.NDArray[np.bool_]) -> "Strata":
        """The strata of some of the datasets, by a mask; runs keep their order."""
        places = np.cumsum(chosen) - 1
        parts = []
        for part in self.parts:
            kept = chosen[part.datasets]
            if kept.any():
                datasets = places[part.datasets[kept]]
                scores, seeds = part.scores[:, kept], part.seeds[:, kept]
                parts.append(Stratum(scores, part.draws, datasets, seeds))
        return Strata(tuple(parts), self.resolutions[chosen], self.trimmed)


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
    datasets: Sequence[str],
    *,
    seeds: Sequence[str] | Sequence[int] | None = None,
    resolutions: Mapping[str, float] | None = None,
    cut: Cut = "exact",
) -> Strata:
    """Arrange a model's runs by dataset.

    Parameters
    ----------
    scores : array_like, shape (runs,)
        Finite scores.
    datasets : sequence of str, shape (runs,)
        The dataset of each run.
    seeds : sequence of str or int, shape (runs,), optional
        The seed of each run; without them no two runs have the same.
    resolutions : mapping of str to float, optional
        The unit in which the scores of a dataset are written; others are not rounded.
    cut : {"exact", "whole"}, optional
        Whether the interquartile mean cuts a quarter of the weight from each tail, or as many whole
        runs as fit into a quarter.

    Returns
    -------
    Strata
        Datasets by name and runs by value, so the order given has no influence.

    Raises
    ------
    ValueError
        If there is no run, or a score is NaN or infinite.
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
        parts.append(Stratum(numbers[runs], size, members, marks[runs]))
    units = np.array([(resolutions or {}).get(name, 0.0) for name in names.tolist()])
    n = len(numbers)
    trimmed = TRIMMED if cut == "exact" else int(TRIMMED * n) / n
    return Strata(tuple(parts), units, trimmed)


def draw_resamples(
    strata: Strata,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    times: IntArray | None = None,
) -> Resamples:
    """Draw runs with replacement within each dataset.

    Parameters
    ----------
    strata : Strata
        A model's runs.
    n_resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        The model's stream.
    times : numpy.ndarray of int, shape (datasets, n_resamples), optional
        How often to draw each dataset, each time with runs of its own; None means once.

    Returns
    -------
    Resamples
        Every resample of each dataset is equally likely.
    """
    most = int(strata.draws.max()) * (1 if times is None else max(int(times.max()), 1))
    kind = np.min_scalar_type(most)
    counts = np.empty((len(strata.scores), n_resamples), dtype=kind)
    first = 0
    for part in strata.parts:
        last = first + part.scores.size
        rows = counts[first:last].reshape(len(part.scores), -1)
        if times is None:
            draw_counts(len(part.scores), part.draws, rng=rng, out=rows)
        else:
            _draw_repeatedly(part, times[part.datasets].ravel(), rng=rng, out=rows)
        first = last
    if times is None:
        return Resamples(counts=counts, total=float(strata.draws.sum()))
    return _gather(strata, counts, times)


def repeat_datasets(strata: Strata, times: IntArray) -> Resamples:
    """Take datasets with all their runs, each some number of times.

    Parameters
    ----------
    strata : Strata
        A model's runs.
    times : numpy.ndarray of int, shape (datasets, resamples)
        How often each of the model's datasets is in each resample; once or more in all.

    Returns
    -------
    Resamples
        The runs as they are: nothing is drawn within a dataset.
    """
    return _gather(strata, times[strata.datasets], times)


def draw_counts(size: int, draws: int, *, rng: np.random.Generator, out: Counts) -> None:
    """Draw from the runs of datasets that all have the same number of them.

    Parameters
    ----------
    size : int
        Number of runs to draw from.
    draws : int
        Number of draws.
    rng : numpy.random.Generator
        Consumed once per column where all ``size ** draws`` resamples fit a table of 3125 rows
        (five runs or fewer), otherwise once per draw.
    out : numpy.ndarray of unsigned int, shape (size, columns)
        Receives how often each run was drawn; each column is a resample of its own.
    """
    columns = out.shape[1]
    if size**draws <= TABLE_LIMIT:
        table = _tabulate_resamples(size, draws).astype(out.dtype, copy=False)
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
        cells: IntArray = rng.integers(size, size=(draws, width), dtype=kind) * np.intp(width)
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


def _draw_repeatedly(
    part: Stratum, times: IntArray, *, rng: np.random.Generator, out: Counts
) -> None:
    out[:] = 0
    size = len(part.scores)
    for repeat in range(int(times.max(initial=0))):
        cells = np.flatnonzero(times > repeat)
        drawn = np.empty((size, len(cells)), dtype=out.dtype)
        draw_counts(size, part.draws, rng=rng, out=drawn)
        out[:, cells] += drawn


@cache
def _tabulate_resamples(size: int, draws: int) -> npt.NDArray[np.uint8]:
    """Counts of each run (rows) in each of the size ** draws ordered resamples (columns)."""
    resamples = np.array(list(product(range(size), repeat=draws)))
    tables = [(resamples == run).sum(axis=1) for run in range(size)]
    return np.array(tables, dtype=np.uint8)


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
    """Draw datasets with replacement from those of the study.

    Parameters
    ----------
    own : sequence of str
        The datasets that a model has.
    pool : DatasetPool
        The datasets to draw from; its generator moves on.
    n_resamples : int
        Number of resamples. Several calls in a row draw the same as one.
    rng : numpy.random.Generator
        The model's own stream.

    Returns
    -------
    numpy.ndarray of int, shape (len(own), n_resamples)
        How often each of the model's datasets is in each resample, once or more in all.

    Raises
    ------
    ValueError
        If a dataset of the model is not among those of the study.

    Notes
    -----
    Each resample draws as many datasets as the study has. Those that the model lacks are passed
    over. If none is left, as many as the model has are drawn from its own, by its own stream.
    """
    missing = sorted(set(own) - set(pool.names))
    if missing:
        raise ValueError(f"Datasets that are not among those of the study: {missing}.")
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
