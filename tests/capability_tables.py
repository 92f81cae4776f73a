"""Small studies with known positions, for everything that embeds models and datasets."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.gaps import tabulate_gaps
from capmap.ranking import aggregation


class Simulated(NamedTuple):
    """Results whose gaps are distances between points.

    Parameters
    ----------
    cells : pandas.DataFrame
        ``model``, ``dataset`` and ``score`` (normalized, 1 − gap), a row per filled cell.
    models, datasets : ndarray, shape (models, dimension) and (datasets, dimension)
        The points, in order of names.
    """

    cells: pd.DataFrame
    models: aggregation.FloatArray
    datasets: aggregation.FloatArray


def simulate_results(
    models: int = 30,
    datasets: int = 24,
    *,
    dimension: int = 5,
    share: float = 1.0,
    noise: float = 0.0,
    seed: int = 0,
) -> Simulated:
    """Simulate results of models named M000, M001, … on datasets named D000, D001, ….

    Models lie in a ball of diameter 1, most of them on its sphere in opposite pairs. A dataset
    lies at the place of one of these, which is its best model with gap 0; the opposite model is its
    worst with gap 1. Without noise, gaps as capmap measures them are therefore the distances, also
    when cells are empty: those of the best and worst models are always filled. Noise is normal and
    moves the bounds a little.
    """
    rng = np.random.default_rng(seed)
    pairs = max(1, models // 3)
    ends = rng.normal(size=(pairs, dimension))
    ends *= 0.5 / np.linalg.norm(ends, axis=1, keepdims=True)
    inner = rng.normal(size=(models, dimension))
    inner *= 0.5 * rng.uniform(0, 1, (models, 1)) / np.linalg.norm(inner, axis=1, keepdims=True)
    points = np.concatenate([ends, -ends, inner])[:models]
    home = np.arange(datasets) % min(2 * pairs, models)
    away = (home + pairs) % (2 * pairs)
    gaps = np.linalg.norm(points[:, None] - points[home][None], axis=2)
    filled = rng.random(gaps.shape) < share
    filled[home, np.arange(datasets)] = filled[away, np.arange(datasets)] = True
    gaps = gaps + noise * rng.normal(size=gaps.shape)
    return Simulated(list_cells(np.where(filled, 1 - gaps, np.nan)), points, points[home])


def list_cells(scores: object) -> pd.DataFrame:
    """List the filled cells of a matrix of scores, a row per model; NaN is empty."""
    matrix = np.array(scores, dtype=float)
    rows, columns = np.nonzero(~np.isnan(matrix))
    return pd.DataFrame(
        {
            "model": [f"M{row:03d}" for row in rows],
            "dataset": [f"D{column:03d}" for column in columns],
            "score": matrix[rows, columns],
        }
    )


def make_bounds(cells: pd.DataFrame, *, lower_is_better: tuple[str, ...] = ()) -> pd.DataFrame:
    """Make bounds: raw scores in percent, of accuracy or, where lower is better, of error rate."""
    datasets = sorted(cells["dataset"].unique())
    is_min = np.isin(datasets, lower_is_better)
    return pd.DataFrame(
        {
            "dataset": datasets,
            "metric": np.where(is_min, "error rate", "accuracy"),
            "direction": np.where(is_min, "min", "max"),
            "low": 0.0,
            "high": 100.0,
            "low_origin": "natural",
            "high_origin": "natural",
        }
    )


def make_gaps(
    cells: pd.DataFrame, *, min_results: int = 2, lower_is_better: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Make the table of gaps of cells."""
    bounds = make_bounds(cells, lower_is_better=lower_is_better)
    return tabulate_gaps(cells, bounds, min_results=min_results)
