"""Improvability: errors, the best of them, and averages, against evaluma and by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.analyses.improvability import find_optima, measure_improvability

BOUNDS = ["dataset", "metric", "direction", "low", "high"]


def make_runs(*rows):
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def make_bounds(*rows):
    return pd.DataFrame(rows, columns=BOUNDS)


SHARE = make_bounds(*((name, "accuracy", "max", 0.0, 1.0) for name in "xyz"))


def improve(runs, bounds=SHARE, **datasets):
    return measure_improvability(runs, bounds, datasets=datasets)


def draw_benchmark(seed, models, datasets, runs=1):
    """Raw scores (models, datasets, runs) with mixed directions, bounds, and normalized runs."""
    rng = np.random.default_rng(seed)
    directions = rng.choice(["max", "min"], datasets)
    raw = rng.uniform(0.2, 0.9, (models, datasets, runs))
    names = [f"D{place}" for place in range(datasets)]
    metrics = np.where(directions == "max", "accuracy", "error rate")
    low, high = rng.uniform(0, 0.2, datasets), rng.uniform(0.7, 1, datasets)
    bounds = make_bounds(*zip(names, metrics, directions, low, high, strict=True))
    return raw, bounds, normalize(raw, bounds)


def normalize(raw, bounds):
    low, high = (bounds[side].to_numpy()[None, :, None] for side in ("low", "high"))
    scores = (raw - low) / (high - low)
    is_max = (bounds["direction"] == "max").to_numpy()[None, :, None]
    rows = [
        (f"M{model}", bounds["dataset"][dataset], score)
        for (model, dataset, _), score in np.ndenumerate(np.where(is_max, scores, 1 - scores))
    ]
    return make_runs(*rows)


@pytest.mark.parametrize("seed", range(6))
def test_improvability_agrees_with_evaluma(seed):
    from evaluma.methods.improvability import compute_improvability

    raw, bounds, runs = draw_benchmark(seed, models=2 + seed, datasets=1 + 2 * seed)
    directions = dict(zip(bounds["dataset"], bounds["direction"], strict=True))
    optima = {name: 1.0 if way == "max" else 0.0 for name, way in directions.items()}
    models = [f"M{place}" for place in range(len(raw))]
    scores = pd.DataFrame(raw[:, :, 0], index=models, columns=bounds["dataset"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = compute_improvability(scores, directions, optima).table.set_index("model")
    mine = improve(runs, bounds).set_index("model")
    expected = theirs.loc[mine.index, "improvability"]
    np.testing.assert_allclose(mine["improvability"], expected, atol=1e-10)


def test_improvability_by_hand():
    # Errors: x 0.1 and 0.2, y 0.4 and 0.3. a: (0 + 1/4) / 2; b: (1/2 + 0) / 2.
    table = improve(make_runs(("a", "x", 0.9), ("b", "x", 0.8), ("a", "y", 0.6), ("b", "y", 0.7)))
    assert table.to_numpy().tolist() == [["a", 12.5, 1, 2], ["b", 25.0, 2, 2]]


@pytest.mark.parametrize(
    ("metric", "direction", "low", "high", "expected"),
    [
        ("accuracy", "max", 0.1, 0.9, (1.0, True)),
        ("R2", "max", -3.0, 0.8, (1.0, True)),
        ("RMSE", "min", 0.5, 4.0, (0.0, True)),
        ("neg_root_mean_squared_error", "max", -4.0, -0.5, (0.0, True)),
        # Somebody's own idea of the direction: the lowest accuracy is 0.
        ("accuracy", "min", 0.1, 0.9, (0.0, True)),
        # Percent: natural bounds are those of shares, a hundred times.
        ("accuracy", "max", 55.0, 88.0, (100.0, True)),
        ("error rate", "min", 5.0, 80.0, (0.0, True)),
        ("accuracy", "max", 55.0, 120.0, (120.0, False)),
        ("kappa", "max", 20.0, 80.0, (80.0, False)),
        # The worse bound leaves the natural ones, the better one is the natural one.
        ("accuracy", "max", -0.5, 1.0, (1.0, True)),
        # Not known, or known to have no best score.
        ("quality", "max", 0.0, 5.0, (5.0, False)),
        ("RMSE", "max", 0.5, 4.0, (4.0, False)),
    ],
)
def test_optimum_is_the_natural_best_or_the_bound_of_the_best_side(
    metric, direction, low, high, expected
):
    row = find_optima(make_bounds(("x", metric, direction, low, high)), {}).iloc[0]
    assert (row["optimum"], row["is_known"]) == expected


def test_transform_has_an_optimum_of_its_own():
    bounds = make_bounds(("x", "RMSE", "max", 0.2, 0.9))
    runs = make_runs(("a", "x", 0.5), ("b", "x", 1.0))
    # 0.2 + 0.5 · 0.7 = 0.55, so errors are 0.45 and 0.1; without the transform 0.35 and 0.
    scaled = improve(runs, bounds, x={"transform": {"scale_rmse": {"std": 0.25}}})
    assert scaled["improvability"].tolist() == pytest.approx([0, 100 * 0.35 / 0.45])
    assert improve(runs, bounds)["improvability"].tolist() == [0, 100]


def test_score_beyond_the_optimum_has_no_error():
    bounds = make_bounds(("x", "quality", "max", 0.0, 5.0))
    table = improve(make_runs(("a", "x", 1.2), ("b", "x", 1.0), ("c", "x", 0.5)), bounds)
    assert table["improvability"].tolist() == [0.0, 0.0, 100.0]
    assert table["rank"].tolist() == [1, 1, 3]


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_improvability_does_not_depend_on_bounds_or_order(seed, models, datasets, repeats):
    raw, bounds, runs = draw_benchmark(seed, models, datasets, repeats)
    before = improve(runs, bounds)
    assert before["improvability"].between(0, 100).all()
    other = bounds.assign(low=bounds["low"] / 2, high=(1 + bounds["high"]) / 2)
    shuffled = normalize(raw, other).sample(frac=1, random_state=seed)
    after = improve(shuffled, other.sample(frac=1, random_state=seed))
    np.testing.assert_allclose(before["improvability"], after["improvability"], atol=1e-7)
