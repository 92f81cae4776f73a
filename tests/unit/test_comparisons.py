"""Ratings, profiles, improvability, conditions and the front of score against cost."""

import itertools
import math
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse.csgraph import connected_components

from capmap.analyses import conditions, frontier, improvability, profiles, ratings
from tests.report_pages import make_ranking
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


rate = partial(ratings.rate_models, study="toy", n_resamples=50, confidence_level=0.95, seed=0)


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
    strengths = ratings.fit_strengths(wins.sum(axis=2), meetings, start=np.zeros(n))
    expected = meetings / (1 + 10 ** (strengths[:, None, :] - strengths[:, :, None]))
    gradient = ratings.BASE * (wins.sum(axis=2) - expected.sum(axis=2)) - ratings.RIDGE * strengths
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
    strengths = ratings.fit_strengths(points, meetings, start=np.zeros(5))
    found = ratings.find_separated(points, meetings, strengths)
    for own, is_found in zip(wins, found, strict=True):
        assert is_found == (connected_components(own > 0, connection="strong")[0] > 1)
    assert 0.05 < found.mean() < 0.999


def test_share_of_separated_resamples_is_told() -> None:
    # b beats a on one of five datasets: 0.8⁵ of resamples lack that one, 0.2⁵ have nothing else.
    scores = {"a": [0, 1, 1, 1, 1], "b": [1, 0, 0, 0, 0]}
    rows = [(model, f"d{d}", score) for model, own in scores.items() for d, score in enumerate(own)]
    separated = rate(make_runs(*rows), n_resamples=2000)["separated"]
    assert separated.tolist() == pytest.approx([0.8**5 + 0.2**5] * 2, abs=0.04)


INF = np.inf


def draw_raw(seed: int, models: int, datasets: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Positive raw scores of a complete benchmark with mixed directions, and bounds around them."""
    rng = np.random.default_rng(seed)
    raw = rng.uniform(0.5, 3.0, (models, datasets)) * 10.0 ** rng.integers(-2, 3, datasets)
    directions = rng.choice(["max", "min"], datasets)
    low = rng.uniform(-1, 0.4, datasets) * raw.max(axis=0)
    high = low + rng.uniform(0.5, 2, datasets) * raw.max(axis=0)
    names = [f"D{place:02d}" for place in range(datasets)]
    return raw, pd.DataFrame({"dataset": names, "direction": directions, "low": low, "high": high})


def profile(raw: np.ndarray, bounds: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables, of models M0, M1 and so on; NaN where there is no run."""
    # As the study has them: in parts of the distance of the bounds, less is worse.
    spans = (bounds["high"] - bounds["low"]).to_numpy()
    scores = np.where(bounds["direction"] == "max", raw, -raw) / spans
    rows = [
        (f"M{place[0]}", bounds["dataset"][place[1]], score)
        for place, score in np.ndenumerate(scores)
        if score == score
    ]
    runs = pd.DataFrame(rows, columns=["model", "dataset", "raw"])
    tables = profiles.profile_models(runs, bounds)
    return tables["profiles"], tables["profile_area"]


def profile_shares(*rows: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables of scores of which higher is better, with bounds 0 and 1."""
    raw = np.array(rows, dtype=float)
    names = [f"D{place}" for place in range(raw.shape[1])]
    bounds = pd.DataFrame({"dataset": names, "direction": "max", "low": 0.0, "high": 1.0})
    return profile(raw, bounds)


@pytest.mark.parametrize("seed", range(6))
def test_profiles_and_areas_agree_with_evaluma(seed: int) -> None:
    from evaluma.methods.profiles import compute_profiles

    raw, bounds = draw_raw(seed, models=2 + seed, datasets=1 + 3 * seed)
    raw[0, 0] = raw[1, 0]
    models = [f"M{place}" for place in range(len(raw))]
    directions = dict(zip(bounds["dataset"], bounds["direction"], strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = compute_profiles(pd.DataFrame(raw, models, bounds["dataset"]), directions)
        expected = peer.aup[models].to_numpy()
    curves, areas = profile(raw, bounds)
    for model, own in curves.groupby("model"):
        theirs = peer.table[peer.table["model"] == model].sort_values("tau")
        place = np.searchsorted(own["tau"], theirs["tau"] * (1 + 1e-8), side="right") - 1
        mine = own["fraction"].to_numpy()[place]
        np.testing.assert_allclose(mine, theirs["fraction_within_tau"], atol=1e-12)
    np.testing.assert_allclose(areas.set_index("model").loc[models, "area"], expected, atol=1e-10)


@pytest.mark.parametrize(
    ("scores", "is_max", "expected"),
    [
        # An error of zero is reached by no factor.
        ([0.0, 0.0, 1e-9], False, [1, 1, INF]),
        # A best score that is not positive leaves no ratios; nor does a negative error.
        ([0.0, -1.0], True, [np.nan] * 2),
        ([-2.0, -1.0], True, [np.nan] * 2),
        ([-0.1, 3.0], False, [np.nan] * 2),
        ([0.5, np.nan, 0.25], True, [1, np.nan, 2]),
    ],
)
def test_scores_of_zero_or_less(scores: list[float], is_max: bool, expected: list[float]) -> None:
    ratios = profiles.compute_ratios(np.array(scores)[:, None], np.array([is_max]))
    np.testing.assert_array_equal(ratios[:, 0], expected)


def test_one_score_of_zero_costs_nobody_else_a_profile() -> None:
    before, _ = profile_shares([0.8, 0.5], [0.4, 0.5], [0.4, 0.25])
    after, areas = profile_shares([0.8, 0.5], [0.4, 0.5], [0.0, 0.25])
    assert after[after["model"] != "M2"].equals(before[before["model"] != "M2"])
    # M2 is never within a factor on the first dataset, and within 2 on the second one.
    own = after.loc[after["model"] == "M2", ["tau", "fraction"]]
    assert own.to_numpy().tolist() == [[1.0, 0.0], [2.0, 0.5]]
    # The largest ratio is 2: M0 is best everywhere, M1 once at it, M2 never nearer.
    assert areas["share"].tolist() == [1.0, 0.5, 0.0]


def test_models_without_ratios_and_equal_models() -> None:
    curves, areas = profile_shares([0.5, np.nan], [0.5, 0.0])
    assert curves.to_numpy().tolist() == [["M0", 1.0, 1.0], ["M1", 1.0, 1.0]]
    assert areas[["area", "share", "rank", "datasets"]].to_numpy().tolist() == [[0, 1, 1, 1]] * 2
    curves, areas = profile_shares([0.0], [-0.1])
    assert curves.empty
    assert areas[["area", "share", "rank"]].isna().all(axis=None)


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 5))
def test_ratios_do_not_depend_on_units_or_order(seed: int, models: int, datasets: int) -> None:
    raw, bounds = draw_raw(seed, models, datasets)
    is_max = (bounds["direction"] == "max").to_numpy()
    ratios = profiles.compute_ratios(raw, is_max)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(models), rng.permutation(datasets)
    scaled = raw[rows][:, columns] * rng.uniform(0.1, 10, datasets)
    again = profiles.compute_ratios(scaled, is_max[columns])
    np.testing.assert_allclose(again, ratios[rows][:, columns], rtol=1e-10)
    assert (ratios >= 1).all()
    assert (ratios.min(axis=0) == 1).all()


BOUNDS = ["dataset", "metric", "direction", "low", "high"]


def make_runs_improvability(*rows):
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def make_bounds(*rows):
    return pd.DataFrame(rows, columns=BOUNDS)


SHARE = make_bounds(*((name, "accuracy", "max", 0.0, 1.0) for name in "xyz"))


def improve(runs, bounds=SHARE, **datasets):
    return improvability.measure_improvability(runs, bounds, datasets=datasets)


def draw_benchmark(seed, models, datasets, runs=1):
    """Raw scores (models, datasets, runs) with mixed directions, bounds, and normalized runs."""
    rng = np.random.default_rng(seed)
    directions = rng.choice(["max", "min"], datasets)
    raw = rng.uniform(0.2, 0.9, (models, datasets, runs))
    names = [f"D{place}" for place in range(datasets)]
    metrics = np.where(directions == "max", "accuracy", "error rate")
    low, high = rng.uniform(0, 0.2, datasets), rng.uniform(0.7, 1, datasets)
    bounds = make_bounds(*zip(names, metrics, directions, low, high, strict=True))
    return raw, bounds, normalize(raw, bounds)


def normalize(raw, bounds):
    low, high = (bounds[side].to_numpy()[None, :, None] for side in ("low", "high"))
    scores = (raw - low) / (high - low)
    is_max = (bounds["direction"] == "max").to_numpy()[None, :, None]
    rows = [
        (f"M{model}", bounds["dataset"][dataset], score)
        for (model, dataset, _), score in np.ndenumerate(np.where(is_max, scores, 1 - scores))
    ]
    return make_runs_improvability(*rows)


@pytest.mark.parametrize("seed", range(6))
def test_improvability_agrees_with_evaluma(seed):
    from evaluma.methods.improvability import compute_improvability

    raw, bounds, runs = draw_benchmark(seed, models=2 + seed, datasets=1 + 2 * seed)
    directions = dict(zip(bounds["dataset"], bounds["direction"], strict=True))
    optima = {name: 1.0 if way == "max" else 0.0 for name, way in directions.items()}
    models = [f"M{place}" for place in range(len(raw))]
    scores = pd.DataFrame(raw[:, :, 0], index=models, columns=bounds["dataset"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = compute_improvability(scores, directions, optima).table.set_index("model")
    mine = improve(runs, bounds).set_index("model")
    expected = theirs.loc[mine.index, "improvability"]
    np.testing.assert_allclose(mine["improvability"], expected, atol=1e-10)


def test_improvability_by_hand():
    # Errors: x 0.1 and 0.2, y 0.4 and 0.3. a: (0 + 1/4) / 2; b: (1/2 + 0) / 2.
    table = improve(
        make_runs_improvability(("a", "x", 0.9), ("b", "x", 0.8), ("a", "y", 0.6), ("b", "y", 0.7))
    )
    assert table.to_numpy().tolist() == [["a", 12.5, 1, 2], ["b", 25.0, 2, 2]]


@pytest.mark.parametrize(
    ("metric", "direction", "low", "high", "expected"),
    [
        ("accuracy", "max", 0.1, 0.9, (1.0, True)),
        ("R2", "max", -3.0, 0.8, (1.0, True)),
        ("RMSE", "min", 0.5, 4.0, (0.0, True)),
        ("neg_root_mean_squared_error", "max", -4.0, -0.5, (0.0, True)),
        # Somebody's own idea of the direction: the lowest accuracy is 0.
        ("accuracy", "min", 0.1, 0.9, (0.0, True)),
        # Percent: natural bounds are those of shares, a hundred times.
        ("accuracy", "max", 55.0, 88.0, (100.0, True)),
        ("error rate", "min", 5.0, 80.0, (0.0, True)),
        ("accuracy", "max", 55.0, 120.0, (120.0, False)),
        ("kappa", "max", 20.0, 80.0, (80.0, False)),
        # The worse bound leaves the natural ones, the better one is the natural one.
        ("accuracy", "max", -0.5, 1.0, (1.0, True)),
        # Not known, or known to have no best score.
        ("quality", "max", 0.0, 5.0, (5.0, False)),
        ("RMSE", "max", 0.5, 4.0, (4.0, False)),
    ],
)
def test_optimum_is_the_natural_best_or_the_bound_of_the_best_side(
    metric, direction, low, high, expected
):
    row = improvability.find_optima(make_bounds(("x", metric, direction, low, high)), {}).iloc[0]
    assert (row["optimum"], row["is_known"]) == expected


def test_transform_has_an_optimum_of_its_own():
    bounds = make_bounds(("x", "RMSE", "max", 0.2, 0.9))
    runs = make_runs_improvability(("a", "x", 0.5), ("b", "x", 1.0))
    # 0.2 + 0.5 · 0.7 = 0.55, so errors are 0.45 and 0.1; without the transform 0.35 and 0.
    scaled = improve(runs, bounds, x={"transform": {"scale_rmse": {"std": 0.25}}})
    assert scaled["improvability"].tolist() == pytest.approx([0, 100 * 0.35 / 0.45])
    assert improve(runs, bounds)["improvability"].tolist() == [0, 100]


def test_score_beyond_the_optimum_has_no_error():
    bounds = make_bounds(("x", "quality", "max", 0.0, 5.0))
    table = improve(
        make_runs_improvability(("a", "x", 1.2), ("b", "x", 1.0), ("c", "x", 0.5)), bounds
    )
    assert table["improvability"].tolist() == [0.0, 0.0, 100.0]
    assert table["rank"].tolist() == [1, 1, 3]


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_improvability_does_not_depend_on_bounds_or_order(seed, models, datasets, repeats):
    raw, bounds, runs = draw_benchmark(seed, models, datasets, repeats)
    before = improve(runs, bounds)
    assert before["improvability"].between(0, 100).all()
    other = bounds.assign(low=bounds["low"] / 2, high=(1 + bounds["high"]) / 2)
    shuffled = normalize(raw, other).sample(frac=1, random_state=seed)
    after = improve(shuffled, other.sample(frac=1, random_state=seed))
    np.testing.assert_allclose(before["improvability"], after["improvability"], atol=1e-7)


COUNTS = conditions.AGREEMENT[2:]


def make_runs_conditions(scores: np.ndarray, *, models: str = "abcdefghijklmnop") -> pd.DataFrame:
    """Make runs from scores by model, dataset and seed; NaN where there is none."""
    rows = [
        (models[place[0]], f"d{place[1]}", str(place[2]), score)
        for place, score in np.ndenumerate(scores)
        if not math.isnan(score)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def draw(seed: int, *, models: int = 6, datasets: int = 5, seeds: int = 3) -> np.ndarray:
    """Draw scores of models whose abilities are the same for all seeds of the draw."""
    abilities = np.random.default_rng(7).normal(size=(models, 1, 1))
    return abilities + np.random.default_rng(seed).normal(size=(models, datasets, seeds))


def compare(runs: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.Series, pd.DataFrame]:
    row, ranks = conditions.compare_condition(runs, other)
    return pd.Series(row, index=conditions.AGREEMENT[1:]), ranks.set_index("model")


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_coefficients_are_those_of_scipy(models: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(levels + 1, size=(2, models)).astype(float)
    # Scores on two datasets, so that means are those numbers.
    runs = [make_runs_conditions(np.stack([own, own], axis=1)[:, :, None]) for own in (one, other)]
    row, _ = compare(*runs)
    expected = stats.kendalltau(one, other).statistic
    if len(set(one)) == 1 or len(set(other)) == 1:
        expected = np.nan
    np.testing.assert_allclose(row["kendall_tau"], expected, atol=1e-12)


def test_one_exchange_of_three_costs_a_third() -> None:
    # Means 3, 2, 1 against 3, 1, 2: one of three pairs is turned, so tau = (2 - 1) / 3.
    scores = np.array([[3.0, 3], [2, 2], [1, 1]])[:, :, None]
    row, ranks = compare(make_runs_conditions(scores), make_runs_conditions(scores[[0, 2, 1]]))
    assert row.tolist() == pytest.approx([1 / 3, 3, 2])
    assert ranks["rank"].tolist() == [1, 2, 3]
    assert ranks["rank_other"].tolist() == [1, 3, 2]
    assert ranks["change"].tolist() == [0, 1, -1]
    assert ranks["score_other"].tolist() == [3, 1, 2]


def test_each_model_is_compared_on_the_datasets_that_it_has_in_both() -> None:
    first, second = draw(0), draw(1)
    first[0, 1] = np.nan
    second[2, 3:] = np.nan
    second[3, 1:] = np.nan
    row, ranks = compare(make_runs_conditions(first), make_runs_conditions(second))
    assert row[COUNTS].tolist() == [6, 5]
    for place, kept in ((0, [0, 2, 3, 4]), (2, [0, 1, 2]), (3, [0]), (5, range(5))):
        own = [make_runs_conditions(side[place : place + 1, kept]) for side in (first, second)]
        _, alone = compare(own[0], own[1])
        name = "abcdef"[place]
        for column in ("score", "score_other"):
            assert ranks.loc[name, column] == pytest.approx(alone.loc["a", column], rel=1e-12)


def test_too_little_in_common_leaves_no_coefficient() -> None:
    runs = make_runs_conditions(draw(0))
    one_dataset = runs[runs["dataset"] == "d0"]
    one_model = runs[runs["model"] == "a"]
    elsewhere = runs.assign(dataset="d9")
    for other, counts in (
        (one_dataset, [6, 1]),
        (one_model, [1, 5]),
        (elsewhere, [0, 0]),
        (runs.assign(model="z"), [0, 0]),
    ):
        row, ranks = compare(runs, other)
        assert math.isnan(row["kendall_tau"])
        assert row[COUNTS].tolist() == counts
        assert len(ranks) == counts[0]


FILE = {
    "file": "",
    "name": "model",
    "architecture": "",
    "parameters": "size",
    "cost": "price",
    "date": "date",
}
VALUES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12)


def find_by_force(costs, scores):
    def beats(one, other):
        at_least = costs[one] <= costs[other] and scores[one] >= scores[other]
        return at_least and (costs[one] < costs[other] or scores[one] > scores[other])

    every = range(len(costs))
    return [not any(beats(one, other) for one in every) for other in every]


@settings(deadline=None)
@given(VALUES, st.randoms())
def test_the_front_is_what_nobody_dominates(pairs, random):
    table = pd.DataFrame(pairs, columns=["cost", "score"]).astype(float).sort_values("cost")
    front = frontier.find_front(table)
    assert front.tolist() == find_by_force(table["cost"].tolist(), table["score"].tolist())
    moved = table.assign(cost=np.log(table["cost"]), score=3 * table["score"] - 7)
    again = moved.sample(frac=1, random_state=random.randrange(99)).sort_values("cost")
    assert frontier.find_front(again).loc[front.index].equals(front)


def trace(tmp_path, attributes, scores, *, against="parameters"):
    path = tmp_path / "models.csv"
    path.write_text(attributes)
    ranking = make_ranking(model=list(scores), score=list(scores.values()))
    return frontier.trace_frontier(
        ranking, [str(path)], renamed={}, model_attributes=FILE, against=against
    )


def test_scores_that_differ_by_rounding_noise_are_equal(tmp_path):
    table = trace(tmp_path, "model,size,price,date\na,1,1,\nb,2,2,\n", {"a": 0.3, "b": 0.1 + 0.2})
    assert table["on_front"].tolist() == [True, False]


def test_dates_are_years_and_models_without_a_cost_are_left_out(tmp_path):
    text = "model,size,price,date\na,1,1,2024-07-01\nb,,2,2020-01-01\n"
    scores = {"a": 0.6, "b": 0.5, "c": 0.4}
    dates = trace(tmp_path, text, scores, against="date")
    assert dates["model"].tolist() == ["b", "a", "c"]
    assert dates["cost"].tolist()[:2] == pytest.approx([2020, 2024 + 182 / 366])
    assert dates["on_front"].tolist() == [True, True, False]
    assert trace(tmp_path, text, scores)["on_front"].tolist() == [True, False, False]
    assert trace(tmp_path, text, scores, against="cost")["on_front"].tolist() == [
        True,
        False,
        False,
    ]
