"""Performance profiles, areas under them, and score distributions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.analyses.profiles import (
    compute_ratios,
    measure_areas,
    rebuild_scores,
    trace_ratios,
    trace_scores,
)
from capmap.rng import make_stream

INF = np.inf
Rng = np.random.Generator


def stream(model: str) -> Rng:
    return make_stream(0, "toy", "profiles", model)


def make_bounds(*rows: tuple[str, float, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["direction", "low", "high"])


def normalize(raw: np.ndarray, bounds: pd.DataFrame) -> np.ndarray:
    """What the study does with raw scores."""
    scores = (raw - bounds["low"].to_numpy()) / (bounds["high"] - bounds["low"]).to_numpy()
    return np.where(bounds["direction"] == "max", scores, 1 - scores)


def make_runs(*rows: tuple[str, str, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def trace(runs: pd.DataFrame, **options: object) -> pd.DataFrame:
    given = {"n_resamples": 500, "confidence_level": 0.95, "make_rng": stream} | options
    return trace_scores(runs, **given)  # type: ignore[arg-type]


def draw_raw(seed: int, models: int, datasets: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Positive raw scores of a complete benchmark with mixed directions, and bounds around them."""
    rng = np.random.default_rng(seed)
    raw = rng.uniform(0.5, 3.0, (models, datasets)) * 10.0 ** rng.integers(-2, 3, datasets)
    directions = rng.choice(["max", "min"], datasets)
    low = rng.uniform(-1, 0.4, datasets) * raw.max(axis=0)
    high = low + rng.uniform(0.5, 2, datasets) * raw.max(axis=0)
    return raw, pd.DataFrame({"direction": directions, "low": low, "high": high})


@pytest.mark.parametrize("seed", range(6))
def test_profiles_and_areas_agree_with_evaluma(seed: int) -> None:
    from evaluma.methods.profiles import compute_profiles

    raw, bounds = draw_raw(seed, models=2 + seed, datasets=1 + 3 * seed)
    raw[0, 0] = raw[1, 0]
    models = [f"M{place}" for place in range(len(raw))]
    columns = [f"D{place}" for place in range(raw.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = compute_profiles(
            pd.DataFrame(raw, index=models, columns=columns),
            dict(zip(columns, bounds["direction"], strict=True)),
        )
        areas = peer.aup[models].to_numpy()
    ratios = compute_ratios(
        rebuild_scores(normalize(raw, bounds), bounds), is_max=bounds["direction"] == "max"
    )
    profiles = trace_ratios(models, ratios)
    for model, own in profiles.groupby("model"):
        theirs = peer.table[peer.table["model"] == model].sort_values("tau")
        place = np.searchsorted(own["tau"], theirs["tau"] * (1 + 1e-8), side="right") - 1
        mine = own["fraction"].to_numpy()[place]
        np.testing.assert_allclose(mine, theirs["fraction_within_tau"], atol=1e-12)
    np.testing.assert_allclose(measure_areas(models, ratios)["area"], areas, atol=1e-10)


def test_ratios_of_both_directions_by_hand() -> None:
    # max: 0.8/0.8, 0.8/0.2; min: 4/2, 2/2.
    ratios = compute_ratios([[0.8, 4.0], [0.2, 2.0]], is_max=[True, False])
    assert ratios.tolist() == [[1.0, 2.0], [4.0, 1.0]]


def test_one_score_of_zero_costs_nobody_else_a_profile() -> None:
    scores = np.array([[0.8, 0.5], [0.4, 0.5], [0.4, 0.25]])
    before = trace_ratios(list("abc"), compute_ratios(scores, is_max=[True, True]))
    scores[2, 0] = 0.0
    after = trace_ratios(list("abc"), compute_ratios(scores, is_max=[True, True]))
    pd.testing.assert_frame_equal(
        after[after["model"] != "c"], before[before["model"] != "c"], check_index_type=False
    )
    # c is never within a factor on the first dataset, and within 2 on the second one.
    own = after.loc[after["model"] == "c", ["tau", "fraction"]]
    assert own.to_numpy().tolist() == [[1.0, 0.0], [2.0, 0.5]]


def test_error_of_zero_is_reached_by_no_factor() -> None:
    ratios = compute_ratios([[0.0], [0.0], [1e-9]], is_max=[False])
    assert ratios.tolist() == [[1.0], [1.0], [INF]]


@pytest.mark.parametrize(
    ("scores", "is_max"),
    [([[0.0], [-1.0]], True), ([[-2.0], [-1.0]], True), ([[-0.1], [3.0]], False)],
)
def test_dataset_whose_best_score_has_no_factor_is_left_out(
    scores: list[list[float]], is_max: bool
) -> None:
    ratios = compute_ratios(scores, is_max=[is_max])
    assert np.isnan(ratios).all()
    assert trace_ratios(["a", "b"], ratios).empty
    areas = measure_areas(["a", "b"], ratios)
    assert areas["datasets"].tolist() == [0, 0]
    assert areas[["area", "share", "rank"]].isna().all(axis=None)


def test_left_out_dataset_is_not_in_the_denominator() -> None:
    ratios = compute_ratios([[0.5, 0.0], [1.0, -3.0]], is_max=[True, True])
    profiles = trace_ratios(["a", "b"], ratios)
    assert profiles.to_numpy().tolist() == [["a", 1.0, 0.0], ["a", 2.0, 1.0], ["b", 1.0, 1.0]]
    assert measure_areas(["a", "b"], ratios)["datasets"].tolist() == [1, 1]


def test_empty_cells_are_nobodys_failure() -> None:
    ratios = compute_ratios([[1.0, np.nan], [0.5, 0.3]], is_max=[True, True])
    np.testing.assert_array_equal(ratios, [[1.0, np.nan], [2.0, 1.0]])
    # Area of a: log10 2 on its only dataset. Area of b: (0 + log10 2) / 2.
    areas = measure_areas(["a", "b"], ratios)
    assert areas["area"].tolist() == pytest.approx([np.log10(2), np.log10(2) / 2])
    assert areas["share"].tolist() == [1.0, 0.5]
    assert areas["datasets"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("direction", "low", "high"),
    [("max", 0.1, 0.7), ("min", 0.1, 0.7), ("max", -0.3, 0.9), ("min", 1e6, 3e6)],
)
def test_rebuilt_zero_is_zero_and_equal_scores_are_equal(
    direction: str, low: float, high: float
) -> None:
    bounds = make_bounds((direction, low, high))
    unit = max(abs(low), abs(high))
    raw = np.array([[0.0], [0.1 + 0.2], [0.3], [high], [low]]) * [[1], [unit], [unit], [1], [1]]
    scores = rebuild_scores(normalize(raw, bounds), bounds)[:, 0]
    assert scores[0] == 0
    assert scores[1] == scores[2] == 0.3
    assert scores[3:].tolist() == [round(high / unit, 12), round(low / unit, 12)]


def test_area_of_one_model_and_of_equal_models_is_nothing_and_their_share_all() -> None:
    for ratios in (np.ones((1, 3)), np.ones((4, 2))):
        areas = measure_areas([f"M{place}" for place in range(len(ratios))], ratios)
        assert set(areas["area"]) == {0.0}
        assert set(areas["share"]) == {1.0}
        assert set(areas["rank"]) == {1}


def test_share_without_a_finite_ratio_above_one_is_the_fraction_at_one() -> None:
    areas = measure_areas(["a", "b"], np.array([[1.0, 1.0], [1.0, INF]]))
    assert areas["area"].tolist() == [0.0, 0.0]
    assert areas["share"].tolist() == [1.0, 0.5]
    assert areas["rank"].tolist() == [1, 2]


def test_area_is_the_integral_of_the_traced_profile() -> None:
    raw, bounds = draw_raw(3, models=5, datasets=7)
    ratios = compute_ratios(raw, is_max=bounds["direction"] == "max")
    ratios[0, 0], ratios[1, 1] = INF, np.nan
    models = list("abcde")
    profiles, areas = trace_ratios(models, ratios), measure_areas(models, ratios)
    end = np.log10(ratios[np.isfinite(ratios)].max())
    for model, own in profiles.groupby("model"):
        widths = np.diff(np.append(np.log10(own["tau"]), end))
        area = areas.loc[areas["model"] == model, "area"].item()
        assert area == pytest.approx(widths @ own["fraction"].to_numpy())


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 5))
def test_ratios_do_not_depend_on_units_or_order(seed: int, models: int, datasets: int) -> None:
    raw, bounds = draw_raw(seed, models, datasets)
    is_max = bounds["direction"] == "max"
    ratios = compute_ratios(raw, is_max=is_max)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(models), rng.permutation(datasets)
    scaled = raw[rows][:, columns] * rng.uniform(0.1, 10, datasets)
    again = compute_ratios(scaled, is_max=is_max.to_numpy()[columns])
    np.testing.assert_allclose(again, ratios[rows][:, columns], rtol=1e-10)
    doubled = compute_ratios(np.vstack([raw, raw[:1]]), is_max=is_max)
    np.testing.assert_array_equal(doubled, np.vstack([ratios, ratios[:1]]))
    assert (ratios >= 1).all()
    assert (ratios.min(axis=0) == 1).all()


def test_score_distribution_is_that_of_rliable() -> None:
    # Agarwal et al. (2021), equation 4: the share of all runs above tau, as many on each dataset.
    rng = np.random.default_rng(0)
    scores = rng.normal(0.5, 0.5, (4, 6))
    runs = make_runs(*(("a", f"D{d}", score) for d in range(4) for score in scores[d]))
    table = trace(runs)
    assert len(table) == 101
    expected = [(scores > tau).mean() for tau in table["tau"]]
    np.testing.assert_allclose(table["fraction"], expected, atol=1e-12)
    assert (table["ci_low"] <= table["fraction"]).all()
    assert (table["fraction"] <= table["ci_high"]).all()


def test_datasets_weigh_the_same_however_many_runs_they_have() -> None:
    # Above 0.5: one of one run, and one of four: (1 + 1/4) / 2.
    scores = [("x", 0.9), ("y", 0.9), ("y", 0.1), ("y", 0.2), ("y", 0.3)]
    table = trace(make_runs(*(("a", dataset, score) for dataset, score in scores)))
    assert table.loc[table["tau"] == 0.5, "fraction"].item() == 0.625


def test_thresholds_cover_all_scores_and_count_only_what_is_above() -> None:
    runs = make_runs(("a", "x", -0.101), ("b", "x", 1.1), ("b", "y", 0.1 + 0.2))
    table = trace(runs)
    taus = table.loc[table["model"] == "a", "tau"].to_numpy()
    assert (taus[0], taus[-1], len(taus)) == (-0.11, 1.1, 101)
    assert np.diff(taus) == pytest.approx(np.full(100, 1.21 / 100))
    assert table.loc[table["tau"] == 1.1, "fraction"].tolist() == [0.0, 0.0]
    assert table.loc[table["tau"] == -0.11, "fraction"].tolist() == [1.0, 1.0]
    # 0.30000000000000004 is not above 0.3.
    plain = trace(make_runs(("a", "x", 0.1 + 0.2)))
    assert plain.loc[plain["tau"] == 0.3, "fraction"].item() == 0.0


def test_band_of_two_runs_spans_all_resamples() -> None:
    # Between the runs the fraction is 0, 1/2 or 1 with probabilities 1/4, 1/2, 1/4.
    table = trace(make_runs(("a", "x", 0.2), ("a", "x", 0.8)), confidence_level=0.9)
    inside = table[(table["tau"] >= 0.2) & (table["tau"] < 0.8)]
    assert set(inside["fraction"]) == {0.5}
    assert (set(inside["ci_low"]), set(inside["ci_high"])) == ({0.0}, {1.0})
    half = trace(make_runs(("a", "x", 0.2), ("a", "x", 0.8)), confidence_level=0.4)
    assert set(half.loc[half["tau"] == 0.5, ["ci_low", "ci_high"]].iloc[0]) == {0.5}


def test_model_without_repeated_runs_has_no_bands() -> None:
    runs = make_runs(
        *(("a", dataset, 0.5) for dataset in "xyz"),
        *(("b", dataset, 0.5) for dataset in "xyzz"),
        *(("c", dataset, 0.5) for dataset in "xyyzz"),
    )
    table = trace(runs)
    has_bands = table.groupby("model")["ci_low"].count().to_dict()
    assert has_bands == {"a": 0, "b": 0, "c": 101}
