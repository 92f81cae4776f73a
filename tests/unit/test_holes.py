"""Expected scores where models lack datasets, against least squares, and tables of known truth."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from capmap.errors import ValidationError
from capmap.ranking import aggregation, rank_sets
from capmap.ranking.estimates import Options, bootstrap_models
from capmap.ranking.holes import Effects, fit_effects
from capmap.rng import make_stream
from capmap.settings.choices import Unit


def draw(
    number: int, *, models: int = 6, datasets: int = 8, seeds: int = 3, spread: float = 0.05
) -> pd.DataFrame:
    """Runs of an additive table with interactions, all cells filled."""
    rng = np.random.default_rng(number)
    level = rng.random((models, 1)) * 0.4 + rng.random((1, datasets)) * 0.6
    level = level + spread * rng.standard_normal((models, datasets))
    rows = [
        (f"m{m}", f"d{d}", str(s), level[m, d] + 0.01 * rng.standard_normal())
        for m, d, s in product(range(models), range(datasets), range(seeds))
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def mask(runs: pd.DataFrame, share: float, number: int = 0) -> pd.DataFrame:
    """Leave out cells at random, but none of the first model and the first dataset."""
    rng = np.random.default_rng(number)
    cells = runs[["model", "dataset"]].drop_duplicates()
    is_fixed = cells["model"].eq("m0") | cells["dataset"].eq("d0")
    return runs.merge(cells[is_fixed | (rng.random(len(cells)) > share)])


def estimate(runs: pd.DataFrame, *, unit: Unit = "runs", adjust: bool = True) -> pd.DataFrame:
    return bootstrap_models(
        runs,
        statistics=["iqm", "mean"],
        options=Options(unit=unit),
        make_rng=lambda *_: make_stream(0, "test"),
        effects=fit_effects(aggregation.summarize_cells(runs)) if adjust else None,
    ).set_index(["statistic", "model"])


def fill(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with the expected scores where there are none, models by datasets."""
    effects = fit_effects(cells)
    assert effects is not None
    rows = {}
    for model, own in cells.groupby("model"):
        known = dict(zip(own["dataset"], own["mean"], strict=True))
        rows[model] = known | effects.fill(known)
    return pd.DataFrame(rows).T.sort_index(axis=1)


def test_effects_are_those_of_least_squares() -> None:
    cells = aggregation.summarize_cells(mask(draw(0), 0.4))
    effects = fit_effects(cells)
    assert effects is not None
    design = pd.get_dummies(cells[["model", "dataset"]], dtype=float)
    solution, _, rank, _ = np.linalg.lstsq(design.to_numpy(), cells["mean"], rcond=None)
    found = solution[6:] - solution[6:].mean()
    assert list(effects.datasets.values()) == pytest.approx(found, abs=1e-9)
    assert effects.freedom == len(cells) - rank
    apart = cells["mean"] - design.to_numpy() @ solution
    assert effects.variance == pytest.approx((apart**2).sum() / (len(cells) - rank))


def test_an_additive_table_is_completed_exactly() -> None:
    runs = draw(1, spread=0).groupby(["model", "dataset"]).head(1)
    level = np.add.outer(np.linspace(0, 0.4, 6), np.linspace(0.1, 0.5, 8) ** 2)
    runs = runs.assign(score=level.ravel())
    cells = aggregation.summarize_cells(mask(runs, 0.5))
    assert fill(cells).to_numpy() == pytest.approx(level, abs=1e-9)


def test_full_tables_need_no_effects() -> None:
    assert fit_effects(aggregation.summarize_cells(draw(2))) is None


def test_models_without_a_link_are_refused() -> None:
    runs = draw(3)
    apart = runs[runs["model"].isin(["m0", "m1"]) == runs["dataset"].isin(["d0", "d1"])]
    with pytest.raises(ValidationError, match=r"4 models with the others.*'m2'"):
        fit_effects(aggregation.summarize_cells(apart))


def test_an_effect_is_known_as_well_as_the_cells_that_it_is_made_of() -> None:
    known = Effects({"x": 0.5, "y": -0.5}, 2.0, 3.0, {"x": 1, "y": 2})
    assert known.predict_variance(["x", "y"]) == 2 * (1 + (1 + 1 / 2) / 2)
    unknown = Effects({"x": 0.5}, None, 0.0, {"x": 1})
    assert np.isnan(unknown.predict_variance(["x"]))


@pytest.mark.parametrize("unit", ["runs", "seeds", "runs_and_datasets"])
def test_complete_models_keep_their_estimate(unit: Unit) -> None:
    runs = mask(draw(4), 0.4)
    adjusted, plain = estimate(runs, unit=unit), estimate(runs, unit=unit, adjust=False)
    columns = ["estimate", "ci_low", "ci_high", "filled"]
    pd.testing.assert_series_equal(
        adjusted.loc[("iqm", "m0"), columns], plain.loc[("iqm", "m0"), columns]
    )
    filled = (adjusted["filled"] > 0).loc["mean"]
    assert filled.any()
    assert (adjusted["datasets"] + adjusted["filled"]).eq(8).all()
    if unit == "runs":
        width, own = (
            (table["ci_high"] - table["ci_low"]).loc["mean"] for table in (adjusted, plain)
        )
        assert (width[filled] > own[filled]).all()


def test_intervals_hold_what_the_complete_table_would_give() -> None:
    held = {True: [], False: []}
    for number in range(40):
        complete = draw(number, models=8, datasets=12)
        truth = estimate(complete).loc["iqm", "estimate"]
        for adjust, rows in held.items():
            table = estimate(mask(complete, 0.4, number), adjust=adjust).loc["iqm"]
            some = table[table["datasets"] < 12]
            own = truth[some.index]
            rows += (some["ci_low"].le(own) & some["ci_high"].ge(own)).tolist()
    assert 0.92 < np.mean(held[True]) < 1
    assert np.mean(held[False]) < 0.4


@pytest.mark.parametrize("unit", ["runs", "seeds", "runs_and_datasets"])
def test_equal_models_with_holes_are_seldom_separated(unit: Unit) -> None:
    # Levels are equal; what differs is what each model has of the interactions.
    separated = []
    for number in range(60):
        rng = np.random.default_rng(number)
        runs = draw(number, datasets=12, spread=0)
        level = rng.random(12)[None, :] + 0.1 * rng.standard_normal((6, 12))
        level -= level.mean(axis=1, keepdims=True)
        noise = 0.01 * rng.standard_normal((6, 12, 3))
        runs = mask(runs.assign(score=(level[:, :, None] + noise).ravel()), 0.5, number)
        table = estimate(runs, unit=unit).loc["mean"].reset_index()
        ranked = rank_sets.rank_models(table, "mean", confidence_level=0.95)
        separated.append(ranked["rank_high_all"].lt(6).any())
    assert np.mean(separated) <= 0.15


def test_without_spare_cells_adjusted_models_have_no_interval() -> None:
    runs = draw(6, models=2, datasets=4)
    table = estimate(runs[runs["model"].eq("m0") | runs["dataset"].eq("d0")]).loc["iqm"]
    assert table["ci_low"].isna().tolist() == [False, True]


def test_expected_scores_stay_within_the_scale() -> None:
    effects = Effects({"x": -125.0, "y": 41.0, "z": -60.0}, None, 0.0, {"x": 4, "y": 3, "z": 3})
    assert effects.fill({"x": 0.25}) == {"y": 1.0, "z": 1.0}
    # A model beyond a reference model may be as far beyond it elsewhere.
    assert effects.fill({"x": 2.5}) == {"y": 2.5, "z": 2.5}
    assert effects.fill({"y": 0.5}) == {"x": 0.0, "z": 0.0}
