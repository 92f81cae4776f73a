"""Models left with few results: rehearsals that calibrate intervals, and the replay of errors."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from capmap.capabilities import placement_replay as replaying
from capmap.capabilities.baselines import predict_neighbors
from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts
from capmap.capabilities.factors import SideInformation, gather_attributes
from capmap.capabilities.gaps import Results, arrange_results
from capmap.capabilities.halves import Fitting
from capmap.capabilities.intervals import list_features
from capmap.capabilities.placement import (
    Masking,
    calibrate_gaps,
    calibrate_means,
    list_mean_features,
    measure_noise,
    place_maskings,
    place_models,
    rehearse_placements,
)
from capmap.capabilities.placement_replay import COLUMNS, flip_signs, replay_placements
from capmap.rng import make_stream
from tests.capability_tables import list_cells

KEYS = ["method", "results", "results_to"]


def draw_cells(
    seed: int = 0, *, models: int = 20, datasets: int = 16, share: float = 0.8
) -> pd.DataFrame:
    """Scores of models and datasets at distances of known positions, with noise."""
    rng = np.random.default_rng(seed)
    x, y = 0.5 * rng.normal(size=(models, 2)), 0.5 * rng.normal(size=(datasets, 2))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2)
    apart += 0.3 * rng.normal(size=(models, 1)) + 0.05 * rng.normal(size=(models, datasets))
    rows, columns = np.nonzero(rng.uniform(size=apart.shape) < share)
    names = [f"m{row:02d}" for row in rows], [f"d{column:02d}" for column in columns]
    return pd.DataFrame({"model": names[0], "dataset": names[1], "score": -apart[rows, columns]})


def choose_fitting(results: Results, *, method: str = "ensemble", starts: int = 1) -> Fitting:
    drawn = draw_starts(results, dimension=2, starts=starts, seed=0, study="toy")
    return Fitting(METHODS[method], drawn)


def rehearse(results: Results, *, method: str = "ensemble", strict: bool = False) -> pd.DataFrame:
    return rehearse_placements(
        results,
        fitting=choose_fitting(results, method=method),
        make_rng=partial(make_stream, 0, "toy"),
        strict=strict,
    )


def replay(
    results: Results, *, method: str = "ensemble", attributes: SideInformation | None = None
) -> pd.DataFrame:
    return replay_placements(
        results,
        method=method,
        starts=choose_fitting(results).starts,
        attributes=attributes or gather_attributes(results),
        confidence_level=0.9,
        make_rng=partial(make_stream, 0, "toy"),
    )


@pytest.fixture
def few_repetitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "REPETITIONS", 6)


@pytest.mark.slow
def test_each_model_is_rehearsed_with_ever_more_results() -> None:
    results = arrange_results(draw_cells())
    found = rehearse(results)
    assert sorted(set(found["model"])) == list(range(20))
    assert found["masking"].is_monotonic_increasing
    for (model, _), own in found.groupby(["model", "masking"]):
        # Known and hidden results are all that the model has.
        assert own["known"].iloc[0] + len(own) == results.per_model[model]
        gaps = results.gaps[results.rows == model]
        assert np.isin(own["truth"], gaps).all()
    counts = found.groupby("model")["known"].agg(lambda known: sorted(set(known)))
    for model, known in counts.items():
        total = int(results.per_model[model])
        wanted = {1, 2, 3, 4, 6, 9, 13, int(np.ceil(0.8 * total))}
        assert known == sorted(count for count in wanted if count < total)
    assert found["prediction"].between(0, 1).all()


def test_datasets_that_only_left_out_models_have_no_part() -> None:
    cells = draw_cells(models=6, datasets=5, share=1.0)
    alone = pd.DataFrame({"model": ["m00"], "dataset": ["alone"], "score": [1.0]})
    results = arrange_results(pd.concat([cells, alone], ignore_index=True))
    found = rehearse(results)
    assert found["per_dataset"].min() >= 1
    own = found[found["model"] == 0]
    assert (own["known"] + own.groupby("masking")["truth"].transform("size")).max() == 5


def test_strict_rehearsals_have_models_beyond_the_bounds_of_the_others() -> None:
    # Gaps by all bounds are in 0…1; the best of a dataset is beyond the bounds of the others.
    results = arrange_results(draw_cells())
    loose, strict = rehearse(results), rehearse(results, strict=True)
    assert loose["truth"].between(0, 1).all()
    assert strict["truth"].min() < 0
    assert strict["truth"].max() > 1
    assert strict["truth"].between(-1, 2).all()
    assert strict["prediction"].between(0, 1).all()


def test_datasets_on_which_the_others_tie_have_no_part_in_strict_rehearsals() -> None:
    # Only m00 differs from the others on the dataset "tie", so left out it has no scale there.
    cells = draw_cells(models=6, datasets=5, share=1.0)
    names = [f"m{place:02d}" for place in range(6)]
    tie = pd.DataFrame({"model": names, "dataset": "tie", "score": [1.0] + [0.0] * 5})
    found = rehearse(arrange_results(pd.concat([cells, tie], ignore_index=True)), strict=True)
    sizes = found["known"] + found.groupby("masking")["truth"].transform("size")
    assert (sizes[found["model"] == 0] == 5).all()
    assert found["truth"].notna().all()


def test_placing_maskings_is_placing_models_by_their_known_results() -> None:
    results = arrange_results(draw_cells())
    others = results.choose(results.rows > 1)
    fits = fit_starts(others, METHODS["ensemble"], starts=choose_fitting(results).starts)
    own = np.flatnonzero(results.rows == 1)
    known, hidden = own[:4], own[4:]
    maskings = [Masking(np.flatnonzero(results.rows == 0)[:2], own[:1]), Masking(known, hidden)]
    found = place_maskings(fits, results, maskings)
    problem = replace(results.choose(known), models=["own"], rows=np.zeros(4, dtype=np.intp))
    columns = results.columns[hidden]
    zeros = np.zeros(len(hidden), dtype=np.intp)
    each = np.array([place_models(fit, problem).fit.predict(zeros, columns) for fit in fits])
    np.testing.assert_allclose(found.gaps[1:], each.mean(axis=0).clip(0, 1), atol=1e-12)
    np.testing.assert_allclose(found.variance[1:], each.var(axis=0), atol=1e-12)


def make_rehearsed(columns: dict[str, list[float]]) -> pd.DataFrame:
    table = pd.DataFrame(columns)
    return table.assign(per_dataset=3, variance=0.0, truth=0.0)


def test_noise_is_the_error_from_the_most_known_results() -> None:
    # Model 0 with 2 known: 0.1² and 0.3²; model 1 with 4: 0.2². The mean is 0.14 / 3.
    table = make_rehearsed(
        {
            "model": [0, 0, 0, 1, 1],
            "masking": [0, 1, 1, 2, 3],
            "known": [1, 2, 2, 1, 4],
            "prediction": [0.9, 0.1, 0.3, 0.8, 0.2],
        }
    )
    assert measure_noise(table) == pytest.approx(0.14 / 3)


def test_means_are_calibrated_by_the_mean_error_of_each_masking() -> None:
    # Twenty maskings of two hidden results with errors e and −e / 2: the mean error is e / 4, and
    # the reach at 0.9 is that of rank ⌈21 · 0.9⌉ = 19, e = 0.19. Squares of 1 … 20 add up to 2870;
    # the ratio is by those outside of its part, which also has 9: (2870 − 19² − 9²) / 18.
    sizes = np.repeat(np.arange(1, 21) / 100, 2)
    table = make_rehearsed(
        {
            "model": [0] * 40,
            "masking": np.repeat(np.arange(20), 2).tolist(),
            "known": [2] * 40,
            "prediction": (sizes * np.tile([1, -0.5], 20)).tolist(),
        }
    )
    features = list_mean_features([2], [2])
    np.testing.assert_allclose(features, [[1, 1 / 3, 1 / 2]])
    reach = calibrate_means(table).measure_reach(features, confidence_level=0.9)
    assert reach[0] == pytest.approx(0.19 / 4 * np.sqrt(2870 / 20 / (2428 / 18)))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ensemble", "l2", "cosine", "poincare"])
def test_calibrated_intervals_hold_results_of_other_models(method: str) -> None:
    # One half of the models calibrates, the other half is placed by as many results.
    covered = []
    for seed in range(8):
        results = arrange_results(draw_cells(seed, models=30))
        halves = [results.choose(results.rows % 2 == half) for half in (0, 1)]
        tables = [rehearse(half, method=method) for half in halves]
        for calibrating, own in (tables, tables[::-1]):
            features = list_features(own["known"], own["per_dataset"], own["variance"])
            calibration = calibrate_gaps(calibrating)
            reach = calibration.measure_reach(features, confidence_level=0.9)
            covered.append(np.mean(np.abs(own["prediction"] - own["truth"]) <= reach))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.04)


@pytest.mark.usefixtures("few_repetitions")
def test_errors_fall_with_results_and_below_those_of_additive_effects() -> None:
    table = replay(arrange_results(draw_cells(models=30)))
    assert list(table.columns) == list(COLUMNS)
    assert list(dict.fromkeys(table["method"])) == ["ensemble", "placed", "knn", "additive"]
    errors = table.set_index(KEYS)["mse"]
    for method in ("ensemble", "placed", "knn"):
        assert errors[method, 9, 9] < errors[method, 0, 0]
    # Gaps are distances in the plane, which results tell and effects cannot.
    assert errors["ensemble", 9, 9] < errors["additive", 9, 9]
    pooled = table[table["results_to"] > table["results"]].set_index("method")
    assert 0.8 < pooled["coverage"]["placed"] <= 1


@pytest.mark.usefixtures("few_repetitions")
def test_rows_agree_with_each_other() -> None:
    table = replay(arrange_results(draw_cells()))
    counts = table.pivot_table(
        index=["results", "results_to"], columns="method", values="predictions"
    )
    assert (counts.max(axis=1) == counts.min(axis=1)).all()
    for _, own in table.groupby("method"):
        single = own[own["results"] == own["results_to"]]
        pooled = own[own["results"] != own["results_to"]].iloc[0]
        few = single[single["results"].between(1, 4)]
        assert single["results"].tolist() == [0, 1, 2, 3, 4, 6, 9]
        assert pooled["predictions"] == few["predictions"].sum()
        assert pooled["mse"] == pytest.approx(np.average(few["mse"], weights=few["predictions"]))
    plain = table[table["method"] == "additive"]
    for method in ("ensemble", "placed", "knn"):
        own = table[table["method"] == method]
        expected = own["mse"].to_numpy() / plain["mse"].to_numpy() - 1
        np.testing.assert_allclose(own["change"], expected)
        assert (own["change_low"] <= own["change"]).all()
        assert (own["change"] <= own["change_high"]).all()
        is_single = (own["results"] == own["results_to"]).to_numpy()
        assert (own["p_adjusted"].notna() == is_single).all()
    assert plain[["change", "p_adjusted", "coverage", "width"]].isna().all(axis=None)
    assert (table["mse_low"] <= table["mse"]).all()
    covered = table["coverage"].notna()
    assert (covered == ((table["method"] == "placed") & (table["results"] > 0))).all()
    assert table["width"].dropna().between(0, 1).all()


@pytest.mark.usefixtures("few_repetitions")
def test_attributes_tell_of_models_without_results() -> None:
    # Models of one architecture are alike, so that it tells all that results do.
    rng = np.random.default_rng(0)
    kinds = np.arange(24) % 3
    scores = rng.normal(size=(3, 12))[kinds] + 0.05 * rng.normal(size=(24, 12))
    results = arrange_results(list_cells(scores))
    models = pd.DataFrame({"model": results.models, "architecture": kinds.astype(str)})
    errors = {}
    for name, attributes in {"with": models, "without": models[["model"]]}.items():
        table = replay(results, attributes=gather_attributes(results, attributes))
        errors[name] = table.set_index(KEYS)["mse"]["ensemble", 0, 0]
    assert errors["with"] < 0.3 * errors["without"]


def test_neighbors_are_the_models_with_the_nearest_gaps() -> None:
    # Six models like A on D0 and D1, one like B; C, who has D0 only, is like A.
    scores = [[0.0, 0.0, 0.1]] * 5 + [[1.0, 1.0, 1.0], [0.05, np.nan, np.nan]]
    results = arrange_results(list_cells(scores))
    gap = results.gaps[results.columns == 2][0]
    zeros, last = np.zeros(1, dtype=np.intp), np.full(1, 6)
    assert predict_neighbors(results, last, zeros + 2).tolist() == [gap]
    # Without a result of its own a model is the average.
    others = results.choose(results.rows != 6)
    mean = others.gaps[others.columns == 2].mean()
    assert predict_neighbors(others, last, zeros + 2) == pytest.approx([mean])


def test_signs_are_flipped_as_in_all_assignments() -> None:
    sums = np.array([0.5, -0.1, 0.4, 0.3, 0.6, -0.05, 0.2])
    signs = np.array(list(itertools.product([-1, 1], repeat=7)))
    exact = np.mean(np.abs(signs @ sums) >= sums.sum() - 1e-12)
    assert flip_signs(sums, rng=np.random.default_rng(0)) == pytest.approx(exact, abs=0.01)
    assert flip_signs(np.zeros(4), rng=np.random.default_rng(0)) == 1
    assert flip_signs(np.ones(30), rng=np.random.default_rng(0)) == 1e-4


@pytest.mark.usefixtures("few_repetitions")
def test_intervals_are_calibrated_without_the_models_they_are_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = arrange_results(draw_cells())
    seen, masked = [], []
    placing, rehearsing = replaying.place_maskings, replaying.rehearse_placements

    def place(fits, results, maskings):
        masked.append({int(results.rows[part.hidden[0]]) for part in maskings})
        assert all(len(part.known) in replaying.COUNTS for part in maskings)
        return placing(fits, results, maskings)

    def calibrate(results, **options):
        seen.append(set(results.rows.tolist()))
        return rehearsing(results, **options)

    monkeypatch.setattr(replaying, "place_maskings", place)
    monkeypatch.setattr(replaying, "rehearse_placements", calibrate)
    replay(results)
    assert len(seen) == 6
    for calibrating, hidden in zip(seen, masked, strict=True):
        assert not calibrating & hidden
        assert len(hidden) <= 4


@pytest.mark.slow
@pytest.mark.usefixtures("few_repetitions")
def test_the_order_of_rows_has_no_influence() -> None:
    cells = draw_cells()
    shuffled = cells.sample(frac=1, random_state=0)
    found = [replay(arrange_results(own)) for own in (shuffled, cells)]
    pd.testing.assert_frame_equal(*found)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ensemble", "l2", "cosine", "poincare"])
@pytest.mark.usefixtures("few_repetitions")
def test_tiny_studies_are_replayed_without_complaint(method: str) -> None:
    cells = draw_cells(models=3, datasets=3, share=1.0)
    table = replay(arrange_results(cells), method=method)
    assert set(table["results"]) <= {0, 1, 2}
    assert table["mse"].notna().all()
    single = arrange_results(cells.drop_duplicates("model"))
    empty = replay(single, method=method)
    assert empty.empty
    assert list(empty.columns) == list(COLUMNS)
    assert empty["results"].dtype == "int64"
    assert rehearse(single, method=method).empty
    assert np.isnan(measure_noise(rehearse(single, method=method)))
