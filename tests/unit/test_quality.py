"""The correlation of centrality and mean gap beside scipy's, and what each model is near."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from capmap.capabilities.quality import correlate_centrality, list_nearest


def correlate(centrality: list[float], gaps: list[float]) -> dict[str, float]:
    """Positions with a dataset that does not count, and models in another order."""
    names = [f"m{number}" for number in range(len(gaps))]
    positions = pd.DataFrame(
        {
            "kind": ["dataset", *["model"] * len(names)],
            "name": ["m0", *names],
            "centrality": [9, *centrality],
        }
    )
    models = pd.DataFrame({"model": names[::-1], "mean_gap": gaps[::-1]})
    return correlate_centrality(positions, models).iloc[0].to_dict()


def test_estimate_is_that_of_scipy_with_ties() -> None:
    rng = np.random.default_rng(3)
    centrality = rng.integers(8, size=30) / 8
    gaps = centrality + rng.integers(8, size=30) / 8
    row = correlate(centrality.tolist(), gaps.tolist())
    assert row["estimate"] == pytest.approx(spearmanr(centrality, gaps).statistic)
    assert row["models"] == 30
    # By hand: tanh(artanh ρ ± 1.64485 √((1 + ρ²/2) / 27)).
    half = 1.644854 * math.sqrt((1 + row["estimate"] ** 2 / 2) / 27)
    middle = math.atanh(row["estimate"])
    assert row["low"] == pytest.approx(math.tanh(middle - half), abs=1e-6)
    assert row["high"] == pytest.approx(math.tanh(middle + half), abs=1e-6)


def test_models_without_results_do_not_count_and_two_have_no_interval() -> None:
    row = correlate([1, 2, 3], [0.1, math.nan, 0.3])
    assert (row["models"], row["estimate"]) == (2, 1)
    assert math.isnan(row["low"])


@pytest.mark.parametrize("gaps", [[], [0.5], [0.5, 0.5]])
def test_without_variation_there_is_no_correlation(gaps: list[float]) -> None:
    row = correlate([float(number) for number in range(len(gaps))], gaps)
    assert math.isnan(row["estimate"])
    assert row["models"] == len(gaps)


def test_nearest_datasets_are_of_the_own_part_and_untried_ones_have_no_result() -> None:
    names, x1 = ["A", "B", "d", "e", "f", "g", "h"], [0.0, 9.0, 1.0, -2.0, 3.0, 4.0, 8.0]
    positions = pd.DataFrame({"kind": ["model"] * 2 + ["dataset"] * 5, "name": names, "x1": x1})
    positions["component"] = [1, 2, 1, 1, 1, 1, 2]
    rows = [
        ("A", "d", 0.1, 0.2),
        ("A", "f", None, 0.5),
        ("A", "e", None, 0.3),
        ("B", "h", 0.0, 0.0),
    ]
    predictions = pd.DataFrame(rows, columns=["model", "dataset", "observed", "predicted"])
    table = list_nearest(positions, predictions.assign(low=0.0, high=1.0))
    assert table["model"].tolist() == ["A", "A", "A", "B"]
    assert table["nearest"].tolist() == ["d", "e", "f", "h"]
    assert table["map_distance"].tolist() == [1, 2, 3, 1]
    assert table["untried"].fillna("").tolist() == ["e", "f", "", ""]
