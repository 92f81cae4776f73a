"""Hiding results, and how well they are predicted from the others."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.capabilities.results import BoolArray, Results, bound_scores, measure_gaps

Protocol = Literal["random", "strict", "family"]
PROTOCOLS: tuple[Protocol, ...] = ("random", "strict", "family")
Predict: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
COLUMNS = (
    *("protocol", "fold", "set", "model", "dataset", "truth", "prediction", "results"),
    *("train_mse", "train_mae", "train_pearson"),
)
SHOWN_FOLD, MOST_SHOWN = 0, 10_000


@dataclass(frozen=True)
class Split:
    """Results that are known, and those to predict.

    Parameters
    ----------
    train : Results
        With gaps by the bounds of the protocol.
    test : Results
        With gaps by the bounds of all results.
    shift, scale : ndarray, shape (results to predict,)
        What turns gaps by the bounds of the protocol into gaps by those of all results.
    """

    train: Results
    test: Results
    shift: FloatArray
    scale: FloatArray

    def restore(self, predicted: FloatArray) -> FloatArray:
        """Turn predictions of a fit to the known results into gaps by the bounds of all."""
        return np.asarray(self.shift + self.scale * predicted)


def split_results(
    results: Results,
    *,
    protocol: Protocol,
    families: Sequence[str],
    held_out: int,
    rng: np.random.Generator,
) -> Split:
    """Hide some random results.

    Parameters
    ----------
    results : Results
        At least two.
    protocol : {"random", "strict", "family"}
        ``random`` measures gaps before results are hidden, as Adorni et al. (2025) do; ``strict``
        fits to gaps by the bounds of the results that are not hidden; ``family`` is as
        ``random``, and with a result it hides the model's other results in the family of the
        dataset, which are not to predict.
    families : sequence of str
        The family of each dataset.
    held_out : int
        Number of results to predict, at most half of all.
    rng : numpy.random.Generator
        Source of the choice.

    Returns
    -------
    Split
        Errors have the same unit in all protocols. Under ``strict``, results of datasets that have
        no other results are not to predict.
    """
    count = len(results.gaps)
    chosen = np.sort(rng.choice(count, size=min(held_out, count // 2), replace=False))
    known = np.ones(count, dtype=bool)
    known[chosen] = False
    if protocol == "family":
        known &= ~_share_family(results, chosen, families)
    train, test = results.choose(known), results.choose(chosen)
    if protocol == "strict":
        return bound_split(results, train, test)
    return Split(train, test, shift=np.zeros(len(chosen)), scale=np.ones(len(chosen)))


def crossvalidate(
    results: Results,
    fit: Callable[[Results], Predict],
    *,
    families: Sequence[str],
    n_splits: int,
    held_out: int,
    make_rng: Callable[[str], np.random.Generator],
) -> pd.DataFrame:
    """Predict hidden results, under each protocol.

    Parameters
    ----------
    results : Results
        At least two.
    fit : callable
        Fits known results and returns what predicts gaps of pairs, by the places of model and
        dataset.
    families : sequence of str
        The family of each dataset.
    n_splits : int
        Number of random splits.
    held_out : int
        Number of results to predict in each, at most half of all.
    make_rng : callable
        Makes the random generator of a fold from its number: the same results are hidden whatever
        is fitted, and in all protocols.

    Returns
    -------
    pandas.DataFrame
        A row per predicted result, by protocol, fold, set, model and dataset: ``protocol``;
        ``fold``, from 0; ``set``, "validation" or, in fold 0 of ``random`` only, "train" (at most
        10,000 known results, at even distances); ``model``; ``dataset``; ``truth`` and
        ``prediction``, both by the bounds of all results; ``results``, how many known ones the
        model has; and, under ``random`` only, ``train_mse``, ``train_mae`` and ``train_pearson``
        of all known results of the fold.

    Notes
    -----
    A fold is left out of a protocol that leaves nothing known (one family of datasets) or nothing
    to predict.
    """
    tables = []
    for protocol, fold in itertools.product(PROTOCOLS, range(n_splits)):
        split = split_results(
            results,
            protocol=protocol,
            families=families,
            held_out=held_out,
            rng=make_rng(str(fold)),
        )
        if len(split.train.gaps) and len(split.test.gaps):
            tables.append(_predict_split(split, fit, protocol=protocol, fold=fold))
    return pd.concat(tables, ignore_index=True)[list(COLUMNS)]


def bound_split(results: Results, train: Results, test: Results) -> Split:
    """Measure the gaps of known results by their own bounds.

    Parameters
    ----------
    results, train, test : Results
        All of them, those that are known and those to predict.

    Returns
    -------
    Split
        Without the results to predict whose dataset has no known ones.
    """
    count = len(results.datasets)
    worst, best = bound_scores(results.scores, results.columns, count)
    known_worst, known_best = bound_scores(train.scores, train.columns, count)
    test = test.choose(np.asarray(~np.isnan(known_best[test.columns])))
    ranges = (best - worst)[test.columns]
    ranges = np.where(ranges == 0, 1.0, ranges)
    return Split(
        train=replace(
            train, gaps=measure_gaps(train.scores, train.columns, known_worst, known_best)
        ),
        test=test,
        shift=(best - known_best)[test.columns] / ranges,
        scale=(known_best - known_worst)[test.columns] / ranges,
    )


def measure_errors(truth: FloatArray, predicted: FloatArray) -> dict[str, float]:
    """Mean squared error, mean absolute error and Pearson's r of predictions.

    Returns
    -------
    dict
        ``mse``, ``mae`` and ``pearson``, the last one NaN where either does not vary.
    """
    errors = predicted - truth
    return {
        "mse": float(np.mean(errors**2)),
        "mae": float(np.mean(np.abs(errors))),
        "pearson": correlate(truth, predicted),
    }


def correlate(truth: FloatArray, predicted: FloatArray) -> float:
    """Pearson's correlation; NaN with fewer than two values or without variation."""
    first, second = truth - np.mean(truth), predicted - np.mean(predicted)
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / scale if scale > 1e-12 else float("nan")


def _share_family(results: Results, chosen: IntArray, families: Sequence[str]) -> BoolArray:
    """Whether a result is of a model and a family that a chosen result has."""
    family = np.unique(np.asarray(families, dtype=object), return_inverse=True)[1]
    keys = results.rows * (family.max(initial=0) + 1) + family[results.columns]
    return np.isin(keys, keys[chosen])


def _predict_split(
    split: Split, fit: Callable[[Results], Predict], *, protocol: Protocol, fold: int
) -> pd.DataFrame:
    predict = fit(split.train)
    test, train = split.test, split.train
    predicted = split.restore(predict(test.rows, test.columns))
    tables = [_tabulate(test, predicted, train).assign(set="validation")]
    errors = dict.fromkeys(("mse", "mae", "pearson"), float("nan"))
    if protocol == "random":
        known = predict(train.rows, train.columns)
        errors = measure_errors(train.gaps, known)
        if fold == SHOWN_FOLD:
            shown = np.linspace(0, len(known) - 1, min(len(known), MOST_SHOWN)).astype(np.intp)
            table = _tabulate(train.choose(shown), known[shown], train)
            tables.insert(0, table.assign(set="train"))
    table = pd.concat(tables, ignore_index=True)
    columns = {f"train_{name}": value for name, value in errors.items()}
    return table.assign(protocol=protocol, fold=fold, **columns)


def _tabulate(shown: Results, predicted: FloatArray, train: Results) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": np.array(shown.models, dtype=object)[shown.rows],
            "dataset": np.array(shown.datasets, dtype=object)[shown.columns],
            "truth": shown.gaps,
            "prediction": predicted,
            "results": train.per_model[shown.rows],
        }
    )
