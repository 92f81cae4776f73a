"""Distances between points: closed forms, gradients, and points that meet or lie at the origin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.spatial import distance as peers

from capmap.capabilities import maps

seeds = st.integers(0, 10_000)


def draw_pairs(seed: int, *, pairs: int = 7, dimension: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(pairs, dimension)), rng.normal(size=(pairs, dimension))


@pytest.mark.parametrize("name", maps.DISTANCES)
@given(seed=seeds, dimension=st.integers(1, 6))
def test_gradients_agree_with_finite_differences(name: str, seed: int, dimension: int) -> None:
    first, second = draw_pairs(seed, pairs=1, dimension=dimension)
    # Points that nearly meet bend a distance too sharply for finite differences.
    second += 0.5 * np.sign(second - first)
    measure = maps.DISTANCES[name]
    found = measure(first, second)
    by_first = approx_fprime(first[0], lambda x: measure(x[None], second).values[0], 1e-7)
    by_second = approx_fprime(second[0], lambda x: measure(first, x[None]).values[0], 1e-7)
    np.testing.assert_allclose(found.by_first[0], by_first, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.by_second[0], by_second, rtol=1e-4, atol=1e-5)


@given(seed=seeds)
def test_l2_and_cosine_agree_with_scipy(seed: int) -> None:
    first, second = draw_pairs(seed)
    for measure, peer in (
        (maps.measure_l2, peers.euclidean),
        (maps.measure_cosine, peers.cosine),
    ):
        expected = [peer(*pair) for pair in zip(first, second, strict=True)]
        # Squared lengths are smoothed by 1e-9.
        np.testing.assert_allclose(measure(first, second).values, expected, atol=1e-6)


@given(seed=seeds, scale=st.floats(0.01, 10))
def test_poincare_is_the_distance_of_the_ball(seed: int, scale: float) -> None:
    first, second = (scale * points for points in draw_pairs(seed))
    x, y = maps.enter_ball(first), maps.enter_ball(second)
    assert (np.linalg.norm(x, axis=1) < 1).all()
    # Nickel and Kiela (2017), arXiv:1705.08039, equation 1.
    gap = np.sum((x - y) ** 2, axis=1)
    room = (1 - np.sum(x**2, axis=1)) * (1 - np.sum(y**2, axis=1))
    expected = np.arccosh(1 + 2 * gap / room)
    np.testing.assert_allclose(maps.measure_poincare(first, second).values, expected, 1e-5, 1e-6)


def test_poincare_by_hand() -> None:
    # From the origin to z the distance is arsinh |z|: here arsinh(3/4) = log(3/4 + 5/4) = log 2,
    # and the point of the ball is z / (1 + 5/4), at radius 1/3 = tanh(log 2 / 2).
    origin, z = np.zeros((1, 2)), np.array([[0.75, 0.0]])
    assert maps.measure_poincare(origin, z).values[0] == pytest.approx(np.log(2), abs=1e-8)
    assert maps.enter_ball(z).tolist() == [[pytest.approx(1 / 3), 0.0]]


@pytest.mark.parametrize("name", ["l2", "cosine", "poincare"])
@given(seed=seeds)
def test_distances_are_symmetric(name: str, seed: int) -> None:
    first, second = draw_pairs(seed)
    there, back = maps.DISTANCES[name](first, second), maps.DISTANCES[name](second, first)
    np.testing.assert_allclose(there.values, back.values, rtol=1e-12)
    np.testing.assert_allclose(there.by_first, back.by_second, rtol=1e-9, atol=1e-12)


@given(seed=seeds, scale=st.floats(0.1, 10))
def test_cosine_knows_directions_only(seed: int, scale: float) -> None:
    first, second = draw_pairs(seed)
    np.testing.assert_allclose(
        maps.measure_cosine(scale * first, second).values,
        maps.measure_cosine(first, second).values,
        atol=1e-5,
    )


@pytest.mark.parametrize("name", maps.DISTANCES)
def test_points_that_meet_and_points_at_the_origin_have_finite_gradients(name: str) -> None:
    first = np.array([[0.3, 0.4], [0.0, 0.0], [0.0, 0.0]])
    second = np.array([[0.3, 0.4], [0.0, 0.0], [1.0, 0.0]])
    found = maps.DISTANCES[name](first, second)
    assert all(np.isfinite(part).all() for part in found)
    if name in ("l2", "poincare"):
        # The square root of the smoothing.
        np.testing.assert_allclose(found.values[:2], np.sqrt(1e-9), rtol=1e-6)


def test_hyperbolic_points_far_out_stay_finite() -> None:
    far = np.array([[1e6, 0.0]])
    found = maps.measure_poincare(far, -far)
    # Twice arsinh(1e6), about log(2e6).
    assert found.values[0] == pytest.approx(2 * np.log(2e6), rel=1e-9)
    assert np.isfinite(found.by_first).all()
    assert np.linalg.norm(maps.enter_ball(far)) < 1
