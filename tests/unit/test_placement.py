"""Placing further models on a map: against closed forms, scipy and simulations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from capmap.capabilities.embedding import METHODS, Embedding, Method, draw_starts, fit_embedding
from capmap.capabilities.gaps import Results
from capmap.capabilities.geometry import DISTANCES
from capmap.capabilities.placement import Placement, measure_radii, place_models, show_points

PLAIN, WITH_OFFSETS, _ = METHODS["ensemble"]
ALMOST_FREE = 1e-8


def make_map(
    method: Method, *, datasets: int = 30, dimension: int = 3, models: int = 4, seed: int = 0
) -> Embedding:
    """Draw a map; offsets are 0 for methods without."""
    rng = np.random.default_rng(seed)
    scale = 0.0 if method.offset_ridge is None else 0.1
    return Embedding(
        method=method,
        models=rng.normal(size=(models, dimension)),
        datasets=rng.normal(size=(datasets, dimension)),
        model_offsets=scale * rng.normal(size=models),
        dataset_offsets=scale * rng.normal(size=datasets),
        loss=0.0,
    )


def arrange(rows: list[int], columns: list[int], gaps: list[float], models: int) -> Results:
    names = [str(place) for place in range(models)]
    places = np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
    return Results(names, [], *places, np.zeros(len(gaps)), np.array(gaps, dtype=float))


def observe(fit: Embedding, noise: float = 0.0, seed: int = 1, known: int = 30) -> Results:
    """Results of the map's own models on its first datasets."""
    models = len(fit.models)
    rows, columns = np.repeat(np.arange(models), known), np.tile(np.arange(known), models)
    gaps = fit.predict(rows, columns)
    gaps = gaps + noise * np.random.default_rng(seed).normal(size=len(gaps))
    return arrange(rows.tolist(), columns.tolist(), gaps.tolist(), models)


@pytest.mark.parametrize("distance", ["l2", "poincare", "bilinear"])
def test_models_are_found_again_from_exact_results(distance: str) -> None:
    fit = make_map(Method(distance, ridge=ALMOST_FREE))
    placed = place_models(fit, observe(fit, known=12)).fit
    np.testing.assert_allclose(placed.models, fit.models, atol=1e-3)


@pytest.mark.parametrize("distance", ["l2", "cosine", "poincare", "bilinear"])
def test_other_results_are_predicted_from_exact_ones(distance: str) -> None:
    # Of "cosine" only directions can be found.
    fit = make_map(Method(distance, ridge=ALMOST_FREE, offset_ridge=ALMOST_FREE))
    placed = place_models(fit, observe(fit, known=20)).fit
    rows, columns = np.repeat(np.arange(4), 10), np.tile(np.arange(20, 30), 4)
    expected = fit.predict(rows, columns)
    np.testing.assert_allclose(placed.predict(rows, columns), expected, atol=1e-3)


def test_linear_predictions_have_the_ridge_solution() -> None:
    # With g = Y x + a + noise: (x, a) = (ZᵀZ + R)⁻¹ Zᵀ (g − b), Z = (Y, 1), R the ridges.
    fit = make_map(Method("bilinear", ridge=0.5, offset_ridge=2.0))
    results = observe(fit, noise=0.3, known=7)
    placement = place_models(fit, results)
    design = np.column_stack([fit.datasets[:7], np.ones(7)])
    inverse = np.linalg.inv(design.T @ design + np.diag([0.5, 0.5, 0.5, 2.0]))
    for model in range(4):
        gaps = results.gaps[results.rows == model] - fit.dataset_offsets[:7]
        expected = inverse @ design.T @ gaps
        np.testing.assert_allclose(placement.fit.models[model], expected[:3], rtol=1e-4)
        assert placement.fit.model_offsets[model] == pytest.approx(expected[3], rel=1e-4)
        np.testing.assert_allclose(placement.spreads[model], inverse, rtol=1e-9)


def test_one_dataset_in_one_dimension_by_hand() -> None:
    # Minimum of (2x − 1)² + x²/2: x = 2 / (4 + 1/2), and the spread is 1 / (4 + 1/2).
    fit = replace(make_map(Method("bilinear", ridge=0.5), dimension=1), datasets=np.array([[2.0]]))
    placement = place_models(fit, arrange([0], [0], [1.0], 1))
    assert placement.fit.models[0, 0] == pytest.approx(2 / 4.5, abs=1e-4)
    assert placement.spreads[0, 0, 0] == pytest.approx(1 / 4.5)


@pytest.mark.parametrize("method", [PLAIN, WITH_OFFSETS, Method("poincare", ridge=0.5)])
def test_places_are_the_minima_that_scipy_finds(method: Method) -> None:
    fit = make_map(method, dimension=2)
    results = observe(fit, noise=0.2, known=5)
    placed = place_models(fit, results).fit
    has_offset = method.offset_ridge is not None

    def measure(parameters: np.ndarray, model: int) -> float:
        points = np.tile(parameters[:2], (5, 1))
        offset = parameters[2] if has_offset else 0.0
        predicted = DISTANCES[method.distance](points, fit.datasets[:5]).values + offset
        errors = predicted + fit.dataset_offsets[:5] - results.gaps[results.rows == model]
        penalty = 0.5 * parameters[:2] @ parameters[:2]
        return float(errors @ errors + penalty + (method.offset_ridge or 0.0) * offset**2)

    for model in range(4):
        found = placed.models[model]
        if has_offset:
            found = np.append(found, placed.model_offsets[model])
        best = optimize.minimize(measure, np.zeros(len(found)), args=(model,))
        assert measure(found, model) <= best.fun + 1e-6


def test_a_fitted_model_stays_where_it_is_when_it_is_placed_again() -> None:
    fit = make_map(PLAIN, models=10)
    results = observe(fit, noise=0.1, known=20)
    results = replace(results, datasets=[str(place) for place in range(20)])
    start = draw_starts(results, dimension=3, starts=1, seed=0, study="toy")[0]
    found = fit_embedding(results, replace(PLAIN, iterations=2000), start=start)
    placed = place_models(found, results).fit
    rows, columns = results.rows, results.columns
    before, after = found.predict(rows, columns), placed.predict(rows, columns)
    np.testing.assert_allclose(after, before, atol=0.02)


@pytest.mark.parametrize("method", [PLAIN, Method("l2"), Method("cosine")])
def test_a_model_without_results_stands_in_the_middle(method: Method) -> None:
    # The middle is the origin with a ridge, else the mean of the models; variance 1 / ridge.
    fit = make_map(method)
    placement = place_models(fit, arrange([], [], [], 2))
    middle = np.zeros(3) if method.ridge else fit.models.mean(axis=0)
    np.testing.assert_array_equal(placement.fit.models, [middle, middle])
    np.testing.assert_allclose(placement.spreads, np.tile(np.eye(3) / 0.5, (2, 1, 1)))


@pytest.mark.parametrize("distance", ["l2", "cosine", "poincare", "bilinear"])
def test_one_result_places_a_model_and_leaves_it_uncertain(distance: str) -> None:
    fit = make_map(Method(distance))
    placement = place_models(fit, arrange([0], [0], [0.2], 1))
    before = place_models(fit, arrange([], [], [], 1))
    errors = [
        abs(one.fit.predict(np.array([0]), np.array([0])).item() - 0.2)
        for one in (placement, before)
    ]
    assert errors[0] < errors[1]
    assert np.trace(placement.spreads[0]) <= np.trace(before.spreads[0])


def test_no_models_are_placed_without_complaint() -> None:
    placement = place_models(make_map(PLAIN), arrange([], [], [], 0))
    assert placement.fit.models.shape == (0, 3)
    assert measure_radii(placement, noise=1.0, confidence_level=0.9).shape == (0,)


@given(st.permutations(range(4)), st.integers(0, 5))
def test_other_models_and_their_order_have_no_influence(order: list[int], seed: int) -> None:
    fit = make_map(WITH_OFFSETS, seed=seed)
    results = observe(fit, noise=0.2, known=6)
    placed = place_models(fit, results).fit.models
    parts = [results.choose(results.rows == model) for model in order]
    for model, part in zip(order, parts, strict=True):
        own = replace(part, models=["own"], rows=np.zeros(6, dtype=np.intp))
        alone = place_models(fit, own).fit.models[0]
        np.testing.assert_allclose(alone, placed[model], atol=1e-12)


def test_the_spread_is_the_covariance_of_places_from_noisy_results() -> None:
    # Without a ridge, results with noise of variance s² put the model at a covariance s² A.
    fit = make_map(Method("l2", ridge=ALMOST_FREE), models=1, dimension=2)
    noise, repeats = 0.02, 3000
    rows, columns = np.repeat(np.arange(repeats), 30), np.tile(np.arange(30), repeats)
    gaps = fit.predict(np.zeros_like(rows), columns)
    gaps = gaps + noise * np.random.default_rng(5).normal(size=len(gaps))
    placement = place_models(fit, arrange(rows.tolist(), columns.tolist(), gaps.tolist(), repeats))
    found = np.cov(placement.fit.models.T)
    np.testing.assert_allclose(
        found, noise**2 * placement.spreads.mean(axis=0), rtol=0.1, atol=1e-6
    )
    radius = measure_radii(placement, noise=noise**2, confidence_level=0.9).mean()
    apart = np.linalg.norm(placement.fit.models - fit.models[0], axis=1)
    assert np.mean(apart <= radius) == pytest.approx(0.9, abs=0.02)


def make_placement(covariance: np.ndarray, *, distance: str = "l2") -> Placement:
    fit = make_map(Method(distance), models=1, dimension=len(covariance))
    return Placement(fit, covariance[None])


def test_the_radius_is_that_of_chi_squared_where_all_directions_are_alike() -> None:
    # P(s² χ²₃ ≤ r²) = level, and one direction only: P(|s z| ≤ r) = level.
    round_one = make_placement(np.eye(3))
    radius = measure_radii(round_one, noise=0.25, confidence_level=0.8)
    assert radius[0] == pytest.approx(0.5 * np.sqrt(stats.chi2.ppf(0.8, 3)))
    line = make_placement(np.diag([4.0, 0.0]))
    radius = measure_radii(line, noise=1.0, confidence_level=0.95)
    assert radius[0] == pytest.approx(2 * stats.norm.ppf(0.975))


@pytest.mark.parametrize("distance", ["l2", "poincare", "cosine"])
def test_the_radius_holds_its_share_of_places(distance: str) -> None:
    covariance = np.array([[1.0, 0.4, 0.0], [0.4, 0.5, 0.1], [0.0, 0.1, 0.2]])
    placement = make_placement(covariance, distance=distance)
    noise = 1e-4
    radius = measure_radii(placement, noise=noise, confidence_level=0.9)[0]
    center = placement.fit.models[0]
    draws = np.random.default_rng(3).multivariate_normal(center, noise * covariance, size=20000)
    shown = show_points(draws, distance=distance)
    apart = np.linalg.norm(shown - show_points(center[None], distance=distance), axis=1)
    assert np.mean(apart <= radius) == pytest.approx(0.9, abs=0.02)


def test_the_two_places_of_cosine_in_one_dimension_have_no_radius() -> None:
    fit = make_map(Method("cosine"), dimension=1)
    placement = place_models(fit, observe(fit))
    assert np.isnan(measure_radii(placement, noise=0.1, confidence_level=0.9)).all()
