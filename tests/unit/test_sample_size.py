"""Which differences more runs detect."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.analyses import sample_size
from capmap.ranking.resampling import evaluate_runs, stratify_runs
from capmap.ranking.standard_errors import measure_error


def make_cells(cells):
    """Make runs from {(model, dataset): scores}."""
    rows = [
        (model, dataset, str(seed), score)
        for (model, dataset), scores in cells.items()
        for seed, score in enumerate(scores)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"]).assign(resolution=0.0)


def measure(runs):
    return sample_size.measure_noise(runs)


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
        assert noise["A"].variances[dataset] == pytest.approx(expected, rel=1e-6, abs=1e-15)


def test_variance_is_the_stratified_one_of_winsorized_runs() -> None:
    # The runs of both datasets mix. Of 10 runs 2.5 are cut, so the two lowest become the third
    # lowest; half of the weight is kept, and each dataset has half of it.
    cells = {("A", "x"): [0.1, 0.4, 0.5, 0.6, 0.9], ("A", "y"): [0.2, 0.45, 0.55, 0.65, 0.8]}
    flat = np.sort(np.concatenate(list(cells.values())))
    for place, scores in enumerate(cells.values()):
        expected = np.clip(scores, flat[2], flat[7]).var(ddof=1) * (0.5 / 0.5) ** 2
        assert measure(make_cells(cells))["A"].variances[place] == pytest.approx(expected)


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


def test_models_without_noise_detect_nothing() -> None:
    noise = measure(make_cells({("A", "D"): [0.5, 0.5], ("B", "D"): [0.6, 0.6]}))
    assert sample_size.find_detectable(noise, confidence_level=0.95).empty


def test_the_present_error_is_that_of_the_ranking():
    scores = np.random.default_rng(1).normal(0.5, 0.1, (19, 5))
    names = [f"D{place:02d}" for place in range(19)]
    runs = make_cells(
        {
            ("A", name): own[: 5 - place % 3]
            for place, (name, own) in enumerate(zip(names, scores, strict=True))
        }
    )
    error = measure_error(
        "iqm", stratify_runs(runs["score"], runs["dataset"].tolist()), unit="runs"
    )
    own = measure(runs)["A"]
    assert (own.variances / own.draws).sum() == pytest.approx(error.value**2, rel=1e-9)
    assert own.find_freedom(own.draws) == pytest.approx(error.freedom, rel=1e-9)


def test_single_runs_borrow_the_variance_of_other_cells():
    # B has none of its own, so that of the study: A on x and y, (0.02 + 0.0002) / 3; half of the
    # weight of its run is kept.
    cells = {("A", "x"): [0.5, 0.6, 0.7], ("A", "y"): [0.6, 0.62], ("B", "x"): [0.5]}
    noise = measure(make_cells(cells))
    np.testing.assert_allclose(noise["B"].variances, 0.0202 / 3 / 0.5**2)
    bare = measure(make_cells({("A", "x"): [0.5], ("B", "x"): [0.6]}))
    assert sample_size.find_detectable(bare, confidence_level=0.95).empty
