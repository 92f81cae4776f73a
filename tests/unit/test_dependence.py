"""What datasets, seeds and models have in common, and what tests over datasets allow for it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.analyses import ranks
from capmap.ranking.aggregation import arrange_runs
from capmap.ranking.dependence import (
    INDEPENDENT,
    Dependence,
    count_effective,
    measure_dependence,
    share_noise,
)
from capmap.ranking.pairs import compare_pairs
from capmap.ranking.resampling import stratify_runs
from capmap.ranking.standard_errors import measure_error


def frame(scores: np.ndarray) -> pd.DataFrame:
    """Runs of the shape (models, datasets, seeds) as a table."""
    places = np.indices(scores.shape).reshape(3, -1)
    names = {
        kind: [f"{kind[0]}{place:02d}" for place in own]
        for kind, own in zip(("model", "dataset", "seed"), places, strict=True)
    }
    return pd.DataFrame({**names, "score": scores.ravel()})


def draw(
    seed: int, *, models: int = 5, datasets: int = 12, seeds: int = 3, shared: float = 0.0
) -> np.ndarray:
    """Equal models; a share of the variance of runs is that of seeds."""
    rng = np.random.default_rng(seed)
    own = rng.standard_normal((models, datasets, seeds))
    common = rng.standard_normal((models, 1, seeds))
    return np.sqrt(1 - shared) * own + np.sqrt(shared) * common + rng.random((1, datasets, 1))


def test_copies_of_datasets_count_once() -> None:
    once = np.random.default_rng(0).standard_normal((40, 8))
    alone = count_effective(once)
    assert 6.5 < alone <= 8
    assert count_effective(np.repeat(once, 2, axis=1)) == pytest.approx(8, rel=0.15)
    assert count_effective(once[:4]) == 8


def test_levels_scales_and_holes_are_no_likeness() -> None:
    rng = np.random.default_rng(1)
    levels, slopes = rng.standard_normal((30, 1)), rng.random((1, 10)) + 0.5
    means = levels * slopes + 0.1 * rng.standard_normal((30, 10))
    assert count_effective(means) > 7
    means[rng.random(means.shape) < 0.2] = np.nan
    assert count_effective(means) > 7
    assert count_effective(levels * slopes) == 10


def test_an_error_over_datasets_has_the_variance_of_seeds_beside_that_of_datasets() -> None:
    scores = draw(3, models=6, shared=0.3)
    dependence = measure_dependence(arrange_runs(frame(scores), by_seed=True))
    names = np.repeat([f"d{place:02d}" for place in range(12)], 3)
    strata = stratify_runs(scores[0].ravel(), names.tolist(), seeds=["x", "y", "z"] * 12)
    plain = measure_error("mean", strata, unit="runs_and_datasets")
    error = measure_error("mean", strata, unit="runs_and_datasets", dependence=dependence)
    assert plain.value == pytest.approx(stats.sem(scores[0].mean(axis=1)))
    own = max(stats.sem(scores[0].mean(axis=0)) ** 2, dependence.seed_variance)
    effective = dependence.count_effective(12)
    expected = plain.value**2 * 11 / (effective - 1) + own
    assert error.value**2 == pytest.approx(expected, rel=1e-9)
    assert error.own_freedom == dependence.seed_freedom == 6


def test_independent_runs_leave_tests_as_they_are() -> None:
    matrix = arrange_runs(frame(draw(4, seeds=1)))
    pairs = compare_pairs(matrix, unit="runs_and_datasets", confidence_level=0.95)
    first = matrix.means[0] - matrix.means[1]
    low, high = stats.ttest_1samp(first, 0).confidence_interval()
    np.testing.assert_allclose(pairs.loc[0, ["ci_low", "ci_high"]].astype(float), [low, high])
    tests = ranks.tabulate_rank_tests(
        matrix, ranks.measure_allowance(frame(draw(4, seeds=1)), INDEPENDENT)
    )
    assert tests["p_dependent"].tolist() == tests["p"].tolist()


def test_seeds_that_move_together_make_no_finding_over_datasets() -> None:
    found = {"wilcoxon": 0, "plain": 0, "friedman": 0}
    for number in range(60):
        runs = frame(draw(number, shared=0.5))
        matrix = arrange_runs(runs, by_seed=True)
        known = measure_dependence(matrix)
        options = {"unit": "runs", "confidence_level": 0.95}
        pairs = compare_pairs(matrix, dependence=known, **options)
        found["wilcoxon"] += bool((pairs["wilcoxon_p_holm"] < 0.05).any())
        plain = compare_pairs(matrix, **options)
        found["plain"] += bool((plain["wilcoxon_p_holm"] < 0.05).any())
        tests = ranks.tabulate_rank_tests(matrix, ranks.measure_allowance(runs, known))
        found["friedman"] += bool(tests["p_dependent"].iloc[0] < 0.05)
    assert found["plain"] > 40
    assert found["wilcoxon"] <= 5
    assert found["friedman"] <= 5


def test_folds_are_found_and_compared_seed_by_seed() -> None:
    rng = np.random.default_rng(5)
    folds = rng.standard_normal((1, 8, 5))
    scores = folds + 0.2 * rng.standard_normal((2, 8, 5))
    assert share_noise(frame(scores))
    assert not share_noise(frame(rng.standard_normal((2, 8, 5))))
    # Three folds have six orders only, so that each dataset has to be permuted for itself.
    assert share_noise(frame(scores[..., :3]))
    matrix = arrange_runs(frame(scores), by_seed=True)
    both = [
        compare_pairs(matrix, unit="runs", confidence_level=0.95, dependence=known).iloc[0]
        for known in (Dependence(paired=True), INDEPENDENT)
    ]
    widths = [row["ci_high"] - row["ci_low"] for row in both]
    assert widths[0] < 0.4 * widths[1]
    apart = scores[0] - scores[1]
    variance = (apart.var(axis=1, ddof=1) / 5).sum() / 64
    reach = (both[0]["ci_high"] - both[0]["ci_low"]) / 2
    assert reach / np.sqrt(variance) == pytest.approx(stats.t.ppf(0.975, 26), rel=0.03)
