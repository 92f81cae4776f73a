"""Stacking: a weighted mean of predictors, with weights learnt from results that are hidden."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from capmap.capabilities.baselines import fit_dataset_mean
from capmap.capabilities.crossvalidation import Predict
from capmap.capabilities.embedding import Embedding, Method, fit_starts, predict_gaps
from capmap.capabilities.factors import Posterior, SideInformation, fit_factors
from capmap.capabilities.gaps import Results, are_connected
from capmap.capabilities.halves import Fitting
from capmap.ranking.aggregation import FloatArray, IntArray

FOLDS, ENOUGH = 3, 2000
CHAINS = 2
# Weight of equal shares in the choice of weights, in results.
PRIOR_RESULTS = 30


class Fits(NamedTuple):
    """What was fitted to some results: distances, and chains of factors, which may be none."""

    distances: Sequence[Embedding]
    factors: Sequence[Posterior]


class Members(NamedTuple):
    """Predictions of all members, before they are weighted.

    Parameters
    ----------
    gaps : ndarray, shape (pairs, members)
        From 0 to 1; those of the factors first, if these are a member.
    variance : ndarray, shape (pairs,)
        Of a result around the prediction, as the factors believe; 0 without them.
    """

    gaps: FloatArray
    variance: FloatArray

    def weigh(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weighted mean, and the weighted variance of members around it."""
        mean = self.gaps @ weights
        return mean, np.asarray((self.gaps - mean[:, None]) ** 2 @ weights)


def choose_members(methods: Sequence[Method]) -> list[Method]:
    """Choose the distances whose predictions are stacked.

    Notes
    -----
    Of several methods, L2 with offsets is none: effects of models and datasets are among the
    factors, and its predictions had no weight on any table that was tried.
    """
    if len(methods) == 1:
        return [*methods]
    return [own for own in methods if own.distance != "l2" or own.offset_ridge is None]


def predict_members(fits: Fits, known: Results, rows: IntArray, columns: IntArray) -> Members:
    """Predict some pairs of model and dataset by each member.

    Parameters
    ----------
    fits : Fits
        Predictions of distances with the same method are averaged, and those of the chains.
    known : Results
        What was fitted.
    rows, columns : ndarray of int, shape (pairs,)
        Places of models and datasets.

    Returns
    -------
    Members
        Where no known result connects the two, the mean gap of the dataset.
    """
    moments = [posterior.predict(rows, columns) for posterior in fits.factors]
    found = [np.mean([own.mean for own in moments], axis=0)] if moments else []
    variance = np.mean([own.variance for own in moments], axis=0) if moments else 0.0
    for method in choose_members(list(dict.fromkeys(fit.method for fit in fits.distances))):
        own = [fit for fit in fits.distances if fit.method == method]
        found.append(predict_gaps(own, rows, columns))
    mean = fit_dataset_mean(known).predict(rows, columns)
    is_near = are_connected(known, rows, columns)
    gaps = np.where(is_near[:, None], np.stack(found, axis=1).clip(0, 1), mean[:, None])
    return Members(gaps, np.asarray(variance + np.zeros(len(rows))))


def fit_parts(
    parts: Sequence[Results],
    fitting: Fitting,
    attributes: SideInformation,
    *,
    rng: np.random.Generator,
) -> list[Fits]:
    """Fit the members to each part of some results, alone; one method alone has no factors."""
    methods = choose_members(fitting.methods)
    chains: list[list[Posterior]] = [[] for _ in parts]
    if parts and len(fitting.methods) > 1:
        chains = [[posterior] for posterior in fit_factors(parts, attributes, rng=rng)]
    return [
        Fits(fit_starts(part, methods, starts=fitting.starts), own)
        for part, own in zip(parts, chains, strict=True)
    ]


def fit_chains(
    results: Results, fitting: Fitting, attributes: SideInformation, *, rng: np.random.Generator
) -> list[Posterior]:
    """Fit the factors to results, in several chains; none if one method is alone."""
    if len(fitting.methods) == 1:
        return []
    return fit_factors([results] * CHAINS, attributes, rng=rng)


def choose_weights(gaps: FloatArray, truth: FloatArray) -> FloatArray:
    """Choose the weights of members by their errors.

    Parameters
    ----------
    gaps : ndarray, shape (results, members)
        Predictions of results that the members had not seen.
    truth : ndarray, shape (results,)
        The results.

    Returns
    -------
    ndarray, shape (members,)
        Not negative, with sum 1: those of the least squared error of the weighted mean, drawn
        towards one half for the first and equal shares of the other half for the others, as if 30
        results said so.

    References
    ----------
    Breiman (1996), Stacked regressions, Machine Learning 24:49-64.
    """
    count = gaps.shape[1]
    if count == 1:
        return np.ones(1)
    start = np.append(0.5, np.full(count - 1, 0.5 / (count - 1)))
    errors = gaps - truth[:, None]
    if not errors.any():
        return start
    ridge = np.sqrt(PRIOR_RESULTS * np.mean(errors**2))
    sure = 1e3 * np.sqrt(len(errors) * np.mean(errors**2))
    system = np.concatenate([errors, ridge * np.eye(count), np.full((1, count), sure)])
    target = np.concatenate([np.zeros(len(errors)), ridge * start, [sure]])
    found = nnls(system, target)[0]
    return np.asarray(found / found.sum())


def fit_stack(
    train: Results, fitting: Fitting, attributes: SideInformation, *, rng: np.random.Generator
) -> dict[str, Predict]:
    """Fit the stack of the factors and the distances of several methods.

    Parameters
    ----------
    train : Results
        At least one.
    fitting : Fitting
        How the distances are fitted.
    attributes : SideInformation
        Of models and datasets, may be empty.
    rng : numpy.random.Generator
        Hides results and draws factors.

    Returns
    -------
    dict
        What predicts the gaps of pairs, by the places of model and dataset: ``stack``, and its
        member ``factors``.

    Notes
    -----
    The weights are those of predictions of hidden results: a third of the known ones after the
    other is hidden, until there are 2000 of them, and predicted by fits to the other two.
    """
    count = len(train.gaps)
    order = rng.permutation(count)
    folds = [np.sort(order[fold::FOLDS]) for fold in range(FOLDS)] if count >= FOLDS else []
    sizes = np.cumsum([0, *map(len, folds)])
    tests = [train.choose(own) for own, size in zip(folds, sizes, strict=False) if size < ENOUGH]
    parts = [train.choose(np.delete(np.arange(count), own)) for own in folds[: len(tests)]]
    fitted = fit_parts(parts, fitting, attributes, rng=rng)
    distances = fit_starts(train, choose_members(fitting.methods), starts=fitting.starts)
    whole = Fits(distances, fit_chains(train, fitting, attributes, rng=rng))
    found = [
        predict_members(fits, part, test.rows, test.columns).gaps
        for fits, part, test in zip(fitted, parts, tests, strict=False)
    ]
    gaps = np.concatenate([np.zeros((0, 1 + len(choose_members(fitting.methods)))), *found])
    weights = choose_weights(gaps, np.concatenate([np.zeros(0), *(test.gaps for test in tests)]))
    alone = np.eye(len(weights))[0]

    def predict(rows: IntArray, columns: IntArray, *, weights: FloatArray) -> FloatArray:
        return predict_members(whole, train, rows, columns).gaps @ weights

    return {"stack": partial(predict, weights=weights), "factors": partial(predict, weights=alone)}
