"""Bootstrap estimates and intervals of one model."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.ranking.estimates import Estimate, Options, bootstrap_model
from capmap.ranking.resampling import STATISTICS, DatasetPool, evaluate_runs, stratify_runs
from capmap.rng import make_stream
from capmap.settings.choices import Statistic

SHARED = Path(__file__).parents[2].parent / "shared"
INTERVALS = ("percentile", "calibrated")
# A trimmed mean of cells has no replicates.
ALL: list[Statistic] = [name for name in STATISTICS if name != "trimmed_mean"]

needs_references = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the published tables and data are not here"
)


def bootstrap(
    runs: dict[str, list[float]],
    *,
    statistic: Statistic = "iqm",
    stream: str = "test",
    pool: list[str] | None = None,
    **options: object,
) -> Estimate:
    scores = [score for values in runs.values() for score in values]
    datasets = [name for name, values in runs.items() for _ in values]
    settings = {"n_resamples": 2000, "interval": "percentile"} | options
    [estimate] = bootstrap_model(
        scores,
        datasets,
        statistics=[statistic],
        options=Options(**settings),  # type: ignore[arg-type]
        rng=make_stream(0, stream),
        pool=DatasetPool(pool, make_stream(0, "datasets")) if pool else None,
    )
    return estimate


def make_runs(
    datasets: int, seeds: int, *, seed: int = 0, sd: float = 0.1
) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    return {f"d{place}": rng.normal(rng.random(), sd, seeds).tolist() for place in range(datasets)}


def make_seeded() -> dict[str, dict[str, list[float]]]:
    """The tutorial's seeded benchmark, by its published recipe."""
    rng = np.random.RandomState(42)
    base = {
        "A": np.concatenate([rng.uniform(0.93, 0.97, 3), rng.uniform(0.40, 0.44, 5)]),
        "B": np.concatenate([rng.uniform(0.13, 0.17, 3), rng.uniform(0.80, 0.84, 5)]),
        "C": rng.uniform(0.70, 0.74, 8),
        "D": rng.uniform(0.58, 0.62, 8),
    }
    base["E"] = np.clip(base["D"] + rng.normal(0, 0.01, 8), 0, 1)
    spreads = {"A": (0.04, 0.02), "B": (0.11, 0.02), "C": (0.01, 0.01)}
    rng = np.random.RandomState(99)

    def draw(model: str, place: int, score: float) -> float:
        first, rest = spreads.get(model, (0.02, 0.02))
        return float(np.clip(score + rng.normal(0, first if place <= 3 else rest), 0, 1))

    return {
        f"Model-{model}": {
            f"D{place:02d}": [draw(model, place, score) for _ in range(3)]
            for place, score in enumerate(scores, start=1)
        }
        for model, scores in base.items()
    }


@needs_references
def test_tutorial_iqm_and_intervals_are_reproduced() -> None:
    published = pd.read_csv(SHARED / "reference/tutorial/seeded_iqm.csv")
    seeded = make_seeded()
    for row in published.itertuples():
        result = bootstrap(seeded[row.model], n_resamples=20_000, cut="whole")
        assert round(result.estimate, 3) == row.iqm
        assert result.low == pytest.approx(row.ci_low, abs=0.002)
        assert result.high == pytest.approx(row.ci_high, abs=0.002)


@needs_references
def test_tutorial_trimmed_means_of_seed_means_are_reproduced() -> None:
    published = pd.read_csv(SHARED / "reference/tutorial/seeded_trimmed_vs_iqm.csv")
    seeded = make_seeded()
    for row in published.itertuples():
        means = [np.mean(scores) for scores in seeded[row.model].values()]
        assert round(float(stats.trim_mean(means, 0.25)), 3) == row.trimmed_mean
        flat = np.concatenate(list(seeded[row.model].values()))
        strata = stratify_runs(flat, np.repeat(range(8), 3), cut="whole")
        assert round(evaluate_runs("iqm", strata), 3) == row.iqm


@needs_references
def test_published_geobench_iqm_is_reproduced() -> None:
    published = pd.read_csv(SHARED / "reference/geobench/mean_vs_iqm.csv")
    export = pd.read_csv(SHARED / "data/geobench/results_and_parameters.csv")
    export = export[export["backbone"].isin(published["model"])]
    score = export["test metric"]
    # The published table bounds every dataset by 0 and 1 and reads biomassters as lower-is-better.
    flipped = score.where(export["dataset"] != "biomassters", 1 - score)
    for row in published.itertuples():
        own = export["backbone"] == row.model
        strata = stratify_runs(flipped[own], export.loc[own, "dataset"].tolist(), cut="whole")
        assert round(evaluate_runs("iqm", strata), 3) == row.iqm


@needs_references
def test_atari_agrees_with_rliable() -> None:
    published = pd.read_csv(SHARED / "reference/atari100k/rliable.csv")
    runs = pd.read_csv(SHARED / "data/atari100k/runs.csv")
    games = pd.read_csv(SHARED / "data/atari100k/baselines.csv").set_index("dataset")
    floor, ceiling = runs["dataset"].map(games["random"]), runs["dataset"].map(games["human"])
    runs["score"] = (runs["score"] - floor) / (ceiling - floor)
    for model, own in runs.groupby("model"):
        results = bootstrap_model(
            own["score"],
            own["dataset"].tolist(),
            statistics=ALL,
            options=Options(cut="whole", n_resamples=2000, interval="percentile"),
            rng=make_stream(0, "atari", str(model)),
        )
        for result in results:
            [row] = published.query(
                "model == @model and statistic == @result.statistic"
            ).itertuples()
            assert result.estimate == pytest.approx(row.point, abs=1e-10)
            # The standard error of a 2.5% quantile of 2000 replicates is about 0.06 of their
            # standard deviation, a quarter of the interval's width; four of these are allowed.
            margin = 4 * 0.06 * (row.ci_high - row.ci_low) / 4
            assert result.low == pytest.approx(row.ci_low, abs=margin)
            assert result.high == pytest.approx(row.ci_high, abs=margin)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("statistic", ALL)
def test_equal_runs_have_an_interval_of_no_width(interval: str, statistic: Statistic) -> None:
    # Three seeds that agree on each dataset are evidence of no spread, unlike a single seed.
    runs = {f"d{place}": [0.1 * place] * 3 for place in range(1, 8)}
    result = bootstrap(runs, statistic=statistic, interval=interval, n_resamples=200)
    assert result.low == pytest.approx(result.estimate, abs=1e-14)
    assert result.high == pytest.approx(result.estimate, abs=1e-14)


@pytest.mark.parametrize("interval", INTERVALS)
def test_single_runs_have_no_interval(interval: str) -> None:
    result = bootstrap({"a": [0.1], "b": [0.2], "c": [0.3, 0.4]}, interval=interval)
    assert np.isnan([result.low, result.high]).all()
    assert len(result.replicates) == 0
    assert np.isfinite(result.estimate)


@pytest.mark.parametrize("interval", INTERVALS)
def test_half_of_the_datasets_with_two_runs_is_enough(interval: str) -> None:
    result = bootstrap(
        {"a": [0.1], "b": [0.2, 0.3], "c": [0.5, 0.4], "d": [0.6]}, interval=interval
    )
    assert result.low < result.estimate < result.high


def test_single_runs_widen_calibrated_intervals_only() -> None:
    runs = make_runs(10, 3)
    singles = {name: scores if int(name[1:]) < 6 else scores[:1] for name, scores in runs.items()}
    # Plain: a single run never varies, so the mean's variance comes from 6 of 10 datasets.
    # Calibrated: a single run varies by the pooled variance, 3 times that of a mean of 3 runs.
    plain = bootstrap(singles, statistic="mean").replicates.std()
    full = bootstrap(runs, statistic="mean").replicates.std()
    calibrated = bootstrap(singles, statistic="mean", interval="calibrated")
    assert plain < full
    assert calibrated.error.value > 1.4 * full


@pytest.mark.parametrize("statistic", ["iqm", "mean"])
def test_intervals_agree_with_scipy(statistic: Statistic) -> None:
    runs = make_runs(6, 5, sd=0.3)

    def flat(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        scores = np.concatenate(samples, axis=axis)
        return stats.trim_mean(scores, 0.25 if statistic == "iqm" else 0, axis=axis)

    result = bootstrap(runs, statistic=statistic, n_resamples=40_000)
    reference = stats.bootstrap(
        list(runs.values()),
        flat,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(0),
    )
    low, high = reference.confidence_interval
    margin = 4 * 0.06 / np.sqrt(5) * reference.standard_error + 1e-3 * (high - low)
    assert result.low == pytest.approx(low, abs=2 * margin)
    assert result.high == pytest.approx(high, abs=2 * margin)
