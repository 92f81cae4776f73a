"""The error of predictions against the number of known results of a model."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from capmap.capabilities.factors import SideInformation, fit_additive, gather_attributes
from capmap.capabilities.gaps import BoolArray, Results, choose_results, order_by_names
from capmap.capabilities.intervals import summarize_errors
from capmap.capabilities.predictions import (
    Known,
    Part,
    cover_groups,
    hide_results,
    predict_parts,
)
from capmap.rng import make_stream, order_names
from capmap.settings.choices import PREDICTION_LEVEL

# Results that are left to a model, and groups of models that are hidden one after the other.
COUNTS = (1, 2, 4, 8, 12, 16, 20)
GROUPS = 5
TINY = 1e-12
FEW = ["results", "row", "prediction", "variance", "truth"]
CURVE = [
    *("results", "models", "predictions", "mse", "mse_low", "mse_high", "mse_additive"),
    *("difference", "difference_low", "difference_high", "coverage", "width"),
]

MakeRng = Callable[..., np.random.Generator]


def leave_few(results: Results, count: int, rng: np.random.Generator) -> list[BoolArray]:
    """Choose what is hidden so that models are left with few results.

    Parameters
    ----------
    results : Results
        All of them.
    count : int
        Results that a model is left with.
    rng : numpy.random.Generator
        Chooses, by the names of models and datasets.

    Returns
    -------
    list of ndarray of bool, shape (results,)
        Of each of at most five random groups of the models with more results than that.
    """
    order = order_by_names(results, rng)
    by_model = order[np.argsort(results.rows[order], kind="stable")]
    starts = np.cumsum(results.per_model) - results.per_model
    place = np.empty(len(order), dtype=np.intp)
    place[by_model] = np.arange(len(order)) - starts[results.rows[by_model]]
    models = np.flatnonzero(results.per_model > count)
    mixed = models[order_names([results.models[model] for model in models], rng)]
    groups = np.array_split(mixed, min(GROUPS, len(mixed))) if len(mixed) else []
    return [np.isin(results.rows, group) & (place >= count) for group in groups]


def measure_curve(
    results: Results,
    attributes: SideInformation,
    *,
    confidence_level: float,
    make_rng: MakeRng,
) -> dict[str, pd.DataFrame]:
    """Leave models with few of their results, and predict the others.

    Parameters
    ----------
    results : Results
        Of all models.
    attributes : SideInformation
        Of models and datasets, may be empty.
    confidence_level : float
        Of all intervals, between 0 and 1.
    make_rng : callable
        Makes a random generator from names.

    Returns
    -------
    dict
        ``error_curve``: a row per number of ``results`` that models were left with, as far as two
        models have more, with what `summarize_errors` has of ``mse`` and ``mse_additive``, and
        ``coverage`` and mean ``width`` of the prediction intervals. ``few_results``: every result
        that was hidden, with ``results``, ``row`` (the place of its model), ``prediction``,
        ``variance`` and ``truth``.

    Notes
    -----
    Of a fifth of the models with more results at a time, all but 1, 2, 4, 8, 12, 16 or 20 random
    ones each are hidden (`hide_results`) and predicted by the factors. Intervals are calibrated by
    the errors of the other groups of models; models are the clusters of intervals of errors.
    """
    rows, tables = [], [pd.DataFrame(columns=FEW).astype("float64")]
    for count in COUNTS:
        hidden = leave_few(results, count, make_rng("results", str(count)))
        parts = hide_results(results, [own for own in hidden if own.any()])
        parts = [part for part in parts if len(part.truth)]
        if len(parts) < 2:
            break
        known = predict_parts(parts, attributes, rng=make_rng("factors", str(count)))
        rows.append({"results": count} | _summarize(parts, known, confidence_level))
        own, truth = known.hidden, known.truth
        columns = [np.full(len(truth), count), own.rows, own.gaps, own.variance, truth]
        tables.append(pd.DataFrame(dict(zip(FEW, columns, strict=True))))
    return {
        "error_curve": pd.DataFrame(rows, columns=CURVE),
        "few_results": pd.concat(tables, ignore_index=True),
    }


def _summarize(parts: Sequence[Part], known: Known, confidence_level: float) -> dict[str, float]:
    truth = known.truth
    groups = np.repeat(np.arange(len(parts)), [len(part.truth) for part in parts])
    # Of a new model no errors are known, so those of one model must not tell of each other.
    alone = known._replace(hidden=known.hidden._replace(rows=np.arange(len(truth))))
    low, high = cover_groups(alone, groups, confidence_level=confidence_level)
    additive = [fit_additive(part.train).predict(*part.pairs).clip(0, 1) for part in parts]
    squares = {
        "mse": (known.hidden.gaps - truth) ** 2,
        "mse_additive": (np.concatenate(additive) - truth) ** 2,
    }
    errors = summarize_errors(
        known.hidden.rows, squares, reference="mse_additive", confidence_level=confidence_level
    )
    covered = (low <= truth + TINY) & (truth - TINY <= high)
    return errors | {"coverage": float(covered.mean()), "width": float((high - low).mean())}


def draw_curve(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    seed: int,
    confidence_level: float = PREDICTION_LEVEL,
) -> dict[str, pd.DataFrame]:
    """Make the table and the file of `measure_curve` for a study."""
    results = choose_results(gaps)
    return measure_curve(
        results,
        gather_attributes(results, models, datasets),
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "error_curve"),
    )
