"""What changes the order, strengths, reliability and how many runs are needed."""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from capmap.analyses import reliability, robustness, sample_size, strengths
from capmap.claims import BETTER, WORSE, claim_strengths
from capmap.figures.canvas import NothingToDraw
from capmap.ranking.resampling import evaluate_runs, stratify_runs
from capmap.ranking.standard_errors import measure_error
from tests.steps import make_figure

KEYS = ["aggregation", "bounds", "left_out"]
VARIATIONS = ["model", "aggregation", "bounds"]


def make_runs(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Runs from (model, dataset, score)."""
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def draw_runs(
    seed: int, *, models: int = 4, datasets: int = 5, seeds: int = 3, hidden: float = 0.0
) -> pd.DataFrame:
    """A benchmark of scores with one decimal, so that there are ties; some runs may be missing."""
    rng = np.random.default_rng(seed)
    cells = [
        (f"m{model}", f"d{dataset}", round(float(rng.normal(0.5 + 0.03 * model, 0.2)), 1))
        for model in range(models)
        for dataset in range(datasets)
        for _ in range(seeds)
    ]
    kept = rng.random(len(cells)) >= hidden
    kept[::7] = True
    return make_runs(*itertools.compress(cells, kept))


def rank(scores: dict[str, float]) -> dict[str, int]:
    values = {name: round(score, 10) for name, score in scores.items()}
    return {name: 1 + sum(x > y for x in values.values()) for name, y in values.items()}


def score_iqm(runs: pd.DataFrame) -> dict[str, float]:
    return {
        str(model): evaluate_runs("iqm", stratify_runs(own["score"], own["dataset"].tolist()))
        for model, own in runs.groupby("model")
    }


def check(runs: pd.DataFrame, reported: dict[str, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables, of a study that reports these ranks."""
    ranking = pd.DataFrame({"model": list(reported), "rank": list(reported.values())})
    ranking = ranking.assign(group="", unit="runs", statistic="iqm")
    tables = robustness.check_robustness(runs, ranking)
    return tables["robustness"].set_index(KEYS), tables["robustness_ranks"].set_index(VARIATIONS)


def score_by_hand(runs: pd.DataFrame, aggregation: str, bounds: str) -> Any:
    """Scores of a variation, dataset by dataset and model by model."""
    parts = []
    for _, own in runs.groupby("dataset"):
        part = own.copy()
        if bounds == "observed":
            low, high = part["score"].min(), part["score"].max()
            if low == high:
                continue
            part["score"] = (part["score"] - low) / (high - low)
        if bounds == "ranks":
            if len(set(part["model"])) == 1:
                continue
            if aggregation != "iqm":
                part = part.groupby("model", as_index=False)["score"].mean()
                part["dataset"] = own["dataset"].iloc[0]
            ranks = stats.rankdata(-part["score"].round(12))
            part["score"] = (len(part) - ranks) / (len(part) - 1)
        parts.append(part)
    if not parts:
        return {}
    bounded = pd.concat(parts)
    if aggregation == "iqm":
        return score_iqm(bounded)
    trim = partial(stats.trim_mean, proportiontocut=0.25)
    summarize = {"mean": np.mean, "median": np.median, "trimmed_mean": trim}[aggregation]
    cells = bounded.groupby(["model", "dataset"])["score"].mean()
    return {str(name): float(summarize(own)) for name, own in cells.groupby("model")}


def correlate(ranks: dict[str, int], others: dict[str, int]) -> float:
    """Kendall's tau-b by SciPy, NaN where it is not defined."""
    if min(len(set(ranks.values())), len(set(others.values()))) < 2:
        return np.nan
    return float(stats.kendalltau([ranks[name] for name in others], list(others.values()))[0])


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.floats(0, 0.8))
def test_rankings_are_those_made_by_hand(
    seed: int, models: int, datasets: int, hidden: float
) -> None:
    runs = draw_runs(seed, models=models, datasets=datasets, seeds=2, hidden=hidden)
    extra = [("m0", "constant", 0.3), ("m0", "alone", 0.8), ("m0", "alone", 0.9)]
    runs = pd.concat([runs, make_runs(*extra, ("m1", "constant", 0.3))])
    reported = rank(score_iqm(runs))
    table, spans = check(runs, reported)
    assert len(table) == 12 * (1 + runs["dataset"].nunique())
    seen: dict[tuple[str, str], list[dict[str, int]]] = {}
    for (aggregation, bounds, left_out), row in table.iterrows():
        rest = runs[runs["dataset"] != left_out]
        ranks = rank(score_by_hand(rest, aggregation, bounds))
        seen.setdefault((aggregation, bounds), []).append(ranks)
        assert row["models"] == len(ranks)
        leaders = [name for name, place in ranks.items() if place == 1]
        assert row["best"] == min(leaders, key=lambda name: (reported[name], name), default="")
        expected = correlate({name: reported[name] for name in ranks}, ranks)
        assert row["kendall_tau"] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for (model, *kind), row in spans.iterrows():
        whole, *_ = lines = seen[tuple(kind)]
        if model not in whole:
            assert row.isna().all()
            continue
        places = [line[model] for line in lines if model in line]
        expected = [whole[model], min(places), max(places), whole[model] - reported[model]]
        assert row.tolist() == expected


def test_a_pair_that_changes_places_is_found() -> None:
    # a wins by far on x, b by little on y and z: a leads by mean, b by median and by ranks.
    rows = [("a", "x", 1.0), ("a", "y", 0.4), ("a", "z", 0.4)]
    rows += [("b", "x", 0.0), ("b", "y", 0.5), ("b", "z", 0.5)]
    table, spans = check(make_runs(*rows), {"a": 1, "b": 2})
    assert table.loc[("mean", "configured", ""), ["kendall_tau", "best"]].tolist() == [1.0, "a"]
    for variation in (
        ("median", "configured", ""),
        ("mean", "ranks", ""),
        # Without x, b is better everywhere.
        ("mean", "configured", "x"),
    ):
        assert table.loc[variation, ["kendall_tau", "best"]].tolist() == [-1.0, "b"]
    # Without y and under observed bounds, each is best once.
    assert np.isnan(table.loc[("mean", "observed", "y"), "kendall_tau"])
    assert spans.loc[("a", "median", "configured")].tolist() == [2, 1, 2, 1]
    assert spans.loc[("b", "mean", "configured")].tolist() == [2, 1, 2, 0]


SMALL = [[], [("b", "x", 0.5)], [("b", "y", 0.7)], [("a", "x", 0.6), ("b\n", "x\n", -3.0)]]


@pytest.mark.parametrize("further", SMALL)
def test_small_studies_work(further: list[tuple[Any, ...]]) -> None:
    runs = make_runs(("a", "x", 0.5), *further)
    table, spans = check(runs, rank(score_iqm(runs)))
    assert len(table) == 12 * (1 + runs["dataset"].nunique())
    assert len(spans) == 12 * runs["model"].nunique()
    assert spans["rank"].dtype == spans["shift"].dtype == "Int64"


LEVEL = 0.95


def make_runs_strengths(scores):
    """Name the models, datasets and runs of an array; NaN where there is no run."""
    model, dataset, _ = np.indices(scores.shape)
    runs = pd.DataFrame(
        {
            "model": [f"m{place:02d}" for place in model.ravel()],
            "dataset": [f"d{place:02d}" for place in dataset.ravel()],
            "score": scores.ravel(),
        }
    )
    return runs.dropna(ignore_index=True)


def measure(runs, **options):
    ranking = pd.DataFrame({"model": sorted(set(runs["model"]))})
    return strengths.measure_strengths(runs, ranking, **{"confidence_level": LEVEL, **options})


def cells_of(runs, how, shape):
    """A statistic of the runs of each cell, as an array."""
    names = [f"m{place:02d}" for place in range(shape[0])]
    found = runs.pivot_table("score", "model", "dataset", aggfunc=how)
    return found.reindex(names).to_numpy()


def draw_additive(rng, shape, *, unequal=0.0):
    n_models, n_datasets, _ = shape
    levels = rng.normal(0, 0.1, (n_models, 1, 1)) + rng.normal(0.5, 0.1, (1, n_datasets, 1))
    noise = 0.02 * np.exp(rng.normal(0, 1, (1, n_datasets, 1)))
    noise = noise * np.exp(rng.normal(0, unequal, (n_models, n_datasets, 1)))
    return levels + noise * rng.normal(size=shape)


def count_false(shape, *, unequal, studies):
    rng = np.random.default_rng(4)
    found = [
        len(
            claim_strengths(
                measure(make_runs_strengths(draw_additive(rng, shape, unequal=unequal))),
                confidence_level=LEVEL,
            )
        )
        > 0
        for _ in range(studies)
    ]
    return sum(found)


@pytest.mark.parametrize(
    ("shape", "unequal"), [((5, 5, 3), 0.0), ((3, 4, 2), 0.5), ((4, 8, 5), 1.0)]
)
def test_false_findings_are_no_more_frequent_than_the_level_says(shape, unequal):
    studies = 120
    false = count_false(shape, unequal=unequal, studies=studies)
    assert stats.binomtest(false, studies, 0.05, alternative="greater").pvalue > 0.001


def test_a_strength_that_is_there_is_found():
    scores = draw_additive(np.random.default_rng(1), (6, 8, 5))
    scores[2, 3] += 0.6
    scores[4, 1] -= 0.6
    table = measure(make_runs_strengths(scores))
    claims = claim_strengths(table, confidence_level=LEVEL)
    found = {(claim.subject, claim.relation, claim.object) for claim in claims}
    assert {("m02", BETTER, "d03"), ("m04", WORSE, "d01")} <= found


def test_errors_are_those_of_the_dense_residual_matrix():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(5, 6, 4)) * rng.uniform(0.5, 2, (5, 6, 1))
    scores[0, 0] = np.nan
    scores[2, 4, 2:] = np.nan
    scores[3, 1, 1:] = np.nan
    runs = make_runs_strengths(scores)
    table = measure(runs).set_index(["model", "dataset"]).sort_index()
    cells = runs.groupby(["model", "dataset"])["score"].agg(["mean", "count"])
    models, datasets = (cells.index.get_level_values(level) for level in (0, 1))
    design = np.hstack([pd.get_dummies(names).to_numpy(float) for names in (models, datasets)])
    residual = np.eye(len(cells)) - design @ np.linalg.pinv(design)
    counts = (~np.isnan(scores)).sum(axis=2)
    variances = cells_of(runs, "var", counts.shape)
    moderated, df = strengths.moderate_variances(variances, counts)
    filled = counts > 0
    noise = moderated[filled] / counts[filled]
    error = np.sqrt(residual**2 @ noise)
    assert_allclose(table["difference"], residual @ cells["mean"], atol=1e-12)
    own = np.diag(residual) ** 2 * noise
    freedom = error**4 / (own**2 / df[filled] + (error**2 - own) ** 2 / df[filled].min())
    half = stats.t.ppf(1 - 0.05 / 2 / len(cells), freedom) * error
    assert_allclose((table["ci_high"] - table["ci_low"]) / 2, half, rtol=1e-9)


def test_moderated_variances_find_the_center_and_its_degrees_of_freedom():
    rng = np.random.default_rng(8)
    prior, center, n = 6.0, np.array([1.0, 100.0]), 4
    true = center * prior / rng.chisquare(prior, (4000, 2))
    variances = true * rng.chisquare(n - 1, true.shape) / (n - 1)
    moderated, df = strengths.moderate_variances(variances, np.full(true.shape, n))
    known = (prior * center + (n - 1) * variances) / (prior + n - 1)
    assert_allclose(moderated, known, rtol=0.1)
    assert_allclose(df, n - 1 + prior / 2, rtol=0.08)


def test_single_runs_and_runs_that_do_not_vary_tell_nothing():
    scores = np.random.default_rng(0).normal(size=(3, 4, 1))
    for given_scores in (scores, np.repeat(scores, 3, axis=2)):
        table = measure(make_runs_strengths(given_scores))
        assert table[["ci_low", "ci_high"]].isna().all(axis=None)
        assert claim_strengths(table, confidence_level=LEVEL) == []
        with pytest.raises(NothingToDraw):
            make_figure("strengths", table)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-5, 5))
def test_order_shift_and_scale_change_nothing_else(seed, scale, shift):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(4, 3, 3))
    scores[0, 0, 1:] = np.nan
    runs = make_runs_strengths(scores)
    table = measure(runs)
    shuffled = measure(runs.sample(frac=1, random_state=seed % 1000))
    pd.testing.assert_frame_equal(shuffled, table, rtol=1e-9)
    moved = measure(runs.assign(score=scale * runs["score"] + shift))
    sizes = ["difference", "ci_low", "ci_high"]
    both = [one.set_index(["model", "dataset"]).sort_index()[sizes] for one in (moved, table)]
    assert_allclose(both[0], scale * both[1], rtol=1e-6, atol=1e-9)


def fit(scores, filled):
    """Fitted values and leverages."""
    return strengths.fit_levels(scores, np.zeros(filled.shape), filled)[:2]


def test_thousands_of_models_or_datasets_need_no_matrix_of_their_own():
    rng = np.random.default_rng(0)
    filled = rng.random((20_000, 10)) < 0.8
    filled[:, 0] = True
    levels = rng.normal(size=(20_000, 1)) + rng.normal(size=10)
    for lay in (np.asarray, np.transpose):
        fitted, leverage = fit(lay(levels), lay(filled))
        assert_allclose(fitted, lay(levels), atol=1e-9)
        assert_allclose(leverage[lay(filled)].sum(), 20_000 + 10 - 1)


# Shrout and Fleiss (1979), table 2: six targets rated by four judges.
RATINGS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def make_runs_reliability(scores: np.ndarray) -> pd.DataFrame:
    """Runs of the shape (models, datasets, seeds)."""
    places = np.indices(scores.shape).reshape(3, -1)
    columns = {
        kind: [f"{kind[0]}{place:03d}" for place in row]
        for kind, row in zip(("model", "dataset", "seed"), places, strict=True)
    }
    return pd.DataFrame({**columns, "score": scores.ravel()})


def assess(scores: np.ndarray, level: float = 0.95) -> pd.DataFrame:
    return reliability.assess_reliability(make_runs_reliability(scores), confidence_level=level)


def draw(number: int, *, models: int = 12, datasets: int = 9, seeds: int = 4) -> np.ndarray:
    """Scores with variances 0.04, 0.02, 0.01 and 0.0025 of models, datasets, cells and runs."""
    rng = np.random.default_rng(number)
    parts = [(models, 1, 1), (1, datasets, 1), (models, datasets, 1), (models, datasets, seeds)]
    spreads = (0.2, np.sqrt(0.02), 0.1, 0.05)
    noise = [sd * rng.standard_normal(shape) for sd, shape in zip(spreads, parts, strict=True)]
    return np.asarray(sum(noise))


def test_coefficients_are_those_of_shrout_and_fleiss() -> None:
    row = assess(np.array(RATINGS, float)[:, :, None]).iloc[0]
    # As they print it, and its ends as the R package psych does.
    assert row[["relative", "ci_low", "ci_high"]].round(2).tolist() == [0.91, 0.68, 0.99]


def test_the_interval_holds_the_true_coefficient() -> None:
    truth = 0.04 / (0.04 + (0.01 + 0.0025 / 4) / 9)
    rows = [assess(draw(number)).iloc[0] for number in range(300)]
    held = np.mean([row["ci_low"] <= truth <= row["ci_high"] for row in rows])
    assert held == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 300))


@pytest.mark.parametrize("number", [179, 190, 252])
def test_the_interval_holds_the_coefficient_where_a_component_became_0(number: int) -> None:
    rng = np.random.default_rng(number)
    tables = assess(rng.standard_normal((3, 1, 1)) + rng.standard_normal((3, 3, 2)))
    row = tables.iloc[0]
    assert row["relative"] == row["ci_low"] > 0, "it lay below"


@given(st.integers(0, 10**6))
def test_order_scale_and_gaps(number: int) -> None:
    scores = draw(number, models=4, datasets=5, seeds=2)
    runs = make_runs_reliability(scores)
    found = assess(scores)
    turned = runs.sample(frac=1, random_state=0).assign(score=1 + 2 * runs["score"])
    more = pd.DataFrame({"model": ["m000"], "dataset": ["other"], "seed": ["0"], "score": [0.5]})
    other = reliability.assess_reliability(pd.concat([turned, more]), confidence_level=0.95)
    assert other.to_numpy() == pytest.approx(found.to_numpy(), nan_ok=True, abs=1e-9)


def test_constant_and_tiny_tables_are_told_as_such() -> None:
    flat = assess(np.full((3, 4, 2), 0.1 + 0.2))
    assert flat["relative"].eq(0).all()
    assert flat["ci_high"].dropna().eq(0).all()
    for scores in (draw(0, models=1), draw(0, datasets=1)):
        assert assess(scores).empty
    apart = make_runs_reliability(draw(0, models=2, datasets=2))
    apart = apart[(apart["model"] == "m000") == (apart["dataset"] == "d000")]
    nothing = reliability.assess_reliability(apart, confidence_level=0.95)
    assert nothing.empty


def make_cells(cells):
    """Make runs from {(model, dataset): scores}."""
    rows = [
        (model, dataset, str(seed), score)
        for (model, dataset), scores in cells.items()
        for seed, score in enumerate(scores)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"]).assign(resolution=0.0)


def measure_sample_size(runs):
    return sample_size.measure_noise(runs)


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
        pilot = sample_size.find_detectable(
            measure_sample_size(make_cells(cells)), confidence_level=0.95
        )
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
    noise = measure_sample_size(make_cells({("A", "D"): [0.5, 0.5], ("B", "D"): [0.6, 0.6]}))
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
    own = measure_sample_size(runs)["A"]
    assert (own.variances / own.draws).sum() == pytest.approx(error.value**2, rel=1e-9)
    assert own.find_freedom(own.draws) == pytest.approx(error.freedom, rel=1e-9)


def test_single_runs_borrow_the_variance_of_other_cells():
    # B has none of its own, so that of the study: A on x and y, (0.02 + 0.0002) / 3; half of the
    # weight of its run is kept.
    cells = {("A", "x"): [0.5, 0.6, 0.7], ("A", "y"): [0.6, 0.62], ("B", "x"): [0.5]}
    noise = measure_sample_size(make_cells(cells))
    np.testing.assert_allclose(noise["B"].variances, 0.0202 / 3 / 0.5**2)
    bare = measure_sample_size(make_cells({("A", "x"): [0.5], ("B", "x"): [0.6]}))
    assert sample_size.find_detectable(bare, confidence_level=0.95).empty
