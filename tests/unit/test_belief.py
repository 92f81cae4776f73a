"""What is expected of a model before it runs, against dense conditioning and by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.capabilities import beliefs
from capmap.capabilities.beliefs import (
    exchange_roles,
    expect_gaps,
    form_belief,
    learn_result,
    learn_results,
    measure_variance,
    prefer_offsets,
    spread_out,
    start_knowledge,
)
from capmap.capabilities.embedding import METHODS, predict_gaps
from capmap.capabilities.gaps import arrange_results
from tests.belief_tables import draw_belief, fit_all
from tests.capability_tables import list_cells, simulate_results

WITH_OFFSETS = METHODS["ensemble"][1]


@pytest.mark.parametrize("columns", [[], [2], [0, 3, 6], [4, 4]])
def test_knowledge_is_that_of_conditioning_a_normal_distribution(columns: list[int]) -> None:
    belief = draw_belief()
    gaps = np.linspace(0, 1, len(columns))
    known = learn_results(belief, np.array(columns, dtype=np.intp), gaps)
    # Textbook: Σ = W Wᵀ, results y = f(columns) + noise, f | y by the dense covariance of y.
    covariance = belief.loadings @ belief.loadings.T
    across = covariance[:, columns]
    inverse = np.linalg.inv(across[columns] + np.diag(belief.noise[columns]))
    mean = belief.mean + across @ inverse @ (gaps - belief.mean[columns])
    left = covariance - across @ inverse @ across.T
    np.testing.assert_allclose(expect_gaps(belief, known), mean, atol=1e-12)
    found = belief.loadings @ known.covariance @ belief.loadings.T
    np.testing.assert_allclose(found, left, atol=1e-12)
    np.testing.assert_allclose(
        measure_variance(belief, known.covariance), np.diag(left), atol=1e-12
    )


@given(st.permutations(range(5)), st.integers(0, 1000))
def test_results_may_be_learnt_in_any_order(order: list[int], seed: int) -> None:
    belief = draw_belief(seed=seed)
    gaps = np.random.default_rng(seed).random(5)
    one = learn_results(belief, np.arange(5), gaps)
    other = learn_results(belief, np.array(order), gaps[order])
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-9)
    np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-9)


def test_a_result_never_adds_variance_and_its_gap_does_not_matter_for_it() -> None:
    belief = draw_belief()
    start = start_knowledge(belief)
    low, high = (learn_result(belief, start, 1, gap) for gap in (0.0, 1.0))
    assert (low.covariance == high.covariance).all()
    before, after = (measure_variance(belief, known.covariance) for known in (start, low))
    assert (after <= before + 1e-12).all()


def test_the_belief_has_the_mean_and_covariance_of_the_completed_gaps() -> None:
    results = arrange_results(simulate_results(7, 5, dimension=2, share=0.7, noise=0.1).cells)
    fits = fit_all(results)
    belief = form_belief(fits, results)
    with_offsets = [fit for fit in fits if fit.method == WITH_OFFSETS]
    assert len(with_offsets) == 2
    # 7 models have at most 6 components, so that all of the covariance is kept.
    completed = np.array(
        [predict_gaps(with_offsets, np.full(5, row), np.arange(5)) for row in range(7)]
    )
    np.testing.assert_allclose(belief.mean, completed.mean(axis=0))
    covariance = belief.loadings @ belief.loadings.T
    np.testing.assert_allclose(covariance, np.cov(completed.T), atol=1e-12)


def test_noise_is_twice_the_squared_residuals_shared_between_datasets() -> None:
    results = arrange_results(list_cells([[0.0, 0.0], [1.0, 0.5], [np.nan, 1.0]]))
    zero = replace(fit_all(results, "l2")[0], models=np.zeros((3, 1)), datasets=np.zeros((2, 1)))
    belief = form_belief([zero], results)
    # Gaps are 1, 0 on the first dataset and 1, 0.5, 0 on the second, and predictions 0 (but for
    # the smoothing 1e-9 under the root): doubled squares 2, 0 | 2, 0.5, 0 with mean 0.9.
    expected = [(2 + 5 * 0.9) / 7, (2.5 + 5 * 0.9) / 8]
    np.testing.assert_allclose(belief.noise, expected, rtol=1e-3)
    exact = replace(results, gaps=zero.predict(results.rows, results.columns))
    assert form_belief([zero], exact).noise.tolist() == [1e-5, 1e-5]


def test_models_without_results_do_not_count() -> None:
    results = arrange_results(simulate_results(9, 6, dimension=2, share=0.8).cells)
    train = results.choose(results.rows != 4)
    fits = fit_all(train)
    moved = [replace(fit, models=fit.models + 50 * (np.arange(9) == 4)[:, None]) for fit in fits]
    one, other = form_belief(fits, train), form_belief(moved, train)
    assert (one.mean == other.mean).all()
    assert (one.loadings == other.loadings).all()


def test_of_very_many_models_some_count(monkeypatch: pytest.MonkeyPatch) -> None:
    results = arrange_results(simulate_results(9, 6, dimension=2).cells)
    fits = fit_all(results)
    monkeypatch.setattr(beliefs, "MOST_MODELS", 3)
    with_offsets = [fit for fit in fits if fit.method == WITH_OFFSETS]
    rows, columns = np.repeat([0, 4, 8], 6), np.tile(np.arange(6), 3)
    expected = predict_gaps(with_offsets, rows, columns).reshape(3, 6).mean(axis=0)
    np.testing.assert_allclose(form_belief(fits, results).mean, expected)
    assert spread_out(np.array([3, 5]), most=2).tolist() == [3, 5]


def test_exchanged_roles_predict_the_same_gaps_and_twice_is_back() -> None:
    results = arrange_results(simulate_results(6, 4, dimension=2, share=0.7).cells)
    fits = fit_all(results)
    turned, exchanged = exchange_roles(fits, results)
    assert (exchanged.models, exchanged.datasets) == (results.datasets, results.models)
    pairs = set(zip(results.columns.tolist(), results.rows.tolist(), results.gaps, strict=True))
    found = zip(exchanged.rows.tolist(), exchanged.columns.tolist(), exchanged.gaps, strict=True)
    assert set(found) == pairs
    places = np.lexsort((exchanged.columns, exchanged.rows))
    assert places.tolist() == list(range(len(places)))
    one = predict_gaps(fits, results.rows, results.columns)
    np.testing.assert_allclose(predict_gaps(turned, results.columns, results.rows), one)
    back, again = exchange_roles(turned, exchanged)
    assert (again.rows == results.rows).all()
    assert (again.gaps == results.gaps).all()
    assert (back[0].models == fits[0].models).all()


@pytest.mark.parametrize("method", METHODS)
def test_offsets_are_preferred_where_there_are_any(method: str) -> None:
    preferred = prefer_offsets(METHODS[method])
    expected = [WITH_OFFSETS] if method == "ensemble" else [*METHODS[method]]
    assert preferred == expected
    results = arrange_results(list_cells([[0.0, 1.0], [1.0, np.nan]]))
    belief = form_belief(fit_all(results, method), results)
    assert np.isfinite(belief.loadings).all()
    assert (belief.noise > 0).all()


def test_one_model_leaves_nothing_to_vary() -> None:
    results = arrange_results(list_cells([[0.5]]))
    belief = form_belief(fit_all(results), results)
    known = learn_results(belief, results.columns, results.gaps)
    assert measure_variance(belief, known.covariance).tolist() == [0.0]


def test_parts_that_nothing_connects_do_not_vary_together() -> None:
    rng = np.random.default_rng(0)
    scores = np.full((10, 8), np.nan)
    scores[:5, :4], scores[5:, 4:] = rng.random((5, 4)), rng.random((5, 4))
    results = arrange_results(list_cells(scores))
    fits = fit_all(results)
    belief = form_belief(fits, results)
    covariance = belief.loadings @ belief.loadings.T
    np.testing.assert_allclose(covariance[:4, 4:], 0, atol=1e-12)
    # Each part has the mean and covariance over its own models; 8 columns have 8 components, all
    # of which are kept.
    with_offsets = [fit for fit in fits if fit.method == WITH_OFFSETS]
    rows, columns = np.repeat(np.arange(5), 4), np.tile(np.arange(4), 5)
    completed = predict_gaps(with_offsets, rows, columns).reshape(5, 4)
    np.testing.assert_allclose(belief.mean[:4], completed.mean(axis=0))
    np.testing.assert_allclose(covariance[:4, :4], np.cov(completed.T), atol=1e-12)


def test_a_dataset_without_results_has_the_mean_of_all_gaps() -> None:
    results = arrange_results(simulate_results(9, 6, dimension=2, share=0.8).cells)
    train = results.choose(results.columns != 2)
    belief = form_belief(fit_all(train), train)
    assert belief.mean[2] == pytest.approx(train.gaps.mean())
    np.testing.assert_allclose(belief.loadings[2], 0, atol=1e-12)
