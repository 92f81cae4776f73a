"""Resamples as counts, statistics of them, and bootstrap estimates with their intervals."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.ranking.estimates import Options, bootstrap_model
from capmap.ranking.resampling import (
    DatasetPool,
    draw_datasets,
    draw_resamples,
    evaluate_runs,
    evaluate_statistic,
    stratify_runs,
)
from capmap.rng import make_stream

SHARED = Path(__file__).parents[2].parent / "shared"
INTERVALS = ("percentile", "calibrated")
# A trimmed mean of cells has no replicates.
ALL = ["iqm", "mean", "median", "optimality_gap"]

needs_references = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the published tables and data are not here"
)


def bootstrap(
    runs: dict[str, list[float]],
    *,
    statistic: str = "iqm",
    stream: str = "test",
    pool: list[str] | None = None,
    **options: object,
) -> Any:
    scores = [score for values in runs.values() for score in values]
    datasets = [name for name, values in runs.items() for _ in values]
    settings = {"n_resamples": 2000, "interval": "percentile"} | options
    chosen = Options(**settings)
    [estimate] = bootstrap_model(
        stratify_runs(scores, datasets, cut=chosen.cut),
        statistics=[statistic],
        options=chosen,
        rng=make_stream(0, stream),
        pool=DatasetPool(pool, make_stream(0, "datasets")) if pool else None,
    )
    return estimate


def make_runs(
    datasets: int, seeds: int, *, seed: int = 0, sd: float = 0.1
) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    return {f"d{place}": rng.normal(rng.random(), sd, seeds).tolist() for place in range(datasets)}


@needs_references
def test_atari_agrees_with_rliable() -> None:
    published = pd.read_csv(SHARED / "reference/atari100k/rliable.csv")
    runs = pd.read_csv(SHARED / "data/atari100k/runs.csv")
    games = pd.read_csv(SHARED / "data/atari100k/baselines.csv").set_index("dataset")
    floor, ceiling = runs["dataset"].map(games["random"]), runs["dataset"].map(games["human"])
    runs["score"] = (runs["score"] - floor) / (ceiling - floor)
    for model, own in runs.groupby("model"):
        results = bootstrap_model(
            stratify_runs(own["score"], own["dataset"].tolist(), cut="whole"),
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
def test_equal_runs_have_an_interval_of_no_width(interval: str, statistic: str) -> None:
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
def test_intervals_agree_with_scipy(statistic: str) -> None:
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


score = st.sampled_from([-1.5, 0.0, 0.25, 0.5, 0.5000001, 0.75, 1.0, 1.25]) | st.floats(-2, 2)
ragged = st.lists(st.lists(score, min_size=1, max_size=8), min_size=1, max_size=8)


def stratify(runs: list[list[float]], *, cut: str = "exact") -> Any:
    names = [f"d{place:03d}" for place, scores in enumerate(runs) for _ in scores]
    return stratify_runs(np.concatenate(runs), names, cut=cut)


def unfold(strata: Any, counts: np.ndarray) -> list[np.ndarray]:
    """The runs of one resample, dataset by dataset."""
    drawn = np.repeat(strata.scores, counts.astype(int))
    owner = np.repeat(strata.datasets, counts.astype(int))
    return [drawn[owner == dataset] for dataset in np.unique(owner)]


def trim_weighted(values: np.ndarray, weights: np.ndarray) -> float:
    """Weighted trimmed mean by integrating the quantile function piece by piece."""
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    total = weights.sum()
    cut = 0.25 * total
    pieces = np.minimum(ends, total - cut) - np.maximum(ends - weights[order], cut)
    pieces = np.maximum(pieces, 0)
    return float((pieces * values[order]).sum() / pieces.sum())


def compute(statistic: str, resample: list[np.ndarray]) -> float:
    """A statistic from its definition."""
    means = np.array([scores.mean() for scores in resample])
    gaps = np.array([np.maximum(1 - scores, 0).mean() for scores in resample])
    flat = np.concatenate(resample)
    sizes = np.array([len(scores) for scores in resample])
    match statistic:
        case "iqm":
            return trim_weighted(flat, np.repeat(1 / sizes, sizes))
        case "mean":
            return float(means.mean())
        case "median":
            return float(np.median(means))
        case "optimality_gap":
            return float(gaps.mean())


@settings(max_examples=80)
@given(ragged, st.sampled_from(ALL))
def test_counts_give_the_statistic_of_the_resampled_runs(
    runs: list[list[float]], statistic: str
) -> None:
    strata = stratify(runs)
    resamples = draw_resamples(strata, n_resamples=5, rng=make_stream(0, "test"))
    fast = evaluate_statistic(statistic, strata, resamples)
    slow = [compute(statistic, unfold(strata, counts)) for counts in resamples.counts.T]
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)


@settings(max_examples=60)
@given(st.lists(st.tuples(score, score, score), min_size=1, max_size=10))
def test_equal_seeds_give_scipys_trimmed_mean(runs: list[tuple[float, ...]]) -> None:
    iqm = evaluate_runs("iqm", stratify([list(scores) for scores in runs], cut="whole"))
    assert iqm == pytest.approx(stats.trim_mean(np.concatenate(runs), 0.25), abs=1e-12)


def test_the_iqm_cuts_exactly_a_quarter_or_whole_runs() -> None:
    # 0 … 4: a quarter of 5 is one run and a quarter of the next.
    scores = [[0.0, 1.0, 2.0, 4.0, 9.0]]
    assert evaluate_runs("iqm", stratify(scores)) == pytest.approx((0.75 * 1 + 2 + 0.75 * 4) / 2.5)
    assert evaluate_runs("iqm", stratify(scores, cut="whole")) == pytest.approx(7 / 3)


def test_trimmed_outliers_leave_no_rounding_behind() -> None:
    strata = stratify([[-1e30, 0.1, 0.2, 1e30], [0.1, 0.2, 0.1, 0.2]])
    assert evaluate_runs("iqm", strata) == pytest.approx(0.15, abs=1e-16)


@pytest.mark.parametrize("size", [2, 3, 5, 6, 11, 300])
def test_every_dataset_keeps_its_number_of_runs(size: int) -> None:
    strata = stratify([[0.1 * place for place in range(size)]] * 3 + [[0.5, 0.7]])
    counts = draw_resamples(strata, n_resamples=300, rng=make_stream(0, "test")).counts
    for dataset, number in enumerate([size, size, size, 2]):
        assert (counts[strata.datasets == dataset].sum(axis=0) == number).all()


@pytest.mark.parametrize("size", [3, 6])
def test_resamples_are_equally_likely(size: int) -> None:
    # Both ways of drawing, the table (3) and the tally (6): counts follow the multinomial law, so
    # each has mean 1, variance 1 - 1/S and covariance -1/S with the others.
    n = 200_000
    strata = stratify([list(range(size))])
    counts = draw_resamples(strata, n_resamples=n, rng=make_stream(0, "test")).counts
    expected = np.eye(size) - 1 / size
    np.testing.assert_allclose(counts.mean(axis=1), 1, atol=5 / np.sqrt(n))
    np.testing.assert_allclose(np.cov(counts, bias=True), expected, atol=10 / np.sqrt(n))
    distinct = stats.multinomial(size, np.full(size, 1 / size))
    for drawn in itertools.islice(itertools.product(range(size + 1), repeat=size), 40):
        share = (counts == np.array(drawn)[:, None]).all(axis=0).mean()
        assert share == pytest.approx(distinct.pmf(drawn), abs=5 * np.sqrt(0.25 / n))


@settings(max_examples=40)
@given(ragged, st.sampled_from(["iqm", "mean", "optimality_gap"]), st.integers(0, 99))
def test_repeated_datasets_bring_runs_of_their_own(
    runs: list[list[float]], statistic: str, seed: int
) -> None:
    strata = stratify(runs)
    times = np.random.default_rng(seed).integers(0, 4, (len(runs), 4))
    times[:, times.sum(axis=0) == 0] = 1
    resamples = draw_resamples(strata, n_resamples=4, rng=make_stream(0, "test"), times=times)
    fast = evaluate_statistic(statistic, strata, resamples)
    sizes = strata.draws[strata.datasets]
    for column, counts in enumerate(resamples.counts.T):
        drawn = np.repeat(np.arange(len(counts)), counts)
        values, weights = strata.scores[drawn], 1 / sizes[drawn]
        slow = {
            "iqm": trim_weighted(values, weights),
            "mean": np.average(values, weights=weights),
            "optimality_gap": np.average(np.maximum(1 - values, 0), weights=weights),
        }
        assert fast[column] == pytest.approx(slow[statistic], abs=1e-12)


def test_median_counts_repeated_datasets() -> None:
    strata = stratify([[1.0], [2.0], [5.0]])
    times = np.array([[1, 0, 3], [1, 1, 0], [1, 2, 1]])
    resamples = draw_resamples(strata, n_resamples=3, rng=make_stream(0, "test"), times=times)
    # Medians of (1, 2, 5), (2, 5, 5) and (1, 1, 1, 5).
    assert evaluate_statistic("median", strata, resamples).tolist() == [2, 5, 1]


def test_all_models_share_the_draws_of_datasets_in_blocks_of_any_size() -> None:
    names = [f"d{place}" for place in range(9)]
    drawn = []
    for own, widths in ((names, [100]), (names[2:5], [30, 7, 63])):
        pool = DatasetPool(names, make_stream(0, "study", "datasets"))
        rng = make_stream(0, "model")
        blocks = [draw_datasets(own, pool=pool, n_resamples=width, rng=rng) for width in widths]
        drawn.append(np.concatenate(blocks, axis=1))
    full, part = drawn
    assert (full.sum(axis=0) == 9).all()
    has_own = full[2:5].any(axis=0)
    assert has_own.any()
    assert (part[:, has_own] == full[2:5, has_own]).all()
    # None of the three was drawn: three draws from its own.
    assert (~has_own).any()
    assert (part[:, ~has_own].sum(axis=0) == 3).all()
