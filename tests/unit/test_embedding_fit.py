"""Fits of embeddings: gradients, known positions, noise, order, starts and tiny inputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import approx_fprime

from capmap.capabilities import embedding
from capmap.capabilities.embedding import (
    METHODS,
    Embedding,
    Method,
    draw_starts,
    fit_embedding,
    fit_starts,
    predict_gaps,
)
from capmap.capabilities.gaps import Results, arrange_results
from capmap.capabilities.geometry import DISTANCES
from capmap.rng import make_stream
from tests.capability_tables import Simulated, list_cells, simulate_results

QUICK = settings(max_examples=15)
PENALIZED = Method("l2", ridge=0.5, offset_ridge=1.0)


def draw(results: Results, dimension: int = 5, starts: int = 1) -> list[np.ndarray]:
    return draw_starts(results, dimension=dimension, starts=starts, seed=0, study="toy")


def fit(cells: pd.DataFrame, method: Method, *, dimension: int = 5, starts: int = 1) -> Embedding:
    results = arrange_results(cells)
    fits = [fit_embedding(results, method, start=one) for one in draw(results, dimension, starts)]
    return min(fits, key=lambda one: one.loss)


def miss(found: Embedding, truth: Simulated) -> float:
    """Root mean square distance of points to the true ones, after rotation and shift."""
    points = np.concatenate([found.models, found.datasets])
    known = np.concatenate([truth.models, truth.datasets])
    points, known = points - points.mean(axis=0), known - known.mean(axis=0)
    rotation, _ = orthogonal_procrustes(points, known)
    return float(np.sqrt(np.mean(np.sum((points @ rotation - known) ** 2, axis=1))))


def compute_loss(
    results: Results, method: Method, points: np.ndarray, offsets: np.ndarray
) -> float:
    """Squared errors and penalties, result by result."""
    total, models = 0.0, len(results.models)
    for row, column, gap in zip(results.rows, results.columns, results.gaps, strict=True):
        x, y = points[row : row + 1], points[models + column : models + column + 1]
        (value,), *_ = DISTANCES[method.distance](x, y)
        total += (value + offsets[row] + offsets[models + column] - gap) ** 2
    total += method.ridge * np.sum(points**2)
    total += (method.offset_ridge or 0.0) * np.sum(offsets**2)
    return float(total)


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
            fit_embedding(results, method, start=draw(results, 2)[0])
    return caught[0]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("ridge", "offset_ridge"), [(0.0, None), (0.5, None), (0.5, 1.0)])
def test_loss_and_its_gradient(
    monkeypatch: pytest.MonkeyPatch, distance: str, ridge: float, offset_ridge: float | None
) -> None:
    results = arrange_results(simulate_results(5, 4, share=0.6, noise=0.1).cells)
    method = Method(distance, ridge=ridge, offset_ridge=offset_ridge)
    loss = catch_loss(monkeypatch, results, method)
    points = np.random.default_rng(1).normal(size=(9, 2))
    offsets = np.random.default_rng(2).normal(size=9) * (offset_ridge is not None)
    parameters = points.ravel()
    if offset_ridge is not None:
        parameters = np.concatenate([parameters, offsets])
    value, gradient = loss(parameters)
    assert value == pytest.approx(compute_loss(results, method, points, offsets), rel=1e-9)
    expected = approx_fprime(parameters, lambda at: loss(at)[0], 1e-7)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", [METHODS["cosine"][0], *METHODS["ensemble"]])
def test_the_loss_of_a_fit_is_that_of_its_points(method: Method) -> None:
    results = arrange_results(simulate_results(8, 6, share=0.6, noise=0.1).cells)
    found = fit_embedding(results, method, start=draw(results, 3)[0])
    points = np.concatenate([found.models, found.datasets])
    offsets = np.concatenate([found.model_offsets, found.dataset_offsets])
    expected = compute_loss(results, method, points, offsets) / len(results.gaps)
    assert found.loss == pytest.approx(expected, rel=1e-9)
    start = draw(results, 3)[0]
    assert expected < compute_loss(results, method, start, np.zeros(14)) / len(results.gaps)
    predicted = found.predict(results.rows, results.columns)
    errors = np.sum((predicted - results.gaps) ** 2) + method.ridge * np.sum(points**2)
    errors += (method.offset_ridge or 0.0) * np.sum(offsets**2)
    assert found.loss == pytest.approx(errors / len(results.gaps), rel=1e-9)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_known_positions_are_recovered(share: float) -> None:
    truth = simulate_results(60, 40, share=share, seed=1)
    found = fit(truth.cells, METHODS["l2"][0], starts=4)
    # The points have a root mean square distance of 0.47 from their center.
    assert miss(found, truth) < 0.005
    assert found.loss < 1e-6


def test_errors_of_positions_grow_with_noise_and_stay_about_as_large() -> None:
    levels = (0.01, 0.02, 0.05, 0.1)
    errors = []
    for noise in levels:
        truth = simulate_results(60, 40, share=0.5, noise=noise, seed=1)
        errors.append(miss(fit(truth.cells, METHODS["l2"][0]), truth))
    assert errors == sorted(errors)
    for noise, error in zip(levels, errors, strict=True):
        assert 0.5 * noise < error < 2 * noise


def test_penalized_fits_keep_the_arrangement() -> None:
    truth = simulate_results(60, 40, share=0.5, noise=0.02, seed=1)
    for method in METHODS["ensemble"][:2]:
        # The ridge draws points inwards, by less than a quarter of their distance from the center.
        assert miss(fit(truth.cells, method), truth) < 0.25 * 0.47


@pytest.mark.parametrize("name", METHODS)
def test_hidden_results_of_known_positions_are_predicted(name: str) -> None:
    truth = simulate_results(40, 30, dimension=3, share=0.7, noise=0.02, seed=3)
    results = arrange_results(truth.cells)
    test = np.random.default_rng(0).permutation(len(results.gaps)) < 40
    fits = fit_starts(results.choose(~test), METHODS[name], starts=draw(results, 3, starts=2))
    predicted = predict_gaps(fits, results.rows[test], results.columns[test])
    spread = np.var(results.gaps[test])
    error = np.mean((predicted - results.gaps[test]) ** 2)
    # Points in flat space leave little to explain; angles and products describe them less well.
    assert error < (0.1 if name in ("l2", "ensemble", "poincare") else 0.5) * spread


@given(seed=st.integers(0, 1000))
@QUICK
def test_order_of_rows_changes_no_byte(seed: int) -> None:
    cells = simulate_results(8, 6, dimension=2, share=0.7, noise=0.05, seed=seed).cells
    shuffled = cells.sample(frac=1, random_state=seed)
    for method in (METHODS["l2"][0], PENALIZED):
        one, other = fit(cells, method, dimension=2), fit(shuffled, method, dimension=2)
        for name in ("models", "datasets", "model_offsets", "dataset_offsets"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
        assert one.loss == other.loss


def test_a_start_depends_on_name_and_stream_only() -> None:
    results = arrange_results(simulate_results(6, 5, dimension=2).cells)
    first, second = draw(results, 3, starts=2)
    assert first.shape == (11, 3)
    fewer = results.choose(results.rows > 2)
    cells = pd.DataFrame({"model": "M004", "dataset": ["D003", "D001"], "score": [0.1, 0.2]})
    alone = draw(arrange_results(cells), 2, starts=2)
    np.testing.assert_array_equal(alone[0], first[[4, 7, 9]][:, :2])
    np.testing.assert_array_equal(alone[1], second[[4, 7, 9]][:, :2])
    np.testing.assert_array_equal(draw(fewer, 3)[0], first)
    stream = make_stream(0, "toy", "capabilities", "1", "dataset", "D001")
    np.testing.assert_array_equal(second[7], 0.3 * stream.normal(size=3))
    assert not np.array_equal(first, second)


def test_a_model_and_a_dataset_of_one_name_start_apart() -> None:
    cells = pd.DataFrame({"model": ["x"], "dataset": ["x"], "score": [1.0]})
    start = draw(arrange_results(cells), 4)[0]
    assert not np.array_equal(start[0], start[1])


def check_losses(fits: Sequence[Embedding], count: int) -> None:
    losses = [one.loss for one in fits]
    assert len(losses) == count
    assert losses == sorted(losses)


def test_fits_from_several_starts_are_ordered_by_their_loss() -> None:
    results = arrange_results(simulate_results(12, 9, share=0.5, noise=0.1).cells)
    starts = draw(results, 3, starts=3)
    check_losses(fit_starts(results, METHODS["l2"], starts=starts), 1)
    plain, offset, _ = METHODS["ensemble"]
    fits = fit_starts(results, (plain, offset), starts=starts)
    assert [one.method for one in fits] == [plain] * 3 + [offset] * 3
    check_losses(fits[:3], 3)
    check_losses(fits[3:], 3)
    rows, columns = results.rows[:4], results.columns[:4]
    expected = sum(one.predict(rows, columns) for one in fits) / 6
    np.testing.assert_allclose(predict_gaps(fits, rows, columns), expected, rtol=1e-12)


def test_offsets_take_up_what_models_and_datasets_have_in_common() -> None:
    # Gaps are sums of effects, with none of a distance: 0.2 to 0.8 in all.
    effects = np.linspace(0, 0.3, 12)[:, None] + np.linspace(0.2, 0.5, 10)[None]
    results = replace(arrange_results(list_cells(1 - effects)), gaps=effects.ravel())
    weak = Method("l2", ridge=1e3, offset_ridge=1e-6)
    found = fit_embedding(results, weak, start=draw(results, 2)[0])
    np.testing.assert_allclose(
        found.predict(results.rows, results.columns), results.gaps, atol=1e-2
    )


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (2, 2)])
def test_tiny_studies_have_finite_fits(name: str, shape: tuple[int, int]) -> None:
    scores = np.random.default_rng(0).normal(size=shape)
    results = arrange_results(list_cells(scores))
    fits = fit_starts(results, METHODS[name], starts=draw(results, 5, starts=2))
    assert np.isfinite(predict_gaps(fits, results.rows, results.columns)).all()


@pytest.mark.parametrize("name", METHODS)
def test_points_without_results_are_predicted_all_the_same(name: str) -> None:
    results = arrange_results(simulate_results(6, 5, dimension=2).cells)
    known = results.choose((results.rows > 0) & (results.columns > 0))
    fits = fit_starts(known, METHODS[name], starts=draw(results, 2, starts=2))
    assert np.isfinite(predict_gaps(fits, results.rows, results.columns)).all()
    start = draw(results, 2)[0]
    if name == "l2":
        np.testing.assert_array_equal(fits[0].models[0], start[0])
        np.testing.assert_array_equal(fits[0].datasets[0], start[6])
    if name == "ensemble":
        # Fits stop at a gradient of 0.01, which is the coordinate times twice the ridge of 0.5.
        np.testing.assert_allclose(fits[0].models[0], 0, atol=0.01)
