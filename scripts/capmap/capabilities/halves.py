"""Hiding one half of some results after the other, and how well each is predicted."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.baselines import fit_additive, fit_dataset_mean
from capmap.capabilities.crossvalidation import Predict, correlate
from capmap.capabilities.embedding import Method, fit_starts, predict_gaps
from capmap.capabilities.gaps import BoolArray, Results, are_connected
from capmap.capabilities.intervals import estimate_mean
from capmap.ranking.aggregation import FloatArray, IntArray

MakeRng = Callable[..., np.random.Generator]
HALVINGS = 3


class Fitting(NamedTuple):
    """How maps are fitted.

    Parameters
    ----------
    methods : sequence of Method
        One of `METHODS`: what is fitted. The first gives positions, all of them predictions.
    starts : sequence of ndarray, shape (models + datasets, dimension)
        Where the points of all models and datasets start.
    """

    methods: Sequence[Method]
    starts: Sequence[FloatArray]


def draw_halves(groups: Sequence[str], members: Sequence[str], *, make_rng: MakeRng) -> IntArray:
    """Split each group into two random halves.

    Parameters
    ----------
    groups, members : sequence of str
        Of each result: what is split, and what stays together within it.
    make_rng : callable
        Makes the random generator of the group whose name it is given.

    Returns
    -------
    ndarray of int, shape (results,)
        0 or 1. The first half has one member more where their number is odd, and a group of one
        member has no second half. The order of the results has no influence.

    Examples
    --------
    >>> from capmap.rng import make_stream
    >>> groups, members = ["A", "A", "A", "B", "B", "B"], ["x", "x", "y", "x", "y", "z"]
    >>> draw_halves(groups, members, make_rng=lambda name: make_stream(0, name)).tolist()
    [0, 0, 1, 1, 0, 0]
    """
    own: dict[str, set[str]] = {}
    for group, member in zip(groups, members, strict=True):
        own.setdefault(group, set()).add(member)
    places: dict[tuple[str, str], int] = {}
    for group, found in own.items():
        order = make_rng(group).permutation(np.array(sorted(found), dtype=object))
        places |= {(group, member): place for place, member in enumerate(order)}
    first = {group: (len(found) + 1) // 2 for group, found in own.items()}
    pairs = zip(groups, members, strict=True)
    return np.array([places[pair] >= first[pair[0]] for pair in pairs], dtype=np.intp)


def list_halves(
    groups: Sequence[str], members: Sequence[str], *, n_draws: int, make_rng: MakeRng
) -> list[BoolArray]:
    """List halves of results, both of each of several draws.

    Parameters
    ----------
    groups, members : sequence of str
        As in `draw_halves`.
    n_draws : int
        Number of draws.
    make_rng : callable
        Makes the random generator of the number of a draw and the name of a group.

    Returns
    -------
    list of ndarray of bool, shape (results,)
        What is in each half, two per draw.
    """
    draws = [
        draw_halves(groups, members, make_rng=partial(make_rng, str(draw)))
        for draw in range(n_draws)
    ]
    return [halves == half for halves in draws for half in (0, 1)]


def fit_map(train: Results, fitting: Fitting) -> Predict:
    """Fit a map to known results.

    Parameters
    ----------
    train : Results
        At least one.
    fitting : Fitting
        How.

    Returns
    -------
    callable
        Predicts the gaps of pairs, by the places of model and dataset. Where no known result
        connects the two, as for a model without any, their distance means nothing, and the mean gap
        of the dataset is predicted; that of all results for a dataset without any.
    """
    fits = fit_starts(train, fitting.methods, starts=fitting.starts)
    mean = fit_dataset_mean(train)

    def predict(rows: IntArray, columns: IntArray) -> FloatArray:
        is_near = are_connected(train, rows, columns)
        return np.where(is_near, predict_gaps(fits, rows, columns), mean.predict(rows, columns))

    return predict


def predict_hidden(
    results: Results, known: BoolArray, hidden: BoolArray, *, fitting: Fitting
) -> FloatArray:
    """Predict hidden results by a map of the known ones.

    Parameters
    ----------
    results : Results
        All of them.
    known, hidden : ndarray of bool, shape (results,)
        Which ones are fitted, and which ones are predicted.
    fitting : Fitting
        How.

    Returns
    -------
    ndarray, shape (hidden results,)
        See `fit_map`; NaN without known results.
    """
    test = results.choose(hidden)
    if not (known.any() and hidden.any()):
        return np.full(len(test.gaps), np.nan)
    return fit_map(results.choose(known), fitting)(test.rows, test.columns)


def predict_additive(results: Results, known: BoolArray, hidden: BoolArray) -> FloatArray:
    """Predict hidden results by the effects of models and datasets in the known ones."""
    test = results.choose(hidden)
    if not (known.any() and hidden.any()):
        return np.full(len(test.gaps), np.nan)
    return fit_additive(results.choose(known)).predict(test.rows, test.columns)


def tabulate_predictions(
    results: Results, hidden: BoolArray, predictions: Mapping[str, FloatArray]
) -> pd.DataFrame:
    """List hidden results: places of ``model`` and ``dataset``, ``truth``, and predictions."""
    test = results.choose(hidden)
    places = {"model": test.rows, "dataset": test.columns, "truth": test.gaps}
    return pd.DataFrame({**places, **predictions})


def summarize_errors(
    found: pd.DataFrame, *, others: Mapping[str, str], reference: str, confidence_level: float
) -> dict[str, float]:
    """Summarize how well hidden results were predicted.

    Parameters
    ----------
    found : pandas.DataFrame
        Of `tabulate_predictions`: ``prediction`` and those to compare it with.
    others : mapping
        Columns of the latter, and names of their mean squared errors.
    reference : str
        The column whose squared errors are subtracted.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    dict
        ``models`` and ``datasets`` with predictions, ``predictions``, the number of results that
        were predicted, ``mse``, ``mse_low``, ``mse_high``, the errors of the others, ``pearson``,
        and ``difference``, ``difference_low``, ``difference_high`` (below 0: better than the
        reference). A result that was predicted several times counts once, with the means of its
        squared errors; in ``pearson`` it counts each time. Intervals are over models
        (`estimate_mean`); those of squared errors end at 0. NaN without predictions.
    """
    truth, predicted = (found[name].to_numpy() for name in ("truth", "prediction"))
    names = {"prediction": "mse", **others}
    errors = pd.DataFrame({name: (found[name].to_numpy() - truth) ** 2 for name in names})
    places = [found[name].to_numpy(dtype=np.intp) for name in ("model", "dataset")]
    cells = errors.groupby(places, sort=True).mean()
    models, datasets = (cells.index.get_level_values(level).to_numpy() for level in (0, 1))
    squares = {name: cells[name].to_numpy() for name in names}
    estimate = partial(estimate_mean, clusters=models, confidence_level=confidence_level)
    own = estimate(squares["prediction"])
    change = estimate(squares["prediction"] - squares[reference])
    return {
        "models": len(np.unique(models)),
        "datasets": len(np.unique(datasets)),
        "predictions": len(cells),
        **{name: estimate(squares[column]).mean for column, name in names.items()},
        "mse_low": float(np.maximum(own.low, 0)),
        "mse_high": own.high,
        "pearson": correlate(truth, predicted) if len(truth) else np.nan,
        "difference": change.mean,
        "difference_low": change.low,
        "difference_high": change.high,
    }
