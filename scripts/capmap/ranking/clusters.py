"""Errors of cells on other test items like these, from the items or from how many there are.

The variance of a cell's mean over items is cluster-robust (CR2): the sum over clusters g of the
squared parts S_g / (n sqrt(1 - n_g / n)), with S_g the sum of the residuals of its n_g of n items.
Parts of two models on the same items subtract to those of their paired difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.artifacts import unpack_columns
from capmap.ranking.aggregation import BoolArray, FloatArray, IntArray, Pairs

# Degrees of freedom of what is known but for rounding.
MANY = 1e6
# Of fewer clusters nothing is said of others.
FEWEST_CLUSTERS = 5


class Spread(NamedTuple):
    """What each cluster adds to the error of a mean over items, and its degrees of freedom.

    ``parts`` has a row per mean and a column per cluster. ``freedom`` is NaN for fewer clusters
    than `FEWEST_CLUSTERS`; ``clusters`` counts those with items.
    """

    parts: FloatArray
    freedom: FloatArray
    clusters: IntArray


def spread_items(scores: FloatArray, starts: IntArray) -> Spread:
    """Split the errors of means over items by cluster (Bell and McCaffrey 2002).

    Scores have a row per mean, NaN where it has no such item; items of a cluster stand side by
    side, and `starts` says where each begins.
    """
    has = ~np.isnan(scores)
    n = np.maximum(has.sum(axis=1, keepdims=True), 1)
    filled = np.where(has, scores, 0)
    # About the mean as about a score that there is, so that equal scores have no residuals.
    first = np.take_along_axis(filled, has.argmax(axis=1)[:, None], axis=1)
    apart = np.where(has, filled - first, 0)
    residuals = np.where(has, apart - apart.sum(axis=1, keepdims=True) / n, 0)
    sums = np.add.reduceat(residuals, starts, axis=1)
    sizes = np.add.reduceat(has, starts, axis=1, dtype=np.intp)
    shares = np.minimum(sizes / n, 1 - 1 / (2 * n))
    loads = shares**2 / (1 - shares)
    clusters = (sizes > 0).sum(axis=1)
    freedom = np.where(clusters >= FEWEST_CLUSTERS, _find_freedom(shares, loads), np.nan)
    return Spread(sums / (n * np.sqrt(1 - shares)), freedom, clusters)


def _find_freedom(shares: FloatArray, loads: FloatArray) -> FloatArray:
    """Degrees of freedom by Bell and McCaffrey, of clusters with these shares of the items.

    The fewer of those where items of a cluster have nothing, and where they have all in common.
    """
    apart = (shares**2).sum(axis=1) + loads.sum(axis=1) ** 2 - (loads**2).sum(axis=1)
    mean = (shares**2).sum(axis=1)
    zeroth, first, second = ((loads * shares**power).sum(axis=1) for power in (0, 1, 2))
    trace = (1 + mean) * zeroth - 2 * first
    squares = (loads**2 * (1 + 2 * mean[:, None] - 4 * shares)).sum(axis=1)
    squares += (mean * zeroth - 2 * first) ** 2 + 2 * (zeroth * second - first**2)
    return np.asarray(np.minimum(1 / apart, trace**2 / squares))


@dataclass(frozen=True)
class ItemErrors:
    """How far means of cells are off as datasets hold some of many items.

    Parameters
    ----------
    models, datasets : list of str
        By name.
    parts : numpy.ndarray, shape (models, parts)
        What each cluster adds to the error of a cell's mean, datasets side by side.
    owners : numpy.ndarray of int, shape (parts,)
        The dataset of each part, ascending.
    variances : numpy.ndarray, shape (models, datasets)
        Squared errors of cells that no other model shares.
    freedom : numpy.ndarray, shape (models, datasets)
        Degrees of freedom of both; NaN where nothing is known.
    """

    models: list[str]
    datasets: list[str]
    parts: FloatArray
    owners: IntArray
    variances: FloatArray
    freedom: FloatArray

    def weigh(
        self, model: str, datasets: Sequence[str], slopes: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """What a statistic of a model with these slopes in its means of datasets has of errors.

        The parts are what clusters add to its error; then come, by dataset, the variances of the
        parts and beside them, and the degrees of freedom of both.
        """
        row, every = self.models.index(model), np.zeros(len(self.datasets))
        places = np.searchsorted(np.array(self.datasets, dtype=object), datasets)
        every[places] = slopes
        parts = every[self.owners] * self.parts[row]
        common = sum_by_dataset(parts[None] ** 2, self.owners, len(every))[0, places]
        return parts, common, slopes**2 * self.variances[row, places], self.freedom[row, places]

    def vary_pairs(self, pairs: Pairs, shared: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Variance of the sum of each pair's differences over shared datasets, and its freedom."""
        squares = self.variances[pairs.first] + self.variances[pairs.second]
        for model in range(len(self.models) - 1):
            rows = pairs.first == model
            apart = self.parts[pairs.second[rows]] - self.parts[model]
            squares[rows] += sum_by_dataset(apart**2, self.owners, len(self.datasets))
        freedom = np.minimum(self.freedom[pairs.first], self.freedom[pairs.second])
        squares = np.where(shared, np.where(np.isnan(freedom), np.nan, squares), 0)
        total = squares.sum(axis=1)
        spread = np.where(shared, squares**2 / freedom, 0).sum(axis=1)
        return total, np.divide(total**2, spread, out=np.ones(len(total)), where=spread > 0)


def sum_by_dataset(values: FloatArray, owners: IntArray, datasets: int) -> FloatArray:
    """Sum columns by the dataset that owns them, which ascends."""
    sums = np.zeros((len(values), datasets))
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    if len(starts):
        sums[:, owners[starts]] = np.add.reduceat(values, starts, axis=1)
    return sums


class Sheet(NamedTuple):
    """The items of a dataset: ``scores`` has a row per model and a column per item.

    Items of a cluster stand side by side, and ``starts`` says where each begins.
    """

    scores: FloatArray
    starts: IntArray


def arrange_items(items: pd.DataFrame, models: Sequence[str]) -> dict[str, Sheet]:
    """Arrange the items of each dataset, by name; models in the order given."""
    sheets = {}
    known = pd.Index(models)
    for dataset, own in items.groupby("dataset", observed=True, sort=True):
        rows = known.get_indexer(pd.Index(own["model"].astype("str")))
        clusters, _ = pd.factorize(own["cluster"].astype("str"), sort=True)
        names, _ = pd.factorize(own["item"].astype("str"), sort=True)
        order = np.lexsort((names, clusters))
        new = np.diff(names[order], prepend=-1) != 0
        columns = np.empty(len(own), dtype=np.intp)
        columns[order] = np.cumsum(new) - 1
        scores = np.full((len(models), int(new.sum())), np.nan)
        scores[rows, columns] = own["score"].to_numpy()
        starts = np.flatnonzero(np.diff(clusters[order][new], prepend=-1))
        sheets[str(dataset)] = Sheet(scores, starts)
    return sheets


def measure_items(items: pd.DataFrame, runs: pd.DataFrame) -> ItemErrors | None:
    """Measure how far means of cells may be off on other items like these.

    None where nothing is known of any dataset. A cell whose items all have one score has the error
    of a share with a success more and a failure more, in parts of the dataset's range.
    """
    models, datasets = (sorted(map(str, runs[kind].unique())) for kind in ("model", "dataset"))
    shape = len(models), len(datasets)
    variances, freedom = np.zeros(shape), np.full(shape, np.nan)
    parts, owners = [np.empty((shape[0], 0))], [np.empty(0, dtype=np.intp)]
    items = items[items["model"].isin(models) & items["dataset"].isin(datasets)]
    for dataset, sheet in arrange_items(items, models).items():
        place = datasets.index(dataset)
        spread = spread_items(sheet.scores, sheet.starts)
        parts.append(spread.parts)
        owners.append(np.full(len(sheet.starts), place))
        freedom[:, place] = spread.freedom
        is_flat = ~spread.parts.any(axis=1)
        variances[is_flat, place] = bound_flat(sheet.scores, spread.clusters[is_flat])
    if "item_variance" in runs:
        table = unpack_columns(runs).pivot_table("item_variance", "model", "dataset", "first")
        own = table.reindex(index=models, columns=datasets).to_numpy(dtype=np.float64)
        is_told = ~np.isnan(own) & np.isnan(freedom)
        variances[is_told], freedom[is_told] = own[is_told], MANY
    if np.isnan(freedom).all() and items.empty:
        return None
    return ItemErrors(
        models, datasets, np.concatenate(parts, axis=1), np.concatenate(owners), variances, freedom
    )


def bound_flat(scores: FloatArray, clusters: IntArray) -> FloatArray:
    """The squared error of a mean over items that all have one score, by the range of scores."""
    span = float(np.nanmax(scores) - np.nanmin(scores))
    share = 1 / (clusters + 2)
    return np.asarray(span**2 * share * (1 - share) / np.maximum(clusters, 1))
