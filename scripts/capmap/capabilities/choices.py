"""Which result to run next: which dataset says most of a model, and which model may be best."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.beliefs import (
    Belief,
    Knowledge,
    complete_by_factors,
    exchange_roles,
    form_belief,
    learn_result,
    learn_results,
    measure_variance,
    start_knowledge,
)
from capmap.capabilities.candidates import read_allowed, read_costs
from capmap.capabilities.embedding import METHODS, Embedding, predict_gaps, restore_fits
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import BoolArray, Results, are_connected, choose_results
from capmap.capabilities.halves import Fitting
from capmap.capabilities.predictions import choose_newcomers
from capmap.capabilities.stacking import CHAINS
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream

CAUTION = 1.0
MOST_CHOICES = 10
NEXT_DATASETS = {
    **{"model": "str", "rank": "int64", "dataset": "str"},
    **dict.fromkeys(("reduction", "share", "cost"), "float64"),
}
NEXT_MODELS = {"dataset": "str", "rank": "int64", "model": "str"}
PREDICTED = ["predicted", "low", "high"]
INFORMATION = {
    **{"dataset": "str", "results": "int64"},
    **dict.fromkeys(("std_gap", "saturation", "reliability", "information"), "float64"),
}


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
    belief: Belief,
    covariance: FloatArray,
    candidates: IntArray,
    *,
    count: int,
    costs: FloatArray | None = None,
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
    costs : ndarray, shape (datasets,), optional
        What a result on each dataset costs, above 0; all the same by default.

    Returns
    -------
    list of Choice
        The most informative for its cost first. Reductions add up to that of all of them.

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
        gains = reductions if costs is None else reductions / costs
        column = left.pop(int(np.argmax(gains[left])))
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


class Restrictions(NamedTuple):
    """Which results may be run, and what they cost.

    Parameters
    ----------
    models, newcomers : ndarray of bool, shape (models or newcomers, datasets)
        Whether a model may be run on a dataset.
    costs : ndarray, shape (datasets,), or None
        What a result on each dataset costs, above 0; None if that is not known.
    """

    models: BoolArray
    newcomers: BoolArray
    costs: FloatArray | None = None


def list_next_datasets(
    results: Results, newcomers: Results, belief: Belief, restrictions: Restrictions
) -> pd.DataFrame:
    """List the datasets that each model should be run on next.

    Parameters
    ----------
    results : Results
        What was fitted.
    newcomers : Results
        Of models that were not, on the same datasets; may be empty (`choose_newcomers`).
    belief : Belief
        Of the results.
    restrictions : Restrictions
        Which results may be run.

    Returns
    -------
    pandas.DataFrame
        For each model, by name, up to 10 datasets without a result of it that it may be run on, the
        most informative one (for its cost) first: ``model``; ``rank``, from 1; ``dataset``;
        ``reduction``, by how much its result lowers the variance of the model's expected gaps,
        summed over all datasets, once those before it have been run; ``share``, that part of the
        variance as it is now, so that shares add up; and ``cost``, NaN if it is not known. A
        variance of 0 has shares of 0.

    Notes
    -----
    Choices are those of `choose_datasets`, by the belief about a further model after the results
    that the model has (`form_belief`). A dataset that no result connects with the model may be
    chosen too: its result would connect the two parts. Equal datasets are in order of names.
    """
    costs = restrictions.costs
    parts = (results, restrictions.models), (newcomers, restrictions.newcomers)
    rows = [row for own, may in parts for row in _choose_for_models(belief, own, may, costs)]
    table = pd.DataFrame(rows, columns=list(NEXT_DATASETS)).astype(NEXT_DATASETS)
    return table.sort_values(["model", "rank"], ignore_index=True)


def list_next_models(
    results: Results, fits: Sequence[Embedding], allowed: BoolArray
) -> pd.DataFrame:
    """List the models that should be tried next on each dataset.

    Parameters
    ----------
    results : Results
        What was fitted.
    fits : sequence of Embedding
        Of the results.
    allowed : ndarray of bool, shape (models, datasets)
        Whether a model may be run on a dataset.

    Returns
    -------
    pandas.DataFrame
        For each dataset, by name, up to 10 models that may be run on it and have no result there
        but are connected with it (`are_connected`), the most promising one first: ``dataset``;
        ``rank``, from 1; ``model``.

    Notes
    -----
    The order is that of `order_models`. The expected gap is the prediction by all fits, and the
    variance that of the belief about a further dataset after the results that the dataset has.
    Equal models are in order of names.
    """
    turned, exchanged = exchange_roles(fits, results)
    belief = form_belief(turned, exchanged)
    rows = []
    for place, dataset in enumerate(results.datasets):
        known, lacking = _look_at(belief, exchanged, place)
        may = allowed[lacking, place]
        left = lacking[may & are_connected(results, lacking, np.full(len(lacking), place))]
        expected = predict_gaps(turned, np.full(len(left), place), left)
        variance = (measure_variance(belief, known.covariance) + belief.noise)[left]
        chosen = left[order_models(expected, np.sqrt(variance))[:MOST_CHOICES]].tolist()
        rows += [
            (dataset, rank, results.models[model]) for rank, model in enumerate(chosen, start=1)
        ]
    return pd.DataFrame(rows, columns=list(NEXT_MODELS)).astype(NEXT_MODELS)


def add_predictions(choices: pd.DataFrame, predictions: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Add what is predicted for each choice.

    Parameters
    ----------
    choices : pandas.DataFrame
        Columns ``model`` and ``dataset``, and any others.
    predictions : sequence of pandas.DataFrame
        Columns ``model``, ``dataset``, ``predicted``, ``low`` and ``high``, each pair at most once
        in all of them.

    Returns
    -------
    pandas.DataFrame
        The choices with ``predicted``, ``low`` and ``high``; NaN where nothing is predicted.
    """
    keys = ["model", "dataset"]
    kinds = dict.fromkeys(keys, "str") | dict.fromkeys(PREDICTED, "float64")
    known = pd.concat([table[list(kinds)].astype(kinds) for table in predictions])
    return choices.merge(known, on=keys, how="left", validate="one_to_one")


def measure_information(results: Results, belief: Belief, datasets: pd.DataFrame) -> pd.DataFrame:
    """Measure what a result on each dataset says about a model.

    Parameters
    ----------
    results : Results
        What was fitted.
    belief : Belief
        Of the results.
    datasets : pandas.DataFrame
        The table of datasets, for its column ``saturation``.

    Returns
    -------
    pandas.DataFrame
        By dataset: ``dataset``; ``results``; ``std_gap``, the sample standard deviation of their
        gaps (NaN for one result); ``saturation``, the share of models near the best one;
        ``reliability``, the part of the variance of a further model's result that is not noise; and
        ``information``, the part of a further model's variance, summed over all datasets, that one
        result here takes away. Both are from 0 to 1.

    Notes
    -----
    Variances are those of the belief about a further model (`form_belief`) without any result.
    """
    covariance = start_knowledge(belief).covariance
    signal = measure_variance(belief, covariance)
    reductions = measure_reductions(belief, covariance)
    counts = results.per_dataset
    means = np.bincount(results.columns, results.gaps) / counts
    squares = np.bincount(results.columns, (results.gaps - means[results.columns]) ** 2)
    deviation = np.sqrt(squares / np.maximum(counts - 1, 1))
    table = {
        "dataset": results.datasets,
        "results": counts,
        "std_gap": np.where(counts > 1, deviation, np.nan),
        "saturation": datasets.set_index("dataset")["saturation"].loc[results.datasets].to_numpy(),
        "reliability": signal / (signal + belief.noise),
        "information": reductions / signal.sum() if signal.any() else 0.0,
    }
    return pd.DataFrame(table).astype(INFORMATION)


def _choose_for_models(
    belief: Belief, own: Results, allowed: BoolArray, costs: FloatArray | None
) -> Iterator[tuple[object, ...]]:
    for place, model in enumerate(own.models):
        known, left = _look_at(belief, own, place)
        total = measure_variance(belief, known.covariance).sum()
        left = left[allowed[place, left]]
        chosen = choose_datasets(belief, known.covariance, left, count=MOST_CHOICES, costs=costs)
        for rank, (column, reduction) in enumerate(chosen, start=1):
            share = reduction / total if total > 0 else 0.0
            cost = np.nan if costs is None else costs[column]
            yield (model, rank, own.datasets[column], reduction, share, cost)


def _look_at(belief: Belief, own: Results, place: int) -> tuple[Knowledge, IntArray]:
    """What is known of a model, and the places of the datasets that it lacks."""
    is_own = own.rows == place
    columns = own.columns[is_own]
    known = learn_results(belief, columns, own.gaps[is_own])
    return known, np.setdiff1d(np.arange(len(own.datasets)), columns)


def choose_next_results(
    gaps: pd.DataFrame,
    fits: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    predictions: pd.DataFrame,
    placement_predictions: pd.DataFrame,
    model_file: Sequence[str],
    dataset_file: Sequence[str],
    *,
    study: str,
    method: str,
    seed: int,
    attributes: Mapping[str, Mapping[str, str]],
    allowed: Mapping[str, Sequence[str]],
    renamed: Mapping[str, str],
) -> dict[str, pd.DataFrame]:
    """Choose the most informative results: datasets for each model, models for each dataset.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    fits : pandas.DataFrame
        From `capmap.capabilities.embedding.tabulate_fits`.
    models, datasets, predictions, placement_predictions : pandas.DataFrame
        The finished tables of these names.
    model_file, dataset_file : sequence of str
        The tables of attributes, or none.
    study : str
        Name of the study, part of the names of its random streams.
    method
        As in the setting `capabilities`.
    seed
        As in the setting `bootstrap`.
    attributes, allowed
        As in the settings `attributes` and `next`.
    renamed : mapping of str to str
        New names of models and datasets by those of the exports.

    Returns
    -------
    dict
        The tables ``next``, ``next_models`` and ``dataset_information``.
    """
    results, found = choose_results(gaps), restore_fits(fits)
    expected = [predictions, placement_predictions]
    newcomers = choose_newcomers(gaps, results)
    tables = {"models": model_file, "datasets": dataset_file}
    allow = partial(
        read_allowed,
        datasets=results.datasets,
        files=tables,
        attributes=attributes,
        renamed=renamed,
        feasible=allowed["feasible"],
        chosen=allowed["datasets"],
    )
    restrictions = Restrictions(
        allow(results.models),
        allow(newcomers.models),
        read_costs(results.datasets, dataset_file, attributes["datasets"], renamed),
    )
    (factors,) = complete_by_factors(
        [results],
        Fitting(METHODS[method], []),
        gather_attributes(results, models, datasets),
        chains=CHAINS,
        rng=make_stream(seed, study, "capabilities", "choices", "factors"),
    )
    belief = form_belief(found, results, factors)
    chosen = list_next_datasets(results, newcomers, belief, restrictions)
    tried = list_next_models(results, found, restrictions.models)
    return {
        "next": add_predictions(chosen, expected),
        "next_models": add_predictions(tried, expected),
        "dataset_information": measure_information(results, belief, datasets),
    }
