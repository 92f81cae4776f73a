"""Maps that keep neighbors together, by UMAP."""

import warnings

import numpy as np
import pandas as pd

from capmap.capabilities.geometry import settle_points
from capmap.capabilities.maps import choose_points, measure_pairs, name_points, project_points
from capmap.ranking.aggregation import FloatArray

FEWEST_POINTS = 5
NEIGHBORS = 15


def project_neighbors(fits: pd.DataFrame, *, rng: np.random.Generator) -> pd.DataFrame:
    """Project models and datasets to the plane by UMAP.

    Parameters
    ----------
    fits : pandas.DataFrame
        Of `tabulate_fit`.
    rng : numpy.random.Generator
        Seeds UMAP.

    Returns
    -------
    pandas.DataFrame
        kind, name, x and y, in the order of the fit.

    Notes
    -----
    - Points that are near stay near; how far groups are from each other means little. The map is
      turned as in `settle_points`.
    - UMAP starts from the map of `project_points`, with 15 neighbors or all others.
    - It needs at least five different points; the map of fewer is that of `project_points`.
    - The map is the same from run to run on one machine. Other machines and versions may round
      differently, which moves points.

    References
    ----------
    McInnes, Healy and Melville (2018), arXiv:1802.03426.
    """
    start = project_points(fits)
    points, distance = choose_points(fits)
    if len(np.unique(points, axis=0)) < FEWEST_POINTS:
        return start
    given, metric = points, "euclidean"
    if distance != "l2":
        given, metric = measure_pairs(points, distance=distance), "precomputed"
    plane = _run_umap(given, metric, start=start[["x", "y"]].to_numpy(), rng=rng)
    return name_points(fits, settle_points(plane, distance="l2"))


def _run_umap(
    given: FloatArray, metric: str, *, start: FloatArray, rng: np.random.Generator
) -> FloatArray:
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        # It warns of what is asked for here: one job, and distances that are given.
        warnings.simplefilter("ignore")
        import umap

        reducer = umap.UMAP(
            n_neighbors=min(NEIGHBORS, len(given) - 1),
            metric=metric,
            init=start if np.ptp(start, axis=0).all() else "random",
            random_state=seed,
            n_jobs=1,
        )
        return np.asarray(reducer.fit_transform(given), dtype=float)
