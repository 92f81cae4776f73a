"""Points are turned and moved without changing their distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.stats import ortho_group

from capmap.capabilities import maps
from capmap.capabilities.maps import measure_pairs

seeds = st.integers(0, 2**32 - 1)


def draw_points(seed, *, count=30, dimension=4):
    """Draw points that spread differently on each axis, and lie unevenly about the middle."""
    rng = np.random.default_rng(seed)
    scales = 2.0 ** -np.arange(dimension)
    return rng.exponential(size=(count, dimension)) * scales + rng.normal(size=dimension)


def draw_rotation(seed, dimension=4):
    """Draw a rotation or a reflection."""
    return ortho_group.rvs(dimension, random_state=np.random.default_rng(seed))


def boost(points, velocity):
    """Move the hyperboloid along the first axis, by the matrix of textbooks."""
    heights = np.sqrt(1 + (points**2).sum(axis=1))
    moved = points.copy()
    moved[:, 0] = np.cosh(velocity) * points[:, 0] + np.sinh(velocity) * heights
    return moved


@pytest.mark.parametrize("distance", ["l2", "cosine", "poincare"])
def test_settled_points_have_the_same_distances(distance):
    points = draw_points(3)
    settled = maps.settle_points(points, distance=distance)
    expected = measure_pairs(points, distance=distance)
    np.testing.assert_allclose(measure_pairs(settled, distance=distance), expected, atol=1e-7)


@given(seeds)
def test_settled_points_are_the_same_however_the_points_were_turned_and_moved(seed):
    points = draw_points(seed, count=60)
    turned = points @ draw_rotation(seed)
    settled = maps.settle_points(points, distance="cosine")
    np.testing.assert_allclose(maps.settle_points(turned, distance="cosine"), settled, atol=1e-6)
    settled = maps.settle_points(points, distance="l2")
    np.testing.assert_allclose(maps.settle_points(turned + 5, distance="l2"), settled, atol=1e-6)
    settled = maps.settle_points(points, distance="poincare")
    moved = boost(turned, 0.7)
    np.testing.assert_allclose(maps.settle_points(moved, distance="poincare"), settled, atol=1e-6)


def test_axes_are_principal_and_point_to_the_far_side():
    settled = maps.settle_points(draw_points(5, count=200), distance="l2")
    np.testing.assert_allclose(settled.mean(axis=0), 0, atol=1e-12)
    products = settled.T @ settled
    np.testing.assert_allclose(products - np.diag(np.diag(products)), 0, atol=1e-9)
    assert np.all(np.diff(np.diag(products)) < 0)
    assert np.all((settled * abs(settled)).sum(axis=0) > 0)


@given(seeds)
def test_small_changes_of_points_change_settled_ones_little(seed):
    points = draw_points(7, count=200)
    shaken = points + 1e-4 * np.random.default_rng(seed).normal(size=points.shape)
    settled = maps.settle_points(points, distance="l2")
    assert abs(maps.settle_points(shaken, distance="l2") - settled).max() < 0.01


def test_points_evenly_on_both_sides_have_the_first_on_the_positive_one():
    points = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    settled = maps.settle_points(points, distance="l2")
    np.testing.assert_allclose(settled, [[1, 0], [-1, 0], [0, 0.5], [0, -0.5]], atol=1e-12)


@pytest.mark.parametrize("distance", ["l2", "cosine", "poincare"])
def test_a_single_point_and_equal_points_settle(distance):
    for points in (np.ones((1, 3)), np.ones((4, 3)), np.zeros((2, 1))):
        settled = maps.settle_points(points, distance=distance)
        assert settled.shape == points.shape
        assert np.isfinite(settled).all()


def test_hyperbolic_middle_of_two_points_is_halfway():
    # A point at hyperbolic distance d from the origin has the coordinate sinh d.
    points = np.sinh(np.array([[0.4], [1.8]])) * np.array([[0.6, 0.8]])
    center = maps.find_center(points, distance="poincare")
    np.testing.assert_allclose(center, np.sinh(1.1) * np.array([0.6, 0.8]))


def test_middle_of_directions_ignores_lengths():
    points = np.array([[5.0, 0.0], [0.0, 0.1]])
    np.testing.assert_allclose(maps.find_center(points, distance="cosine"), [0.5, 0.5])


def test_centrality_is_the_distance_to_the_middle_of_the_own_component():
    points = np.array([[0.0, 0.0], [2.0, 0.0], [10.0, 0.0], [10.0, 6.0]])
    measured = maps.measure_centrality(points, np.array([1, 1, 2, 2]), distance="l2")
    np.testing.assert_allclose(measured, [1, 1, 3, 3], atol=1e-6)
    # Directions at ±60° from the middle: 1 − cos 60°.
    turned = np.array([[np.cos(np.pi / 3), np.sin(np.pi / 3)], [1.0, -np.sqrt(3.0)]])
    measured = maps.measure_centrality(turned, np.array([1, 1]), distance="cosine")
    np.testing.assert_allclose(measured, [0.5, 0.5], atol=1e-6)


@given(seeds)
def test_centrality_is_the_same_before_and_after_settling(seed):
    points = draw_points(seed)
    components = np.ones(len(points), dtype=int)
    for distance in ("l2", "cosine", "poincare"):
        before = maps.measure_centrality(points, components, distance=distance)
        settled = maps.settle_points(points, distance=distance)
        after = maps.measure_centrality(settled, components, distance=distance)
        np.testing.assert_allclose(after, before, atol=1e-7)


def test_lengths_are_one_apart_from_that_of_the_origin():
    points = maps.normalize_lengths(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(points, [[0.6, 0.8], [0.0, 0.0]])


def test_distances_of_all_pairs_are_those_of_scipy():
    points = draw_points(2)
    pairs = measure_pairs(points, distance="l2")
    np.testing.assert_allclose(pairs[np.triu_indices(len(points), 1)], pdist(points), atol=1e-7)
    assert np.all(np.diag(pairs) == 0)
    assert np.all(
        maps.DISTANCES["l2"](points, points).values > 0
    )  # smoothed, which maps do not want
