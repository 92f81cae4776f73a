"""Fits of embeddings: gradients, known positions, noise, order, starts and tiny inputs."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import approx_fprime

from capmap.capabilities import embedding, maps
from capmap.capabilities.embedding import METHODS, Embedding, Method, draw_start, fit_embedding
from capmap.capabilities.gaps import Results, arrange_results
from capmap.rng import make_stream
from tests.capability_tables import Simulated, list_cells, simulate_results


def draw(results: Results, dimension: int = 5, number: int = 0) -> np.ndarray:
    return draw_start(results, dimension=dimension, number=number, seed=0, study="toy")


def fit(cells: pd.DataFrame, method: Method, *, dimension: int = 5, starts: int = 1) -> Embedding:
    results = arrange_results(cells)
    drawn = [draw(results, dimension, number) for number in range(starts)]
    fits = [fit_embedding(results, method, start=one) for one in drawn]
    return min(fits, key=lambda one: one.loss)


def miss(found: Embedding, truth: Simulated) -> float:
    """Root mean square distance of points to the true ones, after rotation and shift."""
    points = np.concatenate([found.models, found.datasets])
    known = np.concatenate([truth.models, truth.datasets])
    points, known = points - points.mean(axis=0), known - known.mean(axis=0)
    rotation, _ = orthogonal_procrustes(points, known)
    return float(np.sqrt(np.mean(np.sum((points @ rotation - known) ** 2, axis=1))))


def compute_loss(results: Results, method: Method, points: np.ndarray) -> float:
    """Squared errors and penalties, result by result."""
    total, models = 0.0, len(results.models)
    for row, column, gap in zip(results.rows, results.columns, results.gaps, strict=True):
        x, y = points[row : row + 1], points[models + column : models + column + 1]
        (value,), *_ = maps.DISTANCES[method.distance](x, y)
        total += (value - gap) ** 2
    return float(total + method.ridge * np.sum(points**2))


def catch_loss(
    monkeypatch: pytest.MonkeyPatch, results: Results, method: Method
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """The function that a fit hands to its optimizer."""
    caught = []

    class CaughtError(Exception):
        pass

    def catch(loss: Callable[..., tuple[float, np.ndarray]], *_: object, **__: object) -> None:
        caught.append(loss)
        raise CaughtError

    with monkeypatch.context() as patch:
        patch.setattr(embedding, "minimize", catch)
        with pytest.raises(CaughtError):
            fit_embedding(results, method, start=draw(results, 2))
    return caught[0]


@pytest.mark.parametrize("distance", maps.DISTANCES)
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_loss_and_its_gradient(
    monkeypatch: pytest.MonkeyPatch, distance: str, ridge: float
) -> None:
    results = arrange_results(simulate_results(5, 4, share=0.6, noise=0.1).cells)
    method = Method(distance, ridge=ridge)
    loss = catch_loss(monkeypatch, results, method)
    points = np.random.default_rng(1).normal(size=(9, 2))
    value, gradient = loss(points.ravel())
    assert value == pytest.approx(compute_loss(results, method, points), rel=1e-9)
    expected = approx_fprime(points.ravel(), lambda at: loss(at)[0], 1e-7)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", METHODS.values())
def test_the_loss_of_a_fit_is_that_of_its_points(method: Method) -> None:
    results = arrange_results(simulate_results(8, 6, share=0.6, noise=0.1).cells)
    start = draw(results, 3)
    found = fit_embedding(results, method, start=start)
    points = np.concatenate([found.models, found.datasets])
    expected = compute_loss(results, method, points) / len(results.gaps)
    assert found.loss == pytest.approx(expected, rel=1e-9)
    assert expected < compute_loss(results, method, start) / len(results.gaps)
    predicted = found.predict(results.rows, results.columns)
    errors = np.sum((predicted - results.gaps) ** 2) + method.ridge * np.sum(points**2)
    assert found.loss == pytest.approx(errors / len(results.gaps), rel=1e-9)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_known_positions_are_recovered(share: float) -> None:
    truth = simulate_results(60, 40, share=share, seed=1)
    found = fit(truth.cells, METHODS["l2"], starts=4)
    # The points have a root mean square distance of 0.47 from their center.
    assert miss(found, truth) < 0.005
    assert found.loss < 1e-6


def test_errors_of_positions_grow_with_noise_and_stay_about_as_large() -> None:
    levels = (0.01, 0.02, 0.05, 0.1)
    errors = []
    for noise in levels:
        truth = simulate_results(60, 40, share=0.5, noise=noise, seed=1)
        errors.append(miss(fit(truth.cells, METHODS["l2"]), truth))
    assert errors == sorted(errors)
    for noise, error in zip(levels, errors, strict=True):
        assert 0.5 * noise < error < 2 * noise


def test_penalized_fits_keep_the_arrangement() -> None:
    truth = simulate_results(60, 40, share=0.5, noise=0.02, seed=1)
    # The ridge draws points inwards, by less than a quarter of their distance from the center.
    assert miss(fit(truth.cells, METHODS["l2_ridge"]), truth) < 0.25 * 0.47


@pytest.mark.parametrize("name", METHODS)
def test_hidden_results_of_known_positions_are_predicted(name: str) -> None:
    truth = simulate_results(40, 30, dimension=3, share=0.7, noise=0.02, seed=3)
    results = arrange_results(truth.cells)
    test = np.random.default_rng(0).permutation(len(results.gaps)) < 40
    found = fit_embedding(results.choose(~test), METHODS[name], start=draw(results, 3))
    predicted = found.predict(results.rows[test], results.columns[test])
    spread = np.var(results.gaps[test])
    error = np.mean((predicted - results.gaps[test]) ** 2)
    # Points in flat space leave little to explain; angles and products describe them less well.
    assert error < (0.5 if name == "cosine" else 0.1) * spread


def test_a_start_depends_on_name_and_stream_only() -> None:
    results = arrange_results(simulate_results(6, 5, dimension=2).cells)
    first, second = draw(results, 3), draw(results, 3, number=1)
    assert first.shape == (11, 3)
    fewer = results.choose(results.rows > 2)
    cells = pd.DataFrame({"model": "M004", "dataset": ["D003", "D001"], "score": [0.1, 0.2]})
    alone = arrange_results(cells)
    np.testing.assert_array_equal(draw(alone, 2), first[[4, 7, 9]][:, :2])
    np.testing.assert_array_equal(draw(alone, 2, number=1), second[[4, 7, 9]][:, :2])
    np.testing.assert_array_equal(draw(fewer, 3), first)
    stream = make_stream(0, "toy", "capabilities", "1", "dataset", "D001")
    np.testing.assert_array_equal(second[7], 0.3 * stream.normal(size=3))
    assert not np.array_equal(first, second)


def test_a_model_and_a_dataset_of_one_name_start_apart() -> None:
    cells = pd.DataFrame({"model": ["x"], "dataset": ["x"], "score": [1.0]})
    start = draw(arrange_results(cells), 4)
    assert not np.array_equal(start[0], start[1])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (2, 2)])
def test_tiny_studies_have_finite_fits(name: str, shape: tuple[int, int]) -> None:
    scores = np.random.default_rng(0).normal(size=shape)
    results = arrange_results(list_cells(scores))
    found = fit_embedding(results, METHODS[name], start=draw(results, 5))
    assert np.isfinite(found.predict(results.rows, results.columns)).all()


@pytest.mark.parametrize("name", METHODS)
def test_points_without_results_are_predicted_all_the_same(name: str) -> None:
    results = arrange_results(simulate_results(6, 5, dimension=2).cells)
    known = results.choose((results.rows > 0) & (results.columns > 0))
    start = draw(results, 2)
    found = fit_embedding(known, METHODS[name], start=start)
    assert np.isfinite(found.predict(results.rows, results.columns)).all()
    if name == "l2":
        np.testing.assert_array_equal(found.models[0], start[0])
        np.testing.assert_array_equal(found.datasets[0], start[6])
    if name == "l2_ridge":
        # Fits stop at a gradient of 0.01, which is the coordinate times twice the ridge of 0.5.
        np.testing.assert_allclose(found.models[0], 0, atol=0.01)
