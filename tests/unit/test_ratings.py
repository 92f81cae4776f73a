"""Ratings from battles, their intervals, and win rates."""

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from capmap.analyses.ratings import BASE, RIDGE, find_separated, fit_strengths, rate_models
from tests.toy_runs import make_runs


def draw_runs(seed: int, *, models: int = 5, datasets: int = 6, seeds: int = 3) -> pd.DataFrame:
    """A complete benchmark of scores with two decimals, so that there are ties."""
    rng = np.random.default_rng(seed)
    cells = itertools.product(range(models), range(datasets), range(seeds))
    levels = rng.normal(0.5, 0.2, (models, datasets, seeds)).round(2)
    return make_runs(*((f"m{m}", f"d{d}", levels[m, d, s] + 0.05 * m, f"{s}") for m, d, s in cells))


def hide_runs(runs: pd.DataFrame, seed: int, *, share: float) -> pd.DataFrame:
    """Runs with some of them missing, at least one left."""
    kept = np.random.default_rng(seed).random(len(runs)) >= share
    kept[0] = True
    return runs[kept].reset_index(drop=True)


rate = partial(rate_models, study="toy", n_resamples=50, confidence_level=0.95, seed=0)


def rate_points(runs: pd.DataFrame, **options: Any) -> pd.Series:
    return rate(runs, n_resamples=1, **options).set_index("model")["elo"].sort_index()


def list_battles(runs: pd.DataFrame) -> pd.DataFrame:
    """Battles one by one, by the definition: model_a, model_b, share of a (1, ½, 0) and weight."""
    rows = []
    for _, own in runs.groupby("dataset"):
        means = own.groupby("model")["score"].mean()
        pairs = list(itertools.combinations(means.index, 2))
        for a, b in pairs:
            gap = round(means[a] - means[b], 12)
            rows.append((a, b, 0.5 if gap == 0 else float(gap > 0), 1 / len(pairs)))
    return pd.DataFrame(rows, columns=["model_a", "model_b", "share", "weight"])


def regress(battles: pd.DataFrame, models: list[str]) -> pd.Series:
    """Ratings by scikit-learn, each tie as two battles of half the weight."""
    from sklearn.linear_model import LogisticRegression

    wins = battles[battles["share"] > 0].assign(won=1)
    losses = battles[battles["share"] < 1].assign(won=0)
    rows = pd.concat([wins, losses])
    weights = rows["weight"] * np.where(rows["share"] == 0.5, 0.5, 1)
    design = np.zeros((len(rows), len(models)))
    design[np.arange(len(rows)), [models.index(name) for name in rows["model_a"]]] = np.log(10)
    design[np.arange(len(rows)), [models.index(name) for name in rows["model_b"]]] = -np.log(10)
    fit = LogisticRegression(
        fit_intercept=False, C=1e6, tol=1e-12, solver="newton-cholesky", max_iter=1000
    ).fit(design, rows["won"], sample_weight=weights)
    return pd.Series(1000 + 400 * (fit.coef_[0] - fit.coef_[0].mean()), index=models)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_ratings_are_those_of_scikit_learn(share: float) -> None:
    runs = hide_runs(draw_runs(1), 1, share=share)
    expected = regress(list_battles(runs), sorted(runs["model"].unique()))
    ratings = rate_points(runs)
    np.testing.assert_allclose(ratings, expected, rtol=0, atol=1e-6)


def test_ratings_and_win_rates_are_those_of_evaluma() -> None:
    from evaluma.methods.elo import compute_elo

    # Continuous scores: evaluma compares differences without rounding.
    noise = np.random.default_rng(4).normal(0, 1e-3, 5 * 6 * 3)
    runs = draw_runs(3).assign(score=lambda table: table["score"] + noise)
    matrix = runs.pivot_table(index="model", columns="dataset", values="score")
    elo, win_rates = compute_elo(
        matrix, n_bootstrap=0, tie_threshold=0.0, calibration_model="m2", raw_runs=None
    )
    ratings = rate_points(runs)
    ratings += 1000 - ratings["m2"]
    # Its solver (L-BFGS) stops where the gradient is below 1e-4: up to 0.3 points from the maximum,
    # median 0.03, in 40 random benchmarks of 8 models.
    expected = elo.set_index("model")["ELO"].sort_index()
    np.testing.assert_allclose(ratings, expected, rtol=0, atol=0.5)
    table = rate(runs).set_index("model").sort_index()
    average = win_rates.apply(lambda row: row.drop(row.name).mean(), axis=1)
    np.testing.assert_allclose(table["win_rate"], average.sort_index(), rtol=0, atol=1e-12)
    # Mean ranks say the same.
    ranks = matrix.rank(ascending=False).mean(axis=1).sort_index()
    np.testing.assert_allclose(1 + 4 * (1 - table["win_rate"]), ranks, rtol=0, atol=1e-12)
    assert (table["rank"] == ranks.rank()).all()


@given(st.integers(0, 10**6), st.integers(1, 7), st.floats(0, 0.95))
def test_score_equations_hold_whatever_the_battles(seed: int, n: int, share: float) -> None:
    # Weights over many scales, pairs that never meet, models that win or lose everything.
    rng = np.random.default_rng(seed)
    wins = rng.exponential(1, (4, n, n)) ** 3 * (rng.random((4, n, n)) > share)
    wins[:, np.arange(n), np.arange(n)] = 0
    meetings = wins + wins.transpose(0, 2, 1)
    strengths = fit_strengths(wins.sum(axis=2), meetings, start=np.zeros(n))
    expected = meetings / (1 + 10 ** (strengths[:, None, :] - strengths[:, :, None]))
    gradient = BASE * (wins.sum(axis=2) - expected.sum(axis=2)) - RIDGE * strengths
    # The gradient is a difference of sums of this size.
    assert (np.abs(gradient).max(axis=1) <= 1e-12 * (1 + meetings.sum(axis=(1, 2)))).all()
    assert np.abs(strengths.mean(axis=1)).max() <= 1e-9


def test_a_model_that_wins_everything_has_a_finite_rating() -> None:
    runs = make_runs(*((f"m{i}", f"d{d}", float(i)) for i in range(6) for d in range(4)))
    table = rate(runs)
    assert table["model"].tolist() == [f"m{i}" for i in range(5, -1, -1)]
    assert np.isfinite(table["elo"]).all()
    # Resamples of the same battles are the same battles, which is no certainty: of two equal
    # models one wins on all of four datasets in an eighth of studies.
    assert table[["ci_low", "ci_high"]].isna().all(axis=None)
    assert (table["separated"] == 1).all()


def test_rounding_noise_is_a_tie() -> None:
    runs = make_runs(("a", "x", 0.1 + 0.2), ("b", "x", 0.3), ("a", "y", 0.82), ("b", "y", 0.82))
    table = rate(runs)
    assert table["elo"].tolist() == [1000, 1000]
    assert table["rank"].tolist() == [1, 1]
    assert table["win_rate"].tolist() == [0.5, 0.5]


def test_intervals_widen_with_fewer_datasets_and_hold_the_rating() -> None:
    widths = []
    for datasets in (10, 40):
        table = rate(draw_runs(10, datasets=datasets), n_resamples=400)
        assert (table["ci_low"] < table["elo"]).all()
        assert (table["elo"] < table["ci_high"]).all()
        widths.append((table["ci_high"] - table["ci_low"]).mean())
    # Twice as wide with a quarter of the datasets, but for the few battles of ten of them.
    assert 1.5 < widths[0] / widths[1] < 3


def test_a_model_on_few_datasets_has_an_interval_from_resamples_that_hold_them() -> None:
    runs = draw_runs(11, datasets=12)
    few = runs[(runs["model"] != "m4") | runs["dataset"].isin(["d1", "d2"])]
    one = runs[(runs["model"] != "m4") | (runs["dataset"] == "d1")]
    table = rate(few, n_resamples=300).set_index("model")
    assert table.loc["m4", "datasets"] == 2
    assert table.loc["m4", ["ci_low", "ci_high"]].notna().all()
    table = rate(one, n_resamples=300).set_index("model")
    assert table.loc["m4", ["ci_low", "ci_high"]].isna().all()
    assert table.drop("m4").notna().all(axis=None)


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "x", 0.5)],
        [("a", "x", 0.5), ("a", "y", 0.1)],
        [("a", "x", 0.5), ("b", "y", 0.5)],
        [("a", "x", 0.5), ("b", "x", 0.5)],
        [("a", "x", 0.5, "1"), ("a", "x", 0.6, "2"), ("b", "x", 0.7, "1"), ("b", "y", -3.0, "9")],
        [("a", "x", 0.5), ("b", "x", 0.5), ("a", "y", 0.1), ("b", "y", 0.1), ("b\n", "y", 0.2)],
    ],
)
def test_small_studies_work(rows: list[tuple[Any, ...]]) -> None:
    runs = make_runs(*rows)
    table = rate(runs)
    assert sorted(table["model"]) == sorted(runs["model"].unique())
    assert np.isfinite(table["elo"]).all()
    assert table["win_rate"].dropna().between(0, 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_separation_is_that_of_the_graph_of_wins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = np.zeros((300, 5, 5))
    first, second = np.triu_indices(5, 1)
    outcomes = rng.choice([0, 0.5, 1], (300, len(first)), p=[0.3, 0.2, 0.5])
    wins[:, first, second], wins[:, second, first] = outcomes, 1 - outcomes
    meetings, points = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    strengths = fit_strengths(points, meetings, start=np.zeros(5))
    found = find_separated(points, meetings, strengths)
    for own, is_found in zip(wins, found, strict=True):
        assert is_found == (connected_components(own > 0, connection="strong")[0] > 1)
    assert 0.05 < found.mean() < 0.999


def test_share_of_separated_resamples_is_told() -> None:
    # b beats a on one of five datasets: 0.8⁵ of resamples lack that one, 0.2⁵ have nothing else.
    scores = {"a": [0, 1, 1, 1, 1], "b": [1, 0, 0, 0, 0]}
    rows = [(model, f"d{d}", score) for model, own in scores.items() for d, score in enumerate(own)]
    separated = rate(make_runs(*rows), n_resamples=2000)["separated"]
    assert separated.tolist() == pytest.approx([0.8**5 + 0.2**5] * 2, abs=0.04)
