"""How finely scores are written: rounding hides noise that is smaller than a unit of it."""

import numpy as np
import numpy.typing as npt
import pandas as pd

MOST_DECIMALS = 6
TOLERANCE = 1e-6
BLOCK = 1 << 22


def measure_resolutions(runs: pd.DataFrame, bounds: pd.DataFrame) -> "pd.Series[float]":
    """The unit of the last decimal of each dataset's scores, on the scale of normalized scores.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``dataset`` and ``score``, before normalization.
    bounds : pandas.DataFrame
        ``dataset``, ``low`` and ``high``.

    Returns
    -------
    pandas.Series
        By dataset, 0 where scores have more than six decimals, as means of others do.

    Examples
    --------
    >>> runs = pd.DataFrame({"dataset": list("aabb"), "score": [85.2, 86, 1 / 3, 0.5]})
    >>> bounds = pd.DataFrame({"dataset": ["a", "b"], "low": [0, 0], "high": [100, 1]})
    >>> measure_resolutions(runs, bounds).tolist()
    [0.001, 0.0]
    """
    codes, names = pd.factorize(runs["dataset"])
    scores = runs["score"].to_numpy(dtype=np.float64)
    units = np.zeros(len(names))
    for decimals in range(MOST_DECIMALS, -1, -1):
        is_written = _are_written(scores, codes, decimals, len(names))
        if not is_written.any():
            break
        units[is_written] = 10.0**-decimals
    spans = bounds.set_index("dataset")[["low", "high"]].reindex(names).to_numpy(dtype=np.float64)
    return pd.Series(units / np.abs(spans[:, 1] - spans[:, 0]), index=names)


def _are_written(
    scores: npt.NDArray[np.float64], codes: npt.NDArray[np.intp], decimals: int, count: int
) -> npt.NDArray[np.bool_]:
    """Whether all scores of each dataset have no more decimals."""
    is_written = np.ones(count, dtype=bool)
    for first in range(0, len(scores), BLOCK):
        scaled = scores[first : first + BLOCK] * 10.0**decimals
        off = np.abs(scaled - np.rint(scaled)) > TOLERANCE
        is_written[codes[first : first + BLOCK][off]] = False
    return is_written
