"""Rounding of numbers of any size, so that floating-point noise makes no order."""

import numpy as np

from capmap.aggregation import FloatArray, IntArray

SMALLEST_DECADE, LARGEST_DECADE = -280, 300
POWERS = np.array([float(f"1e{power}") for power in range(309)])


def find_decades(sizes: FloatArray) -> IntArray:
    """Smallest power of ten that each size does not exceed.

    Parameters
    ----------
    sizes : numpy.ndarray
        0 or more.

    Returns
    -------
    numpy.ndarray of int
        From -280, which is also that of 0, to 300.

    Examples
    --------
    >>> find_decades(np.array([0.1, 0.5, 1.0, 20.0])).tolist()
    [-1, 0, 0, 2]
    """
    powers = np.full(sizes.shape, float(SMALLEST_DECADE))
    np.log10(sizes, out=powers, where=sizes > 0)
    clipped = np.clip(np.ceil(powers), SMALLEST_DECADE, LARGEST_DECADE)
    return np.asarray(clipped, dtype=np.intp)


def round_decimals(values: FloatArray, decimals: IntArray) -> FloatArray:
    """Round each value to its own number of decimals, from -288 to 292.

    Examples
    --------
    >>> round_decimals(np.array([0.126, 126.0]), np.array([2, -1])).tolist()
    [0.13, 130.0]
    """
    up, down = (POWERS[np.maximum(side, 0)] for side in (decimals, -decimals))
    return np.asarray(np.round(values / down * up) / up * down)
