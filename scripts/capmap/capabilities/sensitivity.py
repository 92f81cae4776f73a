"""Which conclusions from predictions survive if results that nobody reported are worse."""

from typing import Any

import numpy as np
import pandas as pd

from capmap.ranking.aggregation import FloatArray

COLUMNS = {
    "place": "int64",
    "model": "str",
    **dict.fromkeys(("gap", "survives"), "float64"),
    "successor": "str",
}
MOST_PLACES = 10
STEPS = 100
NEGLIGIBLE = 1e-9


def shift_unreported(
    predicted: FloatArray, low: FloatArray, high: FloatArray, *, worse: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Predictions and intervals of empty cells if results there are worse.

    Parameters
    ----------
    predicted, low, high : numpy.ndarray
        Gaps from 0 to 1 as if results were missing at random; NaN stays.
    worse : float
        By how much, in gaps.

    Returns
    -------
    tuple of numpy.ndarray
        The same moved, from 0 to 1. A lower end of 0 stays, as it is open: a new best result, by
        however much it is better, has gap 0.

    References
    ----------
    Little, R. J. A. and Rubin, D. B. (2019). Statistical Analysis with Missing Data, 3rd edition,
    chapter 15. Wiley. The shift is the offset δ of a pattern-mixture model.
    """
    moved, start, end = (np.clip(values + worse, 0, 1) for values in (predicted, low, high))
    return moved, np.where(low == 0, low, start), end


def measure_sensitivity(predictions: pd.DataFrame) -> pd.DataFrame:
    """Find by how much unreported results must be worse for conclusions to change.

    Parameters
    ----------
    predictions : pandas.DataFrame
        ``model``, ``dataset``, ``observed`` (gap, NaN without a result) and ``predicted``.

    Returns
    -------
    pandas.DataFrame
        The first ten models by mean gap over all datasets: ``place``, ``model``, its mean ``gap``
        (of results, or else predictions), ``survives`` (the largest shift of all empty cells, of 0,
        0.01 … 1, up to which the model keeps its place) and ``successor``, who then has it (empty
        where nobody). A model that lacks a prediction is left out.

    Notes
    -----
    Best models of single datasets are none of these conclusions: gaps are from the best result, so
    that no prediction comes before it.

    Examples
    --------
    >>> pairs = pd.DataFrame(
    ...     {
    ...         "model": ["a", "b"], "dataset": ["x", "x"],
    ...         "observed": [np.nan, 0.305], "predicted": [0.1, 0.4],
    ...     }
    ... )
    >>> first = measure_sensitivity(pairs).loc[0]
    >>> first["model"], float(first["survives"]), first["successor"]
    ('a', 0.2, 'b')
    """
    known, expected = (
        predictions.set_index(["model", "dataset"])[name].sort_index().unstack()  # noqa: PD010
        for name in ("observed", "predicted")
    )
    models = known.index.astype(object).to_numpy()
    gaps, empty = known.fillna(expected).to_numpy(dtype=np.float64), known.isna().to_numpy()
    own = np.flatnonzero(~np.isnan(gaps).any(axis=1))
    rows = _follow_places(gaps[own], empty[own], models[own]) if len(own) else []
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _follow_places(
    gaps: FloatArray, empty: np.ndarray, models: np.ndarray
) -> list[tuple[Any, ...]]:
    """Rows of the table."""
    start = gaps.mean(axis=1)
    order = np.argsort(start, kind="stable")
    gaps, empty, models = gaps[order], empty[order], models[order]
    survived = np.ones(min(MOST_PLACES, len(order)))
    successors = [""] * len(survived)
    for step in range(1, STEPS + 1):
        means = np.where(empty, np.minimum(gaps + step / STEPS, 1), gaps).mean(axis=1)
        # Ties keep the order.
        ranked = np.argsort(np.round(means / NEGLIGIBLE), kind="stable")[: len(survived)]
        for place in np.flatnonzero(ranked != np.arange(len(survived))):
            if not successors[place]:
                survived[place], successors[place] = (step - 1) / STEPS, models[ranked[place]]
    places = range(1, len(survived) + 1)
    return [*zip(places, models, start[order], survived, successors, strict=False)]
