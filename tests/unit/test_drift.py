"""Maps over time: shifts of positions, and how newcomers are predicted from half their results."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from capmap.analyses import drift
from capmap.capabilities import factors, maps
from capmap.capabilities.embedding import METHODS, Embedding, Method
from capmap.capabilities.factors import fit_additive
from capmap.capabilities.gaps import Results, arrange_results, split_halves
from capmap.rng import make_stream
from tests.capability_tables import list_cells, make_gaps, simulate_results


def simulate(models: int = 18, datasets: int = 12, *, share: float = 0.7, seed: int = 0) -> Results:
    return arrange_results(
        simulate_results(models, datasets, dimension=2, share=share, noise=0.05, seed=seed).cells
    )


def track(
    results: Results, dates: list[str], *, families: list[str] | None = None, method: str = "l2"
) -> pd.DataFrame:
    names = results.models, results.datasets
    gaps = make_gaps(
        pd.DataFrame(
            {
                "model": [names[0][row] for row in results.rows],
                "dataset": [names[1][column] for column in results.columns],
                "score": results.scores,
            }
        ),
        min_results=1,
    )
    return drift.measure_drift(
        gaps,
        pd.DataFrame({"model": names[0], "date": dates}),
        pd.DataFrame({"dataset": names[1], "family": families or names[1]}),
        study="toy",
        method=method,
        dimension=2,
        confidence_level=0.9,
        seed=0,
    )


def list_dates(models: int, *, days: int = 6) -> list[str]:
    """A date per model, without one for the first."""
    return ["", *(f"2024-01-{1 + place % days:02d}" for place in range(1, models))]


def make_map(
    models: object, datasets: object, *, distance: str = "l2", missing: tuple[int, ...] = ()
) -> drift.Map:
    first, second = np.array(models, dtype=float), np.array(datasets, dtype=float)
    has_results = ~np.isin(np.arange(len(first) + len(second)), missing)
    return drift.Map(Embedding(Method(distance), first, second, loss=0.0), has_results)


def test_dates_are_cut_into_groups_of_about_as_many_models() -> None:
    dates = [f"2024-01-{day:02d}" for day in range(1, 24)]
    ends = drift.group_dates([*dates, "", ""])
    sizes = np.diff([0, *(dates.index(end) + 1 for end in ends)])
    assert (len(ends), ends[-1], sizes.sum()) == (10, dates[-1], 23)
    assert set(sizes.tolist()) == {2, 3}


@given(st.lists(st.sampled_from(["", "2020-01-01", "2021-05-01", "2024-12-31"])))
def test_groups_of_dates_are_ascending_and_end_with_the_last_date(dates: list[str]) -> None:
    known = sorted({date for date in dates if date})
    ends = drift.group_dates(dates)
    assert ends == sorted(set(ends))
    assert set(ends) <= set(known)
    assert ends[-1:] == known[-1:]


@pytest.mark.parametrize("distance", ["l2", "cosine", "poincare"])
def test_a_turned_map_has_not_shifted(distance: str) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 3))
    turned = points @ stats.ortho_group.rvs(3, random_state=rng)
    turned = turned + 5 * (distance == "l2")
    first, second = (make_map(p[:5], p[5:], distance=distance) for p in (points, turned))
    assert drift.measure_shift(first, second, first) == pytest.approx(0, abs=1e-7)


def test_a_shift_is_the_least_over_all_motions() -> None:
    # The least sum of squares over angles, reflections and translations, found numerically in 2-D.
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 8, 2))
    first_center, second_center = first - first.mean(axis=0), second - second.mean(axis=0)

    def move(angle: float, flip: float) -> np.ndarray:
        cos, sin = np.cos(angle), np.sin(angle)
        return second_center @ np.array([[cos, -sin * flip], [sin, cos * flip]]) - first_center

    found = []
    for flip in (-1.0, 1.0):
        for low in range(6):
            best = optimize.minimize_scalar(
                lambda angle, flip=flip: (move(angle, flip) ** 2).sum(), bounds=(low, low + 1.5)
            )
            found.append((best.fun, best.x, flip))
    _, angle, flip = min(found)
    models = (move(angle, flip)[:5] ** 2).sum(axis=1).mean()
    radius = (first_center**2).sum(axis=1).mean()
    shift = drift.measure_shift(
        make_map(first[:5], first[5:]),
        make_map(second[:5], second[5:]),
        make_map(first[:5], first[5:]),
    )
    assert shift == pytest.approx(np.sqrt(models / radius), rel=1e-4)


def test_points_without_results_do_not_shift_a_map() -> None:
    models, datasets = [[0, 0], [1, 0], [9, 9]], [[0, 1], [1, 1]]
    before = make_map(models, datasets, missing=(2,))
    after = make_map([[0, 0], [1, 0], [-5, 3]], datasets)
    assert drift.measure_shift(before, after, before) == pytest.approx(0, abs=1e-9)


def test_unrelated_maps_of_many_points_shift_by_about_the_root_of_two() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 4000, 3))
    maps = [make_map(points[:2000], points[2000:]) for points in (first, second)]
    assert drift.measure_shift(*maps, maps[0]) == pytest.approx(np.sqrt(2), abs=0.03)


def test_the_radius_of_a_poincare_map_is_measured_in_the_ball() -> None:
    # Two points on either side of the middle: the shift to their double is known in the ball.
    small, large = np.array([[0.5], [-0.5]]), np.array([[1.0], [-1.0]])
    placed = [make_map(one[:1], one[1:], distance="poincare") for one in (small, large)]
    inner, outer = maps.enter_ball(small)[0, 0], maps.enter_ball(large)[0, 0]
    assert drift.measure_shift(*placed, placed[1]) == pytest.approx((outer - inner) / outer)


def test_a_map_of_one_point_has_no_shift() -> None:
    single = make_map([[0.0, 0]], [[0.0, 0]])
    assert np.isnan(drift.measure_shift(single, single, single))


@pytest.mark.slow
def test_steps_count_models_results_and_newcomers() -> None:
    results = simulate(models=7, datasets=6, share=1)
    dates = ["", "2024-03-01", "2024-01-01", "2024-01-01", "2024-02-01", "", "2024-03-01"]
    steps = track(results, dates)
    assert steps["date"].tolist() == ["2024-01-01", "2024-02-01", "2024-03-01"]
    # The map starts with the two undated models and those of the first date.
    assert steps["models"].tolist() == [4, 5, 7]
    assert steps["newcomers"].tolist() == [0, 1, 2]
    assert steps["results"].tolist() == [24, 30, 42]
    # Both halves of all results of newcomers are predicted.
    assert steps["predictions"].tolist() == [0, 6, 12]
    assert steps[["shift", "mse", "mse_additive"]].isna().sum().tolist() == [1, 1, 1]
    assert steps["shift_to_final"].iloc[-1] == pytest.approx(0, abs=1e-9)
    assert steps["mse_low"].isna().tolist() == [True, True, False]  # one model has no interval


def test_only_earlier_results_and_the_other_half_of_newcomers_are_known(monkeypatch) -> None:
    results = simulate()
    seen = []

    def record(parts, _, pairs, **__) -> list[factors.Moments]:
        seen.extend(zip(parts, pairs, strict=True))
        return [factors.Moments(np.zeros(len(own.rows)), np.zeros(len(own.rows))) for own in pairs]

    monkeypatch.setattr(drift, "predict_gaps", record)
    families = [str(place // 2) for place in range(len(results.datasets))]
    half = split_halves(results, families, make_stream(0, "toy"))
    earlier, new = results.rows < 10, (results.rows >= 10) & (results.rows < 14)
    attributes = factors.gather_attributes(results)
    found = drift.predict_newcomers(results, earlier, new, half, attributes, make_stream(0, "toy"))
    family = np.array(families)
    additive = []
    for train, pairs in seen:
        assert set(train.rows) - set(pairs.rows) >= set(range(10))
        assert train.rows.max() < 14
        assert (pairs.rows >= 10).all()
        known = set(zip(train.rows, family[train.columns], strict=True))
        assert not known & set(zip(pairs.rows, family[pairs.columns], strict=True))
        additive.append(fit_additive(train).predict(*pairs))
    assert len(seen) == 2
    truth = results.choose(new).gaps
    assert len(found) == len(truth)
    assert found["mse"].sum() == pytest.approx((truth**2).sum())
    assert len(np.concatenate(additive)) == len(truth)


@pytest.mark.slow
def test_positions_settle_as_models_are_added() -> None:
    results = simulate(models=40, datasets=24, share=0.8)
    steps = track(results, list_dates(40, days=10))
    assert steps["shift_to_final"].iloc[0] > 3 * steps["shift_to_final"].iloc[-3]
    assert steps["shift"].iloc[-1] < 0.2
    assert steps["mse"].iloc[-3:].mean() < steps["mse_additive"].iloc[-3:].mean()


def test_without_dates_there_are_no_steps() -> None:
    steps = track(simulate(), [""] * 18)
    assert steps.empty


def test_models_of_one_date_make_one_step_without_newcomers() -> None:
    steps = track(simulate(), ["2024-01-01"] * 18)
    assert steps[["models", "newcomers"]].to_numpy().tolist() == [[18, 0]]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("models", "datasets"), [(2, 2), (3, 2)])
@pytest.mark.parametrize("families", ["one", "each"])
def test_tiny_studies_are_tracked(method: str, models: int, datasets: int, families: str) -> None:
    scores = np.arange(models * datasets).reshape(models, datasets) % 5
    results = arrange_results(list_cells(scores))
    dates = [f"2024-01-{place + 1:02d}" for place in range(models)]
    own = ["one"] * datasets if families == "one" else None
    steps = track(results, dates, method=method, families=own)
    assert len(steps) == models
    assert steps["models"].tolist() == list(range(1, models + 1))
    if families == "one":
        assert steps["predictions"].sum() == 0
