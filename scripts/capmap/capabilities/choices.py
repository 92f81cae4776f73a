"""Tables of the results to run next, and of what each dataset tells."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from capmap.aggregation import IntArray
from capmap.capabilities.belief import (
    Belief,
    Knowledge,
    exchange_roles,
    form_belief,
    learn_results,
    measure_variance,
    start_knowledge,
)
from capmap.capabilities.design import choose_datasets, measure_reductions, order_models
from capmap.capabilities.embedding import Embedding, predict_gaps
from capmap.capabilities.results import Results, are_connected

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
