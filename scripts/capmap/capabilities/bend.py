"""From how many known results of a model on the error of its predictions falls no further."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from capmap.ranking.aggregation import FloatArray

NUMBERS = ("bend", "bend_low", "bend_high", "doubling", "doubling_low", "doubling_high")
FITTED = ("mse_few", "mse_many")
BENDS = ("distance", *NUMBERS, "confidence", *FITTED, "models", "predictions")
FEWEST = 8
N_RESAMPLES = 2000


def locate_bends(
    folds: pd.DataFrame,
    *,
    dimension: int,
    confidence_level: float,
    make_rng: Callable[[str], np.random.Generator],
) -> pd.DataFrame:
    """Locate where the error of hidden results stops to fall with the results of their model.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `capmap.capabilities.crossvalidation.join_folds`.
    dimension : int
        Dimension of the embeddings.
    confidence_level : float
        Of the intervals, between 0 and 1.
    make_rng : callable
        Makes the random generator of a method.

    Returns
    -------
    pandas.DataFrame
        By method: ``distance``; ``bend``, the number of results from which on the error is level,
        with ``bend_low`` and ``bend_high``; ``doubling``, the change of the error with twice as
        many results, by a straight line over all of them, with ``doubling_low`` and
        ``doubling_high``; ``confidence``; ``mse_few`` and ``mse_many``, the fitted error of the
        model with fewest results and beyond the bend; ``models`` and ``predictions``. Numbers are
        NaN with fewer than 8 models that differ in their results.

    Notes
    -----
    A line that falls with the logarithm of the number of results and is level from the bend on is
    fitted to the squared errors by least squares, for every number of results that a model has as
    the bend (segmented regression: Muggeo 2003, doi:10.1002/sim.1545). An error that does not fall
    bends at the fewest results; whether it falls at all, ``doubling`` says. Intervals are
    percentiles over resampled models, each with all of its predictions. Models differ in more than
    these numbers, so that a bend is no effect of adding results.
    """
    is_shown = folds["dimension"].isna() | folds["dimension"].eq(dimension).fillna(False)
    is_hidden = (folds["set"] == "validation") & (folds["protocol"] == "random")
    hidden = folds[is_hidden & is_shown & (folds["results"] > 0)]
    rows = []
    for distance, own in hidden.groupby("distance", sort=False):
        squares = (own["prediction"] - own["truth"]) ** 2
        groups = own.assign(square=squares).groupby("model", sort=True)
        models = groups.agg(square=("square", "mean"), known=("results", "mean"))
        found = locate_bend(
            models["known"].to_numpy(np.float64),
            models["square"].to_numpy(np.float64),
            groups["model"].count().to_numpy().astype(np.float64),
            confidence_level=confidence_level,
            rng=make_rng(str(distance)),
        )
        counts = {"models": len(models), "predictions": len(own)}
        rows.append({"distance": distance, "confidence": confidence_level, **found, **counts})
    return pd.DataFrame(rows, columns=list(BENDS))


def locate_bend(
    known: FloatArray,
    errors: FloatArray,
    weights: FloatArray,
    *,
    confidence_level: float,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Locate the bend of one curve.

    Parameters
    ----------
    known, errors, weights : ndarray of float64, shape (models,)
        Number of known results (above 0), mean squared error and number of predictions of each
        model.
    confidence_level : float
        Of the interval, between 0 and 1.
    rng : numpy.random.Generator
        Draws models.

    Returns
    -------
    dict
        The columns of `locate_bends` that are numbers; NaN where they cannot be estimated.
    """
    count, names = len(known), (*NUMBERS, *FITTED)
    if len(np.unique(known)) < FEWEST:
        return dict.fromkeys(names, np.nan)
    bends, levels, slopes = _fit(known, errors, weights[None])
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=N_RESAMPLES) * weights
    tail = (1 - confidence_level) / 2
    ends = [
        np.quantile(resampled, [tail, 1 - tail], method="inverted_cdf")
        for resampled in (_fit(known, errors, drawn)[0], _double(known, errors, drawn))
    ]
    doubling = _double(known, errors, weights[None])[0]
    few = levels[0] + slopes[0] * np.log(bends[0] / known.min())
    values = (bends[0], *ends[0], doubling, *ends[1], few, levels[0])
    return dict(zip(names, map(float, values), strict=True))


def _double(known: FloatArray, errors: FloatArray, weights: FloatArray) -> FloatArray:
    """Change of the error with twice as many results, by the best line of each row of weights."""
    logs = np.log2(known)
    total = weights.sum(axis=1)
    middle, mean = weights @ logs / total, weights @ errors / total
    together = weights @ (logs * errors) - total * middle * mean
    varied = weights @ logs**2 - total * middle**2
    flat = np.zeros(len(weights))
    return np.asarray(np.divide(together, varied, out=flat, where=varied > 1e-9 * total))


def _fit(
    known: FloatArray, errors: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bend, level and slope of the best line of each row of weights."""
    total = weights.sum(axis=1)
    means = weights @ errors / total
    spread = weights @ errors**2 - total * means**2
    shape = len(weights)
    bends, levels = np.full(shape, known.min()), means.copy()
    slopes, gains = np.zeros(shape), np.zeros(shape)
    for bend in np.unique(known)[1:]:
        lacking = np.maximum(0, np.log(bend / known))
        middle = weights @ lacking / total
        varied = weights @ lacking**2 - total * middle**2
        together = weights @ (lacking * errors) - total * middle * means
        usable = (varied > 1e-12 * total) & (together > 0)
        slope = np.divide(together, varied, out=np.zeros(shape), where=usable)
        # Rounding must not make a later bend better than one that fits as well.
        better = usable & (slope * together > gains + 1e-12 * spread)
        bends[better], slopes[better] = bend, slope[better]
        levels[better] = (means - slope * middle)[better]
        gains[better] = (slope * together)[better]
    return bends, levels, slopes
