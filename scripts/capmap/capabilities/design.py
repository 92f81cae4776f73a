"""Which result to run next: what tells most of a model, or who may be best on a dataset."""

from typing import NamedTuple

import numpy as np

from capmap.aggregation import FloatArray, IntArray
from capmap.capabilities.belief import Belief, Knowledge, learn_result, measure_variance

CAUTION = 1.0


class Choice(NamedTuple):
    """A dataset to run a model on.

    Parameters
    ----------
    column : int
        Place of the dataset.
    reduction : float
        By how much its result lowers the variance, summed over all datasets.
    """

    column: int
    reduction: float


def measure_reductions(belief: Belief, covariance: FloatArray) -> FloatArray:
    """Measure by how much one more result on each dataset lowers the variance on all of them.

    Parameters
    ----------
    belief : Belief
        About the model.
    covariance : ndarray, shape (rank, rank)
        Of its weights, as far as they are known.

    Returns
    -------
    ndarray, shape (datasets,)
        With loadings W, covariance S and noise n, the reduction Σₛ (Wₛ S Wₜ)² / (Wₜ S Wₜ + nₜ) of
        the summed variance of expected gaps: at least 0, whatever the result will be.

    Notes
    -----
    The largest one is the A-optimal choice of one result.

    References
    ----------
    Chaloner, K. and Verdinelli, I. (1995). Bayesian experimental design: a review. Statistical
    Science 10, 273–304.
    """
    loadings = belief.loadings
    along = loadings @ covariance
    explained = np.einsum("tr,rs,ts->t", along, loadings.T @ loadings, along)
    return np.asarray(explained / (measure_variance(belief, covariance) + belief.noise))


def choose_datasets(
    belief: Belief, covariance: FloatArray, candidates: IntArray, *, count: int
) -> list[Choice]:
    """Choose datasets one after the other, each as if the ones before had been run.

    Parameters
    ----------
    belief : Belief
        About the model.
    covariance : ndarray, shape (rank, rank)
        Of its weights, as far as they are known.
    candidates : ndarray of int
        Places of the datasets to choose from; equal ones are chosen in this order.
    count : int
        Most datasets.

    Returns
    -------
    list of Choice
        The most telling one first. Reductions add up to that of all of them.

    Notes
    -----
    Greedy A-optimal design. No result has to be known in between, because in a normal
    distribution the variance does not depend on what is found.
    """
    left = candidates.tolist()
    chosen: list[Choice] = []
    known = Knowledge(np.zeros(len(covariance)), covariance)
    while left and len(chosen) < count:
        reductions = measure_reductions(belief, known.covariance)
        column = left.pop(int(np.argmax(reductions[left])))
        chosen.append(Choice(column, float(reductions[column])))
        known = learn_result(belief, known, column, 0.0)
    return chosen


def order_models(expected: FloatArray, deviation: FloatArray) -> IntArray:
    """Order models by how good they may well be: by the expected gap less its standard deviation.

    Parameters
    ----------
    expected : ndarray, shape (models,)
        Expected gap of each.
    deviation : ndarray, shape (models,)
        Standard deviation of a result around it.

    Returns
    -------
    ndarray of int, shape (models,)
        Places, the model to try first in front; equal ones stay in order.

    Notes
    -----
    A lower confidence bound: of two models with the same expectation, the one of which less is
    known comes first, because it may be better still.

    References
    ----------
    Srinivas, N. et al. (2012). Information-theoretic regret bounds for Gaussian process
    optimization in the bandit setting. IEEE Transactions on Information Theory 58, 3250–3265.

    Examples
    --------
    >>> order_models(np.array([0.5, 0.4, 0.3]), np.array([0.4, 0.1, 0.1])).tolist()
    [0, 2, 1]
    """
    return np.argsort(expected - CAUTION * deviation, kind="stable")
