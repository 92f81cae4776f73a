"""Maps of models and datasets: their points in two dimensions, by their distances."""

import warnings

import numpy as np
import pandas as pd
from scipy.linalg import eigh

from capmap.capabilities.geometry import DISTANCES, enter_ball, normalize_lengths, settle_points
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream

FEWEST_POINTS = 5
NEIGHBORS = 15

MOST_POINTS = 3000
# Distances of points that meet are smoothed, by 3e-5, so axes are not exact either.
NEGLIGIBLE = 1e-4


def project_map(fits: pd.DataFrame, *, study: str, projection: str, seed: int) -> pd.DataFrame:
    """Project models and datasets to the plane, "mds" as `project_points` does or by "umap"."""
    if projection == "mds":
        return project_points(fits)
    return project_neighbors(fits, rng=make_stream(seed, study, "capabilities", "umap"))


def project_points(fits: pd.DataFrame) -> pd.DataFrame:
    """Project models and datasets to the plane by classical multidimensional scaling.

    Parameters
    ----------
    fits : pandas.DataFrame
        Of `tabulate_fit`.

    Returns
    -------
    pandas.DataFrame
        kind, name, x and y, in the order of the fit.

    Notes
    -----
    - Large distances are kept best. x spreads widest, and the axes point as in `settle_points`;
      y is 0 where the points lie on a line.
    - For "l2" these are the two first principal axes. Other distances need a matrix of all pairs;
      of more than 3000 points, straight ones between points of the Poincaré ball or of the unit
      sphere take their place.
    """
    points, distance = choose_points(fits)
    if distance == "l2":
        return name_points(fits, _flatten(points))
    return name_points(fits, scale_distances(measure_pairs(points, distance=distance)))


def choose_points(fits: pd.DataFrame) -> tuple[FloatArray, str]:
    """Take the points of a fit, and the distance between them.

    Parameters
    ----------
    fits : pandas.DataFrame
        Of `tabulate_fit`.

    Returns
    -------
    points : ndarray, shape (models + datasets, dimension)
        In coordinates of the distance.
    distance : str
        "l2" also for more than 3000 points of another distance, which then are points of the
        Poincaré ball or of the unit sphere.
    """
    points = fits.loc[:, "z1":].to_numpy(dtype=float)
    distance = str(fits["distance"].iloc[0])
    if len(points) <= MOST_POINTS:
        return points, distance
    straight = {"poincare": enter_ball, "cosine": normalize_lengths}
    return straight[distance](points) if distance in straight else points, "l2"


def name_points(fits: pd.DataFrame, plane: FloatArray) -> pd.DataFrame:
    """Make the table of a map: kind, name, and x and y of points in the order of the fit."""
    return fits[["kind", "name"]].assign(x=plane[:, 0], y=plane[:, 1])


def measure_pairs(points: FloatArray, *, distance: str) -> FloatArray:
    """Measure the distances of all pairs.

    Parameters
    ----------
    points : ndarray, shape (points, dimension)
        In coordinates of the distance.
    distance : str
        Name of the distance.

    Returns
    -------
    ndarray, shape (points, points)
        Symmetric; 0 from a point to itself.
    """
    measure = DISTANCES[distance]
    pairs = np.empty((len(points), len(points)))
    for place, point in enumerate(points):
        pairs[place], *_ = measure(np.broadcast_to(point, points.shape), points)
    np.fill_diagonal(pairs, 0.0)
    return pairs


def scale_distances(pairs: FloatArray) -> FloatArray:
    """Place points in the plane by their distances (classical multidimensional scaling).

    Parameters
    ----------
    pairs : ndarray, shape (points, points)
        Distances of all pairs.

    Returns
    -------
    ndarray, shape (points, 2)
        The two longest principal axes of points with these distances, pointing as in
        `settle_points`. An axis that the distances do not need (it is less than 0.0001 as
        wide as the other) is 0.

    References
    ----------
    Torgerson (1952), Psychometrika 17:401-419.

    Examples
    --------
    >>> pairs = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> plane = scale_distances(pairs)
    >>> np.linalg.norm(plane[0] - plane[2]).round(6).item()
    5.0
    """
    squares = pairs**2
    means = squares.mean(axis=0)
    products = (means[:, None] + means - squares - means.mean()) / 2
    count = len(pairs)
    values, vectors = eigh(products, subset_by_index=[max(count - 2, 0), count - 1])
    return _flatten(vectors * np.sqrt(np.clip(values, 0, None)))


def _flatten(points: FloatArray) -> FloatArray:
    """The first two principal axes; 0 for one that is not there or as thin as rounding."""
    settled = settle_points(points, distance="l2")
    plane = np.pad(settled, ((0, 0), (0, max(2 - settled.shape[1], 0))))[:, :2]
    widths = np.ptp(plane, axis=0)
    return np.where(widths > NEGLIGIBLE * widths.max(), plane, 0.0)


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
