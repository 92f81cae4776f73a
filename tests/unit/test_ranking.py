"""Cells, empty cells, aggregates over datasets, groups of them, and sets of ranks."""

import itertools
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.errors import ValidationError
from capmap.normalization.bounds import find_limits
from capmap.ranking import aggregation, choose, rank_sets
from capmap.ranking.estimates import (
    Options,
    Part,
    choose_groups,
    estimate_models,
    list_parts,
    rank_study,
)
from capmap.ranking.holes import Effects, fit_effects
from capmap.rng import make_stream
from tests.steps import make_scope
from tests.toy_scores import rank_estimates

scores = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30)


def make_runs(rows: list[tuple[str, str, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def test_cell_is_summarized_by_hand() -> None:
    # 1, 2, 3, 6: mean 3, variance (4 + 1 + 0 + 9) / 3 = 14/3.
    [cell] = aggregation.summarize_cells(
        make_runs([("m", "d", x) for x in (6.0, 1.0, 3.0, 2.0)])
    ).to_dict("records")
    assert (cell["n"], cell["mean"]) == (4, 3)
    assert cell["std"] == pytest.approx(np.sqrt(14 / 3), abs=1e-15)
    assert cell["sem"] == pytest.approx(np.sqrt(14 / 3) / 2, abs=1e-15)


def test_equal_runs_have_exactly_no_spread() -> None:
    # The naive mean of three times 0.1 is 0.10000000000000002 / ...; distances to 0.1 are 0.
    cells = aggregation.summarize_cells(make_runs([("m", "d", 0.1)] * 3))
    assert cells.loc[0, ["mean", "std"]].tolist() == [0.1, 0.0]


@settings(max_examples=60)
@given(st.lists(scores, min_size=1, max_size=6))
def test_groups_agree_with_scipy_and_numpy(groups: list[list[float]]) -> None:
    rows = [("m", f"d{place}", score) for place, own in enumerate(groups) for score in own]
    found = aggregation.summarize_cells(make_runs(rows))
    stds = [np.std(group, ddof=1) if len(group) > 1 else np.nan for group in groups]
    np.testing.assert_allclose(found["std"], stds, rtol=1e-9, atol=1e-10)


@settings(max_examples=60)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_ranks_count_the_better_ones(values: list[int]) -> None:
    better = [1 + sum(other > value for other in values) for value in values]
    assert aggregation.rank_competitors(values).tolist() == better


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-300, 1e300, -2.5e-7])
def test_extreme_numbers_survive_rounding(tiny: float) -> None:
    assert aggregation.round_significant([tiny])[0] == pytest.approx(tiny, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        aggregation.summarize_cells(make_runs([("m", "d", 1.0), ("m", "d", bad)]))
    with pytest.raises(ValueError, match="finite"):
        aggregation.rank_competitors([1.0, bad])


def test_dataset_may_be_called_model() -> None:
    cells = aggregation.summarize_cells(make_runs([("m", "model", 0.25)]))
    assert list(aggregation.unstack_cells(cells)) == ["model", "model"]


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


def estimate(runs: pd.DataFrame, *, unit: str = "runs", adjust: bool = True) -> pd.DataFrame:
    effects = fit_effects(aggregation.summarize_cells(runs)) if adjust else None
    options = Options(unit=unit, n_resamples=0)
    part = Part(runs, ["iqm", "mean"], options, lambda *_: make_stream(0, "test"), effects)
    return estimate_models([part]).set_index(["statistic", "model"])


def fill(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with the expected scores where there are none, models by datasets."""
    effects = fit_effects(cells)
    rows = {}
    for model, own in cells.groupby("model"):
        known = dict(zip(own["dataset"], own["mean"], strict=True))
        rows[model] = known | effects.fill(known)
    return pd.DataFrame(rows).T.sort_index(axis=1)


def test_effects_are_those_of_least_squares() -> None:
    cells = aggregation.summarize_cells(mask(draw(0), 0.4))
    effects = fit_effects(cells)
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
def test_complete_models_keep_their_estimate(unit: str) -> None:
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
def test_equal_models_with_holes_are_seldom_separated(unit: str) -> None:
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


EVERYTHING = (-np.inf, np.inf)


def make_bounds(*rows):
    columns = ["dataset", "metric", "direction", "low", "high", "low_origin", "high_origin"]
    return pd.DataFrame(rows, columns=columns)


def find(*rows, scores=(0.2, 0.9)):
    runs = pd.DataFrame({"dataset": [row[0] for row in rows for _ in scores]})
    return find_limits(make_bounds(*rows), runs.assign(score=[*scores] * len(rows)))


NATURAL = ("a", "accuracy", "max", 0.0, 1.0, "natural", "natural")


@pytest.mark.parametrize(
    ("row", "limits"),
    [
        # The mean of new runs may be beyond the best or worst run seen.
        (("b", "RMSE", "min", 0.0, 7.3, "natural", "metric: observed"), (-np.inf, 1)),
        (("b", "RMSE", "min", 0.2, 100.0, "metric: observed", "dataset"), EVERYTHING),
        (("b", "quality", "max", 0.0, 100.0, "metric", "metric"), (0, 1)),
        (("b", "accuracy", "max", 0.0, 100.0, "dataset", "dataset"), (0, 1)),
        # Chance, a human, a frozen reference and a model can be left behind.
        (("b", "accuracy", "max", 0.1, 1.0, "dataset", "natural"), (-np.inf, 1)),
        (("b", "reward", "max", 0.0, 100.0, "metric", "metric"), EVERYTHING),
        (("b", "quality", "max", 0.0, 7.5, "study", "study"), (0, np.inf)),
        (("b", "accuracy", "max", 0.0, 1.0, "references", "references"), EVERYTHING),
        (("b", "RMSE", "min", 0.0, 2.0, "natural", "metric: model baseline"), (-np.inf, 1)),
        (("b", "RMSE", "min", 0.0, 100.0, "natural", "metric"), (-np.inf, 1)),
    ],
)
def test_only_bounds_that_no_score_can_pass_are_limits(row, limits):
    assert find(NATURAL, row) == limits
    assert find(row, NATURAL) == limits


def test_scores_beyond_a_bound_show_that_it_is_no_limit():
    assert find(NATURAL, scores=(0.2, 1.1)) == (0, np.inf)
    assert find(NATURAL, scores=(-0.1, 0.5)) == (-np.inf, 1)


DATASETS = ["w", "x", "y", "z"]
SETTINGS = {"replicates": 100, "confidence": 0.95, "interval": "percentile", "seed": 0}


def draw_runs(
    seed: int = 0, *, models: str = "abc", holes: set[str] = frozenset(), seeds: int = 3
) -> pd.DataFrame:
    """Draw runs of models on the datasets w to z, without the cells in `holes`, such as "aw"."""
    rng = np.random.default_rng(seed)
    rows = [
        (model, dataset, str(repeat), float(rng.normal(len(models) - place)))
        for place, model in enumerate(models)
        for dataset in DATASETS
        for repeat in range(seeds)
        if model + dataset not in holes
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def choose_all(runs: pd.DataFrame, incomplete: Any = "adjust", **datasets: str) -> list:
    """Choose groups, such as ``G="wx"``."""
    definitions = {name: {"datasets": list(own)} for name, own in datasets.items()}
    return choose_groups(runs, definitions, incomplete=incomplete, min_datasets=0.5)


def rank(
    runs: pd.DataFrame,
    incomplete: Any = "adjust",
    *,
    unit: str = "runs",
    interval: str = "percentile",
    **datasets: str,
) -> pd.DataFrame:
    """The ranking of a study with groups."""
    groups = choose_all(runs, incomplete, **datasets)
    scope = make_scope(unit)
    chosen = SETTINGS | {"interval": interval}
    parts = list_parts(runs, scope, study="toy", settings=chosen, groups=groups)
    found = estimate_models(parts)

    def read(where: dict[str, str]) -> pd.DataFrame:
        return found[(found[list(where)] == pd.Series(where)).all(axis=1)]

    return rank_study(read, scope, groups=[*datasets], confidence_level=0.95)


def test_a_group_is_ranked_on_its_own_datasets() -> None:
    runs = draw_runs()
    ranking = rank(runs, "drop_models", first="wx", last="z")
    for name, datasets in {"first": ["w", "x"], "last": ["z"]}.items():
        means = choose(ranking, statistic="mean", group=name).set_index("model")["score"]
        for row in choose(ranking, group=name).itertuples():
            own = runs[(runs["model"] == row.model) & runs["dataset"].isin(datasets)]
            ordered = np.sort(own["score"].repeat(4))
            assert row.score == pytest.approx(stats.trim_mean(ordered, 0.25))
            expected = own.groupby("dataset")["score"].mean().mean()
            assert means[row.model] == pytest.approx(expected)
            assert (row.runs, row.datasets) == (3 * len(datasets), len(datasets))


def test_dropping_models_leaves_out_those_that_lack_a_dataset_of_the_group() -> None:
    runs = draw_runs(holes={"aw", "bz"})
    ranking = rank(runs, "drop_models", G="wx")
    assert set(choose(ranking, group="G")["model"]) == {"b", "c"}


def test_dropping_datasets_leaves_out_those_that_a_model_lacks() -> None:
    ranking = rank(draw_runs(holes={"aw", "bz"}), "drop_datasets", G="wx")
    own = choose(ranking, group="G")
    assert set(own["model"]) == {"a", "b", "c"}
    assert set(own["datasets"]) == {1}


def test_adjusting_ranks_each_model_that_has_half_of_the_datasets() -> None:
    ranking = rank(draw_runs(holes={"aw", "bz"}), G="wx")
    own = choose(ranking, group="G")
    assert own.set_index("model")["datasets"].to_dict() == {"a": 1, "b": 2, "c": 2}
    assert set(own["missing"]) == {0}
    few = rank(draw_runs(holes={"aw", "ax"}), G="wxy")
    assert set(choose(few, group="G")["model"]) == {"b", "c"}


@pytest.mark.parametrize("policy", ["drop_models", "drop_datasets", "adjust"])
def test_a_model_without_any_run_in_the_group_is_left_out(policy: str) -> None:
    ranking = rank(draw_runs(holes={"aw", "ax"}), policy, G="wx")
    assert set(choose(ranking, group="G")["model"]) == {"b", "c"}


@pytest.mark.parametrize("policy", ["drop_models", "drop_datasets"])
def test_a_group_with_nothing_left_says_why(policy: str) -> None:
    # Each model lacks one dataset, and each dataset one model.
    runs = draw_runs(holes={"aw", "bx", "cy"})
    with pytest.raises(
        ValidationError, match=f"groups.G: the rule incomplete: {policy} leaves no model"
    ):
        choose_all(runs, policy, G="wxy", fine="z")


def test_all_faulty_groups_are_named_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        choose_all(draw_runs(), B="Y", A="Z", C="wx")
    assert str(caught.value).splitlines() == [
        "groups.A.datasets: no dataset 'Z' is analysed. Did you mean 'z'?",
        "groups.B.datasets: no dataset 'Y' is analysed. Did you mean 'y'?",
    ]


def test_another_group_and_another_model_change_no_interval() -> None:
    runs = draw_runs(models="abc")
    alone = choose(rank(runs[runs["model"] != "c"], G="wx"), group="G")
    beside = choose(rank(runs, G="wx", A="yz"), group="G")
    columns = ["model", "score", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(
        alone[columns].reset_index(drop=True),
        beside.loc[beside["model"] != "c", columns].reset_index(drop=True),
        check_exact=True,
    )


LEVEL = 0.95


def find_sets(scores: np.ndarray, errors: rank_sets.SamplingErrors, level: float = LEVEL) -> Any:
    return rank_sets.find_rank_sets(scores, errors, confidence_level=level)


def draw_scores(seed: int) -> tuple[np.ndarray, rank_sets.SamplingErrors]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    scores = np.round(rng.normal(0, rng.choice([0.1, 1, 3]), n), 1)
    parts = rng.normal(0, 0.3, (n, 6)) if rng.random() < 0.5 else None
    variances = rng.uniform(0.01, 1, n) if parts is None else (parts**2).sum(axis=1)
    return scores, rank_sets.SamplingErrors(variances, rng.uniform(2, 30, n), parts)


def test_two_models_are_compared_by_welch() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 6), rng.normal(1.5, 3, 9)
    p = stats.ttest_ind(a, b, equal_var=False).pvalue
    errors = rank_sets.SamplingErrors(
        np.array([stats.sem(a) ** 2, stats.sem(b) ** 2]), np.array([5.0, 8.0])
    )
    scores = np.array([a.mean(), b.mean()])
    for level, differs in ((1 - p * 1.001, False), (1 - p * 0.999, False), (1 - p / 0.999, True)):
        assert find_sets(scores, errors, level).separated[0, 1] == (differs or level < 1 - p)


def test_a_variance_of_few_degrees_of_freedom_lends_none() -> None:
    variances = np.array([1.0, 1.0, 1.0])
    errors = rank_sets.SamplingErrors(variances, np.array([2.0, 40.0, 6.0]))
    assert errors.compare(0)[1].tolist() == [2, 2, 2]
    assert errors.compare(2)[1].tolist() == [2, pytest.approx(4 / (1 / 6 + 1 / 40)), 12]


@given(st.integers(0, 10**6))
def test_sets_follow_from_all_tests_one_by_one(seed: int) -> None:
    scores, errors = draw_scores(seed)
    n, sets = len(scores), find_sets(scores, errors)
    p = np.ones((n, n))
    for one in range(n):
        spread, freedom = errors.compare(one)
        for other in range(n):
            if scores[one] != scores[other]:
                ratio = abs(scores[one] - scores[other]) / spread[other]
                p[one, other] = 2 * stats.t.sf(ratio, freedom[other])

    def holm(values: list[float]) -> float:
        """The largest p-value that is rejected."""
        level = -1.0
        for step, value in enumerate(sorted(values)):
            if value > (1 - LEVEL) / (len(values) - step):
                break
            level = value
        return level

    everything = holm([p[one, other] for one in range(n) for other in range(one)])
    for one in range(n):
        own = holm([p[one, other] for other in range(n) if other != one])
        for level, low, high in (
            (own, sets.low[one], sets.high[one]),
            (everything, sets.low_all[one], sets.high_all[one]),
        ):
            differs = p[one] <= level
            assert low == 1 + np.count_nonzero(differs & (scores > scores[one]))
            assert high == n - np.count_nonzero(differs & (scores < scores[one]))


@given(st.integers(0, 10**6))
def test_order_of_models_shift_and_scale_change_nothing(seed: int) -> None:
    scores, errors = draw_scores(seed)
    order = np.random.default_rng(seed).permutation(len(scores))
    sets = find_sets(scores, errors)
    own, parts = (None, None) if errors.parts is None else (errors.parts[order], 4 * errors.parts)
    moved = rank_sets.SamplingErrors(errors.variances[order], errors.freedom[order], own)
    turned = find_sets(scores[order], moved)
    scaled = find_sets(
        4 * scores + 8, rank_sets.SamplingErrors(16 * errors.variances, errors.freedom, parts)
    )
    for name in ("low", "high", "low_all", "high_all"):
        assert (getattr(turned, name) == getattr(sets, name)[order]).all()
        assert (getattr(scaled, name) == getattr(sets, name)).all()


def test_models_without_error_are_separated_by_any_difference() -> None:
    errors = rank_sets.SamplingErrors(np.zeros(3), np.full(3, 2.0))
    sets = find_sets(np.array([0.3, 0.1 + 0.2, 0.1]), errors)
    assert sets.separated.tolist() == [
        [False, False, True],
        [False, False, True],
        [True, True, False],
    ]
    assert sets.low.tolist() == [1, 1, 3]


def test_shared_errors_cancel() -> None:
    # The same three datasets move both models alike; alone, neither would be told from the other.
    parts = np.array([[1.0, -2.0, 1.0], [1.0, -2.0, 1.1]])
    variances = (parts**2).sum(axis=1)
    scores, freedom = np.array([1.0, 0.0]), np.full(2, 2.0)
    assert find_sets(scores, rank_sets.SamplingErrors(variances, freedom, parts)).separated[0, 1]
    assert not find_sets(scores, rank_sets.SamplingErrors(variances, freedom)).separated[0, 1]


def rank_rows(rows: dict[str, tuple[float, np.ndarray]]) -> pd.DataFrame:
    errors = [own.std(ddof=1) if len(own) else np.nan for _, own in rows.values()]
    return rank_estimates([*rows], [row[0] for row in rows.values()], errors)


def spread(center: float, width: float, *, seed: int) -> tuple[float, np.ndarray]:
    return center, center + width * np.random.default_rng(seed).standard_normal(2000)


def test_clear_winner_stands_alone() -> None:
    table = rank_rows({"b": spread(0.5, 0.01, seed=0), "a": spread(0.9, 0.01, seed=1)})
    assert table["model"].tolist() == ["a", "b"]
    assert table[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 1], [2, 2, 2]]
    assert table["tie_group"].tolist() == ["a", "b"]


def test_chain_of_neighbors_overlaps() -> None:
    # Neighbors differ by 2, with a standard error of 1.41: not separated; the ends differ by 4.
    rows = {name: spread(-2.0 * i, 1.0, seed=i) for i, name in enumerate("xyz")}
    assert rank_rows(rows)["tie_group"].tolist() == ["a", "ab", "b"]


def test_two_equal_models_share_a_rank() -> None:
    rows = {
        "b": (0.5, np.full(100, 0.5)),
        "a": (0.1 + 0.4, np.full(100, 0.5)),
        "c": (0.1, np.full(100, 0.1)),
    }
    table = rank_rows(rows)
    assert table["model"].tolist() == ["a", "b", "c"]
    assert table["rank"].tolist() == [1, 1, 3]
    assert table["tie_group"].tolist() == ["a", "a", "b"]
    assert table["rank_high"].tolist() == [2, 2, 3]
    assert table["rank_low"].tolist() == [1, 1, 3]


def test_model_without_interval_has_a_rank_and_nothing_else() -> None:
    rows = {"a": spread(0.9, 0.1, seed=0), "b": (0.85, np.empty(0)), "c": spread(0.1, 0.1, seed=1)}
    table = rank_rows(rows)
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["rank_low"].isna().tolist() == [False, True, False]
    assert table["tie_group"].tolist() == ["a", "", "b"]
    # What is not known may be better.
    assert table["rank_high"].tolist()[0] == 2


@settings(max_examples=60)
@given(st.integers(1, 8), st.integers(0, 10**6))
def test_models_share_a_group_exactly_if_they_cannot_be_separated(n: int, seed: int) -> None:
    separated = np.triu(np.random.default_rng(seed).random((n, n)) < 0.5, 1)
    tied = ~(separated | separated.T)
    groups = [set(group) for group in rank_sets.list_groups(tied)]
    for one, other in itertools.combinations(range(n), 2):
        assert any({one, other} <= group for group in groups) == tied[one, other]
    assert set().union(*groups) == set(range(n))
    assert not any(group < other for group in groups for other in groups)


@pytest.mark.slow
def test_a_thousand_models_fit() -> None:
    rng = np.random.default_rng(0)
    estimates = np.sort(rng.random(1000))[::-1]
    table = rank_estimates([f"m{i:04d}" for i in range(1000)], estimates, [0.01] * 1000)
    assert table["rank"].tolist() == list(range(1, 1001))
    assert set(table["tie_group"]) == {""}
    assert table["rank_high"].lt(1000).any()


@pytest.mark.parametrize(
    ("limits", "statistic", "expected"),
    [
        ((0, 1), "iqm", [0.0, 1.0, 0.0, 1.0]),
        ((-np.inf, 1), "mean", [-0.2, 1.0, -0.5, 1.0]),
        ((0, np.inf), "median", [0.0, 1.1, 0.0, 1.4]),
        ((0, 1), "optimality_gap", [0.0, 1.0, 0.0, 1.0]),
        ((-np.inf, 1), "optimality_gap", [0.0, 1.1, 0.0, 1.4]),
        ((0, np.inf), "optimality_gap", [0.0, 1.0, 0.0, 1.0]),
    ],
)
def test_intervals_end_where_scores_do(limits, statistic, expected) -> None:
    ends = {"ci_low": -0.2, "ci_high": 1.1, "boot_low": -0.5, "boot_high": 1.4}
    table = pd.DataFrame({name: [end, np.nan] for name, end in ends.items()})
    kept = rank_sets.keep_within(table, limits, statistic=statistic)
    assert kept.loc[0, list(ends)].tolist() == expected
    assert kept.loc[1, list(ends)].isna().all()
    # Expected scores may be beyond what scores can be, and so are their intervals.
    filled = rank_sets.keep_within(table.assign(filled=[1, 0]), limits, statistic=statistic)
    pd.testing.assert_frame_equal(filled[list(ends)], table)
