"""How wide intervals get with more runs, and where one more run helps most."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.analyses import sample_size
from capmap.ranking.models import Options, bootstrap_model
from capmap.ranking.resampling import stratify_runs
from capmap.ranking.standard_errors import measure_error
from capmap.ranking.statistics import evaluate_runs
from capmap.rng import make_stream


def make_cells(cells):
    """Make runs from {(model, dataset): scores}."""
    rows = [
        (model, dataset, str(seed), score)
        for (model, dataset), scores in cells.items()
        for seed, score in enumerate(scores)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def draw_runs(seed, *, models=4, datasets=5, runs=3, noise=0.05):
    rng = np.random.default_rng(seed)
    cells = itertools.product(range(models), range(datasets))
    return make_cells(
        {
            (f"M{model}", f"D{dataset}"): rng.uniform(0.3, 0.9) + noise * rng.normal(size=runs)
            for model, dataset in cells
        }
    )


def measure(runs):
    return sample_size.measure_noise(runs)


def foretell(noise, interval="calibrated", confidence_level=0.95):
    return sample_size.expect_widths(noise, interval=interval, confidence_level=confidence_level)


def list_widths(runs, interval="calibrated"):
    return foretell(measure(runs), interval).set_index(["model", "seeds"])["width"]


def draw_pair():
    return make_cells({("A", "D"): [0.8, 0.9, 1.0], ("B", "D"): [0.6, 0.7, 0.8]})


def test_two_models_on_one_dataset_by_hand() -> None:
    # Three runs are not trimmed: IQM = mean = 0.9 and 0.7; s² = 0.01 each, so each IQM has variance
    # 0.01 / 3.
    noise = measure(draw_pair())
    # One more run of A: 0.01 / 4 instead of 0.01 / 3.
    gain = 0.01 / 3 - 0.01 / 4
    advice = sample_size.advise_runs(noise)
    assert advice["model"].tolist() == ["A", "B"]
    assert advice["runs"].tolist() == [3, 3]
    np.testing.assert_allclose(advice["share"], gain / (0.02 / 3), rtol=1e-9)


def test_width_on_one_dataset_is_students() -> None:
    # Full width 2 t(n − 1) s / sqrt(n), n − 1 degrees of freedom on a single dataset of 3 or 5.
    widths = list_widths(draw_pair())
    for seeds in (3, 5):
        expected = 2 * stats.t.ppf(0.975, seeds - 1) * 0.1 / math.sqrt(seeds)
        assert widths["A", seeds] == pytest.approx(expected)
    table = foretell(measure(draw_pair()))
    assert table["seeds"].tolist() == [3, 5, 10, 20] * 2
    assert table["width_now"].tolist()[0] == pytest.approx(widths["A", 3])


def test_quiet_cells_count_by_what_a_shift_of_theirs_moves() -> None:
    # 8 datasets × 3 runs: 6 of 24 runs are cut from each tail, which is two whole datasets. With
    # noise far below their distance, the derivative of the IQM is 1/4 for four datasets, else 0.
    rng = np.random.default_rng(0)
    scores = np.arange(8)[:, None] / 8 + 1e-3 * rng.normal(size=(8, 3))
    names = np.repeat([f"D{dataset}" for dataset in range(8)], 3).tolist()
    noise = measure(make_cells({("A", f"D{d}"): scores[d] for d in range(8)}))
    for dataset in range(8):
        shifted = scores.copy()
        shifted[dataset] += 1e-4
        moved = [evaluate_runs("iqm", stratify_runs(s.ravel(), names)) for s in (scores, shifted)]
        slope = (moved[1] - moved[0]) / 1e-4
        assert slope == pytest.approx(0.25 if 2 <= dataset < 6 else 0, abs=1e-9)
        expected = slope**2 * scores[dataset].var(ddof=1)
        assert noise.run_variances[0, dataset] == pytest.approx(expected, rel=1e-6, abs=1e-15)


def test_variance_is_the_stratified_one_of_winsorized_runs() -> None:
    # The runs of both datasets mix. 10 runs: floor(2.5) = 2 are cut, so the two lowest become the
    # third lowest, and 6 of 10 are kept; each dataset has half of the weight.
    cells = {("A", "x"): [0.1, 0.4, 0.5, 0.6, 0.9], ("A", "y"): [0.2, 0.45, 0.55, 0.65, 0.8]}
    flat = np.sort(np.concatenate(list(cells.values())))
    for place, scores in enumerate(cells.values()):
        expected = np.clip(scores, flat[2], flat[7]).var(ddof=1) * (0.5 / 0.6) ** 2
        assert measure(make_cells(cells)).run_variances[0, place] == pytest.approx(expected)


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("interval", ["calibrated", "percentile"])
def test_widths_foretell_those_of_intervals(runs, interval) -> None:
    # Known truth: normal noise. Widths are expected from other runs than those they are for.
    options = Options(n_resamples=500, interval=interval)
    expected, found = [], []
    for repetition, noise in itertools.product(range(5), (0.02, 0.1, 0.3)):
        rng = make_stream(0, "test", str(repetition), str(noise))
        centers = rng.uniform(0.3, 0.9, size=(8, 10))
        spreads = noise * rng.uniform(0.5, 1.5, size=(8, 10))
        pilot = centers[..., None] + spreads[..., None] * rng.normal(size=(8, 10, 5))
        cells = itertools.product(range(8), range(10))
        pilots = make_cells({(f"M{m}", f"D{d}"): pilot[m, d] for m, d in cells})
        widths = list_widths(pilots, interval)
        expected.append(widths.xs(runs, level="seeds").to_numpy())
        names = np.repeat([f"D{d}" for d in range(10)], runs).tolist()
        for center, spread in zip(centers, spreads, strict=True):
            scores = center[:, None] + spread[:, None] * rng.normal(size=(10, runs))
            [iqm] = bootstrap_model(
                scores.ravel(), names, statistics=["iqm"], options=options, rng=rng
            )
            found.append(iqm.high - iqm.low)
    assert np.mean(expected) == pytest.approx(np.mean(found), rel=0.12)


@pytest.mark.slow
def test_pilots_foretell_differences_that_are_found() -> None:
    rng, found = np.random.default_rng(0), []
    models, datasets = range(2), range(4)
    for _ in range(200):
        levels = rng.random(4)
        cells = {
            (f"M{model}", f"D{dataset}"): levels[dataset] + 0.05 * rng.standard_normal(3)
            for model in models
            for dataset in datasets
        }
        pilot = sample_size.find_detectable(measure(make_cells(cells)), confidence_level=0.95)
        difference = float(pilot.set_index("seeds").loc[3, "difference"])
        new = [levels[:, None] + 0.05 * rng.standard_normal((4, 3)) for _ in models]
        strata = [stratify_runs(own.ravel(), np.repeat(list("abcd"), 3).tolist()) for own in new]
        errors = [measure_error("iqm", own, unit="runs") for own in strata]
        one, two = (error for error in errors if error)
        variance, freedom = one.value**2 + two.value**2, one.freedom + two.freedom
        apart = evaluate_runs("iqm", strata[1]) + difference - evaluate_runs("iqm", strata[0])
        found.append(apart > stats.t.ppf(0.975, freedom) * math.sqrt(variance))
    # Without the upper limit of the variance, 68% were.
    assert np.mean(found) >= 0.75


def test_more_runs_find_smaller_differences() -> None:
    table = sample_size.find_detectable(measure(draw_runs(0, models=4)), confidence_level=0.95)
    assert table["seeds"].tolist() == [3, 5, 10, 20]
    assert table["difference_all"].is_monotonic_decreasing
    assert sample_size.find_detectable(measure(draw_runs(0, models=1)), confidence_level=0.95).empty


def test_single_runs_show_nothing_to_plain_resamples() -> None:
    cells = {("A", "x"): [0.5, 0.6, 0.7], ("A", "y"): [0.6]}
    noise = measure(make_cells(cells))
    table = foretell(noise, "percentile")
    now = 2 * stats.norm.ppf(0.975) * math.sqrt(noise.run_variances[0, 0] / 3 * 2 / 3)
    np.testing.assert_allclose(table["width_now"], now)


def test_a_noisy_dataset_gets_the_advice() -> None:
    cells = {("far", d): [0.1, 0.11, 0.12] for d in "xy"}
    cells |= {("one", "x"): [0.5, 0.7, 0.9], ("one", "y"): [0.69, 0.7, 0.71]}
    cells |= {("two", "x"): [0.66, 0.68, 0.69], ("two", "y"): [0.67, 0.68, 0.69]}
    advice = sample_size.advise_runs(measure(make_cells(cells)))
    assert advice["dataset"].iloc[0] == "x"
    assert advice["share"].iloc[0] > 0.05


def test_without_noise_no_run_helps() -> None:
    quiet = measure(make_cells({(m, "D"): [0.5, 0.5, 0.5] for m in "AB"}))
    noisy = measure(make_cells({(m, "D"): [0.4, 0.5, 0.6] for m in "AB"}))
    assert sample_size.advise_runs(quiet).empty
    assert len(sample_size.advise_runs(noisy)) == 2


def test_models_without_noise_have_no_width() -> None:
    noise = measure(make_cells({("A", "D"): [0.5, 0.5], ("B", "D"): [0.6, 0.6]}))
    assert sample_size.advise_runs(noise).empty
    assert foretell(noise)["width"].tolist() == [0] * 8


def test_noise_of_equal_floats_is_no_noise() -> None:
    # Their mean is not one of them.
    scores = {"w": 0.9, "x": 0.91, "y": 0.1, "z": 0.7}
    runs = {("A", name): [score] * 3 for name, score in scores.items()}
    runs |= {("B", name): [score - 0.1] * 3 for name, score in scores.items()}
    noise = measure(make_cells(runs))
    assert sample_size.advise_runs(noise).empty
    assert foretell(noise)["width"].tolist() == [0] * 8


def test_a_single_run_borrows_the_variance_of_the_models_other_cells() -> None:
    # Pooled over x (2 degrees of freedom, s² = 0.01) and y (1, s² = 0.0002): 0.0202 / 3.
    cells = {("A", "x"): [0.5, 0.6, 0.7], ("A", "y"): [0.6, 0.62], ("A", "z"): [0.6]}
    noise = measure(make_cells(cells))
    np.testing.assert_allclose(sample_size._pool_variances(noise.matrix)[0], 0.0202 / 3)


def test_a_model_without_repeats_borrows_from_the_others() -> None:
    cells = {("A", "x"): [0.5], ("A", "y"): [0.6], ("B", "x"): [0.5, 0.7]}
    noise = measure(make_cells(cells))
    # On x the variance of B, 0.02; on y nobody has two runs, so that of the whole study: 0.02 too.
    table = foretell(noise).set_index("model")
    assert table.loc["A", "width"].gt(0).all()
    assert table.loc["A", "width_now"].isna().all()
    assert table.loc["B", "width_now"].notna().all()


def test_no_repeats_at_all_give_no_width_and_no_advice() -> None:
    noise = measure(make_cells({("A", "x"): [0.5], ("B", "x"): [0.6]}))
    table = foretell(noise)
    assert table[["width", "width_now"]].isna().all(axis=None)
    advice = sample_size.advise_runs(noise)
    assert advice.empty
    assert list(advice.columns) == ["model", "dataset", "runs", "share"]


def test_one_model_has_widths_and_advice() -> None:
    noise = measure(draw_runs(0, models=1))
    assert foretell(noise)["width"].gt(0).all()
    assert len(sample_size.advise_runs(noise))


def test_present_width_agrees_with_the_number_of_runs() -> None:
    for runs in (3, 5, 10):
        table = foretell(measure(draw_runs(0, runs=runs)))
        same = table[table["seeds"] == runs]
        np.testing.assert_allclose(same["width"], same["width_now"], rtol=1e-12)


def test_an_empty_cell_is_not_advised() -> None:
    runs = draw_runs(3, models=3, datasets=3)
    holed = runs[~((runs["model"] == "M1") & (runs["dataset"] == "D0"))]
    advice = sample_size.advise_runs(measure(holed))
    assert not ((advice["model"] == "M1") & (advice["dataset"] == "D0")).any()


def test_equal_scores_share_what_is_kept() -> None:
    # 2 of 8 equal runs are cut from each tail, whichever: both datasets count alike.
    noise = measure(make_cells({("A", d): [0.5] for d in "stuvwxyz"} | {("B", "s"): [0.1, 0.3]}))
    np.testing.assert_allclose(noise.run_variances[0], noise.run_variances[0, 0], rtol=1e-12)


def test_a_run_that_is_cut_off_inflates_no_variance() -> None:
    cells = {(m, d): [0.5, 0.51, 0.52, 0.53] for m in "AB" for d in "wxyz"}
    plain = measure(make_cells(cells))
    outlier = measure(make_cells(cells | {("A", "x"): [0.5, 0.51, 0.52, 90.0]}))
    np.testing.assert_allclose(outlier.pooled, plain.pooled, rtol=0.5)
