"""Stacking: a weighted mean of predictors, with weights learnt from results that are hidden."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from capmap.capabilities.baselines import fit_dataset_mean
from capmap.capabilities.embedding import Embedding, Method, fit_starts, predict_gaps
from capmap.capabilities.factors import Moments, Pairs, SideInformation, fit_factors
from capmap.capabilities.gaps import Results, are_connected, order_by_names
from capmap.capabilities.halves import Fitting
from capmap.ranking.aggregation import FloatArray

FOLDS, ENOUGH = 3, 2000
# Most chains of the factors, also where weights are learnt within a fold; and how many results all
# chains may have together.
CHAINS, NESTED_CHAINS, WORK = 8, 1, 20_000
# Weight of equal shares in the choice of weights, in results.
PRIOR_RESULTS = 30


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


def count_chains(results: int, *, most: int) -> int:
    """How many chains of factors are fitted: fewer for many results, which leave less to chance."""
    return max(1, min(most, WORK // max(results, 1)))


def predict_members(
    parts: Sequence[Results],
    pairs: Sequence[Pairs],
    fitting: Fitting,
    attributes: SideInformation,
    *,
    chains: int,
    rng: np.random.Generator,
    distances: Sequence[Sequence[Embedding]] | None = None,
) -> list[Members]:
    """Fit each member to each part of some results, alone, and predict pairs.

    Parameters
    ----------
    parts : sequence of Results
        Of the same models and datasets.
    pairs : sequence of Pairs
        What to predict by each part.
    fitting : Fitting
        How distances are fitted; one method alone has no factors beside it.
    attributes : SideInformation
        Of models and datasets, may be empty.
    chains : int
        Chains of factors of each part.
    rng : numpy.random.Generator
        Draws factors.
    distances : sequence of sequences of Embedding, optional
        Fits of each part, if these are known. Predictions of one method are averaged.

    Returns
    -------
    list of Members
        Of each part. Where no known result connects the two, the mean gap of the dataset.
    """
    methods = choose_members(fitting.methods)
    moments: list[Moments | None] = [None] * len(parts)
    if parts and len(fitting.methods) > 1:
        moments = [*fit_factors(parts, attributes, pairs, chains=chains, rng=rng)]
    fits = distances or [fit_starts(known, methods, starts=fitting.starts) for known in parts]
    return [*map(gather_members, parts, pairs, [methods] * len(parts), fits, moments)]


def gather_members(
    known: Results,
    pairs: Pairs,
    methods: Sequence[Method],
    fits: Sequence[Embedding],
    moments: Moments | None,
) -> Members:
    """Gather what the fits of each method, and the factors if given, predict from known results."""
    gaps = [predict_gaps([fit for fit in fits if fit.method == own], *pairs) for own in methods]
    variance = np.zeros(len(pairs.rows))
    if moments is not None:
        gaps, variance = [moments.mean, *gaps], moments.variance
    mean = fit_dataset_mean(known).predict(*pairs)
    is_near = are_connected(known, *pairs)
    stacked = np.stack(gaps, axis=1).clip(0, 1)
    return Members(np.where(is_near[:, None], stacked, mean[:, None]), variance)


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


def hide_thirds(train: Results, rng: np.random.Generator) -> tuple[list[Results], list[Results]]:
    """Hide a third of some results after the other, until 2000 were hidden.

    Parameters
    ----------
    train : Results
        At least one; of fewer than three none are hidden.
    rng : numpy.random.Generator
        Orders them (`order_by_names`).

    Returns
    -------
    parts, tests : list of Results
        What is left each time, and what is hidden.
    """
    count = len(train.gaps)
    order = order_by_names(train, rng)
    folds = [*map(np.sort, np.array_split(order, FOLDS))] if count >= FOLDS else []
    sizes = np.cumsum([0, *map(len, folds)])
    tests = [train.choose(own) for own, size in zip(folds, sizes, strict=False) if size < ENOUGH]
    parts = [train.choose(np.delete(np.arange(count), own)) for own in folds[: len(tests)]]
    return parts, tests


def fit_stack_factors(
    train: Results, pairs: Pairs, attributes: SideInformation, *, rng: np.random.Generator
) -> list[Moments]:
    """Fit the factors of a stack, which are the same whatever distances are beside them.

    Parameters
    ----------
    train : Results
        At least one.
    pairs : Pairs
        What to predict.
    attributes : SideInformation
        Of models and datasets, may be empty.
    rng : numpy.random.Generator
        Hides results and draws factors.

    Returns
    -------
    list of Moments
        Of what `hide_thirds` hides each time, and at the end of the pairs, by all results.
    """
    count = len(train.gaps)
    parts, tests = hide_thirds(train, rng)
    chains = count_chains(count, most=NESTED_CHAINS)
    asked = [Pairs(test.rows, test.columns) for test in tests]
    hidden = fit_factors(parts, attributes, asked, chains=chains, rng=rng) if parts else []
    chains = count_chains(count, most=CHAINS)
    return [*hidden, *fit_factors([train], attributes, [pairs], chains=chains, rng=rng)]


def predict_stack(
    train: Results,
    pairs: Pairs,
    fitting: Fitting,
    factors: Sequence[Moments],
    *,
    rng: np.random.Generator,
) -> FloatArray:
    """Predict pairs by the stack of the factors and the distances of several methods.

    Parameters
    ----------
    train : Results
        At least one.
    pairs : Pairs
        What to predict.
    fitting : Fitting
        How the distances are fitted.
    factors : sequence of Moments
        Of `fit_stack_factors`.
    rng : numpy.random.Generator
        Like the one that the factors were fitted with.

    Returns
    -------
    ndarray, shape (pairs,)
        Predicted gaps.

    Notes
    -----
    The weights are those of predictions of hidden results: a third of the known ones after the
    other is hidden, until there are 2000 of them, and predicted by fits to the other two.
    """
    parts, tests = hide_thirds(train, rng)
    asked = [*(Pairs(test.rows, test.columns) for test in tests), pairs]
    methods = choose_members(fitting.methods)
    *hidden, whole = [
        gather_members(
            known, own, methods, fit_starts(known, methods, starts=fitting.starts), moments
        )
        for known, own, moments in zip([*parts, train], asked, factors, strict=True)
    ]
    gaps = np.concatenate([whole.gaps[:0], *(own.gaps for own in hidden)])
    weights = choose_weights(gaps, np.concatenate([np.zeros(0), *(test.gaps for test in tests)]))
    return np.asarray(whole.gaps @ weights)
