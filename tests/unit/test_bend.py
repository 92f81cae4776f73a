"""Where the error stops to fall with the number of results."""

import numpy as np
import pytest

from capmap.capabilities import crossvalidation

KNOWN = np.array([5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 38, 45, 50, 60], dtype=float)


def locate(errors, known=KNOWN, weights=None, seed=0):
    weights = np.ones(len(known)) if weights is None else weights
    rng = np.random.default_rng(seed)
    return crossvalidation.locate_bend(known, errors, weights, confidence_level=0.95, rng=rng)


def curve(bend, slope=0.1, level=0.05):
    return level + slope * np.maximum(0, np.log(bend) - np.log(KNOWN))


@pytest.mark.parametrize("bend", [7, 16, 45])
def test_a_curve_without_noise_is_found(bend):
    found = locate(curve(bend))
    assert found["bend"] == pytest.approx(bend)
    assert found["bend_low"] <= bend <= found["bend_high"]
    assert found["mse_many"] == pytest.approx(0.05)
    assert found["mse_few"] == pytest.approx(curve(bend)[0])
    line = np.polyfit(np.log2(KNOWN), curve(bend), 1)
    assert found["doubling"] == pytest.approx(line[0])


def test_a_weight_counts_like_so_many_models():
    rng = np.random.default_rng(1)
    errors = curve(16) * rng.gamma(4, 0.25, len(KNOWN))
    weights = rng.integers(1, 4, len(KNOWN))
    twice = locate(np.repeat(errors, weights), np.repeat(KNOWN, weights))
    once = locate(errors, weights=weights.astype(float))
    for name in ("bend", "mse_few", "mse_many"):
        assert once[name] == pytest.approx(twice[name])


@pytest.mark.slow
def test_intervals_cover_and_level_curves_are_told_from_falling_ones():
    # 60 simulations: of 95% intervals fewer than 51 cover with a probability below 0.001, and as
    # many as 6 false alarms at the level 2.5% have one of 0.003.
    covered, alarms, found = 0, 0, 0
    for seed in range(60):
        noise = np.random.default_rng(seed).gamma(8, 1 / 8, len(KNOWN))
        falling = locate(curve(16) * noise, seed=seed)
        covered += falling["bend_low"] <= 16 <= falling["bend_high"]
        found += falling["doubling_high"] < 0
        alarms += locate(0.05 * noise, seed=seed)["doubling_high"] < 0
    assert covered >= 51
    assert alarms <= 5
    assert found >= 50


def test_few_models_tell_nothing():
    found = locate(curve(16)[:7], KNOWN[:7])
    assert all(np.isnan(value) for value in found.values())
    # An error that does not fall bends at the fewest results.
    rising = locate(np.linspace(0, 1, len(KNOWN)))
    assert rising["bend"] == 5
    assert rising["doubling_low"] > 0
