"""Distances between points, with their gradients."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from capmap.aggregation import FloatArray

SMOOTHING = 1e-9


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


def measure_bilinear(first: FloatArray, second: FloatArray) -> Measured:
    """Inner product; not a distance, but what low-rank models of a matrix fit."""
    return Measured(np.einsum("ij,ij->i", first, second), second, first)


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
    "bilinear": measure_bilinear,
}
