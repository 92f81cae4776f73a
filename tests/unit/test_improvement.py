"""Probability of improvement: estimates and bootstrap intervals of all pairs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.ranking.pairs import estimate_improvement
from capmap.rng import make_stream
from tests.toy_runs import draw_benchmark, make_runs

SHARED = Path(__file__).parents[3] / "shared"
INTERVAL = ["p_improvement_low", "p_improvement_high"]


def estimate(runs: pd.DataFrame, **options: object) -> pd.DataFrame:
    settings = {"n_resamples": 200, "confidence_level": 0.95, "unit": "runs"} | options
    return estimate_improvement(
        runs,
        make_rng=lambda model: make_stream(0, "toy", "improvement", model),
        make_dataset_rng=lambda names: make_stream(0, "toy", "improvement_datasets", *names),
        **settings,  # type: ignore[arg-type]
    )


def estimate_naively(runs: pd.DataFrame, one: str, other: str) -> float:
    """Loop over datasets and pairs of runs, as Agarwal et al. (2021) define it."""
    shares = []
    for _, rows in runs.groupby("dataset"):
        wins = [
            1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
            for mine in rows.loc[rows["model"] == one, "score"]
            for theirs in rows.loc[rows["model"] == other, "score"]
        ]
        if wins:
            shares.append(sum(wins) / len(wins))
    return sum(shares) / len(shares) if shares else np.nan


def resample_naively(
    runs: pd.DataFrame, *, n_resamples: int, unit: str, seed: int
) -> tuple[float, float]:
    """Percentile interval of M0 against M1 from resamples of rows."""
    rng = np.random.default_rng(seed)
    cells = {key: rows["score"].to_numpy() for key, rows in runs.groupby(["model", "dataset"])}
    datasets = sorted({d for m, d in cells if ("M0", d) in cells and ("M1", d) in cells})
    replicates = []
    for _ in range(n_resamples):
        shares = {}
        for dataset in datasets:
            mine, theirs = (rng.choice(cells[m, dataset], len(cells[m, dataset])) for m in MODELS)
            shares[dataset] = np.mean(np.heaviside(mine[:, None] - theirs, 0.5))
        drawn = datasets if unit == "runs" else rng.choice(datasets, len(datasets))
        replicates.append(np.mean([shares[dataset] for dataset in drawn]))
    low, high = np.quantile(replicates, [0.025, 0.975])
    return float(low), float(high)


MODELS = ("M0", "M1")


def test_two_models_by_hand() -> None:
    rows = [("a", "X", 0.5), ("a", "X", 0.7), ("b", "X", 0.5), ("a", "Y", 0.1), ("b", "Y", 0.2)]
    # X: a tie and a win of 2 pairs, 0.75; Y: none of 1. Each dataset weighs the same.
    row = estimate(make_runs(*rows)).iloc[0]
    assert row["p_improvement"] == 0.375


@given(st.integers(0, 10**6), st.sampled_from(["runs", "runs_and_datasets"]))
def test_estimates_are_those_of_a_double_loop(seed: int, unit: str) -> None:
    runs = draw_benchmark(seed, models=4, datasets=4, seeds=3).sample(frac=0.5, random_state=seed)
    runs["score"] = runs["score"].round(1)
    table = estimate(runs, n_resamples=20, unit=unit)
    expected = [estimate_naively(runs, a, b) for a, b in zip(*pair_names(table), strict=True)]
    np.testing.assert_allclose(table["p_improvement"], expected, rtol=0, atol=1e-12)


def pair_names(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    return table["model_a"].tolist(), table["model_b"].tolist()


@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
def test_intervals_are_those_of_resampled_rows(unit: str) -> None:
    runs = draw_benchmark(1, models=2, datasets=8, seeds=6).iloc[5:]
    row = estimate(runs, n_resamples=4000, unit=unit).iloc[0]
    # 4000 and 1500 replicates: the standard error of a 2.5% percentile is about a fortieth and a
    # fifteenth of the standard deviation, which is a quarter of the width.
    low, high = resample_naively(runs, n_resamples=1500, unit=unit, seed=0)
    assert row[INTERVAL].tolist() == pytest.approx([low, high], abs=0.08 * (high - low))


def test_atari_is_that_of_rliable() -> None:
    reference = SHARED / "reference/atari100k/probability_of_improvement.csv"
    if not reference.is_file():
        pytest.skip("needs the shared reference values")
    runs = pd.read_csv(SHARED / "data/atari100k/runs.csv")
    runs = runs.merge(pd.read_csv(SHARED / "data/atari100k/baselines.csv"), on="dataset")
    runs["score"] = (runs["score"] - runs["random"]) / (runs["human"] - runs["random"])
    table = estimate(runs, n_resamples=2000).set_index(["model_a", "model_b"])
    for row in pd.read_csv(reference).itertuples():
        expected = [row.point, row.ci_low, row.ci_high]
        pair = (row.model_a, row.model_b)
        if row.model_a > row.model_b:
            pair, expected = pair[::-1], [1 - row.point, 1 - row.ci_high, 1 - row.ci_low]
        found = table.loc[pair, ["p_improvement", *INTERVAL]].tolist()
        assert found[0] == pytest.approx(expected[0], rel=0, abs=1e-10)
        # A percentile of 2000 replicates is off by 0.06 of a standard deviation, 0.015 of a width;
        # 0.08 are five times as much.
        assert found[1:] == pytest.approx(expected[1:], abs=0.08 * (row.ci_high - row.ci_low))


@given(st.integers(0, 10**6), st.sampled_from(["runs", "runs_and_datasets"]))
def test_bystander_changes_no_bit_of_other_pairs(seed: int, unit: str) -> None:
    runs = draw_benchmark(seed, models=3, datasets=5, seeds=3).sample(frac=0.7, random_state=seed)
    weak = make_runs(("M1b", "D0", -9.0), ("M1b", "D0", -8.0, "2"), ("M1b", "D33", -9.0))
    both = estimate(pd.concat([weak, runs]), n_resamples=50, unit=unit)
    others = both[(both["model_a"] != "M1b") & (both["model_b"] != "M1b")]
    alone = estimate(runs, n_resamples=50, unit=unit)
    pd.testing.assert_frame_equal(others.reset_index(drop=True), alone, check_exact=True)


@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
def test_single_runs_have_an_estimate_and_no_interval(unit: str) -> None:
    table = estimate(draw_benchmark(0, models=3, datasets=4), unit=unit)
    assert table["p_improvement"].notna().all()
    assert table[INTERVAL].isna().all(axis=None)


def test_one_dataset_has_no_interval_over_datasets() -> None:
    runs = draw_benchmark(0, models=2, datasets=1, seeds=5)
    assert estimate(runs)[INTERVAL].notna().all(axis=None)
    assert estimate(runs, unit="runs_and_datasets")[INTERVAL].isna().all(axis=None)


def test_what_no_resample_moves_has_no_interval() -> None:
    runs = draw_benchmark(0, models=1, datasets=3, seeds=3)
    apart = runs.assign(
        model="other", score=runs["score"] + np.where(runs["dataset"] == "D0", 9, -9)
    )
    row = estimate(pd.concat([runs, apart])).iloc[0]
    assert row["p_improvement"] not in (0, 1)
    assert row[INTERVAL].isna().all()


@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
def test_models_without_a_common_dataset_have_no_estimate(unit: str) -> None:
    runs = make_runs(*((m, d, s, str(s)) for m, d in ("aX", "bY", "cX") for s in (0.1, 0.2)))
    table = estimate(runs, unit=unit)
    assert table["p_improvement"].isna().tolist() == [True, False, True]
