"""Standard errors of statistics and their t intervals, against closed forms and simulation."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.ranking.resampling import evaluate_runs, stratify_runs
from capmap.ranking.standard_errors import bound_estimate, measure_error

# The trimmed mean has no interval.
WITH_INTERVAL = ["iqm", "mean", "median", "optimality_gap"]


def arrange(runs: list[list[float]], **options: Any) -> Any:
    names = [f"{place:02d}" for place, scores in enumerate(runs) for _ in scores]
    return stratify_runs([score for scores in runs for score in scores], names, **options)


def draw(sizes: list[int], *, seed: int = 0) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [(rng.random() + 0.05 * rng.standard_normal(size)).tolist() for size in sizes]


def test_the_error_of_a_mean_is_that_of_a_mean_of_means() -> None:
    runs = draw([3, 5, 8])
    error = measure_error("mean", arrange(runs), unit="runs")
    variances = [np.var(scores, ddof=1) / len(scores) / 9 for scores in runs]
    assert error.value == pytest.approx(np.sqrt(sum(variances)), rel=1e-12)
    # Two datasets: Welch's degrees of freedom, as in scipy.
    two = measure_error("mean", arrange(runs[:2]), unit="runs")
    welch = stats.ttest_ind(runs[0], runs[1], equal_var=False)
    assert two.freedom == pytest.approx(welch.df, rel=1e-12)


def test_the_error_over_datasets_is_that_of_a_trimmed_mean() -> None:
    # One run on each of 16 datasets: Yuen's standard error of the 25% trimmed mean.
    scores = np.random.default_rng(1).random(16)
    error = measure_error("iqm", arrange(scores[:, None].tolist()), unit="runs_and_datasets")
    winsorized = np.clip(scores, *np.sort(scores)[[4, 11]])
    assert error.freedom == 7
    expected = np.sqrt(15 * winsorized.var(ddof=1) / (8 * 7))
    assert error.value == pytest.approx(expected, rel=1e-12)
    mean = measure_error("mean", arrange(scores[:, None].tolist()), unit="runs_and_datasets")
    assert (mean.value, mean.freedom) == (pytest.approx(stats.sem(scores), rel=1e-12), 15)


@pytest.mark.parametrize("statistic", WITH_INTERVAL)
def test_the_error_is_the_spread_over_new_runs(statistic: str) -> None:
    # Known truth: 400 studies with the same dataset means.
    means, rng = np.linspace(0.1, 0.9, 9), np.random.default_rng(2)
    estimates, errors = [], []
    for _ in range(400):
        runs = (means[:, None] + 0.1 * rng.standard_normal((9, 6))).tolist()
        strata = arrange(runs)
        error = measure_error(statistic, strata, unit="runs")
        estimates.append(evaluate_runs(statistic, strata))
        errors.append(error.value**2)
    assert np.sqrt(np.mean(errors)) == pytest.approx(np.std(estimates), rel=0.15)


def test_the_error_of_a_median_of_equal_datasets_is_not_too_small() -> None:
    # The variance of a median of equal normal means is pi / 2 times that of their mean.
    rng = np.random.default_rng(3)
    studies = [arrange(rng.standard_normal((9, 6)).tolist()) for _ in range(300)]
    errors = [measure_error("median", strata, unit="runs") for strata in studies]
    squares = [error.value**2 for error in errors if error is not None]
    spread = np.std([evaluate_runs("median", strata) for strata in studies])
    assert 0.95 * spread < np.sqrt(np.mean(squares)) < 1.3 * spread


def test_the_error_of_a_median_over_datasets_comes_from_order_statistics() -> None:
    # k = (16 + 1) / 2 - 2.576 * 2 = 3.35: the third from each end.
    scores = np.random.default_rng(1).random(16)
    error = measure_error("median", arrange(scores[:, None].tolist()), unit="runs_and_datasets")
    ordered = np.sort(scores)
    assert error.value == pytest.approx((ordered[13] - ordered[2]) / 2 / 2.5758, rel=1e-4)
    # Models count as independent: sides of datasets that they share made differences too sure.
    assert error.parts is None


@pytest.mark.parametrize("runs", [[1, 2], [1, 1, 2, 2], [1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 3, 3]])
def test_single_runs_that_borrow_a_variance_add_no_degrees_of_freedom(runs: list[int]) -> None:
    error = measure_error("mean", arrange(draw(runs)), unit="runs")
    assert error.freedom <= sum(number - 1 for number in runs) + 1e-9


def test_seeds_that_differ_in_number_have_the_harmonic_mean_of_their_freedoms() -> None:
    error = measure_error("mean", arrange(draw([2, 10, 10])), unit="seeds")
    assert error.freedom == pytest.approx(3 / (1 + 1 / 9 + 1 / 9))


def test_runs_at_the_quartiles_of_a_single_dataset_tell_no_spread() -> None:
    # Yuen: eight runs keep four, so three degrees of freedom.
    runs = draw([8])
    one = measure_error("iqm", arrange(runs), unit="runs")
    assert one.freedom == 3
    # A dataset as far away as can be shares the quartiles: half as many are lost on each.
    two = measure_error("iqm", arrange([runs[0], [10 - score for score in runs[0]]]), unit="runs")
    mean = measure_error("mean", arrange(runs), unit="runs")
    assert two.freedom == pytest.approx(2 * (8 - 1 - 4 / 2))
    assert mean.freedom == 7


def test_single_runs_borrow_the_variance_of_the_others() -> None:
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(200):
        full = (rng.random((12, 1)) + 0.05 * rng.standard_normal((12, 4))).tolist()
        some = [scores if place % 2 else scores[:1] for place, scores in enumerate(full)]
        errors = [measure_error("mean", arrange(runs), unit="runs") for runs in (some, full)]
        assert all(errors)
        ratios.append(errors[0].value / errors[1].value)
    # Half of the datasets with a quarter of the runs: variance (4 + 1) / 2.
    assert np.mean(ratios) == pytest.approx(np.sqrt(2.5), rel=0.02)


def test_without_enough_runs_or_datasets_nothing_is_told() -> None:
    assert measure_error("iqm", arrange([[0.5], [0.4], [0.1, 0.2]]), unit="runs") is None
    three = arrange([[0.5, 0.6], [0.4, 0.3], [0.1, 0.2]])
    assert measure_error("iqm", three, unit="runs_and_datasets") is None
    assert measure_error("iqm", three, unit="runs") is not None


@given(st.integers(0, 10**6), st.sampled_from(WITH_INTERVAL), st.sampled_from(["runs", "both"]))
def test_order_shift_and_scale(seed: int, statistic: str, unit: str) -> None:
    runs = draw(np.random.default_rng(seed).integers(2, 6, 5).tolist(), seed=seed)
    kind = "runs" if unit == "runs" else "runs_and_datasets"
    given_error = measure_error(statistic, arrange(runs), unit=kind)
    turned = [scores[::-1] for scores in runs]
    same = measure_error(statistic, arrange(turned), unit=kind)
    assert (same.value, same.freedom, same.third) == (
        given_error.value,
        given_error.freedom,
        given_error.third,
    )
    # The optimality gap is bounded at 1, so only scaling towards 1 keeps its order.
    moved = [[1 - (1 - score) / 4 for score in scores] for scores in runs]
    other = measure_error(statistic, arrange(moved), unit=kind)
    assert other.value == pytest.approx(given_error.value / 4, rel=1e-6)
    assert other.freedom == pytest.approx(given_error.freedom, rel=1e-6)


def test_runs_that_vary_beyond_the_quartiles_only_are_not_certain() -> None:
    strata = arrange([[0.8, 0.9], [0.4, 0.4]])
    error = measure_error("iqm", strata, unit="runs")
    mean = measure_error("mean", strata, unit="runs")
    assert error.value == mean.value == pytest.approx(0.025)


def test_rounding_hides_noise_of_a_twelfth_of_its_unit() -> None:
    units = {"00": 0.01, "01": 0.01}
    equal = arrange([[0.85, 0.85], [0.31, 0.31]], resolutions=units)
    for unit in ("runs", "seeds"):
        error = measure_error("mean", equal, unit=unit)
        assert error.value == pytest.approx(0.01 / np.sqrt(12 * 4))
    apart = [[0.8, 0.9], [0.31, 0.35]]
    error = measure_error("mean", arrange(apart, resolutions=units), unit="runs")
    assert error == measure_error("mean", arrange(apart), unit="runs")


def test_outcomes_that_agree_have_the_error_of_a_success_and_a_failure_more() -> None:
    strata = arrange([[1.0] * 5, [1.0] * 5], resolutions={"00": 1.0, "01": 1.0})
    error = measure_error("mean", strata, unit="runs")
    assert error.value == pytest.approx(np.sqrt(6 / 7 * 1 / 7 / 10))


@pytest.mark.parametrize(("datasets", "seeds"), [(8, 3), (19, 5)])
def test_calibrated_intervals_hold_the_truth(datasets: int, seeds: int) -> None:
    # benchmarks/coverage.py has many shapes; four standard errors of 600 simulations are 0.036.
    rng, held = np.random.default_rng(datasets), 0
    grid = stats.norm.ppf((np.arange(200) + 0.5) / 200)
    for _ in range(600):
        means = rng.random((datasets, 1))
        truth = stats.trim_mean((means + 0.05 * grid).ravel(), 0.25)
        runs = (means + 0.05 * rng.standard_normal((datasets, seeds))).tolist()
        error = measure_error("iqm", arrange(runs), unit="runs")
        center = evaluate_runs("iqm", arrange(runs))
        low, high = bound_estimate(center, error, confidence_level=0.95)
        held += low <= truth <= high
    assert held / 600 == pytest.approx(0.95, abs=0.036)
