"""Distances between points, their gradients, and the moves that leave distances unchanged."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from capmap.ranking.aggregation import FloatArray, IntArray

SMOOTHING = 1e-9

NEGLIGIBLE = 1e-9


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
    return DISTANCES[distance](points, centers).values


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
    for axis in np.flatnonzero(np.abs(sums) <= NEGLIGIBLE * squares):
        column = points[:, axis]
        off = np.abs(column) > NEGLIGIBLE * np.abs(column).max()
        sums[axis] = column[np.argmax(off)]
    return np.where(sums < 0, -points, points)
