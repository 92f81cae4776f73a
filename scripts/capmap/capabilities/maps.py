"""Maps of models and datasets: their points in two dimensions, by their distances."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import eigh

from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream

SMOOTHING = 1e-9

COINCIDENT = 1e-9
FEWEST_POINTS = 5
NEIGHBORS = 15

MOST_POINTS = 3000
# Distances of points that meet are smoothed, by 3e-5, so axes are not exact either.
NEGLIGIBLE = 1e-4


class Measured(NamedTuple):
    """Distances of pairs of points, and how they change with either point.

    Parameters
    ----------
    values : ndarray, shape (pairs,)
        The distances.
    by_first, by_second : ndarray, shape (pairs, dimension)
        Derivatives by the coordinates of the first and of the second point of each pair.
    """

    values: FloatArray
    by_first: FloatArray
    by_second: FloatArray


def measure_l2(first: FloatArray, second: FloatArray) -> Measured:
    """Euclidean distance; smooth where the two points meet.

    Examples
    --------
    >>> measure_l2(np.array([[3.0, 0.0]]), np.array([[0.0, 4.0]])).values.round(6).tolist()
    [5.0]
    """
    difference = first - second
    values = np.sqrt(np.einsum("ij,ij->i", difference, difference) + SMOOTHING)
    gradient = difference / values[:, None]
    return Measured(values, gradient, -gradient)


def measure_cosine(first: FloatArray, second: FloatArray) -> Measured:
    """Cosine distance, 1 − cos of the angle between two points as seen from the origin.

    Notes
    -----
    From 0 to 2; only directions matter. A point at the origin is at distance 1 from all.
    """
    first_length, first_unit = _split_lengths(first)
    second_length, second_unit = _split_lengths(second)
    cosine = np.einsum("ij,ij->i", first_unit, second_unit)
    across = cosine[:, None]
    return Measured(
        1 - cosine,
        (across * first_unit - second_unit) / first_length[:, None],
        (across * second_unit - first_unit) / second_length[:, None],
    )


def measure_poincare(first: FloatArray, second: FloatArray) -> Measured:
    """Hyperbolic distance, that of the Poincaré ball.

    Notes
    -----
    Coordinates z are those of the hyperboloid, so any are allowed; `enter_ball` gives the points
    of the ball. With h = √(1 + |z|²), the distance is arcosh(h h′ − z · z′) (Nickel and Kiela
    2018, arXiv:1806.03417, equation 6), here by its excess over 1, which is exact for close points.
    """
    first_height = np.sqrt(1 + np.einsum("ij,ij->i", first, first))
    second_height = np.sqrt(1 + np.einsum("ij,ij->i", second, second))
    difference, rise = first - second, first_height - second_height
    excess = (np.einsum("ij,ij->i", difference, difference) - rise**2 + SMOOTHING) / 2
    root = np.sqrt(excess * (excess + 2))
    by_first = difference - (rise / first_height)[:, None] * first
    by_second = -difference + (rise / second_height)[:, None] * second
    slope = (1 / root)[:, None]
    return Measured(np.log1p(excess + root), slope * by_first, slope * by_second)


def enter_ball(positions: FloatArray) -> FloatArray:
    """Map hyperboloid coordinates, shape (points, dimension), to the Poincaré ball."""
    heights = np.sqrt(1 + np.einsum("ij,ij->i", positions, positions))
    return np.asarray(positions / (1 + heights)[:, None])


def _split_lengths(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    lengths = np.sqrt(np.einsum("ij,ij->i", points, points) + SMOOTHING)
    return lengths, points / lengths[:, None]


DISTANCES: dict[str, Callable[[FloatArray, FloatArray], Measured]] = {
    "l2": measure_l2,
    "cosine": measure_cosine,
    "poincare": measure_poincare,
}


def find_center(points: FloatArray, *, distance: str) -> FloatArray:
    """Find the middle of points.

    Parameters
    ----------
    points : ndarray, shape (points, dimension)
        At least one, in coordinates of the distance.
    distance : str
        Name of the distance.

    Returns
    -------
    ndarray, shape (dimension,)
        The mean for "l2"; for "poincare" the mean on the hyperboloid, scaled back to it (Law et
        al. 2019, equation 10); the mean direction for "cosine".
    """
    if distance == "poincare":
        rise = np.sqrt(1 + np.einsum("ij,ij->i", points, points)).mean()
        mean = points.mean(axis=0)
        return np.asarray(mean / np.sqrt(rise**2 - mean @ mean))
    if distance == "cosine":
        return np.asarray(normalize_lengths(points).mean(axis=0))
    return np.asarray(points.mean(axis=0))


def measure_centrality(points: FloatArray, components: IntArray, *, distance: str) -> FloatArray:
    """Measure how far each point is from the middle of its component.

    Parameters
    ----------
    points : ndarray, shape (points, dimension)
        In coordinates of the distance.
    components : ndarray of int, shape (points,)
        The component of each. Distances between two mean nothing, so each has its own middle.
    distance : str
        Name of the distance, which is used to measure.

    Returns
    -------
    ndarray, shape (points,)
        Small for a point in the middle.
    """
    centers = np.empty_like(points)
    for component in np.unique(components):
        own = components == component
        centers[own] = find_center(points[own], distance=distance)
    return DISTANCES[distance](points, centers).values  # noqa: PD011


def settle_points(points: FloatArray, *, distance: str) -> FloatArray:
    """Bring points to a frame of their own, so that fits of the same results can be compared.

    Parameters
    ----------
    points : ndarray, shape (points, dimension)
        In coordinates of the distance.
    distance : str
        Name of the distance, which does not change.

    Returns
    -------
    ndarray, shape (points, dimension)
        The middle of all points is the origin ("l2" and "poincare"; for other distances the origin
        stays). The axes are the principal ones, the longest first.

    Notes
    -----
    - Points of "cosine" are moved to the unit sphere, as only their directions matter.
    - An axis points to where Σ x|x| is positive. All points have a say in that sum, so small
      changes do not flip an axis unless the points lie evenly on both sides; where the sum is 0,
      the first point off the middle lies on the positive side.
    - Axes on which points spread alike may still turn in their plane.
    """
    if distance == "cosine":
        points = normalize_lengths(points)
    elif distance in MOVES:
        points = MOVES[distance](points, find_center(points, distance=distance))
    axes = np.linalg.eigh(points.T @ points)[1][:, ::-1]
    return _fix_signs(points @ axes)


def normalize_lengths(points: FloatArray) -> FloatArray:
    """Move points, shape (points, dimension), to the unit sphere; one at the origin stays."""
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.where(lengths > 0, lengths, 1.0))


def _center_plane(points: FloatArray, center: FloatArray) -> FloatArray:
    return points - center


def _center_hyperboloid(points: FloatArray, center: FloatArray) -> FloatArray:
    """The Lorentz boost that takes the center to the origin."""
    heights = np.sqrt(1 + np.einsum("ij,ij->i", points, points))
    height = np.sqrt(1 + center @ center)
    along = points @ center / (1 + height) - heights
    return np.asarray(points + along[:, None] * center)


MOVES = {"l2": _center_plane, "poincare": _center_hyperboloid}


def _fix_signs(points: FloatArray) -> FloatArray:
    sums = (points * np.abs(points)).sum(axis=0)
    squares = (points**2).sum(axis=0)
    for axis in np.flatnonzero(np.abs(sums) <= COINCIDENT * squares):
        column = points[:, axis]
        off = np.abs(column) > COINCIDENT * np.abs(column).max()
        sums[axis] = column[np.argmax(off)]
    return np.where(sums < 0, -points, points)


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
