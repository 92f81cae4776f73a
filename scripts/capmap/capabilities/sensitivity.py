"""Which conclusions from predictions survive if results that nobody reported are worse."""

import numpy as np
import pandas as pd

from capmap.ranking.aggregation import FloatArray

COLUMNS = {
    **dict.fromkeys(("kind", "dataset"), "str"),
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
        ``kind`` ("dataset": the best model of each, or "mean": the first ten by mean gap over all
        datasets), ``dataset`` (empty for means), ``place``, ``model``, its ``gap`` (observed, or
        else predicted), ``survives`` (the largest shift of all empty cells, of 0, 0.01 … 1, up to
        which the model keeps its place) and ``successor``, who then has it (empty where nobody).
        A dataset without a prediction has no row; a model that lacks one has no mean.

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
    rows = []
    for place, dataset in enumerate(known.columns):
        own = np.flatnonzero(~np.isnan(gaps[:, place]))
        if own.size:
            found = _follow_places(gaps[own, place, None], empty[own, place, None], places=1)
            rows += [("dataset", dataset, *row) for row in _name_models(found, models[own])]
    own = np.flatnonzero(~np.isnan(gaps).any(axis=1))
    found = _follow_places(gaps[own], empty[own], places=MOST_PLACES)
    rows += [("mean", "", *row) for row in _name_models(found, models[own])]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _follow_places(
    gaps: FloatArray, empty: np.ndarray, *, places: int
) -> list[tuple[int, int, float, float, int]]:
    """Place, model, mean gap, shift that is survived and successor (or −1) of the first places."""
    start = gaps.mean(axis=1)
    order = np.argsort(start, kind="stable")
    gaps, empty = gaps[order], empty[order]
    survived = np.ones(min(places, len(order)))
    successors = np.full(len(survived), -1)
    for step in range(1, STEPS + 1):
        means = np.where(empty, np.minimum(gaps + step / STEPS, 1), gaps).mean(axis=1)
        # Ties keep the order.
        ranked = np.argsort(np.round(means / NEGLIGIBLE), kind="stable")[: len(survived)]
        lost = (ranked != np.arange(len(survived))) & (successors < 0)
        survived[lost] = (step - 1) / STEPS
        successors[lost] = order[ranked[lost]]
    return [
        (place + 1, int(order[place]), float(start[order[place]]), *last)
        for place, last in enumerate(zip(survived.tolist(), successors.tolist(), strict=True))
    ]


def _name_models(
    found: list[tuple[int, int, float, float, int]], models: np.ndarray
) -> list[tuple[int, str, float, float, str]]:
    return [
        (place, models[model], gap, survives, "" if next_ < 0 else models[next_])
        for place, model, gap, survives, next_ in found
    ]
