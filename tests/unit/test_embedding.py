"""Positions: distances and gradients, known points found again, frames, maps, tiny studies."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import approx_fprime
from scipy.spatial import distance as peers
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ortho_group

from capmap.capabilities import embedding
from capmap.capabilities.embedding import DISTANCES, fit_embedding, project_map, settle_points
from capmap.capabilities.gaps import arrange_results, choose_results
from tests.capability_tables import Simulated, list_cells, make_gaps, simulate_results

DATA = Path(__file__).parents[2] / "data"
seeds = st.integers(0, 10_000)


def draw_start(results, dimension=5, seed=0):
    return embedding.draw_start(results, dimension=dimension, seed=seed, study="toy")


def embed(gaps, *, method="l2_ridge", dimension=3):
    options = {"study": "toy", "method": method, "dimension": dimension}
    return embedding.embed_models(gaps, **options, projection="mds", seed=0)["positions"]


def miss(points, truth):
    """Root mean square distance of points to the true ones, after rotation and shift."""
    known = np.concatenate([truth.models, truth.datasets])
    points, known = points - points.mean(axis=0), known - known.mean(axis=0)
    rotation, _ = orthogonal_procrustes(points, known)
    return float(np.sqrt(np.mean(np.sum((points @ rotation - known) ** 2, axis=1))))


@pytest.mark.parametrize("name", DISTANCES)
@given(seed=seeds, dimension=st.integers(1, 6))
def test_gradients_agree_with_finite_differences_and_distances_are_symmetric(name, seed, dimension):
    first, second = np.random.default_rng(seed).normal(size=(2, 1, dimension))
    # Points that nearly meet bend a distance too sharply for finite differences.
    second += 0.5 * np.sign(second - first)
    measure = DISTANCES[name]
    found = measure(first, second)
    by_first = approx_fprime(first[0], lambda x: measure(x[None], second).lengths[0], 1e-7)
    by_second = approx_fprime(second[0], lambda x: measure(first, x[None]).lengths[0], 1e-7)
    np.testing.assert_allclose(found.by_first[0], by_first, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.by_second[0], by_second, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(measure(second, first).lengths, found.lengths, rtol=1e-12)


@given(seed=seeds, scale=st.floats(0.01, 10))
def test_distances_agree_with_scipy_and_the_ball(seed, scale):
    first, second = scale * np.random.default_rng(seed).normal(size=(2, 7, 3))
    for measure, peer in (
        (embedding.measure_l2, peers.euclidean),
        (embedding.measure_cosine, peers.cosine),
    ):
        expected = [peer(*pair) for pair in zip(first, second, strict=True)]
        # Squared lengths are smoothed by 1e-9.
        np.testing.assert_allclose(measure(first, second).lengths, expected, 1e-4, 1e-4)
    # Nickel and Kiela (2017), arXiv:1705.08039, equation 1, at the points of the ball.
    x, y = (own / (1 + np.sqrt(1 + (own**2).sum(axis=1)))[:, None] for own in (first, second))
    room = (1 - np.sum(x**2, axis=1)) * (1 - np.sum(y**2, axis=1))
    expected = np.arccosh(1 + 2 * np.sum((x - y) ** 2, axis=1) / room)
    found = embedding.measure_poincare(first, second).lengths
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("name", DISTANCES)
def test_points_that_meet_and_points_at_the_origin_have_finite_gradients(name):
    first = np.array([[0.3, 0.4], [0.0, 0.0], [0.0, 0.0], [1e6, 0.0]])
    second = np.array([[0.3, 0.4], [0.0, 0.0], [1.0, 0.0], [-1e6, 0.0]])
    assert all(np.isfinite(part).all() for part in DISTANCES[name](first, second))


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_known_positions_are_recovered(share):
    truth = simulate_results(60, 40, share=share, seed=1)
    results = arrange_results(truth.cells)
    fits = [
        fit_embedding(results, distance="l2", start=draw_start(results, seed=s)) for s in (0, 1)
    ]
    # The points have a root mean square distance of 0.47 from their center.
    assert min(miss(own, truth) for own in fits) < 0.005


def test_fits_find_the_points_of_the_shipped_database_again():
    script = runpy.run_path(str(DATA / "make_examples.py"))
    types = pd.read_csv(DATA / "capabilities/datasets.csv", index_col="dataset")["type"]
    models = script["place_models"]()
    datasets = script["place_datasets"](models, types)
    scores = 1 - script["measure_gaps"](models, datasets, 0.02).rename_axis("model")
    cells = scores.melt(var_name="dataset", value_name="score", ignore_index=False)
    results = choose_results(make_gaps(cells.dropna().reset_index(), min_results=5))
    assert (len(results.models), len(results.datasets), len(results.gaps)) == (36, 52, 728)
    truth = Simulated(cells, models.loc[results.models], datasets.loc[results.datasets])
    starts = [draw_start(results, seed=seed) for seed in range(4)]
    fits = [fit_embedding(results, distance="l2", ridge=0.5, start=start) for start in starts]
    # 0.052 when measured, and 0.048 at the true size: penalties draw all points to the middle.
    assert min(miss(own, truth) for own in fits) < 0.15 * 0.5


@pytest.mark.parametrize("name", DISTANCES)
def test_hidden_results_of_known_positions_are_predicted(name):
    truth = simulate_results(40, 30, dimension=3, share=0.7, noise=0.02, seed=3)
    results = arrange_results(truth.cells)
    hidden = np.random.default_rng(0).permutation(len(results.gaps)) < 40
    train, test = results.choose(~hidden), results.choose(hidden)
    predicted = embedding.predict_by_distance(name, draw_start(results, 3), train, test)
    # Points in flat space leave little to explain; angles describe them less well.
    limit = 0.5 if name == "cosine" else 0.1
    assert np.mean((predicted - test.gaps) ** 2) < limit * np.var(test.gaps)


@given(seeds)
def test_settled_points_are_the_same_however_the_points_were_turned_and_moved(seed):
    rng = np.random.default_rng(seed)
    points = rng.exponential(size=(60, 4)) * 2.0 ** -np.arange(4)
    turned = points @ ortho_group.rvs(4, random_state=rng) + 5
    settled = settle_points(points)
    np.testing.assert_allclose(settle_points(turned), settled, atol=1e-6)
    np.testing.assert_allclose(pdist(settled), pdist(points), atol=1e-9)
    products = settled.T @ settled
    np.testing.assert_allclose(products - np.diag(np.diag(products)), 0, atol=1e-9)
    assert np.all(np.diff(np.diag(products)) < 0)
    assert np.all((settled * abs(settled)).sum(axis=0) > 0)


def test_centrality_is_the_distance_to_the_middle_of_the_own_part():
    scores = np.full((4, 5), np.nan)
    scores[:2, :3], scores[2:, 3:] = [[1, 0.2, 0.5], [0, 0.8, 0.1]], [[0.3, 0.9], [0.6, 0.4]]
    positions = embed(make_gaps(list_cells(scores)))
    assert positions["component"].tolist() == [1, 1, 2, 2, 1, 1, 1, 2, 2]
    points = positions.loc[:, "x1":]
    apart = points - points.groupby(positions["component"]).transform("mean")
    # Distances of points that meet are smoothed.
    expected = np.linalg.norm(apart, axis=1)
    np.testing.assert_allclose(positions["centrality"], expected, atol=1e-4)


@pytest.mark.parametrize("method", ["l2_ridge", "l2"])
@pytest.mark.parametrize("dimension", [1, 5])
def test_two_models_on_two_datasets_have_positions_and_a_map(method, dimension):
    gaps = make_gaps(list_cells([[1, 0.3], [0, 0.9]]), min_results=1)
    positions = embed(gaps, method=method, dimension=dimension)
    assert len(positions) == 4
    assert np.isfinite(positions.select_dtypes("number").to_numpy()).all()
    # So few points are not left to UMAP.
    maps = [project_map(positions, study="toy", projection=own, seed=0) for own in ("mds", "umap")]
    pd.testing.assert_frame_equal(*maps)
    assert maps[0].columns.tolist() == ["kind", "name", "x", "y"]
    assert (maps[0]["y"] == 0).all() == (dimension == 1)


def test_a_map_is_that_of_the_two_longest_principal_axes():
    positions = embed(make_gaps(simulate_results(12, 9, dimension=3).cells))
    plane = project_map(positions, study="toy", projection="mds", seed=0)[["x", "y"]].to_numpy()
    lengths = np.linalg.svd(positions.loc[:, "x1":].to_numpy(), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(plane, axis=0), lengths[:2])


# One test, as each process compiles the package again.
@pytest.mark.slow
def test_umap_keeps_groups_apart_and_gives_the_same_map_again():
    groups = np.repeat([0, 1], 20)
    rng = np.random.default_rng(0)
    points = settle_points(rng.exponential(size=(40, 3)) * 0.1 + 3.0 * groups[:, None])
    table = pd.DataFrame({"kind": "model", "name": [f"P{place}" for place in range(40)]})
    table = table.assign(**{f"x{axis}": column for axis, column in enumerate(points.T, 1)})
    maps = [project_map(table, study="toy", projection="umap", seed=0) for _ in range(2)]
    pd.testing.assert_frame_equal(*maps)
    apart = squareform(pdist(maps[0][["x", "y"]]))
    np.fill_diagonal(apart, np.inf)
    assert np.all(groups[apart.argmin(axis=1)] == groups)
    for count in (5, 17):
        plane = project_map(table[:count], study="toy", projection="umap", seed=0)
        assert np.isfinite(plane[["x", "y"]].to_numpy()).all()
