"""Performance profiles and the areas under them, against evaluma and by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.analyses.profiles import compute_ratios, profile_models

INF = np.inf


def draw_raw(seed: int, models: int, datasets: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Positive raw scores of a complete benchmark with mixed directions, and bounds around them."""
    rng = np.random.default_rng(seed)
    raw = rng.uniform(0.5, 3.0, (models, datasets)) * 10.0 ** rng.integers(-2, 3, datasets)
    directions = rng.choice(["max", "min"], datasets)
    low = rng.uniform(-1, 0.4, datasets) * raw.max(axis=0)
    high = low + rng.uniform(0.5, 2, datasets) * raw.max(axis=0)
    names = [f"D{place:02d}" for place in range(datasets)]
    return raw, pd.DataFrame({"dataset": names, "direction": directions, "low": low, "high": high})


def profile(raw: np.ndarray, bounds: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables, of models M0, M1 and so on; NaN where there is no run."""
    # As the study has them: in parts of the distance of the bounds, less is worse.
    spans = (bounds["high"] - bounds["low"]).to_numpy()
    scores = np.where(bounds["direction"] == "max", raw, -raw) / spans
    rows = [
        (f"M{place[0]}", bounds["dataset"][place[1]], score)
        for place, score in np.ndenumerate(scores)
        if score == score
    ]
    runs = pd.DataFrame(rows, columns=["model", "dataset", "raw"])
    tables = profile_models(runs, bounds)
    return tables["profiles"], tables["profile_area"]


def profile_shares(*rows: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables of scores of which higher is better, with bounds 0 and 1."""
    raw = np.array(rows, dtype=float)
    names = [f"D{place}" for place in range(raw.shape[1])]
    bounds = pd.DataFrame({"dataset": names, "direction": "max", "low": 0.0, "high": 1.0})
    return profile(raw, bounds)


@pytest.mark.parametrize("seed", range(6))
def test_profiles_and_areas_agree_with_evaluma(seed: int) -> None:
    from evaluma.methods.profiles import compute_profiles

    raw, bounds = draw_raw(seed, models=2 + seed, datasets=1 + 3 * seed)
    raw[0, 0] = raw[1, 0]
    models = [f"M{place}" for place in range(len(raw))]
    directions = dict(zip(bounds["dataset"], bounds["direction"], strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = compute_profiles(pd.DataFrame(raw, models, bounds["dataset"]), directions)
        expected = peer.aup[models].to_numpy()
    profiles, areas = profile(raw, bounds)
    for model, own in profiles.groupby("model"):
        theirs = peer.table[peer.table["model"] == model].sort_values("tau")
        place = np.searchsorted(own["tau"], theirs["tau"] * (1 + 1e-8), side="right") - 1
        mine = own["fraction"].to_numpy()[place]
        np.testing.assert_allclose(mine, theirs["fraction_within_tau"], atol=1e-12)
    np.testing.assert_allclose(areas.set_index("model").loc[models, "area"], expected, atol=1e-10)


def test_ratios_of_both_directions_by_hand() -> None:
    # max: 0.8/0.8, 0.8/0.2; min: 4/2, 2/2.
    ratios = compute_ratios(np.array([[0.8, 4.0], [0.2, 2.0]]), np.array([True, False]))
    assert ratios.tolist() == [[1.0, 2.0], [4.0, 1.0]]


@pytest.mark.parametrize(
    ("scores", "is_max", "expected"),
    [
        # An error of zero is reached by no factor.
        ([0.0, 0.0, 1e-9], False, [1, 1, INF]),
        # A best score that is not positive leaves no ratios; nor does a negative error.
        ([0.0, -1.0], True, [np.nan] * 2),
        ([-2.0, -1.0], True, [np.nan] * 2),
        ([-0.1, 3.0], False, [np.nan] * 2),
        ([0.5, np.nan, 0.25], True, [1, np.nan, 2]),
    ],
)
def test_scores_of_zero_or_less(scores: list[float], is_max: bool, expected: list[float]) -> None:
    ratios = compute_ratios(np.array(scores)[:, None], np.array([is_max]))
    np.testing.assert_array_equal(ratios[:, 0], expected)


def test_one_score_of_zero_costs_nobody_else_a_profile() -> None:
    before, _ = profile_shares([0.8, 0.5], [0.4, 0.5], [0.4, 0.25])
    after, areas = profile_shares([0.8, 0.5], [0.4, 0.5], [0.0, 0.25])
    assert after[after["model"] != "M2"].equals(before[before["model"] != "M2"])
    # M2 is never within a factor on the first dataset, and within 2 on the second one.
    own = after.loc[after["model"] == "M2", ["tau", "fraction"]]
    assert own.to_numpy().tolist() == [[1.0, 0.0], [2.0, 0.5]]
    # The largest ratio is 2: M0 is best everywhere, M1 once at it, M2 never nearer.
    assert areas["share"].tolist() == [1.0, 0.5, 0.0]


def test_models_without_ratios_and_equal_models() -> None:
    profiles, areas = profile_shares([0.5, np.nan], [0.5, 0.0])
    assert profiles.to_numpy().tolist() == [["M0", 1.0, 1.0], ["M1", 1.0, 1.0]]
    assert areas[["area", "share", "rank", "datasets"]].to_numpy().tolist() == [[0, 1, 1, 1]] * 2
    profiles, areas = profile_shares([0.0], [-0.1])
    assert profiles.empty
    assert areas[["area", "share", "rank"]].isna().all(axis=None)


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 5))
def test_ratios_do_not_depend_on_units_or_order(seed: int, models: int, datasets: int) -> None:
    raw, bounds = draw_raw(seed, models, datasets)
    is_max = (bounds["direction"] == "max").to_numpy()
    ratios = compute_ratios(raw, is_max)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(models), rng.permutation(datasets)
    scaled = raw[rows][:, columns] * rng.uniform(0.1, 10, datasets)
    again = compute_ratios(scaled, is_max[columns])
    np.testing.assert_allclose(again, ratios[rows][:, columns], rtol=1e-10)
    assert (ratios >= 1).all()
    assert (ratios.min(axis=0) == 1).all()
