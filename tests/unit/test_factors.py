"""Bayesian factors: simulated truth, attributes, names, and few results."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from capmap.capabilities import factors
from capmap.capabilities.gaps import Results, arrange_results
from capmap.ranking import aggregation
from capmap.rng import combine_keys, draw_uniforms, hash_names, make_stream
from tests.capability_tables import list_cells, simulate_results

NOISE = 0.03
stream = partial(make_stream, 0, "test")


def make_results(gaps: aggregation.FloatArray) -> Results:
    """Results with these gaps, not rescaled; NaN is empty."""
    return replace(arrange_results(list_cells(gaps)), gaps=gaps[~np.isnan(gaps)])


def draw_low_rank(seed: int = 0, *, models: int = 30, datasets: int = 24) -> aggregation.FloatArray:
    rng = np.random.default_rng(seed)
    slopes = 1 + 0.4 * rng.normal(size=datasets)
    gaps = 0.5 + 0.12 * rng.normal(size=(models, 1)) * slopes + 0.1 * rng.normal(size=datasets)
    gaps += 0.1 * rng.normal(size=(models, 2)) @ rng.normal(size=(2, datasets))
    return np.asarray(gaps + NOISE * rng.normal(size=gaps.shape))


def hide(gaps: aggregation.FloatArray, share: float, seed: int = 0) -> tuple[Results, Results]:
    """Known and hidden results."""
    results = make_results(gaps)
    is_hidden = np.random.default_rng(seed).random(len(results.gaps)) < share
    return results.choose(~is_hidden), results.choose(is_hidden)


def gather(results: Results, **given: pd.DataFrame) -> factors.SideInformation:
    """What is known of models and datasets, by default their names alone."""
    names = {"models": pd.DataFrame({"model": results.models})}
    names |= {"datasets": pd.DataFrame({"dataset": results.datasets})}
    return factors.gather_attributes(results, **names | given)


def fit(
    train: Results, test: Results, known: factors.SideInformation | None = None, name: str = ""
) -> factors.Moments:
    known = known or gather(train)
    pairs = [factors.Pairs(test.rows, test.columns)]
    return factors.predict_gaps([train], known, pairs, rng=stream(name))[0]


def test_factors_predict_simulated_results_and_know_how_well() -> None:
    squares, ratios = [], []
    for seed in range(2):
        train, test = hide(draw_low_rank(seed), 0.25)
        found = fit(train, test, name=str(seed))
        squares += ((found.mean - test.gaps) ** 2).tolist()
        ratios += ((found.mean - test.gaps) ** 2 / found.variance).tolist()
    assert np.mean(squares) < 3 * NOISE**2
    assert 0.7 < np.mean(ratios) < 1.3


def test_an_attribute_tells_of_results_of_others_that_share_it() -> None:
    # A model's effect on a family of datasets is all there is; no dataset alone tells of it.
    rng = np.random.default_rng(0)
    family = np.repeat(np.arange(5), 6)
    gaps = 0.5 + 0.2 * rng.normal(size=(20, 5))[:, family] + NOISE * rng.normal(size=(20, 30))
    train, test = hide(gaps, 0.7)
    table = pd.DataFrame({"dataset": train.datasets, "family": family})
    errors = []
    for known in (gather(train, datasets=table), gather(train)):
        errors.append(np.mean((fit(train, test, known).mean - test.gaps) ** 2))
    assert errors[0] < 0.5 * errors[1]


def test_a_covariate_tells_of_models_with_one_result() -> None:
    rng = np.random.default_rng(1)
    size = rng.uniform(0, 6, 40)
    slopes = 0.05 * (1 + 0.5 * rng.normal(size=12))
    gaps = 0.8 - (size - 3)[:, None] * slopes + NOISE * rng.normal(size=(40, 12))
    results = make_results(gaps)
    is_new = np.isin(results.rows, [0, 1, 2, 3]) & (results.columns > 0)
    train, test = results.choose(~is_new), results.choose(is_new)
    models = pd.DataFrame({"model": results.models, "parameters": np.exp(size)})
    errors = fit(train, test, gather(train, models=models)).mean - test.gaps
    assert np.mean(errors**2) < 0.3 * np.mean((train.gaps.mean() - test.gaps) ** 2)


def test_another_seed_or_model_moves_predictions_little() -> None:
    train, test = hide(draw_low_rank(), 0.3)
    before = fit(train, test).mean
    # A model with one result, which takes the first place of all.
    more = replace(
        train,
        models=["A", *train.models],
        rows=np.append(0, train.rows + 1),
        columns=np.append(0, train.columns),
        scores=np.append(0.5, train.scores),
        gaps=np.append(0.5, train.gaps),
    )
    asked = replace(test, models=more.models, rows=test.rows + 1)
    for after in (fit(more, asked).mean, fit(train, test, name="other").mean):
        assert np.abs(after - before).max() < 0.03
        assert np.sqrt(np.mean((after - before) ** 2)) < 0.01


def test_keys_are_those_of_splitmix64() -> None:
    # The first outputs of the reference implementation with seed 0.
    found = combine_keys(np.zeros(1, np.uint64), np.arange(3))
    assert found.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    drawn = draw_uniforms(hash_names(f"model {number}" for number in range(400)), 500)
    assert kstest(drawn.ravel(), "uniform").pvalue > 0.01
    assert np.abs(np.corrcoef(drawn[:20])[np.triu_indices(20, 1)]).max() < 0.2


def test_attributes_by_hand() -> None:
    results = arrange_results(list_cells(np.arange(12).reshape(4, 3)))
    models = pd.DataFrame(
        {
            "model": ["M003", "M001", "M000", "other"],
            "architecture": ["A", "A", "B", "A"],
            "parameters": [np.exp(2), np.exp(1), 0, 1],
            "date": ["2020-01-03", None, "2020-01-01", "1999-01-01"],
        }
    )
    datasets = pd.DataFrame({"dataset": results.datasets, "family": "F", "type": ["x", "y", "x"]})
    found = gather(results, models=models, datasets=datasets)
    # M002 is not among the models, so its architecture is one of its own.
    codes = found.models[0]
    assert codes[1] == codes[3]
    assert len({codes[0], codes[1], codes[2]}) == 3
    # What is not known is none of the groups, whatever these are called.
    numbers = pd.DataFrame({"dataset": results.datasets, "type": ["1", None, "1"]})
    assert [own.tolist() for own in gather(results, datasets=numbers).datasets] == [[0, 1, 0]]
    # A family that all datasets have says nothing.
    assert [own.tolist() for own in found.datasets] == [[0, 1, 0]]
    np.testing.assert_allclose(found.covariates[:, 0], [0, -1, 0, 1])
    np.testing.assert_allclose(found.covariates[:, 1], [-1, 0, 0, 1])


def predict_all(train: Results) -> aggregation.FloatArray:
    """Predictions of all pairs."""
    shape = len(train.models), len(train.datasets)
    rows, columns = (own.ravel() for own in np.indices(shape))
    pairs = [factors.Pairs(rows, columns)]
    (found,) = factors.predict_gaps([train], gather(train), pairs, rng=stream())
    return found.mean.reshape(shape)


@pytest.mark.parametrize("gaps", [[[0.3]], [[0.0, 1.0]], [[0.0], [1.0]], [[0.0] * 3] * 3])
def test_few_results_have_predictions_from_0_to_1(gaps: list[list[float]]) -> None:
    train = make_results(np.array(gaps))
    found = predict_all(train)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_array_equal(predict_all(train), found)


def test_pairs_that_no_result_connects_have_the_mean_of_the_dataset() -> None:
    gaps = np.full((6, 6), np.nan)
    gaps[:3, :3] = gaps[3:, 3:] = np.random.default_rng(0).uniform(size=(3, 3))
    found = predict_all(make_results(gaps))
    means = np.broadcast_to(np.nanmean(gaps, axis=0), gaps.shape)
    np.testing.assert_allclose(found[:3, 3:], means[:3, 3:])
    np.testing.assert_allclose(found[3:, :3], means[3:, :3])


@given(seed=st.integers(0, 1000), penalty=st.sampled_from([1.0, 2.0, 10.0]))
def test_additive_effects_are_those_of_a_dense_ridge_regression(seed: int, penalty: float) -> None:
    cells = simulate_results(7, 6, dimension=2, share=0.5, noise=0.1, seed=seed).cells
    results = arrange_results(cells)
    design = np.zeros((len(results.gaps), len(results.models) + len(results.datasets)))
    places = np.arange(len(results.gaps))
    design[places, results.rows] = design[places, len(results.models) + results.columns] = 1
    level = results.gaps.mean()
    # The minimum of |X b − (y − level)|² + penalty |b|².
    left = design.T @ design + penalty * np.eye(design.shape[1])
    effects = np.linalg.solve(left, design.T @ (results.gaps - level))
    found = factors.fit_additive(results, penalty=penalty)
    np.testing.assert_allclose(np.concatenate([found.models, found.datasets]), effects, atol=1e-6)
    predicted = found.predict(results.rows, results.columns)
    np.testing.assert_allclose(predicted, level + design @ effects, atol=1e-6)
