"""Simulated coverage of intervals."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from capmap.ranking import coverage
from capmap.ranking.coverage import average_middle, pool_residuals, tabulate_coverage
from capmap.ranking.resampling import stratify_runs
from capmap.rng import make_stream


def draw_runs(models: int, datasets: int, seeds: int, *, skewed: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((models, datasets, seeds))
    if skewed:
        noise = np.exp(1.5 * noise)
    scores = rng.random((models, datasets, 1)) + 0.05 * noise
    places = np.indices(scores.shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "model": [f"m{place}" for place in places[0]],
            "dataset": [f"d{place:02d}" for place in places[1]],
            "score": scores.ravel(),
        }
    )


def tabulate(runs: pd.DataFrame) -> pd.DataFrame:
    make_rng = partial(make_stream, 0, "test", "coverage")
    return tabulate_coverage(runs, confidence_level=0.95, weights="datasets", make_rng=make_rng)


def test_truth_agrees_with_numerical_integration() -> None:
    means, sd = np.array([0.1, 0.35, 0.5, 0.9]), 0.2
    grid = np.linspace(-1, 3, 400_001)
    places = (grid[:, None] - means) / sd
    weights = np.array([1.0, 2.0, 1.0, 1.0])
    share = stats.norm.cdf(places) @ weights / 5
    density = stats.norm.pdf(places) @ weights / 5 / sd
    inner = (share >= 0.25) & (share <= 0.75)
    expected = integrate.trapezoid((grid * density)[inner], grid[inner]) / 0.5
    residuals = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    truth = average_middle(means, np.full(4, sd), residuals, weights)
    assert truth == pytest.approx(expected, abs=2e-4)


def test_percentile_is_too_narrow_and_calibrated_is_right_at_three_seeds() -> None:
    table = tabulate(draw_runs(6, 8, 3)).set_index("interval")
    # Four standard errors of 1000 simulations: 0.045 and 0.028.
    assert table.loc["percentile", "expected"] == pytest.approx(0.85, abs=0.045)
    assert table.loc["calibrated", "expected"] == pytest.approx(0.955, abs=0.028)
    assert table["simulations"].tolist() == [1000, 1000]


def test_the_noise_is_that_of_the_study() -> None:
    runs = draw_runs(4, 10, 10, skewed=True)
    residuals = pool_residuals(
        [stratify_runs(own["score"], own["dataset"].tolist()) for _, own in runs.groupby("model")]
    )
    assert stats.skew(residuals) > 1
    assert (residuals.mean(), residuals.std()) == (pytest.approx(0), pytest.approx(1))


@pytest.mark.parametrize(
    ("models", "datasets", "seeds", "told"), [(9, 9, 2, 0), (3, 6, 3, 0), (5, 4, 3, 1000)]
)
def test_few_runs_do_not_tell_their_noise(models, datasets, seeds, told) -> None:
    table = tabulate(draw_runs(models, datasets, seeds))
    assert table["simulations"].tolist() == [told, told]
    assert table["expected"].isna().all() == (told == 0)


def test_the_order_of_the_rows_changes_nothing() -> None:
    runs = draw_runs(5, 4, 3)
    pd.testing.assert_frame_equal(tabulate(runs), tabulate(runs.iloc[::-1]))


def test_nothing_is_simulated_where_no_model_has_an_interval() -> None:
    table = tabulate(draw_runs(2, 3, 1))
    assert table["expected"].isna().all()
    assert table["simulations"].tolist() == [0, 0]
    equal = tabulate(draw_runs(2, 3, 2).assign(score=0.5))
    assert equal["simulations"].tolist() == [0, 0]


def test_too_few_simulations_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = draw_runs(5, 4, 3)
    for fitting, told in ((200, 200), (199, 0)):
        monkeypatch.setattr(coverage, "CELLS", fitting * 12 * coverage.N_RESAMPLES)
        table = tabulate(runs)
        assert table["simulations"].tolist() == [told, told]
        assert table["expected"].isna().all() == (told == 0)


def test_unequal_numbers_of_runs_are_told() -> None:
    runs = draw_runs(2, 4, 5)
    table = tabulate(
        runs[~((runs["dataset"] == "d00") & (runs.groupby(["model", "dataset"]).cumcount() > 0))]
    )
    assert table.loc[0, ["datasets", "seeds", "seeds_min", "seeds_max"]].tolist() == [4, 5, 1, 5]
