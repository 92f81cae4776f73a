"""Strengths: residuals of an additive model, their variances, and how often a claim is false."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from capmap.analyses import strengths
from capmap.claims import BETTER, WORSE, claim_strengths
from capmap.figures.canvas import NothingToDraw
from tests.steps import make_figure

LEVEL = 0.95


def make_runs(scores):
    """Name the models, datasets and runs of an array; NaN where there is no run."""
    model, dataset, _ = np.indices(scores.shape)
    runs = pd.DataFrame(
        {
            "model": [f"m{place:02d}" for place in model.ravel()],
            "dataset": [f"d{place:02d}" for place in dataset.ravel()],
            "score": scores.ravel(),
        }
    )
    return runs.dropna(ignore_index=True)


def measure(runs, **options):
    ranking = pd.DataFrame({"model": sorted(set(runs["model"]))})
    return strengths.measure_strengths(runs, ranking, **{"confidence_level": LEVEL, **options})


def cells_of(runs, how, shape):
    """A statistic of the runs of each cell, as an array."""
    names = [f"m{place:02d}" for place in range(shape[0])]
    found = runs.pivot_table("score", "model", "dataset", aggfunc=how)
    return found.reindex(names).to_numpy()


def draw_additive(rng, shape, *, unequal=0.0):
    n_models, n_datasets, _ = shape
    levels = rng.normal(0, 0.1, (n_models, 1, 1)) + rng.normal(0.5, 0.1, (1, n_datasets, 1))
    noise = 0.02 * np.exp(rng.normal(0, 1, (1, n_datasets, 1)))
    noise = noise * np.exp(rng.normal(0, unequal, (n_models, n_datasets, 1)))
    return levels + noise * rng.normal(size=shape)


def count_false(shape, *, unequal, studies):
    rng = np.random.default_rng(4)
    found = [
        len(
            claim_strengths(
                measure(make_runs(draw_additive(rng, shape, unequal=unequal))),
                confidence_level=LEVEL,
            )
        )
        > 0
        for _ in range(studies)
    ]
    return sum(found)


@pytest.mark.parametrize(
    ("shape", "unequal"), [((5, 5, 3), 0.0), ((3, 4, 2), 0.5), ((4, 8, 5), 1.0)]
)
def test_false_findings_are_no_more_frequent_than_the_level_says(shape, unequal):
    studies = 120
    false = count_false(shape, unequal=unequal, studies=studies)
    assert stats.binomtest(false, studies, 0.05, alternative="greater").pvalue > 0.001


def test_a_strength_that_is_there_is_found():
    scores = draw_additive(np.random.default_rng(1), (6, 8, 5))
    scores[2, 3] += 0.6
    scores[4, 1] -= 0.6
    table = measure(make_runs(scores))
    claims = claim_strengths(table, confidence_level=LEVEL)
    found = {(claim.subject, claim.relation, claim.object) for claim in claims}
    assert {("m02", BETTER, "d03"), ("m04", WORSE, "d01")} <= found


def test_residuals_of_a_complete_table_are_doubly_centered():
    scores = np.random.default_rng(0).normal(size=(4, 6, 3))
    means = scores.mean(axis=2)
    rows, columns = (means.mean(axis=axis, keepdims=True) for axis in (1, 0))
    table = measure(make_runs(scores)).set_index(["model", "dataset"]).sort_index()
    expected = (means - rows - columns + means.mean()).ravel()
    assert_allclose(table["difference"], expected, atol=1e-12)
    assert_allclose(table["score"] - table["expected"], table["difference"], atol=1e-12)


def test_errors_are_those_of_the_dense_residual_matrix():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(5, 6, 4)) * rng.uniform(0.5, 2, (5, 6, 1))
    scores[0, 0] = np.nan
    scores[2, 4, 2:] = np.nan
    scores[3, 1, 1:] = np.nan
    runs = make_runs(scores)
    table = measure(runs).set_index(["model", "dataset"]).sort_index()
    cells = runs.groupby(["model", "dataset"])["score"].agg(["mean", "count"])
    models, datasets = (cells.index.get_level_values(level) for level in (0, 1))
    design = np.hstack([pd.get_dummies(names).to_numpy(float) for names in (models, datasets)])
    residual = np.eye(len(cells)) - design @ np.linalg.pinv(design)
    counts = (~np.isnan(scores)).sum(axis=2)
    variances = cells_of(runs, "var", counts.shape)
    moderated, df = strengths.moderate_variances(variances, counts)
    filled = counts > 0
    noise = moderated[filled] / counts[filled]
    error = np.sqrt(residual**2 @ noise)
    assert_allclose(table["difference"], residual @ cells["mean"], atol=1e-12)
    own = np.diag(residual) ** 2 * noise
    freedom = error**4 / (own**2 / df[filled] + (error**2 - own) ** 2 / df[filled].min())
    half = stats.t.ppf(1 - 0.05 / 2 / len(cells), freedom) * error
    assert_allclose((table["ci_high"] - table["ci_low"]) / 2, half, rtol=1e-9)


def test_moderated_variances_find_the_center_and_its_degrees_of_freedom():
    rng = np.random.default_rng(8)
    prior, center, n = 6.0, np.array([1.0, 100.0]), 4
    true = center * prior / rng.chisquare(prior, (4000, 2))
    variances = true * rng.chisquare(n - 1, true.shape) / (n - 1)
    moderated, df = strengths.moderate_variances(variances, np.full(true.shape, n))
    known = (prior * center + (n - 1) * variances) / (prior + n - 1)
    assert_allclose(moderated, known, rtol=0.1)
    assert_allclose(df, n - 1 + prior / 2, rtol=0.08)


def test_single_runs_and_runs_that_do_not_vary_tell_nothing():
    scores = np.random.default_rng(0).normal(size=(3, 4, 1))
    for given_scores in (scores, np.repeat(scores, 3, axis=2)):
        table = measure(make_runs(given_scores))
        assert table[["ci_low", "ci_high"]].isna().all(axis=None)
        assert claim_strengths(table, confidence_level=LEVEL) == []
        with pytest.raises(NothingToDraw):
            make_figure("strengths", table)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-5, 5))
def test_order_shift_and_scale_change_nothing_else(seed, scale, shift):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(4, 3, 3))
    scores[0, 0, 1:] = np.nan
    runs = make_runs(scores)
    table = measure(runs)
    shuffled = measure(runs.sample(frac=1, random_state=seed % 1000))
    pd.testing.assert_frame_equal(shuffled, table, rtol=1e-9)
    moved = measure(runs.assign(score=scale * runs["score"] + shift))
    sizes = ["difference", "ci_low", "ci_high"]
    both = [one.set_index(["model", "dataset"]).sort_index()[sizes] for one in (moved, table)]
    assert_allclose(both[0], scale * both[1], rtol=1e-6, atol=1e-9)


def fit(scores, filled):
    """Fitted values and leverages."""
    return strengths.fit_levels(scores, np.zeros(filled.shape), filled)[:2]


def test_levels_of_unconnected_parts_are_their_own():
    filled = np.kron(np.eye(2, dtype=bool), np.ones((3, 2), dtype=bool))
    scores = np.random.default_rng(0).normal(size=filled.shape)
    whole, leverage = fit(scores, filled)
    part, _ = fit(scores[:3, :2], filled[:3, :2])
    assert_allclose(whole[:3, :2], part, atol=1e-12)
    assert_allclose(leverage[filled], 2 / 3, rtol=1e-9)


def test_thousands_of_models_or_datasets_need_no_matrix_of_their_own():
    rng = np.random.default_rng(0)
    filled = rng.random((20_000, 10)) < 0.8
    filled[:, 0] = True
    levels = rng.normal(size=(20_000, 1)) + rng.normal(size=10)
    for lay in (np.asarray, np.transpose):
        fitted, leverage = fit(lay(levels), lay(filled))
        assert_allclose(fitted, lay(levels), atol=1e-9)
        assert_allclose(leverage[lay(filled)].sum(), 20_000 + 10 - 1)
