"""Prediction intervals that hold conditionally: simulation, few errors, invariances."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from capmap.capabilities.intervals import Hidden, find_intervals
from capmap.ranking import aggregation

MODELS = 30


def draw(count: int, seed: int) -> tuple[Hidden, aggregation.FloatArray]:
    """Predictions and truths: errors are large in the middle, skewed at the ends, and by model."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, MODELS, count)
    gaps = rng.beta(0.7, 0.9, count)
    spread = np.sqrt(gaps * (1 - gaps) + 0.01) * np.where(rows < 5, 0.6, 0.25)
    errors = spread * (rng.exponential(size=count) - 1) * np.where(gaps > 0.7, -1.0, 1.0)
    return Hidden(rows, gaps, np.ones(count)), (gaps + errors).clip(0, 1)


def test_intervals_hold_for_small_and_large_gaps_and_for_each_model() -> None:
    found = []
    for seed in range(8):
        hidden, truth = draw(1500, seed)
        new, later = draw(1500, seed + 100)
        low, high = find_intervals(hidden, truth, new, confidence_level=0.9)
        held = (low <= later) & (later <= high)
        found.append(pd.DataFrame({"held": held, "gap": new.gaps, "model": new.rows}))
    table = pd.concat(found)
    deciles = table.groupby(pd.qcut(table["gap"], 10), observed=True)["held"].mean()
    assert deciles.between(0.87, 0.93).all()
    # Errors of five models are 2.4 times as large, of which 50 each are known: most is learnt.
    by_model = table.groupby(table["model"] < 5)["held"].mean()
    assert by_model.between(0.82, 0.93).all()


def test_equal_predictions_have_intervals_that_hold() -> None:
    rng = np.random.default_rng(0)
    count = 2000
    rows = rng.integers(0, MODELS, count)
    for share in (1.0, 0.3):
        gaps = np.where(rng.random(count) < share, 0.4, rng.random(count))
        hidden = Hidden(rows, gaps, np.ones(count))
        known, later = (gaps + rng.normal(0, 0.1, count) for _ in range(2))
        low, high = find_intervals(hidden, known, hidden, confidence_level=0.9)
        held = ((low <= later) & (later <= high))[gaps == 0.4]
        assert 0.86 < held.mean() < 0.94


def test_few_errors_have_intervals_from_0_to_1() -> None:
    hidden, truth = draw(8, 0)
    for count in (0, 1, 8):
        known = Hidden(*(own[:count] for own in hidden))
        low, high = find_intervals(known, truth[:count], hidden, confidence_level=0.9)
        assert (low == 0).all()
        assert (high == 1).all()


def test_nine_errors_are_enough_for_one_side() -> None:
    # All misses above, as predictions are 0: rank ⌈(9 + 1) · 0.9⌉ = 9, the largest ratio.
    nothing = np.zeros(9, dtype=np.intp)
    hidden = Hidden(nothing, np.zeros(9), np.ones(9))
    errors = np.linspace(0.1, 0.5, 9)
    low, high = find_intervals(hidden, errors, hidden, confidence_level=0.9)
    assert (low == 0).all()
    assert ((high >= 0.5 * 0.9) & (high < 1)).all()


def test_exact_predictions_have_narrow_intervals() -> None:
    hidden, _ = draw(60, 0)
    low, high = find_intervals(hidden, hidden.gaps, hidden, confidence_level=0.9)
    np.testing.assert_allclose(low, hidden.gaps)
    np.testing.assert_allclose(high, hidden.gaps)


@given(st.integers(0, 1000))
def test_the_order_has_no_influence(seed: int) -> None:
    hidden, truth = draw(60, seed)
    new, _ = draw(40, seed + 1)
    order = np.random.default_rng(seed).permutation(60)
    ends = [
        find_intervals(
            Hidden(*(own[chosen] for own in hidden)), truth[chosen], new, confidence_level=0.8
        )
        for chosen in (np.arange(60), order)
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    assert (ends[0][0] <= ends[0][1]).all()
