"""Prediction intervals: by hand, by simulation, and their coverage of simulated results."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import (
    Results,
    arrange_results,
    choose_results,
    scale_scores,
    tabulate_gaps,
)
from capmap.capabilities.halves import Fitting
from capmap.capabilities.intervals import calibrate, list_features
from capmap.capabilities.predictions import list_pairs, predict_scores
from capmap.rng import make_stream


def test_features_by_hand() -> None:
    found = list_features([0, 3], [1, 4], [0.0, 0.2])
    np.testing.assert_allclose(found, [[1, 1, 0.5, 0], [1, 0.25, 0.2, 0.2]])


def test_the_reach_is_the_error_of_the_conformal_rank() -> None:
    # With one feature the variance is the mean square. Of 19 errors, rank ⌈20 · 0.9⌉ = 18 and, at
    # 0.5, rank 10. Ten parts by size: 18 is with 8 and 10 is alone, and the ratio of each is by the
    # mean square of those outside of its part.
    errors = np.arange(1, 20) * np.tile([1, -1], 10)[:19]
    calibration = calibrate(errors, np.ones((19, 1)))
    total = (errors**2).sum()
    for level, own, part in ((0.9, 18, [8, 18]), (0.5, 10, [10])):
        others = (total - np.square(part).sum()) / (19 - len(part))
        expected = own * np.sqrt(total / 19 / others)
        reach = calibration.measure_reach(np.ones((2, 1)), confidence_level=level)
        np.testing.assert_allclose(reach, expected)


@pytest.mark.parametrize("count", [9, 12, 20])
def test_few_errors_have_intervals_that_are_wide_enough(count: int) -> None:
    # Four weights for so few errors: by weights that the errors had a part in, 85 to 88% are held.
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(1500):
        per_model, per_dataset = rng.integers(1, 20, (2, count + 1))
        variance = rng.gamma(1, 0.02, count + 1)
        features = list_features(per_model, per_dataset, variance)
        errors = rng.normal(size=count + 1) * np.sqrt(0.03 + 0.2 / (per_model + 1) + variance)
        calibration = calibrate(errors[:-1], features[:-1])
        reach = calibration.measure_reach(features[-1:], confidence_level=0.9)
        held += abs(errors[-1]) <= reach[0]
    # The standard error of a share of 0.9 is 0.008.
    assert 0.89 <= held / 1500 <= 0.97


def test_nine_errors_are_just_enough_for_ninety_percent() -> None:
    # ⌈(9 + 1) · 0.9⌉ = 9 of 9; of 8 errors it would be the ninth. Squares add up to 204, those of
    # the other eight to 140.
    features = np.ones((9, 1))
    reach = calibrate(np.arange(9), features).measure_reach(features, confidence_level=0.9)
    np.testing.assert_allclose(reach, 8 * np.sqrt(204 / 9 / (140 / 8)))
    few = calibrate(np.arange(8), features[:8]).measure_reach(features, confidence_level=0.9)
    assert np.isinf(few).all()


def test_without_errors_nothing_is_known() -> None:
    calibration = calibrate([], np.empty((0, 4)))
    assert np.isinf(calibration.measure_reach(np.ones((3, 4)), confidence_level=0.5)).all()


def test_what_adds_to_the_variance_is_found() -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(40000), rng.uniform(size=(40000, 2))])
    weights = np.array([0.1, 0.6, 0.0])
    errors = np.sqrt(features @ weights) * rng.normal(size=40000)
    calibration = calibrate(errors, features)
    np.testing.assert_allclose(calibration.weights, weights, atol=0.02)
    # The reach of normal errors is 1.645 standard deviations.
    reach = calibration.measure_reach(features, confidence_level=0.9)
    np.testing.assert_allclose(reach, 1.645 * np.sqrt(features @ weights), rtol=0.06)


def test_exact_predictions_have_narrow_intervals() -> None:
    calibration = calibrate(np.zeros(20), np.ones((20, 1)))
    assert calibration.measure_reach(np.ones((1, 1)), confidence_level=0.9)[0] == 0


@given(st.integers(0, 1000), st.floats(0.5, 0.99))
def test_the_order_and_the_signs_of_errors_have_no_influence(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    errors, features = rng.normal(size=50), rng.uniform(size=(50, 4))
    order = rng.permutation(50)
    calibrations = calibrate(errors, features), calibrate(-errors[order], features[order])
    found = [one.measure_reach(features, confidence_level=level) for one in calibrations]
    np.testing.assert_allclose(found[1], found[0])


def test_new_errors_are_within_reach_as_often_as_stated() -> None:
    # Exact for errors in random order: between 0.9 and 0.9 + 1 / (n + 1), here n = 50.
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        features = np.column_stack([np.ones(60), rng.uniform(size=60)])
        errors = rng.standard_t(4, size=60) * np.sqrt(features @ [0.1, 0.5])
        calibration = calibrate(errors[:50], features[:50])
        reach = calibration.measure_reach(features[50:], confidence_level=0.9)
        covered += (np.abs(errors[50:]) <= reach).tolist()
    assert np.mean(covered) == pytest.approx(0.91, abs=0.02)


def draw_gaps(
    seed: int = 0, *, models: int = 16, datasets: int = 18, share: float = 0.7, noise: float = 0.08
) -> pd.DataFrame:
    """A table of gaps of models and datasets at distances of known positions, with noise.

    Scores of the second dataset are errors: lower is better.
    """
    rng = np.random.default_rng(seed)
    x, y = 0.5 * rng.normal(size=(models, 2)), 0.5 * rng.normal(size=(datasets, 2))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2) + noise * rng.normal(
        size=(models, datasets)
    )
    rows, columns = np.nonzero(rng.uniform(size=apart.shape) < share)
    runs = pd.DataFrame(
        {
            "model": [f"m{row:02d}" for row in rows],
            "dataset": [f"d{column:02d}" for column in columns],
            "score": 1 - apart[rows, columns] / 4,
        }
    )
    bounds = pd.DataFrame({"dataset": sorted(set(runs["dataset"]))})
    bounds = bounds.assign(direction="max", low=0.0, high=100.0)
    bounds.loc[bounds["dataset"] == "d01", "direction"] = "min"
    return tabulate_gaps(runs, bounds, min_results=3)


def predict(
    gaps: pd.DataFrame,
    *,
    method: str = "ensemble",
    level: float = 0.9,
    seed: int = 0,
) -> pd.DataFrame:
    results = choose_results(gaps)
    starts = draw_starts(results, dimension=2, starts=2, seed=seed, study="toy")
    return predict_scores(
        results,
        fit_starts(results, METHODS[method], starts=starts),
        scale=scale_scores(gaps),
        fitting=Fitting(METHODS[method], starts),
        attributes=gather_attributes(results),
        confidence_level=level,
        rng=make_stream(seed, "toy"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ensemble", "l2", "cosine", "poincare"])
def test_intervals_hold_their_share_of_hidden_results(method: str) -> None:
    covered = []
    for seed in range(3):
        table = predict(draw_gaps(seed), method=method)
        hidden = table[table["held_out"]]
        covered += hidden["observed"].between(hidden["low"], hidden["high"]).tolist()
    assert len(covered) > 500
    assert np.mean(covered) == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
def test_intervals_hold_scores_that_were_never_there() -> None:
    # A third of the cells of a matrix is left out, and compared with what is predicted for them.
    # With about 10 results per dataset, 2 / 11 of them are beyond the best or the worst one, which
    # is where an interval that reaches the bound is open.
    near, beyond = [], []
    for seed in range(4):
        truth = draw_gaps(seed, share=1.0).set_index(["model", "dataset"])["score"]
        gaps = draw_gaps(seed, share=0.65)
        table = predict(gaps)
        empty = table[~table["held_out"]].set_index(["model", "dataset"])
        scores = truth.loc[empty.index]
        known = gaps[gaps["dropped"] == ""].groupby("dataset")["score"].agg(["min", "max"])
        ends = known.loc[empty.index.get_level_values("dataset")].to_numpy().T
        beyond += (~scores.between(*ends)).tolist()
        near += scores.clip(*ends).between(empty["score_low"], empty["score_high"]).tolist()
    assert len(near) > 350
    assert np.mean(beyond) > 0.1
    assert np.mean(near) == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
def test_every_pair_has_a_row_and_ends_in_order() -> None:
    gaps = draw_gaps()
    table = predict(gaps)
    kept = gaps[gaps["dropped"] == ""]
    assert len(table) == kept["model"].nunique() * kept["dataset"].nunique()
    assert table["held_out"].sum() == len(kept)
    assert table[["model", "dataset"]].equals(
        table[["model", "dataset"]].sort_values(["model", "dataset"])
    )
    hidden = table[table["held_out"]].reset_index(drop=True)
    np.testing.assert_allclose(hidden["observed"], kept["gap"])
    for low, middle, high in (
        ("low", "predicted", "high"),
        ("score_low", "predicted_score", "score_high"),
    ):
        assert (table[low] <= table[middle] + 1e-9).all()
        assert (table[middle] <= table[high] + 1e-9).all()
    assert hidden["low"].between(0, 1).all()
    assert hidden["high"].between(0, 1).all()
    assert table["predicted"].between(0, 1).all()


def test_scores_follow_from_gaps_by_the_best_and_worst_of_each_dataset() -> None:
    gaps = draw_gaps()
    table = predict(gaps)
    kept = gaps[gaps["dropped"] == ""].groupby("dataset")["score"]
    low, high = (table["dataset"].map(bound) for bound in (kept.min(), kept.max()))
    is_min = table["dataset"] == "d01"
    best, worst = np.where(is_min, low, high), np.where(is_min, high, low)
    expected = best + table["predicted"] * (worst - best)
    np.testing.assert_allclose(table["predicted_score"], expected)
    assert is_min.any()


def test_the_order_of_rows_has_no_influence() -> None:
    gaps = draw_gaps()
    shuffled = gaps.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(predict(shuffled), predict(gaps))


def tabulate(cells: list[tuple[str, str, float]]) -> pd.DataFrame:
    runs = pd.DataFrame(cells, columns=["model", "dataset", "score"])
    bounds = pd.DataFrame({"dataset": sorted(set(runs["dataset"]))})
    return tabulate_gaps(runs, bounds.assign(direction="max", low=0.0, high=1.0), min_results=1)


@pytest.mark.parametrize("method", ["ensemble", "l2", "cosine", "poincare"])
def test_few_results_have_intervals_from_0_to_1(method: str) -> None:
    cells = [("a", "x", 0.1), ("a", "y", 0.9), ("b", "x", 0.5), ("b", "y", 0.3)]
    table = predict(tabulate(cells), method=method)
    assert len(table) == 4
    assert (table["low"] == 0).all()
    assert (table["high"] == 1).all()
    assert table["predicted"].between(0, 1).all()


def test_pairs_that_no_result_connects_have_no_prediction() -> None:
    rng = np.random.default_rng(0)
    cells = [
        (f"{part}{model}", f"{part}{dataset}", float(rng.uniform()))
        for part in "AB"
        for model in range(5)
        for dataset in range(5)
    ]
    table = predict(tabulate(cells))
    is_apart = table["model"].str[0] != table["dataset"].str[0]
    assert is_apart.sum() == 50
    assert table.loc[is_apart, ["low", "high", "score_low", "score_high"]].isna().all(axis=None)
    assert table.loc[is_apart, ["predicted", "predicted_score"]].isna().all(axis=None)
    assert ((table["high"] - table["low"])[~is_apart] < 1).any()


def test_of_too_many_pairs_only_results_are_listed() -> None:
    small = arrange_results(
        pd.DataFrame({"model": ["a", "b"], "dataset": ["x", "y"], "score": [0.0, 1.0]})
    )
    assert list_pairs(small).observed.tolist() == pytest.approx([0, np.nan, np.nan, 0], nan_ok=True)
    names = [str(place) for place in range(600)]
    places = np.array([3], dtype=np.intp)
    large = Results(names, names, places, places, np.zeros(1), np.zeros(1))
    assert list_pairs(large).rows.tolist() == [3]
