"""Which result to run next: what is expected of a model, and which dataset tells most of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.embedding import Embedding, Method, predict_gaps, restore_fits
from capmap.capabilities.gaps import Results, are_connected, choose_results
from capmap.capabilities.predictions import choose_newcomers
from capmap.ranking.aggregation import FloatArray, IntArray

RANK = 8
MOST_MODELS = 300
RESIDUAL_FACTOR = 2.0
SHARED_RESULTS = 5.0
LEAST_NOISE = 1e-5
ROUNDING = 1e-9

CAUTION = 1.0

MOST_CHOICES = 10
NEXT_DATASETS = {
    **{"model": "str", "rank": "int64", "dataset": "str"},
    **dict.fromkeys(("reduction", "share"), "float64"),
}
NEXT_MODELS = {"dataset": "str", "rank": "int64", "model": "str"}
PREDICTED = ["predicted", "low", "high"]
INFORMATION = {
    **{"dataset": "str", "results": "int64"},
    **dict.fromkeys(("std_gap", "saturation", "reliability", "information"), "float64"),
}


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
    Offsets hold how good a model is overall, which is what its first results tell most about. Of
    the ensemble, beliefs from L2 with offsets predicted new models better than those with the plain
    L2 fits on both studies that were tried, and choosing by them saved more results.
    """
    chosen = [
        method for method in methods if method.distance == "l2" and method.offset_ridge is not None
    ]
    return chosen or [*methods]


def form_belief(fits: Sequence[Embedding], results: Results) -> Belief:
    """Form the belief about a further model from those that are fitted.

    Parameters
    ----------
    fits : sequence of Embedding
        Predictions of those by methods of `prefer_offsets` are averaged; others do not count.
    results : Results
        What they are fitted to, at least one.

    Returns
    -------
    Belief
        About all datasets.

    Notes
    -----
    The fits complete the matrix of gaps. The mean is that of its columns; the loadings are its
    first principal components, at most 8, so that ``loadings @ loadings.T`` is its covariance over
    models, but for further components. Models without results do not count, and of more than 300
    that many count, evenly spaced by name.

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
    models = spread_out(np.flatnonzero(results.per_model), most=MOST_MODELS)
    count = len(results.datasets)
    rows, columns = np.repeat(models, count), np.tile(np.arange(count), len(models))
    completed, is_near = (
        found.reshape(len(models), count)
        for found in (predict_gaps(fits, rows, columns), are_connected(results, rows, columns))
    )
    near = is_near.sum(axis=0)
    sums = np.where(is_near, completed, 0.0).sum(axis=0)
    mean = np.where(near > 0, sums / np.maximum(near, 1), results.gaps.mean())
    deviations = np.where(is_near, completed - mean, 0.0) / np.sqrt(np.maximum(near - 1, 1))
    _, sizes, directions = np.linalg.svd(deviations, full_matrices=False)
    loadings = directions[:RANK].T * np.where(sizes > ROUNDING, sizes, 0.0)[:RANK]
    return Belief(mean, loadings, _measure_noise(fits, results))


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


def learn_result(belief: Belief, known: Knowledge, column: int, gap: float) -> Knowledge:
    """Learn one more result: its dataset's place, and its gap.

    Notes
    -----
    Conditioning of a normal distribution; the order in which results are learnt has no influence.
    The covariance does not depend on the gap, and a result may come again.
    """
    loading = belief.loadings[column]
    along = known.covariance @ loading
    variance = loading @ along + belief.noise[column]
    surprise = gap - belief.mean[column] - loading @ known.mean
    return Knowledge(
        known.mean + along * (surprise / variance),
        known.covariance - np.outer(along, along) / variance,
    )


def learn_results(belief: Belief, columns: IntArray, gaps: FloatArray) -> Knowledge:
    """Learn some results, possibly none."""
    known = start_knowledge(belief)
    for column, gap in zip(columns.tolist(), gaps.tolist(), strict=True):
        known = learn_result(belief, known, column, gap)
    return known


def expect_gaps(belief: Belief, known: Knowledge) -> FloatArray:
    """Expected gap on each dataset, shape (datasets,); not limited to 0 … 1."""
    return np.asarray(belief.mean + belief.loadings @ known.mean)


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


def list_next_datasets(
    results: Results, newcomers: Results, fits: Sequence[Embedding]
) -> pd.DataFrame:
    """List the datasets that each model should be run on next.

    Parameters
    ----------
    results : Results
        What was fitted.
    newcomers : Results
        Of models that were not, on the same datasets; may be empty (`choose_newcomers`).
    fits : sequence of Embedding
        Of the results.

    Returns
    -------
    pandas.DataFrame
        For each model, by name, up to 10 datasets without a result of it, the most telling one
        first: ``model``; ``rank``, from 1; ``dataset``; ``reduction``, by how much its result
        lowers the variance of the model's expected gaps, summed over all datasets, once those
        before it have been run; and ``share``, that part of the variance as it is now, so that
        shares add up. A variance of 0 has shares of 0.

    Notes
    -----
    Choices are those of `choose_datasets`, by the belief about a further model after the results
    that the model has (`form_belief`). A dataset that no result connects with the model may be
    chosen too: its result would connect the two parts. Equal datasets are in order of names.
    """
    belief = form_belief(fits, results)
    rows = [*_choose_for_models(belief, results), *_choose_for_models(belief, newcomers)]
    table = pd.DataFrame(rows, columns=list(NEXT_DATASETS)).astype(NEXT_DATASETS)
    return table.sort_values(["model", "rank"], ignore_index=True)


def list_next_models(results: Results, fits: Sequence[Embedding]) -> pd.DataFrame:
    """List the models that should be tried next on each dataset.

    Parameters
    ----------
    results : Results
        What was fitted.
    fits : sequence of Embedding
        Of the results.

    Returns
    -------
    pandas.DataFrame
        For each dataset, by name, up to 10 models that have no result on it but are connected with
        it (`are_connected`), the most promising one first: ``dataset``; ``rank``, from 1;
        ``model``.

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
        left = lacking[are_connected(results, lacking, np.full(len(lacking), place))]
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


def measure_information(
    results: Results, fits: Sequence[Embedding], datasets: pd.DataFrame
) -> pd.DataFrame:
    """Measure what a result on each dataset tells about a model.

    Parameters
    ----------
    results : Results
        What was fitted.
    fits : sequence of Embedding
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
    belief = form_belief(fits, results)
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


def _choose_for_models(belief: Belief, own: Results) -> Iterator[tuple[object, ...]]:
    for place, model in enumerate(own.models):
        known, left = _look_at(belief, own, place)
        total = measure_variance(belief, known.covariance).sum()
        chosen = choose_datasets(belief, known.covariance, left, count=MOST_CHOICES)
        for rank, choice in enumerate(chosen, start=1):
            share = choice.reduction / total if total > 0 else 0.0
            yield (model, rank, own.datasets[choice.column], choice.reduction, share)


def _look_at(belief: Belief, own: Results, place: int) -> tuple[Knowledge, IntArray]:
    """What is known of a model, and the places of the datasets that it lacks."""
    is_own = own.rows == place
    columns = own.columns[is_own]
    known = learn_results(belief, columns, own.gaps[is_own])
    return known, np.setdiff1d(np.arange(len(own.datasets)), columns)


def choose_next_results(
    gaps: pd.DataFrame,
    fits: pd.DataFrame,
    datasets: pd.DataFrame,
    predictions: pd.DataFrame,
    placement_predictions: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    """Choose the results that tell most: datasets for each model, models for each dataset.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    fits : pandas.DataFrame
        From `capmap.capabilities.embedding.tabulate_fits`.
    datasets, predictions, placement_predictions : pandas.DataFrame
        The finished tables of these names.

    Returns
    -------
    dict
        The tables ``next``, ``next_models`` and ``dataset_information``.
    """
    results, found = choose_results(gaps), restore_fits(fits)
    expected = [predictions, placement_predictions]
    newcomers = choose_newcomers(gaps, results)
    return {
        "next": add_predictions(list_next_datasets(results, newcomers, found), expected),
        "next_models": add_predictions(list_next_models(results, found), expected),
        "dataset_information": measure_information(results, found, datasets),
    }
