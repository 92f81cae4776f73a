"""Predictions in the unit of the metric: how far a score can go, and which ends are open."""

import numpy as np
import pandas as pd

from capmap.metrics import find_metric

SHARE, PERCENT = (0.0, 1.0), 100.0


def find_limits(bounds: pd.DataFrame) -> pd.DataFrame:
    """Find the best and the worst score that the metric of each dataset allows.

    Parameters
    ----------
    bounds : pandas.DataFrame
        Columns ``dataset``, ``metric``, ``direction``, ``low`` and ``high``, a row per dataset.

    Returns
    -------
    pandas.DataFrame
        ``best`` and ``worst`` by dataset; infinite where the metric has no such bound or is not
        known. A metric from 0 to 1 is in percent on all datasets if one of them has a bound beyond
        1 and none has one beyond 100.

    Examples
    --------
    >>> bounds = {"dataset": ["D"], "metric": ["rmse"], "direction": ["min"]}
    >>> find_limits(pd.DataFrame(bounds | {"low": [1.0], "high": [9.0]})).loc["D"].tolist()
    [0.0, inf]
    """
    largest = bounds.groupby("metric")["high"].max()
    rows = []
    for row in bounds.to_dict("records"):
        metric = find_metric(str(row["metric"]))
        low, high = (metric.low, metric.high) if metric else (None, None)
        if (low, high) == SHARE and 1 < largest[row["metric"]] <= PERCENT:
            high = PERCENT
        ends = (-np.inf if low is None else low, np.inf if high is None else high)
        rows.append(ends[::-1] if row["direction"] == "max" else ends)
    index = pd.Index(bounds["dataset"], name="dataset")
    return pd.DataFrame(rows, index=index, columns=["best", "worst"], dtype=float)


def open_ends(predictions: pd.DataFrame, bounds: pd.DataFrame) -> pd.DataFrame:
    """Move the open ends of intervals of scores to what the metric allows, and none beyond.

    Parameters
    ----------
    predictions : pandas.DataFrame
        The columns of `tabulate_predictions`.
    bounds : pandas.DataFrame
        As for `find_limits`.

    Returns
    -------
    pandas.DataFrame
        With other ``score_low`` and ``score_high``. A gap is from the best to the worst known
        result, so where there is no result, an interval that reaches 0 or 1 is open: the score may
        be a new best or worst. Without a bound of the metric such an end is infinite. Ends of
        other intervals stay, but for those beyond a bound of the metric.

    Notes
    -----
    Of n results in random order, a further one is beyond all with a probability of 2 / (n + 1).
    With closed ends, intervals of 90% held 69 to 83% of simulated scores that were not there.
    """
    limits = find_limits(bounds).loc[predictions["dataset"]]
    best, worst = (limits[name].to_numpy(dtype=float) for name in ("best", "worst"))
    least, most = np.minimum(best, worst), np.maximum(best, worst)
    # A metric whose bounds predictions are beyond is not what its name says.
    middle = predictions["predicted_score"]
    unsound = ~middle.between(least, most) & middle.notna()
    least, most = np.where(unsound, -np.inf, least), np.where(unsound, np.inf, most)
    is_new = predictions["observed"].isna()
    at_best, at_worst = is_new & (predictions["low"] <= 0), is_new & (predictions["high"] >= 1)
    opens_up = np.where(best > worst, at_best, at_worst)
    opens_down = np.where(best > worst, at_worst, at_best)
    return predictions.assign(
        score_low=np.where(opens_down, least, predictions["score_low"].clip(least, most)),
        score_high=np.where(opens_up, most, predictions["score_high"].clip(least, most)),
    )
