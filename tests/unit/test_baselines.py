"""Predictions without an embedding: means, and effects of models and datasets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.capabilities.factors import (
    BASELINES,
    fit_additive,
    fit_dataset_mean,
    fit_mean,
    fit_model_mean,
)
from capmap.capabilities.gaps import Results, arrange_results
from tests.capability_tables import list_cells, simulate_results


def draw(seed: int, *, models: int = 7, datasets: int = 6, share: float = 0.5) -> Results:
    cells = simulate_results(models, datasets, dimension=2, share=share, noise=0.1, seed=seed).cells
    return arrange_results(cells)


@given(seed=st.integers(0, 1000), penalty=st.sampled_from([1.0, 2.0, 10.0]))
def test_additive_effects_are_those_of_a_dense_ridge_regression(seed: int, penalty: float) -> None:
    results = draw(seed)
    design = np.zeros((len(results.gaps), len(results.models) + len(results.datasets)))
    places = np.arange(len(results.gaps))
    design[places, results.rows] = design[places, len(results.models) + results.columns] = 1
    level = results.gaps.mean()
    # The minimum of |X b − (y − level)|² + penalty |b|².
    left = design.T @ design + penalty * np.eye(design.shape[1])
    effects = np.linalg.solve(left, design.T @ (results.gaps - level))
    found = fit_additive(results, penalty=penalty)
    assert found.level == pytest.approx(level)
    np.testing.assert_allclose(np.concatenate([found.models, found.datasets]), effects, atol=1e-6)
    predicted = found.predict(results.rows, results.columns)
    np.testing.assert_allclose(predicted, level + design @ effects, atol=1e-6)


def test_means_by_hand() -> None:
    # Gaps: D000 0, 0.5, 1; D001 1, 0; D002 0, 1.
    nan = np.nan
    scores = [[1.0, 0.0, 4.0], [0.5, 1.0, nan], [0.0, nan, 2.0]]
    results = arrange_results(list_cells(scores))
    rows, columns = np.array([0, 1, 2]), np.array([0, 2, 1])
    assert fit_mean(results).predict(rows, columns) == pytest.approx([3.5 / 7] * 3)
    assert fit_model_mean(results).predict(rows, columns) == pytest.approx([1 / 3, 0.25, 1])
    assert fit_dataset_mean(results).predict(rows, columns) == pytest.approx([0.5, 0.5, 0.5])


@pytest.mark.parametrize("name", BASELINES)
def test_models_and_datasets_without_results_have_no_effect(name: str) -> None:
    results = draw(0)
    known = results.choose((results.rows > 0) & (results.columns > 0))
    found = BASELINES[name](known)
    mean = known.gaps.mean()
    assert found.predict(np.array([0]), np.array([0]))[0] == pytest.approx(mean)


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_of_one_result_predict_it(name: str) -> None:
    one = arrange_results(list_cells([[3.0]]))
    assert BASELINES[name](one).predict(one.rows, one.columns).tolist() == [0]


def test_effects_of_few_results_are_drawn_towards_zero() -> None:
    # A model whose gaps are all 1, on a share of twelve datasets that others do at 0 to 0.5.
    scores = np.concatenate(
        [np.full((1, 12), -1.0), np.linspace(0, 0.5, 5)[:, None] + np.zeros(12)]
    )
    effects = []
    for count in (1, 3, 12):
        few = scores.copy()
        few[0, count:] = np.nan
        effects.append(fit_additive(arrange_results(list_cells(few))).models[0])
    assert 0 < effects[0] < effects[1] < effects[2]
