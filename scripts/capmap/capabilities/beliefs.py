"""What is expected of a model that is not known yet, and what its results say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from capmap.capabilities.embedding import Embedding, Method, fit_starts, predict_gaps
from capmap.capabilities.factors import Moments, Pairs, SideInformation, fit_factors
from capmap.capabilities.gaps import BoolArray, Results, are_connected
from capmap.capabilities.halves import Fitting
from capmap.capabilities.stacking import NESTED_CHAINS, count_chains
from capmap.ranking.aggregation import FloatArray, IntArray

RANK = 8
MOST_MODELS = 300
RESIDUAL_FACTOR = 2.0
SHARED_RESULTS = 5.0
LEAST_NOISE = 1e-5
ROUNDING = 1e-9


@dataclass(frozen=True)
class Belief:
    """Gaps of a model that is not known yet: mean + loadings · w + noise, with normal w and noise.

    Parameters
    ----------
    mean : ndarray, shape (datasets,)
        Expected gap on each dataset.
    loadings : ndarray, shape (datasets, rank)
        How the gaps go together; the weights w are standard normal.
    noise : ndarray, shape (datasets,)
        Variance of one result on each dataset, at least 0.00001.
    """

    mean: FloatArray
    loadings: FloatArray
    noise: FloatArray


class Knowledge(NamedTuple):
    """What is known of the weights of a model.

    Parameters
    ----------
    mean : ndarray, shape (rank,)
        Expected weights.
    covariance : ndarray, shape (rank, rank)
        Their covariance.
    """

    mean: FloatArray
    covariance: FloatArray


def prefer_offsets(methods: Sequence[Method]) -> list[Method]:
    """Choose the methods that beliefs are formed from: L2 with offsets, or else all.

    Notes
    -----
    Offsets hold how good a model is overall, about which its first results say most. Of
    the ensemble, beliefs from L2 with offsets predicted new models better than those with the plain
    L2 fits on both studies that were tried, and choosing by them saved more results.
    """
    chosen = [
        method for method in methods if method.distance == "l2" and method.offset_ridge is not None
    ]
    return chosen or [*methods]


def form_belief(
    fits: Sequence[Embedding], results: Results, factors: Moments | None = None
) -> Belief:
    """Form the belief about a further model from those that are fitted.

    Parameters
    ----------
    fits : sequence of Embedding
        Predictions of those by methods of `prefer_offsets` are averaged; others do not count.
    results : Results
        What they are fitted to, at least one.
    factors : Moments, optional
        What the factorization of the same results predicts (`complete_by_factors`).

    Returns
    -------
    Belief
        About all datasets.

    Notes
    -----
    The fits complete the matrix of gaps. The mean is that of its columns; the loadings are its
    first principal components, at most 8, so that ``loadings @ loadings.T`` is its covariance over
    models, but for further components. The factors complete it too, and the belief is that of an
    equal mixture of both: means and covariances are averaged. Models without results do not count,
    and of more than 300 that many count, evenly spaced by name.

    Distances between parts that no result connects mean nothing, so that only models that are
    connected with a dataset count for its mean and variance, and datasets of different parts do not
    vary together. A dataset that no model is connected with has the mean of all gaps, without
    variance.

    The noise of a dataset is the mean of 2 r² over its results, for residuals r of the fits, as if
    5 further results had the mean of all. The factor 2 makes up for residuals being smaller on
    results that were fitted; it was chosen on results that were not.
    """
    preferred = prefer_offsets([fit.method for fit in fits])
    fits = [fit for fit in fits if fit.method in preferred]
    pairs = _list_pairs(results)
    is_near = are_connected(results, *pairs).reshape(-1, len(results.datasets))
    level = float(results.gaps.mean())
    completed = [predict_gaps(fits, *pairs)]
    if factors is not None:
        completed.append(factors.mean)
    found = [_summarize(gaps.reshape(is_near.shape), is_near, level) for gaps in completed]
    means, loadings = zip(*found, strict=True)
    return Belief(
        np.mean(means, axis=0),
        np.concatenate(loadings, axis=1) / np.sqrt(len(found)),
        _measure_noise(fits, results),
    )


def complete_by_factors(
    parts: Sequence[Results],
    fitting: Fitting,
    attributes: SideInformation,
    *,
    chains: int,
    rng: np.random.Generator,
) -> list[Moments | None]:
    """Predict by the factorization of each part what `form_belief` takes; None for one method."""
    if not parts or len(fitting.methods) == 1:
        return [None] * len(parts)
    chains = count_chains(len(parts[0].gaps), most=chains)
    return [*fit_factors(parts, attributes, [*map(_list_pairs, parts)], chains=chains, rng=rng)]


def _list_pairs(results: Results) -> Pairs:
    """Models that have results, not all if they are many, on all datasets."""
    models = spread_out(np.flatnonzero(results.per_model), most=MOST_MODELS)
    count = len(results.datasets)
    return Pairs(np.repeat(models, count), np.tile(np.arange(count), len(models)))


def _summarize(
    completed: FloatArray, is_near: BoolArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Means of the columns of a matrix, and its principal components."""
    near = is_near.sum(axis=0)
    sums = np.where(is_near, completed, 0.0).sum(axis=0)
    mean = np.where(near > 0, sums / np.maximum(near, 1), level)
    deviations = np.where(is_near, completed - mean, 0.0) / np.sqrt(np.maximum(near - 1, 1))
    _, sizes, directions = np.linalg.svd(deviations, full_matrices=False)
    return mean, directions[:RANK].T * np.where(sizes > ROUNDING, sizes, 0.0)[:RANK]


def form_beliefs(
    parts: Sequence[Results],
    fitting: Fitting,
    attributes: SideInformation,
    *,
    rng: np.random.Generator,
) -> list[Belief]:
    """Form the belief of each of several parts of some results, alone (`form_belief`).

    Parameters
    ----------
    parts : sequence of Results
        Of the same models and datasets; may be empty.
    fitting : Fitting
        How the distances are fitted; one method alone goes without factors.
    attributes : SideInformation
        Of models and datasets, may be empty.
    rng : numpy.random.Generator
        Draws factors.
    """
    methods = prefer_offsets(fitting.methods)
    factors = complete_by_factors(parts, fitting, attributes, chains=NESTED_CHAINS, rng=rng)
    return [
        form_belief(fit_starts(part, methods, starts=fitting.starts), part, own)
        for part, own in zip(parts, factors, strict=True)
    ]


def exchange_roles(fits: Sequence[Embedding], results: Results) -> tuple[list[Embedding], Results]:
    """Turn models into datasets and the other way round, for beliefs about a further dataset."""
    turned = [
        replace(
            fit,
            models=fit.datasets,
            datasets=fit.models,
            model_offsets=fit.dataset_offsets,
            dataset_offsets=fit.model_offsets,
        )
        for fit in fits
    ]
    order = np.lexsort((results.rows, results.columns))
    exchanged = replace(
        results,
        models=results.datasets,
        datasets=results.models,
        rows=results.columns,
        columns=results.rows,
    )
    return turned, exchanged.choose(order)


def start_knowledge(belief: Belief) -> Knowledge:
    """Know nothing of a model but that it is one of them."""
    rank = belief.loadings.shape[1]
    return Knowledge(np.zeros(rank), np.eye(rank))


def learn_result(
    belief: Belief, known: Knowledge, column: int | IntArray, gap: float | FloatArray
) -> Knowledge:
    """Learn one more result: its dataset's place, and its gap.

    Notes
    -----
    Conditioning of a normal distribution; the order in which results are learnt has no influence.
    The covariance does not depend on the gap, and a result may come again. Several models may learn
    at once, a result each, with a leading axis of everything.
    """
    loading = belief.loadings[column]
    along = np.einsum("...rs,...s->...r", known.covariance, loading)
    variance = np.einsum("...r,...r->...", loading, along) + belief.noise[column]
    surprise = gap - belief.mean[column] - np.einsum("...r,...r->...", loading, known.mean)
    gain = along / variance[..., None]
    return Knowledge(
        known.mean + gain * np.asarray(surprise)[..., None],
        known.covariance - gain[..., :, None] * along[..., None, :],
    )


def learn_results(belief: Belief, columns: IntArray, gaps: FloatArray) -> Knowledge:
    """Learn some results, possibly none."""
    known = start_knowledge(belief)
    for column, gap in zip(columns.tolist(), gaps.tolist(), strict=True):
        known = learn_result(belief, known, column, gap)
    return known


def expect_gaps(belief: Belief, known: Knowledge) -> FloatArray:
    """Expected gap on each dataset, shape (…, datasets); not limited to 0 … 1."""
    return np.asarray(belief.mean + known.mean @ belief.loadings.T)


def measure_variance(belief: Belief, covariance: FloatArray) -> FloatArray:
    """Variance of the expected gap on each dataset, shape (datasets,), without a result's noise."""
    loadings = belief.loadings
    return np.asarray(np.einsum("tr,rs,ts->t", loadings, covariance, loadings))


def spread_out(places: IntArray, *, most: int) -> IntArray:
    """Choose at most so many, evenly spaced.

    Examples
    --------
    >>> spread_out(np.arange(7), most=4).tolist()
    [0, 2, 4, 6]
    """
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).round().astype(np.intp)]


def _measure_noise(fits: Sequence[Embedding], results: Results) -> FloatArray:
    residuals = results.gaps - predict_gaps(fits, results.rows, results.columns)
    squares = RESIDUAL_FACTOR * residuals**2
    sums = np.bincount(results.columns, squares, minlength=len(results.datasets))
    shared = SHARED_RESULTS * squares.mean()
    noise = (sums + shared) / (results.per_dataset + SHARED_RESULTS)
    return np.asarray(np.maximum(noise, LEAST_NOISE))
