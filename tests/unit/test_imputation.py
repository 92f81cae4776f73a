"""Imputed scores where models lack datasets, against closed forms and tables of known truth."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from capmap.errors import ValidationError
from capmap.ranking.aggregation import summarize_cells
from capmap.ranking.estimates import read_effects
from capmap.ranking.holes import fill_cells
from capmap.ranking.imputation import (
    IMPUTATIONS,
    FactorDraws,
    combine_imputations,
    draw_coefficients,
    fit_factor_draws,
)
from capmap.ranking.models import Options, bootstrap_models
from capmap.ranking.ranks import rank_statistic
from capmap.ranking.resampling import stratify_runs
from capmap.ranking.standard_errors import StandardError
from capmap.ranking.statistics import estimate_population, evaluate_runs, evaluate_samples
from capmap.rng import make_stream
from capmap.settings.choices import Unit, Weights
from tests.unit.test_holes import draw, mask


def fit(runs: pd.DataFrame, seed: int = 0) -> FactorDraws:
    found = fit_factor_draws(summarize_cells(runs), rng=make_stream(seed, "imputation"))
    assert found is not None
    return found


def estimate(runs: pd.DataFrame, effects: FactorDraws, unit: Unit = "runs") -> pd.DataFrame:
    drawn = {"runs": [], "seeds": runs["seed"], "runs_and_datasets": runs["dataset"]}
    return bootstrap_models(
        runs,
        statistics=["iqm"],
        options=Options(unit=unit),
        make_rng=partial(make_stream, 0, "models"),
        drawn=sorted(set(drawn[unit])),
        effects=effects,
    )


def test_coefficients_are_those_of_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    design, values = rng.normal(size=(1, 9, 2)), rng.normal(size=(4, 9))
    weights = rng.integers(0, 3, size=(4, 9)).astype(float)
    precisions = np.array([[0.5, 2.0]])
    found = draw_coefficients(design, values, weights, precisions, None)
    for own, target, weight in zip(found, values, weights, strict=True):
        root = np.sqrt(weight)[:, None]
        rows = np.vstack([root * design[0], np.diag(np.sqrt(precisions[0]))])
        expected = np.linalg.lstsq(rows, np.append(root[:, 0] * target, [0, 0]))[0]
        assert own == pytest.approx(expected)
    each = draw_coefficients(np.tile(design, (4, 1, 1)), values, weights, precisions, None)
    assert each == pytest.approx(found)
    many = np.ones((20_000, 1))
    drawn = draw_coefficients(design, values[:1] * many, weights[:1] * many, precisions, rng)
    information = (design[0].T * weights[0]) @ design[0] + np.diag(precisions[0])
    assert np.cov(drawn.T) == pytest.approx(np.linalg.inv(information), abs=0.01)


def test_rubins_rules_by_hand() -> None:
    # Of 1, 2 and 3 the variance is 1, times 4/3; with 4 within, T = 16/3 and λ = 1/4.
    errors = [StandardError(2.0, 9.0)] * 3
    found = combine_imputations(np.array([1.0, 2, 3]), errors, freedom=np.inf, over_datasets=True)
    assert found.value**2 == pytest.approx(16 / 3)
    # Barnard and Rubin: 2 / λ² = 32, and 10 / 12 · 9 · 3 / 4 = 5.625.
    assert found.freedom == pytest.approx(1 / (1 / 32 + 1 / 5.625))
    runs = combine_imputations(np.array([1.0, 2, 3]), errors, freedom=2, over_datasets=False)
    # Between, 1 / (1 / 2 + 1 / 2) = 1 degree of freedom.
    assert runs.freedom == pytest.approx((16 / 3) ** 2 / (16 / 9 + 16 / 9))
    assert runs.imputed is not None
    assert runs.imputed @ runs.imputed == pytest.approx(4 / 3)
    same = combine_imputations(np.ones(3), errors, freedom=2, over_datasets=True)
    assert (same.value, same.freedom) == pytest.approx((2, 9))


@pytest.mark.parametrize("weights", ["runs", "datasets"])
def test_many_samples_at_once_are_each_alone(weights: Weights) -> None:
    rng = np.random.default_rng(0)
    names = [*"aaabbccccd"]
    samples = [stratify_runs(rng.random(10), names, weights=weights) for _ in range(3)]
    for statistic in ("iqm", "median"):
        found = evaluate_samples(statistic, samples)
        assert found == pytest.approx([evaluate_runs(statistic, own) for own in samples])
    found = evaluate_samples("iqm", samples, population=True)
    assert found == pytest.approx([estimate_population("iqm", own) for own in samples])


def test_full_tables_and_models_without_a_link() -> None:
    runs = draw(3)
    assert fit_factor_draws(summarize_cells(runs), rng=make_stream(0, "full")) is None
    apart = runs[runs["model"].isin(["m0", "m1"]) == runs["dataset"].isin(["d0", "d1"])]
    with pytest.raises(ValidationError, match=r"impute cannot compare 4 models.*'m2'"):
        fit(apart)


def test_order_has_no_influence_scores_may_be_scaled_and_draws_survive_being_written() -> None:
    runs = mask(draw(1), 0.4)
    effects, table = fit(runs), estimate(runs, fit(runs))
    mixed = runs.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(estimate(mixed, fit(mixed)), table)
    again = read_effects(json.loads(json.dumps({"effects": effects.to_json()})))
    assert isinstance(again, FactorDraws)
    pd.testing.assert_frame_equal(estimate(runs, again), table)
    scaled = runs.assign(score=3 * runs["score"] + 1)
    moved = estimate(scaled, fit(scaled))
    assert moved["ci_high"].to_numpy() == pytest.approx(3 * table["ci_high"] + 1, abs=1e-6)
    full = fill_cells(summarize_cells(runs), effects)
    assert len(full) == 48


@pytest.mark.parametrize("unit", ["runs", "seeds", "runs_and_datasets"])
def test_complete_models_keep_their_intervals_and_others_share_imputations(unit: Unit) -> None:
    runs = mask(draw(4), 0.4)
    found = estimate(runs, fit(runs), unit)
    plain = bootstrap_models(
        runs[runs["model"].eq("m0")],
        statistics=["iqm"],
        options=Options(unit=unit),
        make_rng=partial(make_stream, 0, "models"),
        drawn=sorted(runs["seed" if unit == "seeds" else "dataset"].unique()),
    )
    columns = ["estimate", "ci_low", "ci_high", "filled"]
    pd.testing.assert_frame_equal(found[columns][:1], plain[columns])
    parts = np.stack(found["parts"].tolist())[:, -IMPUTATIONS:]
    assert (parts[0] == 0).all()
    holes = found["filled"] > 0
    assert ((parts[holes] ** 2).sum(axis=1) <= found.loc[holes, "standard_error"] ** 2).all()
    ranked = rank_statistic(found, "iqm", confidence_level=0.95)
    assert ranked["rank_low"].notna().all()


@pytest.mark.slow
def test_intervals_hold_what_the_complete_table_would_give() -> None:
    held = []
    for number in range(4):
        complete = draw(number, models=7, datasets=12)
        truth = complete.groupby(["model", "dataset"])["score"].mean()
        some = mask(complete, 0.6, number)
        table = estimate(some, fit(some, number)).set_index("model")
        iqm = truth.groupby("model").apply(lambda own: own.sort_values().iloc[3:9].mean())
        own = iqm[table.index[table["filled"] > 0]]
        table = table.loc[own.index]
        held += (table["ci_low"].le(own) & table["ci_high"].ge(own)).tolist()
    assert len(held) > 20
    assert np.mean(held) > 0.85


def test_a_model_with_one_good_result_is_not_first_for_sure() -> None:
    runs = draw(7, models=8, datasets=12)
    best = runs.groupby("dataset")["score"].mean().idxmax()
    runs = runs[runs["model"].ne("m3") | runs["dataset"].eq(best)]
    table = estimate(runs, fit(runs))
    width = (table["ci_high"] - table["ci_low"]).set_axis(table["model"])
    assert width["m3"] > 5 * width.drop("m3").max()
    ranked = rank_statistic(table, "iqm", confidence_level=0.95).set_index("model")
    assert ranked.loc["m3", "rank"] > 1
    assert ranked.loc["m3", "rank_high"] - ranked.loc["m3", "rank_low"] >= 5
