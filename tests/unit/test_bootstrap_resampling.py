"""Resamples as counts, and statistics from counts, against explicit resampling."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from evaluma import load_df
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.ranking import aggregation
from capmap.ranking.estimates import Options, bootstrap_model
from capmap.ranking.resampling import (
    STATISTICS,
    DatasetPool,
    Strata,
    draw_datasets,
    draw_resamples,
    evaluate_runs,
    evaluate_statistic,
    stratify_runs,
)
from capmap.rng import make_stream
from capmap.settings.choices import Cut, Statistic

score = st.sampled_from([-1.5, 0.0, 0.25, 0.5, 0.5000001, 0.75, 1.0, 1.25]) | st.floats(-2, 2)
ragged = st.lists(st.lists(score, min_size=1, max_size=8), min_size=1, max_size=8)


def stratify(runs: list[list[float]], *, cut: Cut = "exact") -> Strata:
    names = [f"d{place:03d}" for place, scores in enumerate(runs) for _ in scores]
    return stratify_runs(np.concatenate(runs), names, cut=cut)


def unfold(strata: Strata, counts: aggregation.FloatArray) -> list[aggregation.FloatArray]:
    """The runs of one resample, dataset by dataset."""
    drawn = np.repeat(strata.scores, counts.astype(int))
    owner = np.repeat(strata.datasets, counts.astype(int))
    return [drawn[owner == dataset] for dataset in np.unique(owner)]


def trim_weighted(values: aggregation.FloatArray, weights: aggregation.FloatArray) -> float:
    """Weighted trimmed mean by integrating the quantile function piece by piece."""
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    total = weights.sum()
    cut = 0.25 * total
    pieces = np.minimum(ends, total - cut) - np.maximum(ends - weights[order], cut)
    pieces = np.maximum(pieces, 0)
    return float((pieces * values[order]).sum() / pieces.sum())


def compute(statistic: Statistic, resample: list[aggregation.FloatArray]) -> float:
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
@given(ragged, st.sampled_from([name for name in STATISTICS if name != "trimmed_mean"]))
def test_counts_give_the_statistic_of_the_resampled_runs(
    runs: list[list[float]], statistic: Statistic
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
    runs: list[list[float]], statistic: Statistic, seed: int
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


def test_a_model_is_not_moved_by_other_models() -> None:
    options = Options(n_resamples=100, interval="percentile")
    rng = np.random.default_rng(0)
    table = {model: rng.random(12) for model in ("a", "b", "c")}
    names = np.repeat(["x", "y", "z"], 4).tolist()

    def bootstrap(models: list[str]) -> dict[str, list[float]]:
        return {
            model: bootstrap_model(
                table[model],
                names,
                statistics=["iqm"],
                options=options,
                rng=make_stream(0, "study", "bootstrap", model),
            )[0].replicates.tolist()
            for model in models
        }

    assert bootstrap(["c", "a"])["a"] == bootstrap(["a", "b", "c"])["a"]
    assert bootstrap(["a"])["a"] != bootstrap(["b"])["b"]


@pytest.mark.slow
@settings(max_examples=15)
@given(st.data())
def test_evaluma_agrees(data: st.DataObject) -> None:
    # Values on a grid make ties.
    sizes = [data.draw(st.integers(2, 6))] * data.draw(st.integers(2, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    rows = [
        (model, f"d{place}", "acc", round(float(rng.normal(0.3, 0.5)), 1 + place % 3), seed)
        for model in ("a", "b")
        for place, size in enumerate(sizes)
        for seed in range(size)
    ]
    table = pd.DataFrame(rows, columns=["model", "dataset", "metric", "score", "seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bench = load_df(table, seed="seed", norm_ref_low=-1.0, norm_ref_high=2.0)
        theirs = bench.iqm_ranking(n_bootstrap=100, random_state=0).table.set_index("model")
    for model, own in table.groupby("model"):
        [iqm] = bootstrap_model(
            (own["score"] + 1) / 3,
            own["dataset"].tolist(),
            statistics=["iqm"],
            options=Options(n_resamples=4000, interval="percentile", cut="whole"),
            rng=make_stream(0, "evaluma", str(model)),
        )
        row = theirs.loc[model]
        assert iqm.estimate == pytest.approx(row["IQM"], abs=1e-12)
        # A 2.5% quantile of 100 replicates errs by 0.27 of their standard deviation; five of it.
        margin = 5 * 0.27 * iqm.replicates.std()
        assert iqm.low == pytest.approx(row["CI_low"], abs=margin)
        assert iqm.high == pytest.approx(row["CI_high"], abs=margin)


def test_no_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="without runs"):
        stratify_runs([], [])
