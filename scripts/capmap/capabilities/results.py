"""Gaps to the best model, of the results that are enough to place models and datasets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from capmap.aggregation import FloatArray, IntArray, round_significant

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Results:
    """The filled cells of models × datasets.

    Parameters
    ----------
    models, datasets : list of str
        By name.
    rows, columns : ndarray of int, shape (results,)
        Places of each result's model and dataset in these lists, in order of rows, then columns.
    scores : ndarray, shape (results,)
        Higher is better.
    gaps : ndarray, shape (results,)
        Distance to the best model of the dataset, divided by that of the worst one.
    """

    models: list[str]
    datasets: list[str]
    rows: IntArray
    columns: IntArray
    scores: FloatArray
    gaps: FloatArray

    @property
    def per_model(self) -> IntArray:
        """Number of results of each model."""
        return np.bincount(self.rows, minlength=len(self.models))

    @property
    def per_dataset(self) -> IntArray:
        """Number of results of each dataset."""
        return np.bincount(self.columns, minlength=len(self.datasets))

    def choose(self, chosen: BoolArray | IntArray) -> "Results":
        """Some of the results, by a mask or by places in order; all names stay."""
        return replace(
            self,
            rows=self.rows[chosen],
            columns=self.columns[chosen],
            scores=self.scores[chosen],
            gaps=self.gaps[chosen],
        )


def arrange_results(cells: pd.DataFrame) -> Results:
    """Arrange scores by the names of models and datasets, and measure their gaps.

    Parameters
    ----------
    cells : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (higher is better), a row per filled cell.

    Returns
    -------
    Results
        The order of the rows has no influence. Scores are rounded to 12 significant digits, as in
        `explain_dropped`, so that rounding noise never is a range. The gap of a dataset whose
        scores are all the same is 0.
    """
    cells = cells.sort_values(["model", "dataset"], kind="stable")
    models, rows = np.unique(cells["model"].astype(object), return_inverse=True)
    datasets, columns = np.unique(cells["dataset"].astype(object), return_inverse=True)
    scores = round_significant(cells["score"].to_numpy(dtype=float))
    gaps = measure_gaps(scores, columns, *bound_scores(scores, columns, len(datasets)))
    return Results(models.tolist(), datasets.tolist(), rows, columns, scores, gaps)


def bound_scores(
    scores: FloatArray, columns: IntArray, datasets: int
) -> tuple[FloatArray, FloatArray]:
    """Find the worst and the best score of each dataset; NaN for one without scores.

    Parameters
    ----------
    scores : ndarray, shape (results,)
        Higher is better.
    columns : ndarray of int, shape (results,)
        Place of each result's dataset.
    datasets : int
        Number of datasets.

    Returns
    -------
    worst, best : ndarray, shape (datasets,)
    """
    worst, best = np.full(datasets, np.inf), np.full(datasets, -np.inf)
    np.minimum.at(worst, columns, scores)
    np.maximum.at(best, columns, scores)
    empty = worst > best
    worst[empty] = best[empty] = np.nan
    return worst, best


def measure_gaps(
    scores: FloatArray, columns: IntArray, worst: FloatArray, best: FloatArray
) -> FloatArray:
    """Measure the gap to the best model: (best − score) / (best − worst).

    Parameters
    ----------
    scores : ndarray, shape (results,)
        Higher is better.
    columns : ndarray of int, shape (results,)
        Place of each result's dataset.
    worst, best : ndarray, shape (datasets,)
        Bounds of each dataset.

    Returns
    -------
    ndarray, shape (results,)
        0 is best and 1 worst; outside of both for a score beyond the bounds. 0 where the bounds
        are equal, NaN where there are none.

    References
    ----------
    Adorni et al. (2025), arXiv:2505.03299, section 3.
    """
    ranges = np.asarray((best - worst)[columns])
    flat = ranges == 0
    gaps = (best[columns] - scores) / np.where(flat, 1.0, ranges)
    return np.where(flat, 0.0, gaps)


def explain_dropped(cells: pd.DataFrame, *, min_results: int) -> npt.NDArray[np.str_]:
    """Say of each cell why it is dropped, if it is.

    Parameters
    ----------
    cells : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per filled cell.
    min_results : int
        Models and datasets with fewer results are dropped, and so on until none is left to drop.

    Returns
    -------
    ndarray of str, shape (cells,)
        "" for a cell that is kept, "few results of the model", "few results on the dataset" or
        "tied" (all models that are left have the same score on the dataset).

    Notes
    -----
    What is kept does not depend on the order of dropping, except that a dataset may be tied only
    once models are gone; so few results are looked for first, and ties after that.
    """
    rows = pd.factorize(cells["model"])[0]
    columns = pd.factorize(cells["dataset"])[0]
    scores = round_significant(cells["score"].to_numpy(dtype=float))
    reasons = np.full(len(cells), "", dtype="<U32")
    while True:
        kept = np.flatnonzero(reasons == "")
        found = _find_few(rows[kept], min_results)
        if found.any():
            reasons[kept[found]] = "few results of the model"
            continue
        found = _find_few(columns[kept], min_results)
        if found.any():
            reasons[kept[found]] = "few results on the dataset"
            continue
        found = _find_tied(columns[kept], scores[kept])
        if not found.any():
            return reasons
        reasons[kept[found]] = "tied"


def list_components(results: Results) -> tuple[IntArray, IntArray]:
    """Number the parts of the graph of models and datasets that no result connects.

    Parameters
    ----------
    results : Results
        Each is an edge between its model and its dataset.

    Returns
    -------
    models, datasets : ndarray of int
        The component of each, from 1, the largest first (by results, then by name of the first
        model). Distances between two components mean nothing. 0 for a model or dataset without
        results.
    """
    models, datasets = len(results.models), len(results.datasets)
    nodes = models + datasets
    edges = (np.ones(len(results.rows)), (results.rows, models + results.columns))
    labels = connected_components(coo_array(edges, shape=(nodes, nodes)), directed=False)[1]
    sizes = np.bincount(labels[results.rows], minlength=labels.max(initial=-1) + 1)
    firsts = np.unique(labels, return_index=True)[1]
    order = np.lexsort((firsts, -sizes))
    numbers = np.empty(len(sizes), dtype=np.intp)
    numbers[order] = np.arange(1, len(sizes) + 1)
    numbers[sizes == 0] = 0
    return numbers[labels[:models]], numbers[labels[models:]]


def are_connected(results: Results, rows: IntArray, columns: IntArray) -> BoolArray:
    """Tell of some pairs of model and dataset whether results connect the two.

    Parameters
    ----------
    results : Results
        Each is an edge between its model and its dataset.
    rows, columns : ndarray of int, shape (pairs,)
        Places of the models and datasets.

    Returns
    -------
    ndarray of bool, shape (pairs,)
        False also for a model or dataset without results.
    """
    models, datasets = list_components(results)
    return np.asarray((models[rows] == datasets[columns]) & (models[rows] > 0))


def find_duplicates(results: Results) -> dict[str, str]:
    """Find datasets with the same gaps of the same models as an earlier one.

    Returns
    -------
    dict
        The dataset, and the first one by name that it repeats. Datasets with one or two results
        are never taken for repeats, as their gaps say little; gaps count to nine decimals.
    """
    order = np.lexsort((results.rows, results.columns))
    first: dict[tuple[Sequence[int], Sequence[float]], str] = {}
    found = {}
    bounds = np.searchsorted(results.columns[order], np.arange(len(results.datasets) + 1))
    for dataset, start, stop in zip(results.datasets, bounds[:-1], bounds[1:], strict=True):
        own = order[start:stop]
        if len(own) > 2:
            gaps = np.round(results.gaps[own], 9)
            key = (tuple(results.rows[own].tolist()), tuple(gaps.tolist()))
            if key in first:
                found[dataset] = first[key]
            else:
                first[key] = dataset
    return found


def _find_few(places: IntArray, least: int) -> BoolArray:
    return np.asarray(np.bincount(places)[places] < least) if len(places) else np.zeros(0, bool)


def _find_tied(columns: IntArray, scores: FloatArray) -> BoolArray:
    if not len(columns):
        return np.zeros(0, dtype=bool)
    worst, best = bound_scores(scores, columns, columns.max() + 1)
    return np.asarray((worst == best)[columns])
