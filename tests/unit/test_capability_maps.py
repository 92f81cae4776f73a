"""Maps of models and datasets in two dimensions."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from capmap.capabilities import maps
from capmap.capabilities.maps import (
    measure_pairs,
    project_neighbors,
    project_points,
    scale_distances,
)
from capmap.rng import make_stream


def tabulate(points, *, distance="l2"):
    """Make the columns of a table of a fit that a map needs."""
    points = np.asarray(points, dtype=float)
    names = [f"P{place:04d}" for place in range(len(points))]
    table = pd.DataFrame({"distance": distance, "kind": "model", "name": names})
    return table.assign(**{f"z{axis + 1}": points[:, axis] for axis in range(points.shape[1])})


def draw_points(count=30, dimension=5, seed=0):
    return np.random.default_rng(seed).exponential(size=(count, dimension))


def project(points, **options):
    return project_points(tabulate(points, **options))[["x", "y"]].to_numpy()


def test_points_of_a_plane_keep_all_distances():
    points = draw_points(dimension=2) @ np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(pdist(project(points)), pdist(points))
    np.testing.assert_allclose(pdist(scale_distances(squareform(pdist(points)))), pdist(points))


def test_map_is_that_of_the_two_longest_principal_axes():
    points = draw_points()
    centered = points - points.mean(axis=0)
    lengths = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(project(points), axis=0), lengths[:2])


@pytest.mark.parametrize("distance", ["cosine", "poincare"])
def test_map_of_another_distance_scales_its_matrix(distance):
    points = draw_points(dimension=3)
    pairs = measure_pairs(points, distance=distance)
    center = np.eye(len(pairs)) - 1 / len(pairs)
    values = np.linalg.eigvalsh(-0.5 * center @ pairs**2 @ center)
    expected = np.sqrt(values[[-1, -2]])
    np.testing.assert_allclose(np.linalg.norm(project(points, distance=distance), axis=0), expected)


def test_points_on_a_hyperbolic_line_keep_their_distances():
    along = np.array([0.0, 0.3, 1.1, 2.4])
    points = np.sinh(along)[:, None] * np.array([[0.6, 0.8]])
    plane = project(points, distance="poincare")
    # The distances have a tiny smoothing.
    np.testing.assert_allclose(pdist(plane), pdist(along[:, None]), atol=1e-6)
    assert np.all(plane[:, 1] == 0)


def test_too_many_points_are_taken_from_the_ball_or_the_sphere(monkeypatch):
    monkeypatch.setattr(maps, "MOST_POINTS", 10)
    points = draw_points()
    expected = project(maps.enter_ball(points))
    np.testing.assert_allclose(project(points, distance="poincare"), expected)
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    np.testing.assert_allclose(project(points, distance="cosine"), project(unit))


@pytest.mark.parametrize("distance", ["l2", "cosine", "poincare"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_a_few_points_in_any_dimension_have_a_map(distance, count, dimension):
    table = tabulate(draw_points(count, dimension), distance=distance)
    plane = project_points(table)
    assert plane.columns.tolist() == ["kind", "name", "x", "y"]
    assert np.isfinite(plane[["x", "y"]].to_numpy()).all()
    # So few points are not left to UMAP.
    pd.testing.assert_frame_equal(project_neighbors(table, rng=make_stream(0)), plane)


def test_equal_points_are_at_the_origin():
    assert np.all(project(np.ones((4, 3))) == 0)


def test_points_on_a_line_have_no_height():
    plane = project(np.outer([0.0, 1.0, 5.0], [1.0, 2.0, 3.0]))
    assert np.all(plane[:, 1] == 0)


# One test, as each process compiles the package again.
@pytest.mark.slow
def test_umap_keeps_groups_apart_and_gives_the_same_map_again():
    groups = np.repeat([0, 1], 20)
    points = draw_points(40, 3) * 0.1 + 3.0 * groups[:, None]
    for distance in ("l2", "poincare"):
        table = tabulate(points, distance=distance)
        first = project_neighbors(table, rng=make_stream(0, "toy"))
        plane = first[["x", "y"]].to_numpy()
        apart = squareform(pdist(plane))
        np.fill_diagonal(apart, np.inf)
        nearest = groups[apart.argmin(axis=1)]
        assert np.all(nearest == groups)
        np.testing.assert_allclose(plane.mean(axis=0), 0, atol=1e-9)
    pd.testing.assert_frame_equal(project_neighbors(table, rng=make_stream(0, "toy")), first)
    mostly_equal = np.concatenate([np.ones((20, 2)), draw_points(6, 2)])
    few = [draw_points(count, dimension) for count, dimension in ((5, 2), (6, 1), (17, 2))]
    for points in (mostly_equal, *few):
        plane = project_neighbors(tabulate(points), rng=make_stream(0))
        assert len(plane) == len(points)
        assert np.isfinite(plane[["x", "y"]].to_numpy()).all()
