"""Generalizability, against what is published and in simulations."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.analyses import reliability

# Shrout and Fleiss (1979), table 2: six targets rated by four judges.
RATINGS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def make_runs(scores: np.ndarray) -> pd.DataFrame:
    """Runs of the shape (models, datasets, seeds)."""
    places = np.indices(scores.shape).reshape(3, -1)
    columns = {
        kind: [f"{kind[0]}{place:03d}" for place in row]
        for kind, row in zip(("model", "dataset", "seed"), places, strict=True)
    }
    return pd.DataFrame({**columns, "score": scores.ravel()})


def assess(scores: np.ndarray, level: float = 0.95) -> pd.DataFrame:
    return reliability.assess_reliability(make_runs(scores), confidence_level=level)


def draw(number: int, *, models: int = 12, datasets: int = 9, seeds: int = 4) -> np.ndarray:
    """Scores with variances 0.04, 0.02, 0.01 and 0.0025 of models, datasets, cells and runs."""
    rng = np.random.default_rng(number)
    parts = [(models, 1, 1), (1, datasets, 1), (models, datasets, 1), (models, datasets, seeds)]
    spreads = (0.2, np.sqrt(0.02), 0.1, 0.05)
    noise = [sd * rng.standard_normal(shape) for sd, shape in zip(spreads, parts, strict=True)]
    return np.asarray(sum(noise))


def test_coefficients_are_those_of_shrout_and_fleiss() -> None:
    row = assess(np.array(RATINGS, float)[:, :, None]).iloc[0]
    # As they print it, and its ends as the R package psych does.
    assert row[["relative", "ci_low", "ci_high"]].round(2).tolist() == [0.91, 0.68, 0.99]


def test_the_interval_holds_the_true_coefficient() -> None:
    truth = 0.04 / (0.04 + (0.01 + 0.0025 / 4) / 9)
    rows = [assess(draw(number)).iloc[0] for number in range(300)]
    held = np.mean([row["ci_low"] <= truth <= row["ci_high"] for row in rows])
    assert held == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 300))


@pytest.mark.parametrize("number", [179, 190, 252])
def test_the_interval_holds_the_coefficient_where_a_component_became_0(number: int) -> None:
    rng = np.random.default_rng(number)
    tables = assess(rng.standard_normal((3, 1, 1)) + rng.standard_normal((3, 3, 2)))
    row = tables.iloc[0]
    assert row["relative"] == row["ci_low"] > 0, "it lay below"


@given(st.integers(0, 10**6))
def test_order_scale_and_gaps(number: int) -> None:
    scores = draw(number, models=4, datasets=5, seeds=2)
    runs = make_runs(scores)
    found = assess(scores)
    turned = runs.sample(frac=1, random_state=0).assign(score=1 + 2 * runs["score"])
    more = pd.DataFrame({"model": ["m000"], "dataset": ["other"], "seed": ["0"], "score": [0.5]})
    other = reliability.assess_reliability(pd.concat([turned, more]), confidence_level=0.95)
    assert other.to_numpy() == pytest.approx(found.to_numpy(), nan_ok=True, abs=1e-9)


def test_constant_and_tiny_tables_are_told_as_such() -> None:
    flat = assess(np.full((3, 4, 2), 0.1 + 0.2))
    assert flat["relative"].eq(0).all()
    assert flat["ci_high"].dropna().eq(0).all()
    for scores in (draw(0, models=1), draw(0, datasets=1)):
        assert assess(scores).empty
    apart = make_runs(draw(0, models=2, datasets=2))
    apart = apart[(apart["model"] == "m000") == (apart["dataset"] == "d000")]
    nothing = reliability.assess_reliability(apart, confidence_level=0.95)
    assert nothing.empty
